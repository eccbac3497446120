"""The list of files that opens over the prompt while a mention (``@path``) is written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from textual import events
from textual.message import Message
from textual.strip import Strip

from milk_tui.ui import format as f
from milk_tui.ui.paint import Painter

ROWS = 8


class MentionList(Painter):
    """Paths that fit what is written; it takes no focus, the prompt passes it keys."""

    ALLOW_SELECT = False

    @dataclass
    class Picked(Message):
        """A click on a path."""

        path: str

    def __init__(self) -> None:
        super().__init__(id="mentions")
        self.display = False
        self.words: str | None = None
        """What the paths fit."""
        self._found: Sequence[str] = ()
        self._at = 0
        self._top = 0
        self._room = ROWS

    @property
    def is_open(self) -> bool:
        return bool(self.display)

    @property
    def current(self) -> str | None:
        return self._found[self._at] if self._found else None

    def open_for(self, words: str, found: Sequence[str], room: int) -> None:
        """Show the paths in at most ``room`` rows; none: close."""
        self.words = words
        self._found = found
        self._at = self._top = 0
        self._room = max(1, min(ROWS, room))
        self.display = bool(found) and room > 0
        if self.display:
            rows = min(len(found), self._room)
            self.styles.height = rows + 2
            self.styles.offset = (-1, -(rows + 3))
        self.refresh()

    def close(self) -> bool:
        """True when it was open."""
        was_open = self.is_open
        self.display = False
        self.words = None
        self._found = ()
        return was_open

    def move(self, step: int) -> None:
        """Go up or down, around the ends."""
        if not self._found:
            return
        self._at = (self._at + step) % len(self._found)
        if self._at < self._top:
            self._top = self._at
        elif self._at >= self._top + self._room:
            self._top = self._at - self._room + 1
        self.refresh()

    def render_line(self, y: int) -> Strip:
        index = self._top + y
        width = self.size.width
        if index >= len(self._found):
            return self.paint((), width)
        path = self._found[index]
        folder, _, name = path.rstrip("/").rpartition("/")
        end = "/" if path.endswith("/") else ""
        line = ((f" {name}{end}", "strong"), (f"  {folder}", "dim"))
        shown = line if len(path) < width - 4 else ((f" {f.fit_left(path, width - 2)}", "strong"),)
        return self.paint(shown, width, under="cursor" if index == self._at else "")

    def on_click(self, event: events.Click) -> None:
        index = self._top + event.y - 1
        if 0 <= index < len(self._found):
            self.post_message(self.Picked(self._found[index]))
