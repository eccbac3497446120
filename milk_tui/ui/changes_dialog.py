"""The files that the agents changed in this session; each one's difference, and putting it back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from milk_tui.core.errors import MilkError
from milk_tui.core.text import clean, one_line
from milk_tui.ui import format as f
from milk_tui.ui.actions import Where, dialog_bindings
from milk_tui.ui.on_top import OnTop
from milk_tui.ui.row_list import Row, RowList
from milk_tui.ui.themes import style_sheets
from milk_tui.ui.words import ItemRow

if TYPE_CHECKING:
    from milk_tui.engine.changes_desk import Changed, ChangesDesk


class ChangesDialog(OnTop, ModalScreen[None]):
    """A list of files; enter shows the difference, ``r`` puts a file back."""

    CSS_PATH = style_sheets("dialogs")
    BINDINGS: ClassVar = [
        *dialog_bindings(Where.CHANGES),
        Binding("escape,q", "close", "Close", show=False),
    ]
    here: ClassVar = (Where.CHANGES,)

    def __init__(self, desk: ChangesDesk) -> None:
        super().__init__(classes="dialog")
        self._desk = desk
        self._files: dict[str, Changed] = {}
        self._insisted = ""
        self.list = RowList(empty="the agents changed no file in this session", id="changed-files")
        self.said = Static("", id="changes-note", markup=False)

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog-box pane -wide-box") as box:
            box.border_title = "changed files"
            box.border_subtitle = "enter difference · r put back · esc closes · what commands changed is not here"
            yield self.list
            yield self.said

    def on_mount(self) -> None:
        self.said.display = False
        self.look()

    @work(group="changes", exclusive=True, exit_on_error=False)
    async def look(self) -> None:
        """Read the list again."""
        await self._read()

    async def _read(self) -> None:
        found = await self._desk.files()
        self._files = {file.name: file for file in found}
        self.list.set_rows(rows(found))

    def say(self, text: str, severity: str = "information") -> None:
        """One line under the list."""
        self.said.update(Content(clean(text)))
        self.said.set_classes(f"-{severity}")
        self.said.display = bool(text)

    @on(RowList.Chosen)
    def chosen(self, event: RowList.Chosen) -> None:
        event.stop()
        changed = self._files.get(event.key)
        if changed is None:
            return
        from milk_tui.ui.diff_screen import Compared, DiffScreen, Part

        before, now = changed.texts
        part = Part(changed.name, before, now)
        self.app.push_screen(DiffScreen(Compared(changed.name, "before this session", "now", (part,))))

    def action_revert_file(self) -> None:
        row = self.list.current
        if row is not None:
            self._revert(row.key, insist=self._insisted == row.key)
        else:
            self.say("there is no file to put back")

    @work(group="changes", exit_on_error=False)
    async def _revert(self, name: str, *, insist: bool) -> None:
        try:
            changed = await self._desk.revert(name, insist=insist)
        except MilkError as error:
            self.say(str(error), "warning")
            await self._read()
            self._insisted = name if name in self._files and self._files[name].since else ""
            return
        self._insisted = ""
        self.say(f"{changed.name} is as it was before this session")
        self.look()

    def action_close(self) -> None:
        self.dismiss(None)


def rows(found: Sequence[Changed]) -> list[Row]:
    """The files with what became of them."""
    listed: list[Row] = []
    for changed in found:
        what = "new" if changed.file.before is None else "deleted" if changed.now is None else "changed"
        note = " · changed by something else since" if changed.since else ""
        times = f.plural(changed.file.times, "time")
        listed.append(
            ItemRow(
                changed.name,
                ((one_line(changed.name, 300), ""), (f"  {changed.diff.counts}", "strong")),
                ((f"  {what}, {times}", "dim"), (note, "warning")),
            )
        )
    return listed
