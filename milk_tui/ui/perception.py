"""What was captured of the perception so far (F4), to read: frame, working set, invariants."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical

from milk_tui.core.records import Layer, PerceptionEntry
from milk_tui.core.text import one_line
from milk_tui.ui import format as f
from milk_tui.ui.actions import Keymap
from milk_tui.ui.row_list import Row, RowList
from milk_tui.ui.screens import FullScreen
from milk_tui.ui.state import SessionState, Topic
from milk_tui.ui.words import TextRow

_EMPTY = {
    Layer.INVARIANT: "no project truths yet",
    Layer.FRAME: "no slice is open yet",
    Layer.WORKING: "nothing in hand yet",
}
_LONGEST = 2_000


class PerceptionScreen(FullScreen):
    """The three layers side by side; under each other where it is narrow."""

    HEADING = "perception"

    def __init__(self, state: SessionState, keymap: Keymap) -> None:
        super().__init__(state, keymap)
        self.lists = {
            layer: RowList(id=f"layer-{layer.value}", empty=_EMPTY[layer])
            for layer in (Layer.FRAME, Layer.WORKING, Layer.INVARIANT)
        }

    def body(self) -> ComposeResult:
        with Horizontal(id="columns"):
            for layer, rows in self.lists.items():
                with Vertical(classes="pane") as pane:
                    pane.border_title = layer.value
                    yield rows

    def state_changed(self, topics: Iterable[Topic], facts: Iterable[str] = ()) -> None:
        if Topic.PERCEPTION not in set(topics):
            return
        for layer, rows in self.lists.items():
            entries = [entry for entry in self.state.perception.values() if entry.layer is layer]
            rows.set_rows(entry_rows(entries))


def entry_rows(entries: Sequence[PerceptionEntry]) -> list[Row]:
    """Key, value, reason and who wrote it; an empty value removed the entry."""
    rows: list[Row] = []
    for entry in entries:
        if not entry.value:
            continue
        key = f"{entry.layer}:{entry.key}:{entry.proposed}"
        mark = " (proposed)" if entry.proposed else ""
        rows.append(TextRow(key, one_line(entry.key, 80) + mark, "heading", selectable=True))
        rows.append(TextRow(f"{key}:value", one_line(entry.value, _LONGEST), "", ("  ", "")))
        if entry.reason:
            reason = f"because {one_line(entry.reason, _LONGEST)}"
            rows.append(TextRow(f"{key}:reason", reason, "dim", ("  ", "")))
        about = [entry.writer, f"turn {entry.turn_id}" if entry.turn_id else "", f.moment(entry.updated_ms)]
        rows.append(TextRow(f"{key}:about", " · ".join(filter(None, about)), "dim", ("  ", "")))
        rows.append(TextRow(f"{key}:gap", ""))
    return rows
