"""The segments of a context, each of which unfolds to its text."""

from __future__ import annotations

from milk_tui.ui.in_order import InOrder
from milk_tui.ui.receipt_rows import Given, head_rows, segment_rows
from milk_tui.ui.row_list import Row, RowList
from milk_tui.ui.words import TextRow


class SegmentList(InOrder, RowList):
    """Enter, or a double click on a segment, shows and hides its text."""

    def __init__(self, *, id: str | None = None, empty: str = "") -> None:
        super().__init__(id=id, empty=empty)
        self.given: Given | None = None
        self._opened: set[str] = set()
        self._cap: int | None = None
        self._above: tuple[Row, ...] = ()

    def show(self, given: Given, *, cap: int | None = None, above: tuple[Row, ...] = ()) -> None:
        """``above``: rows before the segments."""
        self.given, self._cap, self._above = given, cap, above
        self._draw()

    def show_nothing(self, why: str) -> None:
        """There is no context, and this is why."""
        self.given = None
        self.set_rows([TextRow("segments:none", why, "warning", (" ", ""))])

    def _draw(self) -> None:
        if self.given is not None:
            rows = [*self._above, *head_rows(self.given, self._cap, "given"), TextRow("given:gap", "")]
            self.set_rows([*rows, *segment_rows(self.given, "segment", self._opened)])

    def action_choose(self) -> None:
        if (row := self.current) is not None:
            self._opened ^= {row.key}
            self._draw()

    def open_all(self) -> None:
        """Show every text; when all are shown, hide them."""
        keys = {row.key for row in self.rows if row.selectable}
        self._opened = set() if keys <= self._opened else self._opened | keys
        self._draw()
