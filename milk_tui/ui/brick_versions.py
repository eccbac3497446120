"""Every version of a brick: read it, compare any two, take one back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen

from milk_tui.core.errors import MilkError
from milk_tui.core.records import Brick, BrickKind
from milk_tui.core.text import one_line
from milk_tui.ui import format as f
from milk_tui.ui import inspector_reads as reads
from milk_tui.ui.control import Control
from milk_tui.ui.diff_screen import Compared, DiffScreen, Part
from milk_tui.ui.marked_list import MarkedList
from milk_tui.ui.on_top import OnTop
from milk_tui.ui.row_list import Row, RowList
from milk_tui.ui.themes import style_sheets
from milk_tui.ui.words import ItemRow, TextRow, blank, text_rows

PAGE = 100


class VersionsDialog(OnTop, ModalScreen[None]):
    """Newest first; enter shows the whole text."""

    CSS_PATH = style_sheets("dialogs", "inspector")
    BINDINGS: ClassVar = [
        Binding("escape,q", "close", "Close", show=False),
        Binding("space", "mark", "Mark", show=False),
        Binding("d", "compare", "Difference", show=False),
        Binding("u", "take_back", "Take back", show=False),
    ]

    def __init__(self, control: Control, kind: BrickKind) -> None:
        super().__init__(classes="dialog")
        self._control = control
        self._kind = kind
        self._versions: list[Brick] = []
        self._opened: set[str] = set()
        self._all = False
        """True when the oldest version was read."""
        self.list = MarkedList(id="versions", empty=" no version yet")

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog-box pane -full-box") as box:
            box.border_title = Content(self._kind.value.replace("_", " "))
            box.border_subtitle = "enter text · space mark · d difference · u take back · esc"
            yield self.list

    def on_mount(self) -> None:
        self.read()

    @work(exclusive=True, group="read", exit_on_error=False)
    async def read(self) -> None:
        self._versions = await reads.versions(self._control, self._kind)
        self._all = len(self._versions) < PAGE
        self._draw()

    @work(exclusive=True, group="read", exit_on_error=False)
    async def read_more(self) -> None:
        more = await reads.versions(self._control, self._kind, before=self._versions[-1].version)
        self._all = len(more) < PAGE
        self._versions += more
        self._draw()

    def _draw(self) -> None:
        self.list.set_rows(version_rows(self._versions, self._opened))

    @on(RowList.Moved)
    def moved(self) -> None:
        if self._versions and not self._all and self.list.cursor >= len(self.list.rows) - PAGE // 4:
            self.read_more()

    @on(RowList.Chosen)
    def chosen(self, event: RowList.Chosen) -> None:
        event.stop()
        self._opened ^= {event.key}
        self._draw()

    def action_mark(self) -> None:
        self.list.toggle_mark()
        self.list.action_move(1)

    def action_compare(self) -> None:
        by_key = {version_key(brick): brick for brick in self._versions}
        if (pair := self.list.pair) is None:
            self.notify("there is only one version: nothing to compare it with", markup=False)
            return
        old, new = by_key[pair[0]], by_key[pair[1]]
        name = self._kind.value.replace("_", " ")
        self.app.push_screen(
            DiffScreen(Compared(f"{name}: difference", about(old), about(new), [Part(name, old.text, new.text)]))
        )

    @work(exclusive=True, group="take-back", exit_on_error=False)
    async def action_take_back(self) -> None:
        """The version under the cursor once more, as the newest."""
        row = self.list.current
        brick = next((b for b in self._versions if row is not None and version_key(b) == row.key), None)
        if brick is None or self._control.conductor is None:
            return
        try:
            made = await self._control.conductor.bricks.take_back(self._kind, brick.version)
        except MilkError as error:
            self.notify(str(error), severity="warning", markup=False)
            return
        self.notify(f"version {brick.version} is back, as version {made.version}", markup=False)
        self.read()

    def action_close(self) -> None:
        self.dismiss(None)


def version_key(brick: Brick) -> str:
    return f"version:{brick.version}"


def about(brick: Brick) -> str:
    """Which version, by whom and when."""
    return f"version {brick.version} by {one_line(brick.author, 40)}, turn {brick.turn_id}"


def version_rows(versions: Sequence[Brick], opened: set[str] | frozenset[str] = frozenset()) -> list[Row]:
    """One row a version with the beginning of its text; the opened ones whole."""
    rows: list[Row] = []
    for brick in versions:
        key = version_key(brick)
        status = f" · {brick.status}" if brick.status else ""
        facts = f"  {f.moment(brick.updated_ms)} · {f.count(len(brick.text))} chars{status}"
        first = (("  ", ""), (about(brick), "strong"), (facts, "dim"))
        if key in opened:
            rows.append(ItemRow(key, first))
            rows += text_rows(brick.text or "(nothing)", prefix=f"{key}:text", indent="    ")
            rows.append(blank(f"{key}:gap"))
        else:
            rows.append(ItemRow(key, first, (("    ", ""), (one_line(brick.text, 300) or "(nothing)", "dim"))))
    if versions and versions[-1].version > 1 and len(versions) % PAGE == 0:
        rows.append(TextRow("versions:more", "older ones come as you go on", "dim", ("  ", "")))
    return rows
