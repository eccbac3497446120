"""A list of rows that draws only what is seen: tens of thousands of rows cost what a page costs.

Used for facts, sessions, help, history and the inspector. A row is data; its height is asked once for
each width.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import ClassVar, NamedTuple, Protocol

from textual import events
from textual.binding import Binding
from textual.geometry import Offset, Region, Size
from textual.message import Message
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip

from milk_tui.ui.paint import Line, Painter

_NEAR = 64
"""Rows around the place where one is expected that are looked at before all others."""


class Row(Protocol):
    """One entry. ``lines`` must give as many lines as ``height`` says for the same width."""

    @property
    def key(self) -> str:
        """Names the row for as long as it is in the list."""

    @property
    def selectable(self) -> bool: ...

    def height(self, width: int) -> int: ...

    def lines(self, width: int) -> Sequence[Line]: ...


class Heading(NamedTuple):
    """A row that only says what follows; ``apart`` from what is above it."""

    key: str
    left: Line
    selectable: bool = False
    apart: bool = False

    def height(self, width: int) -> int:
        return 1 + self.apart

    def lines(self, width: int) -> Sequence[Line]:
        return ((), self.left) if self.apart else (self.left,)


class RowList(Painter, ScrollView, can_focus=True):
    """The list. ``set_rows`` gives it its rows and keeps cursor and reading position by key."""

    ALLOW_SELECT = False

    @dataclass
    class Moved(Message):
        """The cursor is on another row; ``key`` is empty when there is none."""

        list: RowList
        key: str

        @property
        def control(self) -> RowList:
            return self.list

    @dataclass
    class Chosen(Message):
        """Enter or a double click on a row."""

        list: RowList
        key: str

        @property
        def control(self) -> RowList:
            return self.list

    BINDINGS: ClassVar = [
        Binding("up,k", "move(-1)", "Up", show=False),
        Binding("down,j", "move(1)", "Down", show=False),
        Binding("pageup", "page(-1)", "Page up", show=False),
        Binding("pagedown", "page(1)", "Page down", show=False),
        Binding("home", "edge(0)", "First", show=False),
        Binding("end", "edge(-1)", "Last", show=False),
        Binding("enter", "choose", "Choose", show=False),
    ]

    cursor: reactive[int] = reactive(-1, repaint=False)
    """The index of the cursor's row; -1 when no row can have it."""

    def __init__(
        self,
        rows: Sequence[Row] = (),
        *,
        empty: str = "",
        id: str | None = None,
        classes: str | None = None,
    ) -> None:
        super().__init__(id=id, classes=classes)
        self.led = False
        """True where an input leads the list: its cursor shows without the focus."""
        self.empty = empty
        """What is shown instead of rows when there are none."""
        self._rows: Sequence[Row] = ()
        self._ends: list[int] = []
        self._width = 0
        self._flashing: frozenset[str] = frozenset()
        if rows:
            self.set_rows(rows)

    @property
    def rows(self) -> Sequence[Row]:
        return self._rows

    @property
    def text_width(self) -> int:
        """The cells of a line, beside the bar."""
        return self.scrollable_content_region.width

    @property
    def current(self) -> Row | None:
        """The cursor's row."""
        return self._rows[self.cursor] if 0 <= self.cursor < len(self._rows) else None

    def set_rows(self, rows: Sequence[Row]) -> None:
        """Show other rows.

        The cursor stays on its row, else near it; changes above the first seen row do not move what is
        read.
        """
        current = self.current
        anchor = self._anchor()
        before = self.cursor
        self._rows = rows
        self._measure()
        self.set_reactive(RowList.cursor, self._find_cursor(current, before))
        if anchor is not None:
            self._restore(*anchor)
        self.refresh()
        if (self.current.key if self.current else "") != (current.key if current else ""):
            self._say_moved()

    def flash(self, keys: Iterable[str]) -> None:
        """Show these rows as new or changed, and no others."""
        self._flashing = frozenset(keys)
        self.refresh()

    def go_to(self, key: str) -> bool:
        """Put the cursor on a row and show it; False when there is no such row."""
        index = self._index(key)
        if index is None or not self._rows[index].selectable:
            return False
        self.cursor = index
        self._show_cursor()
        return True

    def render_line(self, y: int) -> Strip:
        width = self.text_width
        y += round(self.scroll_offset.y)
        if not self._rows:
            return self.paint(((self.empty, "dim"),) if y == 0 else (), width)
        index = bisect_right(self._ends, y)
        if index >= len(self._rows):
            return self.paint((), width)
        row = self._rows[index]
        lines = self.lines_of(row, width)
        offset = y - (self._ends[index - 1] if index else 0)
        line = lines[offset] if offset < len(lines) else ()
        return self.paint(line, width, under=self._under(index, row))

    def lines_of(self, row: Row, width: int) -> Sequence[Line]:
        """What is drawn of a row; a subclass may know more about it than the row."""
        return row.lines(width)

    def heights(self, width: int) -> Sequence[int]:
        """The height of each row; a subclass may know them already."""
        return [row.height(width) for row in self._rows]

    def on_resize(self) -> None:
        self._fit()

    def watch_show_vertical_scrollbar(self) -> None:
        self._fit()

    def _fit(self) -> None:
        """The lines may have another width."""
        if self.text_width != self._width:
            anchor = self._anchor()
            self._measure()
            if anchor is not None:
                self._restore(*anchor)

    def row_at(self, y: int) -> Row | None:
        """The row on a line, counted from the first that is seen."""
        index = bisect_right(self._ends, y + round(self.scroll_offset.y))
        return self._rows[index] if index < len(self._rows) else None

    def on_click(self, event: events.Click) -> None:
        index = bisect_right(self._ends, event.y + round(self.scroll_offset.y))
        if index < len(self._rows) and self._rows[index].selectable:
            self.cursor = index
            if event.chain == 2:
                self.action_choose()

    def on_focus(self) -> None:
        self._lead_eyes()
        self.refresh()

    def on_blur(self) -> None:
        self.refresh()

    def watch_cursor(self, old: int, new: int) -> None:
        for index in (old, new):
            self._refresh_row(index)
        self._lead_eyes()
        self._say_moved()

    def action_move(self, step: int) -> None:
        index = self._next(self.cursor + step, step)
        if self._read_on(index, step):
            return
        if index is None:
            back = step < 0 and self.current is not None
            self._scroll_by(1 - self._page_height if back else step)  # what is beyond is read too
            return
        self.cursor = index
        self._show_cursor()

    def action_page(self, direction: int) -> None:
        height = self._page_height - 1 or 1
        if self.current is None:
            self._scroll_by(direction * height)
            return
        y = self._top(self.cursor) + direction * height
        target = min(max(0, bisect_right(self._ends, max(0, y))), len(self._rows) - 1)
        index = self._next(target, direction)
        if self._read_on(index, direction):
            return
        if index is None:
            index = self._next(target, -direction)
        if index == self.cursor:
            self._scroll_by(direction * height)
        elif index is not None:
            self.cursor = index
            self._show_cursor()

    def action_edge(self, index: int) -> None:
        found = self._next(0, 1) if index == 0 else self._next(len(self._rows) - 1, -1)
        if found is not None:
            self.cursor = found
            self._show_cursor()
        if index == 0:
            self.scroll_home(animate=False, force=True)
        else:
            self.scroll_end(animate=False, immediate=True, force=True)

    @property
    def _page_height(self) -> int:
        return max(1, self.scrollable_content_region.height)

    def _scroll_by(self, lines: int) -> None:
        self.scroll_relative(y=lines, animate=False, immediate=True, force=True)

    def _read_on(self, index: int | None, step: int) -> bool:
        """Scroll a page, and leave the cursor where it is, when text that can't be chosen would go by unseen on the
        way to the row; the cursor's own row is the next one while it is out of sight behind such text."""
        seen = round(self.scroll_offset.y)
        end = seen + self._page_height
        ahead = self._top(self.cursor) >= end if step > 0 else self.cursor >= 0 and self._ends[self.cursor] <= seen
        if ahead:
            index = self.cursor
        if index is None:
            return False
        if step > 0:
            away = min(self._ends[index], self._top(index) + self._page_height) - end
            between = self._rows[bisect_right(self._ends, end - 1) + 1 : index]
        else:
            away = seen - self._shown_from(index)
            between = self._rows[index + 1 : bisect_right(self._ends, seen)]
        if any(row.selectable for row in between) or not (ahead or away > self._page_height):
            return False
        self._scroll_by(step * min(away, self._page_height - 1 or 1))
        return True

    def action_choose(self) -> None:
        if (row := self.current) is not None:
            self.post_message(self.Chosen(self, row.key))

    def _under(self, index: int, row: Row) -> str:
        if index == self.cursor and row.selectable and (self.has_focus or self.led):
            return "cursor"
        return "flash" if row.key in self._flashing else ""

    def _say_moved(self) -> None:
        self.post_message(self.Moved(self, self.current.key if self.current else ""))

    def _measure(self) -> None:
        self._width = width = self.text_width
        self._ends = list(accumulate(self.heights(width)))
        self.virtual_size = Size(width, self._ends[-1] if self._ends else 1)

    def _find_cursor(self, current: Row | None, before: int) -> int:
        at = self._index(current.key, before) if current is not None else None
        if at is not None and self._rows[at].selectable:
            return at
        index = self._next(max(0, before), 1)
        if index is None:
            index = self._next(len(self._rows) - 1, -1)
        return -1 if index is None else index

    def _next(self, start: int, step: int) -> int | None:
        """The first row from ``start`` on, in the direction of ``step``, that can have the cursor."""
        stop = len(self._rows) if step > 0 else -1
        return next((i for i in range(start, stop, step) if i >= 0 and self._rows[i].selectable), None)

    def _top(self, index: int) -> int:
        return self._ends[index - 1] if index > 0 else 0

    def _index(self, key: str, near: int = 0) -> int | None:
        """Where the row with that key is; ``near`` is looked at first."""
        start, end = max(0, near - _NEAR), near + _NEAR
        for index, row in enumerate(self._rows[start:end], start):
            if row.key == key:
                return index
        return next((index for index, row in enumerate(self._rows) if row.key == key), None)

    def _anchor(self) -> tuple[str, int, int] | None:
        """The first seen row, its index, and how far it is scrolled; ``None`` at the top of the list."""
        y = round(self.scroll_offset.y)
        if not self._rows or not self._ends or y == 0:
            return None
        index = min(bisect_right(self._ends, y), len(self._rows) - 1)
        return self._rows[index].key, index, y - self._top(index)

    def _restore(self, key: str, near: int, offset: int) -> None:
        index = self._index(key, near)
        if index is not None:
            self.scroll_to(y=self._top(index) + offset, animate=False, immediate=True, force=True)

    def _lead_eyes(self) -> None:
        """Put the terminal's cursor, which screen readers follow, on the row."""
        seen = self.content_region
        if (self.has_focus or self.led) and seen.area and 0 <= self.cursor < len(self._ends):
            row = self._top(self.cursor) - round(self.scroll_offset.y)
            self.app.cursor_position = seen.offset + Offset(0, row)

    def _refresh_row(self, index: int) -> None:
        if 0 <= index < len(self._ends):
            top = self._top(index)
            region = Region(0, top, self.size.width, self._ends[index] - top)
            self.refresh(region.translate((0, -round(self.scroll_offset.y))))

    def _show_cursor(self) -> None:
        top = self._shown_from(self.cursor)
        bottom = min(self._ends[self.last_shown_with(self.cursor)], top + self._page_height)
        region = Region(0, top, 1, max(self._ends[self.cursor], bottom) - top)
        self.scroll_to_region(region, animate=False, immediate=True, force=True)

    def _shown_from(self, index: int) -> int:
        """The first line that is brought into sight with a row: what is above the first that can be chosen as well."""
        first = self._next(index - 1, -1) is None and self._ends[index] <= self._page_height
        return 0 if first else self._top(index)

    def last_shown_with(self, index: int) -> int:
        """The last row that is brought into sight with the row of the cursor, as far as there is room."""
        return index
