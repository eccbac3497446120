"""The list of commands that opens over the prompt while a slash command is typed."""

from __future__ import annotations

from dataclasses import dataclass

from textual import events
from textual.message import Message
from textual.strip import Strip

from milk_tui.ui import actions
from milk_tui.ui import format as f
from milk_tui.ui.actions import Action, Keymap
from milk_tui.ui.paint import Line, Painter

ROWS = 8


class Completion(Painter):
    """Commands that begin with what is typed; it takes no focus, the prompt passes it keys."""

    ALLOW_SELECT = False

    @dataclass
    class Picked(Message):
        """A click on a command."""

        action: Action

    def __init__(self) -> None:
        super().__init__(id="completion")
        self.display = False
        self.beginning: str | None = None
        """What the offered commands fit."""
        self._found: list[Action] = []
        self._at = 0
        self._top = 0
        self._room = ROWS
        self.keymap = Keymap({})

    @property
    def is_open(self) -> bool:
        return bool(self.display)

    @property
    def current(self) -> Action | None:
        return self._found[self._at] if self._found else None

    def open_for(self, beginning: str | None, room: int) -> None:
        """Show what fits ``beginning`` in at most ``room`` rows; nothing fits, or ``None``: close."""
        self.beginning = beginning
        self._found = [] if beginning is None else actions.matching(beginning)
        self._at = self._top = 0
        self._room = max(1, min(ROWS, room))
        self.display = bool(self._found) and room > 0
        if self.display:
            rows = min(len(self._found), self._room)
            self.styles.height = rows + 2
            self.styles.offset = (-1, -(rows + 3))
        self.refresh()

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
        return self.paint(self._line(self._found[index], width), width, under="cursor" if index == self._at else "")

    def on_click(self, event: events.Click) -> None:
        index = self._top + event.y - 1
        if 0 <= index < len(self._found):
            self.post_message(self.Picked(self._found[index]))

    def _line(self, action: Action, width: int) -> Line:
        usage = f.pad(f" {action.usage}", 21)
        keys = self.keymap.shown(action, 1)
        return (
            (usage, "strong"),
            (f.pad(action.help, max(0, width - 21 - len(keys) - 2)), "dim"),
            (f" {keys} ", "key"),
        )
