"""A plot as a pane: the cursor goes from turn to turn and says what is known of it; enter goes to the turn."""

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
from milk_tui.core.statistics import LegFigures, Span
from milk_tui.ui import format as f
from milk_tui.ui import plot
from milk_tui.ui.bar_cells import LABEL, step_of
from milk_tui.ui.in_order import InOrder
from milk_tui.ui.paint import Line, Painter
from milk_tui.ui.plot import Frame, Kind

EMPTY = "no answer yet: each turn adds a bar"
TOLD_FROM = 6
"""Rows from which on one is kept for what the cursor points at."""


class PlotView(InOrder, Painter, can_focus=True):
    """Left and right move."""

    ALLOW_SELECT = False

    @dataclass
    class Chosen(Message):
        """The first turn of the column."""

        turn_id: int

    BINDINGS: ClassVar = [
        Binding("left,h", "move(-1)", "Earlier", show=False),
        Binding("right,l", "move(1)", "Later", show=False),
        Binding("home", "edge(0)", "First", show=False),
        Binding("end", "edge(-1)", "Last", show=False),
    ]

    cursor: reactive[int | None] = reactive(None)
    """The column that is pointed at."""

    def __init__(self, kind: Kind, *, id: str) -> None:
        super().__init__(id=id)
        self.kind = kind
        self._legs: Sequence[LegFigures] | None = None
        self._names: Mapping[Role, str] = {}
        self._drawn: tuple[Frame, list[Span], list[Line]] | None = None

    def show(self, legs: Sequence[LegFigures], names: Mapping[Role, str]) -> None:
        """The legs of a session, oldest first."""
        self._legs, self._names, self._drawn = legs, names, None
        self.refresh()

    def _draw(self) -> tuple[Frame, list[Span], list[Line]]:
        width, height = self.size
        with_words = height >= TOLD_FROM
        cursor = self.cursor if self.has_focus else None
        plain = not self.app.console.encoding.startswith("utf")
        frame = Frame(max(8, width - 1), height - with_words, self._names, cursor, plain)
        if self._drawn is None or self._drawn[0] != frame:
            same = self._drawn is not None and self._drawn[0].width == frame.width
            found = self._drawn[1] if same and self._drawn else plot.columns(self.kind, self._legs or (), frame)
            lines = plot.plot(self.kind, found, frame)
            if with_words and found and lines:
                at = cursor if cursor is not None and cursor < len(found) else len(found) - 1
                lines.append(((" ", ""), *plot.told(self.kind, found[at], self._names)))
            self._drawn = frame, found, lines
        return self._drawn

    @property
    def columns(self) -> list[Span]:
        return self._draw()[1]

    def render_line(self, y: int) -> Strip:
        width = self.size.width
        if not self._legs:
            rows = f.wrap("looking …" if self._legs is None else EMPTY, width - 2)
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
        frame, found, _ = self._draw()
        at = (event.x - LABEL) // step_of(frame.room, len(found)) if found else -1
        if 0 <= at < len(found):
            self.cursor = at
            if event.chain == 2:
                self.post_message(self.Chosen(found[at].first))

    def action_move(self, step: int) -> None:
        last = len(self.columns) - 1
        at = last if self.cursor is None else self.cursor
        self.cursor = None if last < 0 else max(0, min(last, at + step))

    def action_edge(self, index: int) -> None:
        last = len(self.columns) - 1
        self.cursor = None if last < 0 else last if index else 0

    @property
    def turn(self) -> int | None:
        """The first turn under the cursor."""
        found = self.columns
        return found[self.cursor].first if self.cursor is not None and self.cursor < len(found) else None
