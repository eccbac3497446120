"""The two parts of the permission dialog: what is asked about, to scroll, and the answers, to click."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from textual import events
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from milk_tui.core.text import one_line
from milk_tui.ui import permission_view as view
from milk_tui.ui.paint import Line, Painter


class RequestText(Painter, ScrollView):
    """What is asked about, all of it, to scroll."""

    ALLOW_SELECT = False
    can_focus = False

    def __init__(self) -> None:
        super().__init__(id="request-text")
        self._make: Callable[[int], list[Line]] = lambda width: []
        self._lines: list[Line] = []
        self._width = 0

    def show(self, make: Callable[[int], list[Line]]) -> None:
        """Show other lines; ``make`` gives them for a width."""
        self._make = make
        self.lay_out()
        self.scroll_home(animate=False)
        self.refresh(layout=True)

    def lay_out(self) -> None:
        """Wrap the lines for the width that there is now."""
        self._width = self.scrollable_content_region.width or self.size.width or 78
        self._lines = self._make(max(8, self._width))
        self.virtual_size = Size(self._width, len(self._lines))
        if self.is_attached:
            self._refresh_scrollbars()
        self.refresh()

    def rows(self, width: int) -> int:
        """How many rows there are at a width, with a column for the scroll bar."""
        return len(self._make(max(8, width - 1)))

    def on_resize(self) -> None:
        if self.scrollable_content_region.width != self._width:
            self.lay_out()

    def render_line(self, y: int) -> Strip:
        at = y + round(self.scroll_offset.y)
        return self.paint(self._lines[at] if at < len(self._lines) else (), self.size.width)


class Choices(Painter):
    """What may be answered: keys and words, in as many rows as they need; a click on one chooses it."""

    ALLOW_SELECT = False

    @dataclass
    class Clicked(Message):
        """A click on an answer."""

        id: str

    def __init__(self) -> None:
        super().__init__(id="request-choices")
        self._items: Sequence[tuple[str, str, str]] = ()
        self._head: Line = ()
        self._spans: list[tuple[int, int, int, str]] = []

    def show(self, head: Line, items: Sequence[tuple[str, str, str]]) -> None:
        """``items``: id, key, words."""
        self._head, self._items = head, items
        self.refresh(layout=True)

    def rows(self, width: int) -> list[Line]:
        """The rows for a width; where each answer stands is remembered for clicks."""
        self._spans = []
        rows: list[Line] = list(view.wrapped(self._head, width)) if self._head else []
        line: Line = ()
        x = 0
        for id_, key, words in self._items:
            words = one_line(words, max(4, width - cell_len(key) - 2))
            size = cell_len(key) + 1 + cell_len(words)
            if line and x + size > width:
                rows.append(line)
                line, x = (), 0
            self._spans.append((len(rows), x, x + size, id_))
            line = (*line, (key, "key"), (f" {words}", ""), ("   ", ""))
            x += size + 3
        return [*rows, line] if line else rows

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return max(1, len(self.rows(width)))

    def render_line(self, y: int) -> Strip:
        rows = self.rows(self.size.width)
        return self.paint(rows[y] if y < len(rows) else (), self.size.width)

    def on_click(self, event: events.Click) -> None:
        for row, start, end, id_ in self._spans:
            if row == event.y and start <= event.x < end:
                self.post_message(self.Clicked(id_))
                return
