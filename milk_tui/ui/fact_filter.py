"""The line over a list of facts, in which is written what to look for."""

from __future__ import annotations

from textual import events

from milk_tui.ui.fact_list import FactList
from milk_tui.ui.in_order import InOrder
from milk_tui.ui.line_input import LineInput


class FactFilter(InOrder, LineInput):
    """Enter and down lead into the list."""

    def __init__(self, words: str, into: FactList) -> None:
        super().__init__(words, placeholder="what an agent would recall for …", classes="filter")
        self._into = into

    async def take_key(self, event: events.Key) -> bool:
        if event.key in ("enter", "down"):
            self.screen.set_focus(self._into)
            return True
        await LineInput._on_key(self, event)
        return event.is_printable
