"""The chart of context sizes as a pane: the cursor goes from turn to turn and says what is known of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual import events
from textual.binding import Binding
from textual.message import Message
from textual.reactive import reactive
from textual.strip import Strip

from milk_tui.core.records import Role
from milk_tui.core.token_sizes import Measure
from milk_tui.ui import chart
from milk_tui.ui import format as f
from milk_tui.ui.bar_cells import LABEL
from milk_tui.ui.chart import Column, Look
from milk_tui.ui.in_order import InOrder
from milk_tui.ui.paint import Line, Painter

EMPTY = " no turn yet: each one adds a bar with the size of the context and its cached part"


class ChartView(InOrder, Painter, can_focus=True):
    """Left and right move, enter asks for the receipt of the turn."""

    ALLOW_SELECT = False

    @dataclass
    class Chosen(Message):
        """The leg with the largest context of the column."""

        leg_id: int

    BINDINGS: ClassVar = [
        Binding("left,h", "move(-1)", "Earlier", show=False),
        Binding("right,l", "move(1)", "Later", show=False),
        Binding("home", "edge(0)", "First", show=False),
        Binding("end", "edge(-1)", "Last", show=False),
        Binding("enter", "choose", "Receipt", show=False),
    ]

    cursor: reactive[int | None] = reactive(None)
    """The column that is pointed at."""

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self._measures: Sequence[Measure] = ()
        self._names: Mapping[Role, str] = {}
        self._drawn: tuple[Look, list[Column], list[Line]] | None = None

    def show(self, measures: Sequence[Measure], names: Mapping[Role, str]) -> None:
        """The sizes of a session's legs, oldest first."""
        self._measures, self._names = measures, names
        self._drawn = None
        self.refresh()

    @property
    def columns(self) -> list[Column]:
        return self._draw()[1]

    def _draw(self) -> tuple[Look, list[Column], list[Line]]:
        width, height = self.size
        told = 2 if height >= 7 else 0
        cursor = self.cursor if self.has_focus else None
        plain = not self.app.console.encoding.startswith("utf")
        look = Look(max(8, width - 1), height - told, self._names, cursor, plain)
        if self._drawn is None or self._drawn[0] != look:
            same = self._drawn is not None and self._drawn[0].width == look.width
            found = self._drawn[1] if same and self._drawn else chart.columns(self._measures, look.room)
            lines = chart.chart(found, look)
            if told and found:
                at = cursor if cursor is not None and cursor < len(found) else len(found) - 1
                lines += [((" ", ""), *line) for line in chart.told(found[at], look)[:told]]
            self._drawn = look, found, lines
        return self._drawn

    def render_line(self, y: int) -> Strip:
        width = self.size.width
        if not self._measures:
            rows = f.wrap(EMPTY, width - 1)
            return self.paint(((f" {rows[y]}", "dim"),) if y < len(rows) else (), width)
        lines = self._draw()[2]
        return self.paint(lines[y] if y < len(lines) else (), width)

    def on_focus(self) -> None:
        if self.cursor is None:
            self.action_edge(-1)
        self.refresh()

    def on_blur(self) -> None:
        self.refresh()

    def on_click(self, event: events.Click) -> None:
        look, found, _ = self._draw()
        at = (event.x - LABEL) // look.step(len(found)) if found else -1
        if 0 <= at < len(found):
            if event.chain == 2:
                self.action_choose()
            self.cursor = at

    def action_move(self, step: int) -> None:
        last = len(self.columns) - 1
        at = last if self.cursor is None else self.cursor
        self.cursor = None if last < 0 else max(0, min(last, at + step))

    def action_edge(self, index: int) -> None:
        last = len(self.columns) - 1
        self.cursor = None if last < 0 else last if index else 0

    def action_choose(self) -> None:
        found = self.columns
        if self.cursor is None or not 0 <= self.cursor < len(found):
            return
        legs = [leg for role in Role if (leg := found[self.cursor].largest(role)) is not None]
        if legs:
            self.post_message(self.Chosen(max(legs, key=lambda leg: leg.context.number).leg_id))
