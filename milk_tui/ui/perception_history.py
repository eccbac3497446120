"""Every version of one entry of the perception: who wrote it, when, and the difference of any two."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen

from milk_tui.core.records import PerceptionEntry
from milk_tui.core.text import one_line
from milk_tui.ui import format as f
from milk_tui.ui.diff_screen import Compared, DiffScreen, Part
from milk_tui.ui.marked_list import MarkedList
from milk_tui.ui.on_top import OnTop
from milk_tui.ui.perception_rows import editable
from milk_tui.ui.row_list import Row
from milk_tui.ui.themes import style_sheets
from milk_tui.ui.words import ItemRow, blank, text_rows


class EntryHistory(OnTop, ModalScreen[None]):
    """Newest first, whole."""

    CSS_PATH = style_sheets("dialogs", "inspector")
    BINDINGS: ClassVar = [
        Binding("escape,q", "close", "Close", show=False),
        Binding("space", "mark", "Mark", show=False),
        Binding("d", "compare", "Difference", show=False),
    ]

    def __init__(self, versions: Sequence[PerceptionEntry]) -> None:
        super().__init__(classes="dialog")
        self._versions = versions
        self.list = MarkedList(id="entry-versions", empty=" no version")

    def compose(self) -> ComposeResult:
        first = self._versions[0] if self._versions else None
        with Vertical(classes="dialog-box pane -wide-box") as box:
            box.border_title = Content(f"{first.layer} · {one_line(first.key, 40)}" if first else "entry")
            box.border_subtitle = "space mark · d difference · esc closes"
            yield self.list

    def on_mount(self) -> None:
        self.list.set_rows(history_rows(self._versions))

    def action_mark(self) -> None:
        self.list.toggle_mark()
        self.list.action_move(1)

    def action_compare(self) -> None:
        if (pair := self.list.pair) is None:
            self.notify("there is only one version: nothing to compare it with", markup=False)
            return
        old, new = (self._versions[int(key.partition(":")[2])] for key in pair)
        part = Part(old.key, editable(old) if old.value else None, editable(new) if new.value else None)
        self.app.push_screen(DiffScreen(Compared("difference of two versions", about(old), about(new), [part])))

    def action_close(self) -> None:
        self.dismiss(None)


def about(entry: PerceptionEntry) -> str:
    """Who wrote a version, and when."""
    turn = f"turn {entry.turn_id}" if entry.turn_id else ""
    proposed = "proposed" if entry.proposed else ""
    moment = f.moment(entry.updated_ms) if entry.updated_ms else ""
    return " · ".join(filter(None, (one_line(entry.writer, 40), turn, moment, proposed)))


def history_rows(versions: Sequence[PerceptionEntry]) -> list[Row]:
    rows: list[Row] = []
    for number, entry in enumerate(versions):
        key = f"version:{number}"
        rows.append(ItemRow(key, (("  ", ""), (about(entry), "strong"))))
        rows += text_rows(editable(entry) if entry.value else "(removed)", prefix=f"{key}:text", indent="    ")
        rows.append(blank(f"{key}:gap"))
    return rows
