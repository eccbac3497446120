"""The right side of the main screen: facts, and the four bricks below them."""

from __future__ import annotations

from collections.abc import Iterable

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.strip import Strip

from milk_tui.ui import summary
from milk_tui.ui.fact_pane import FactPane
from milk_tui.ui.paint import Painter
from milk_tui.ui.state import SessionState


class BrickStrip(Painter):
    """Need, brief, and how full the two summaries are."""

    ALLOW_SELECT = False

    def __init__(self, state: SessionState) -> None:
        super().__init__(id="brick-strip")
        self._state = state

    def render_line(self, y: int) -> Strip:
        width = self.size.width
        lines = summary.brick_lines(self._state, width)
        return self.paint(lines[y] if y < len(lines) else (), width)


class Sidebar(Vertical):
    """Facts over bricks."""

    BLANK = True

    def __init__(self, state: SessionState) -> None:
        super().__init__(id="sidebar")
        self._state = state
        self.pane = FactPane(list_id="facts", id="fact-pane")
        self.strip = BrickStrip(state)

    def compose(self) -> ComposeResult:
        yield self.pane
        with Vertical(id="brick-pane", classes="pane") as bricks:
            bricks.border_title = "bricks"
            bricks.border_subtitle = "F3"
            yield self.strip

    def show_facts(self, changed: Iterable[str] = ()) -> None:
        self.pane.facts.pinned_bytes = self._state.pinned_bytes
        self.pane.facts.show(self._state.percepts, changed)

    def show_bricks(self) -> None:
        self.strip.refresh()
