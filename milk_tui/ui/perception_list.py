"""One layer of the perception as a list, and the line in which an entry is written anew, in its place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from textual.binding import Binding
from textual.message import Message
from textual.widget import Widget

from milk_tui.core.perception_view import EntryView
from milk_tui.core.records import Layer
from milk_tui.ui.in_order import InOrder
from milk_tui.ui.perception_rows import EntryRow, SliceRow, editable
from milk_tui.ui.row_list import RowList
from milk_tui.ui.write_dialog import Words

EDIT_X = 5
EDIT_LINES = 8


class LayerList(InOrder, RowList):
    """Left and right go through time, as on the slider."""

    @dataclass
    class TimeMoved(Message):
        step: int

    BINDINGS: ClassVar = [
        Binding("left", "time(-1)", "Earlier", show=False),
        Binding("right", "time(1)", "Later", show=False),
    ]

    def __init__(self, layer: Layer) -> None:
        super().__init__(id=f"layer-{layer.value}", empty=" looking …")
        self.of_layer = layer

    @property
    def entry(self) -> EntryView | None:
        """The entry under the cursor."""
        return self.current.view if isinstance(self.current, EntryRow) else None

    @property
    def slice(self) -> str:
        """The slice under the cursor; empty when there is none."""
        return self.current.slice.name if isinstance(self.current, SliceRow) else ""

    @property
    def cursor_line(self) -> int:
        """The line of the cursor's row, counted from the first that is seen."""
        return self._top(self.cursor) - round(self.scroll_offset.y)

    def action_time(self, step: int) -> None:
        self.post_message(self.TimeMoved(step))


class EntryEdit(Words):
    """Writes over the value of one entry, with its reasons in brackets."""

    def __init__(self, view: EntryView) -> None:
        super().__init__(editable(view.entry))
        self.view = view
        self.add_class("entry-edit")

    def place(self, rows: LayerList, frame: Widget) -> None:
        """Lie over the value in the list."""
        top = rows.region.y - frame.content_region.y + rows.cursor_line + 1
        height = frame.content_size.height
        y = max(0, min(top, height - 1))
        self.styles.offset = (EDIT_X, y)
        self.styles.width = max(8, rows.text_width - EDIT_X)
        self.styles.max_height = max(1, min(EDIT_LINES, height - y))
