"""The right side of the main screen: facts, and the four bricks below them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.message import Message
from textual.strip import Strip

from milk_tui.ui import summary
from milk_tui.ui.fact_list import FactList
from milk_tui.ui.paint import Painter
from milk_tui.ui.state import SessionState

if TYPE_CHECKING:
    from textual.widgets import Input

    from milk_tui.core.records import Percept


class FactPane(Vertical):
    """Facts with their filter, which appears when it is asked for."""

    @dataclass
    class FilterChanged(Message):
        """The words to filter by; empty shows all."""

        pane: FactPane
        words: str

    def __init__(self, *, list_id: str, id: str) -> None:
        super().__init__(id=id, classes="pane")
        self.facts = FactList(id=list_id)
        self.border_title = "percepts"
        self.border_subtitle = "/ filter"
        self._input: Input | None = None

    def compose(self) -> ComposeResult:
        yield self.facts

    def show_found(self, words: str, hits: Sequence[Percept]) -> None:
        """Results for the words that are still in the filter; late ones for other words are dropped."""
        if words == self.words:
            self.facts.show_found(words, hits if words.strip() else None)

    @property
    def words(self) -> str:
        return self._input.value if self._input is not None else ""

    async def close_filter(self) -> bool:
        """Take the filter away; True when there was one."""
        if self._input is None:
            return False
        had_focus = self._input.has_focus
        await self._input.remove()
        self._input = None
        self.facts.show_found("", None)
        if had_focus:
            self.facts.focus()
        return True

    @on(FactList.FilterAsked)
    async def open_filter(self, event: FactList.FilterAsked | None = None) -> None:
        if event is not None:
            event.stop()
        if self._input is None:
            from textual.widgets import Input

            self._input = Input(placeholder="what an agent would recall for …", compact=True, classes="filter")
            await self.mount(self._input, before=self.facts)
        self._input.focus()

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        self.post_message(self.FilterChanged(self, event.value))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.facts.focus()


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
        self.pane.facts.show(self._state.percepts, changed)

    def show_bricks(self) -> None:
        self.strip.refresh()
