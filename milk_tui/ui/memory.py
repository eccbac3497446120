"""All facts on the whole screen (F2)."""

from __future__ import annotations

from collections.abc import Iterable

from textual.app import ComposeResult

from milk_tui.ui import format as f
from milk_tui.ui.actions import Keymap, Where
from milk_tui.ui.screens import FullScreen
from milk_tui.ui.sidebar import FactPane
from milk_tui.ui.state import SessionState, Topic


class MemoryScreen(FullScreen):
    """The sidebar's list, wide."""

    HEADING = "memory"
    WHERE = (Where.PERCEPTS,)
    AUTO_FOCUS = "#all-facts"

    def __init__(self, state: SessionState, keymap: Keymap) -> None:
        super().__init__(state, keymap)
        self.pane = FactPane(list_id="all-facts", id="all-fact-pane")

    def body(self) -> ComposeResult:
        yield self.pane

    def state_changed(self, topics: Iterable[Topic], facts: Iterable[str] = ()) -> None:
        if Topic.PERCEPTS in set(topics):
            number = len(self.state.percepts)
            self.title_line.say(
                ((" memory", "strong"), (f" · {f.plural(number, 'fact')}", "dim")), (("esc back ", "dim"),)
            )
            self.pane.facts.show(self.state.percepts, facts)

    async def action_back(self) -> None:
        if not await self.pane.close_filter():
            self.dismiss()
