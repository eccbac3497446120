"""Writing a fact in other words, in its place in the list."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual import events
from textual.message import Message
from textual.widgets import TextArea

if TYPE_CHECKING:
    from milk_tui.core.records import Percept

LONGEST = 4_000
"""Characters that can be written; what is too long for a fact is refused when it is kept."""


class FactEdit(TextArea):
    """The text of one fact. Enter keeps it, escape leaves it as it was; it is one line, however it is shown."""

    @dataclass
    class Kept(Message):
        """``insist``: the same text once more, after it was refused."""

        percept: Percept
        text: str
        insist: bool

    @dataclass
    class Left(Message):
        """Nothing is changed."""

    def __init__(self, percept: Percept) -> None:
        from milk_tui.core.text import one_line

        self.percept = percept
        self.refused = ""
        """The text that was refused last."""
        super().__init__(
            one_line(percept.content, LONGEST),
            classes="fact-edit",
            soft_wrap=True,
            compact=True,
            show_line_numbers=False,
            highlight_cursor_line=False,
        )
        self.cursor_blink = False

    def on_mount(self) -> None:
        self.move_cursor(self.document.end)

    async def _on_key(self, event: events.Key) -> None:
        """In the order in which they were typed: a binding would come after letters that follow it."""
        match event.key:
            case "enter":
                self.keep()
            case "escape":
                self.post_message(self.Left())
            case "ctrl+j" | "alt+enter" | "shift+enter":
                pass
            case _:
                await super()._on_key(event)
                return
        event.stop()
        event.prevent_default()

    async def _on_paste(self, event: events.Paste) -> None:
        """A paste becomes part of the line."""
        from milk_tui.core.text import one_line

        event.stop()
        event.prevent_default()
        self.replace(one_line(event.text, LONGEST), *self.selection, maintain_selection_offset=False)

    def keep(self) -> None:
        text = self.text.strip()
        if text == self.percept.content.strip():
            self.post_message(self.Left())
        else:
            self.post_message(self.Kept(self.percept, text, insist=text == self.refused))
