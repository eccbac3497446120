"""Bars over turns as a pane: the cursor goes from column to column and says what is known of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar, Generic, TypeVar

from textual import events
from textual.binding import Binding
from textual.reactive import reactive
from textual.strip import Strip

from milk_tui.core.records import Role
from milk_tui.ui.bar_cells import LABEL, Look
from milk_tui.ui.in_order import InOrder
from milk_tui.ui.paint import Line, Painter

Column = TypeVar("Column")


class ColumnView(InOrder, Painter, Generic[Column], can_focus=True):
    """Left and right move. A subclass says what the columns are and how they are drawn and told."""

    ALLOW_SELECT = False

    BINDINGS: ClassVar = [
        Binding("left,h", "move(-1)", "Earlier", show=False),
        Binding("right,l", "move(1)", "Later", show=False),
        Binding("home", "edge(0)", "First", show=False),
        Binding("end", "edge(-1)", "Last", show=False),
    ]

    TOLD_ROWS = 1
    """Rows for what the cursor points at."""
    TOLD_FROM = 6
    """Rows from which on those are kept for it."""

    cursor: reactive[int | None] = reactive(None)
    """The column that is pointed at."""

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self._names: Mapping[Role, str] = {}
        self._drawn: tuple[Look, list[Column], list[Line]] | None = None

    def _nothing(self, width: int) -> Sequence[str] | None:
        """What is said instead of bars; ``None`` where there are some."""
        raise NotImplementedError

    def _find(self, look: Look) -> list[Column]:
        raise NotImplementedError

    def _lines(self, found: Sequence[Column], look: Look) -> list[Line]:
        raise NotImplementedError

    def _told(self, column: Column, look: Look) -> Sequence[Line]:
        raise NotImplementedError

    def _choose(self, column: Column) -> None:
        """The column is wanted: a double click."""
        raise NotImplementedError

    def _shown_anew(self, names: Mapping[Role, str]) -> None:
        self._names, self._drawn = names, None
        self.refresh()

    def _draw(self) -> tuple[Look, list[Column], list[Line]]:
        width, height = self.size
        rows = self.TOLD_ROWS if height >= self.TOLD_FROM else 0
        cursor = self.cursor if self.has_focus else None
        plain = not self.app.console.encoding.startswith("utf")
        look = Look(max(8, width - 1), height - rows, self._names, cursor, plain)
        if self._drawn is None or self._drawn[0] != look:
            same = self._drawn is not None and self._drawn[0].width == look.width
            found = self._drawn[1] if same and self._drawn else self._find(look)
            lines = self._lines(found, look)
            if rows and found and lines:
                at = cursor if cursor is not None and cursor < len(found) else len(found) - 1
                lines += [((" ", ""), *line) for line in self._told(found[at], look)[:rows]]
            self._drawn = look, found, lines
        return self._drawn

    @property
    def columns(self) -> list[Column]:
        return self._draw()[1]

    @property
    def pointed(self) -> Column | None:
        """The column under the cursor."""
        found = self.columns
        return found[self.cursor] if self.cursor is not None and 0 <= self.cursor < len(found) else None

    def render_line(self, y: int) -> Strip:
        width = self.size.width
        if (rows := self._nothing(width)) is not None:
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
            self.cursor = at
            if event.chain == 2:
                self._choose(found[at])

    def action_move(self, step: int) -> None:
        last = len(self.columns) - 1
        at = last if self.cursor is None else self.cursor
        self.cursor = None if last < 0 else max(0, min(last, at + step))

    def action_edge(self, index: int) -> None:
        last = len(self.columns) - 1
        self.cursor = None if last < 0 else last if index else 0
