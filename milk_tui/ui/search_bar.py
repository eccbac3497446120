"""The line under the conversation in which is written what to look for in it (ctrl+f)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Horizontal
from textual.message import Message
from textual.widgets import Input, Static

from milk_tui.ui.line_input import LineInput

AFTER_S = 0.15
"""How long the typing rests before the session is searched."""


class SearchBar(Horizontal):
    """Says what is looked for and whereto the person steps; it searches nothing itself."""

    @dataclass
    class Wanted(Message):
        """Look for these words."""

        words: str

    @dataclass
    class Step(Message):
        """To the next place, or the one before."""

        by: int

    BINDINGS: ClassVar = [
        Binding("enter,up", "step(-1)", "Before", show=False, priority=True),
        Binding("down", "step(1)", "Next", show=False, priority=True),
    ]

    def __init__(self) -> None:
        super().__init__(id="search-bar")
        self.input = LineInput(placeholder="search in the conversation")
        self.count = Static("", id="search-count", markup=False)

    def compose(self) -> ComposeResult:
        yield self.input
        yield self.count

    @property
    def words(self) -> str:
        return self.input.value

    def say(self, text: str) -> None:
        self.count.update(text)

    @on(Input.Changed)
    def typed(self, event: Input.Changed) -> None:
        event.stop()
        self.post_message(self.Wanted(event.value))

    def action_step(self, by: int) -> None:
        self.post_message(self.Step(by))
