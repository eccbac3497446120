"""A plot as a pane: the cursor goes from turn to turn and says what is known of it; enter goes to the turn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from textual.message import Message

from milk_tui.core.records import Role
from milk_tui.core.statistics import LegFigures, Span
from milk_tui.ui import format as f
from milk_tui.ui import plot
from milk_tui.ui.bar_cells import Look
from milk_tui.ui.column_view import ColumnView
from milk_tui.ui.paint import Line
from milk_tui.ui.plot import Kind

EMPTY = "no answer yet: each turn adds a bar"


class PlotView(ColumnView[Span]):
    """One value of a session's legs."""

    @dataclass
    class Chosen(Message):
        """The first turn of the column."""

        turn_id: int

    def __init__(self, kind: Kind, *, id: str) -> None:
        super().__init__(id=id)
        self.kind = kind
        self._legs: Sequence[LegFigures] | None = None

    def show(self, legs: Sequence[LegFigures], names: Mapping[Role, str]) -> None:
        """The legs of a session, oldest first."""
        self._legs = legs
        self._shown_anew(names)

    def _nothing(self, width: int) -> Sequence[str] | None:
        return None if self._legs else f.wrap("looking …" if self._legs is None else EMPTY, width - 2)

    def _find(self, look: Look) -> list[Span]:
        return plot.columns(self.kind, self._legs or (), look)

    def _lines(self, found: Sequence[Span], look: Look) -> list[Line]:
        return plot.plot(self.kind, found, look)

    def _told(self, column: Span, look: Look) -> Sequence[Line]:
        return [plot.told(self.kind, column, look.names)]

    def _choose(self, column: Span) -> None:
        self.post_message(self.Chosen(column.first))

    @property
    def turn(self) -> int | None:
        """The first turn under the cursor."""
        return None if self.pointed is None else self.pointed.first
