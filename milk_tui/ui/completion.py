"""The list that opens over the prompt while something that can be completed is typed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from textual import events
from textual.message import Message
from textual.strip import Strip

from milk_tui.ui.choices import Choice, Kind, Word
from milk_tui.ui.paint import Painter

ROWS = 8


class Completion(Painter):
    """Choices for the word under the cursor; it takes no focus, the prompt passes it keys."""

    ALLOW_SELECT = False

    @dataclass
    class Picked(Message):
        """A click on a choice."""

        choice: Choice

    def __init__(self) -> None:
        super().__init__(id="completion")
        self.display = False
        self.word: Word | None = None
        """What the choices fit."""
        self._found: Sequence[Choice] = ()
        self._at = 0
        self._top = 0
        self._room = ROWS

    @property
    def is_open(self) -> bool:
        return bool(self.display)

    @property
    def current(self) -> Choice | None:
        return self._found[self._at] if 0 <= self._at < len(self._found) else None

    @property
    def first(self) -> Choice | None:
        """What tab takes when none is chosen."""
        return self._found[0] if self._found else None

    def offer(self, word: Word, found: Sequence[Choice], room: int) -> None:
        """Show what fits the word in at most ``room`` rows; nothing fits: close.

        Of the arguments for a command none is chosen until the person chooses: enter sends what is written.
        """
        self.word = word
        self._found = found
        self._at = -1 if word.kind is Kind.ARGUMENT else 0
        self._top = 0
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
        self.word = None
        self._found = ()
        return was_open

    def move(self, step: int) -> None:
        """Go up or down, around the ends."""
        if not self._found:
            return
        at = self._at if self._at >= 0 or step > 0 else 0
        self._at = (at + step) % len(self._found)
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
        return self.paint(self._found[index].line(width), width, under="cursor" if index == self._at else "")

    def on_click(self, event: events.Click) -> None:
        index = self._top + event.y - 1
        if 0 <= index < len(self._found):
            self.post_message(self.Picked(self._found[index]))
