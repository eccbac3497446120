"""The chart of context sizes as a pane: the cursor goes from turn to turn and says what is known of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual.binding import Binding
from textual.message import Message

from milk_tui.core.records import Role
from milk_tui.core.token_sizes import Measure
from milk_tui.ui import chart
from milk_tui.ui import format as f
from milk_tui.ui.bar_cells import Look
from milk_tui.ui.chart import Column
from milk_tui.ui.column_view import ColumnView
from milk_tui.ui.paint import Line

EMPTY = " no turn yet: each one adds a bar with the size of the context and its cached part"


class ChartView(ColumnView[Column]):
    """Enter asks for the receipt of the turn."""

    TOLD_ROWS = 2
    TOLD_FROM = 7

    BINDINGS: ClassVar = [Binding("enter", "choose", "Receipt", show=False)]

    @dataclass
    class Chosen(Message):
        """The leg with the largest context of the column."""

        leg_id: int

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self._measures: Sequence[Measure] = ()

    def show(self, measures: Sequence[Measure], names: Mapping[Role, str]) -> None:
        """The sizes of a session's legs, oldest first."""
        self._measures = measures
        self._shown_anew(names)

    def _nothing(self, width: int) -> Sequence[str] | None:
        return None if self._measures else f.wrap(EMPTY, width - 1)

    def _find(self, look: Look) -> list[Column]:
        return chart.columns(self._measures, look.room)

    def _lines(self, found: Sequence[Column], look: Look) -> list[Line]:
        return chart.chart(found, look)

    def _told(self, column: Column, look: Look) -> Sequence[Line]:
        return chart.told(column, look)

    def _choose(self, column: Column) -> None:
        legs = [leg for role in Role if (leg := column.largest(role)) is not None]
        if legs:
            self.post_message(self.Chosen(max(legs, key=lambda leg: leg.context.number).leg_id))

    def action_choose(self) -> None:
        if (column := self.pointed) is not None:
            self._choose(column)
