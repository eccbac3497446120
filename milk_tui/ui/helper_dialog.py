"""The memory helper's notes and runs: what waits, what was delivered to whom and when, what failed and why."""

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
from milk_tui.store import helper_runs, notes
from milk_tui.store.clock import now_ms
from milk_tui.ui import format as f
from milk_tui.ui.actions import Where, dialog_bindings
from milk_tui.ui.dialogs import Reader
from milk_tui.ui.on_top import OnTop
from milk_tui.ui.row_list import Heading, Row, RowList
from milk_tui.ui.themes import style_sheets
from milk_tui.ui.words import ItemRow, text_rows

if TYPE_CHECKING:
    from milk_tui.engine.conductor import Conductor
    from milk_tui.engine.workspace import Workspace
    from milk_tui.store.helper_runs import Run
    from milk_tui.store.notes import Note

_LOOKS = {"pending": "warning", "claimed": "warning", "delivered": "strong", "note": "strong", "failed": "error"}


class HelperDialog(OnTop, ModalScreen[None]):
    """A list of notes and runs; enter shows the whole text, ``x`` drops a note, ``s`` sends it now, ``f`` keeps it."""

    CSS_PATH = style_sheets("dialogs")
    BINDINGS: ClassVar = [
        *dialog_bindings(Where.HELPER),
        Binding("escape,q", "close", "Close", show=False),
    ]
    here: ClassVar = (Where.HELPER,)

    def __init__(self, workspace: Workspace, conductor: Conductor) -> None:
        super().__init__(classes="dialog")
        self._workspace = workspace
        self._conductor = conductor
        self._notes: dict[str, Note] = {}
        self._runs: dict[str, Run] = {}
        self.list = RowList(empty="the memory helper has not run in this session", id="helper-list")
        self.said = Static("", id="helper-note", markup=False)

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog-box pane -wide-box") as box:
            box.border_title = "memory helper"
            box.border_subtitle = "enter text · x drop · s send now · f keep as a fact · esc closes"
            yield self.list
            yield self.said

    def on_mount(self) -> None:
        self.said.display = False
        self.look()
        self.set_interval(1.0, self.look)

    @work(group="helper", exclusive=True, exit_on_error=False)
    async def look(self) -> None:
        """Read the list again."""
        session = self._conductor.session.id
        found = await self._workspace.store.read(lambda conn: notes.of_session(conn, session))
        runs = await self._workspace.store.read(lambda conn: helper_runs.log(conn, session_id=session))
        self._notes = {f"note:{note.id}": note for note in found}
        self._runs = {f"run:{run.id}": run for run in runs}
        made = rows(found, runs, now_ms())
        if [row.key for row in made] != [row.key for row in self.list.rows] or made != list(self.list.rows):
            self.list.set_rows(made)

    def say(self, text: str, severity: str = "information") -> None:
        """One line under the list."""
        self.said.update(Content(clean(text)))
        self.said.set_classes(f"-{severity}")
        self.said.display = bool(text)

    @on(RowList.Chosen)
    def chosen(self, event: RowList.Chosen) -> None:
        event.stop()
        text = whole(self._notes.get(event.key), self._runs.get(event.key))
        if text:
            self.app.push_screen(Reader("memory helper", text_rows(text, prefix="text")))

    def _note_here(self) -> Note | None:
        """The note under the cursor; that there is none is said."""
        row = self.list.current
        note = self._notes.get(row.key) if row is not None else None
        if note is None:
            self.say("this is no note")
        return note

    @work(group="do", exit_on_error=False)
    async def action_drop_note(self) -> None:
        if note := self._note_here():
            done = await self._workspace.helper.drop(note.id)
            self.say("dropped" if done else "it waits no more", "information" if done else "warning")
            self.look()

    @work(group="do", exit_on_error=False)
    async def action_send_note(self) -> None:
        if note := self._note_here():
            try:
                done = await self._workspace.helper.send_now(self._conductor, note.id)
            except MilkError as error:
                self.say(str(error), "warning")
                return
            self.say("it goes out" if done else "it waits no more", "information" if done else "warning")
            self.look()

    @work(group="do", exit_on_error=False)
    async def action_keep_note(self) -> None:
        if note := self._note_here():
            try:
                change = await self._workspace.helper.keep(self._conductor.session, note.id)
            except MilkError as error:
                self.say(str(error), "warning")
                return
            self.say(f"kept as {change.percept.short_id}" if change else "the note is gone")

    def action_close(self) -> None:
        self.dismiss(None)


def rows(found: Sequence[Note], runs: Sequence[Run], now: int) -> list[Row]:
    """Notes, then runs, newest first."""
    listed: list[Row] = [Heading("notes", (("NOTES", "heading"),))] if found else []
    for note in found:
        first = ((how(note), _LOOKS.get(note.status, "dim")), (f"  {f.when(note.created_ms, now)}", "dim"))
        listed.append(ItemRow(f"note:{note.id}", first, ((f"  {one_line(note.text, 300)}", ""),)))
    if runs:
        listed.append(Heading("runs", (("RUNS", "heading"),)))
    for run in runs:
        took = "…" if run.ended_ms is None else f"{(run.ended_ms - run.started_ms) / 1000:.1f} s"
        spent = "" if run.output_tokens is None else f" · {run.output_tokens:,} tokens"
        driven = f"{run.runtime} {run.model}".strip()
        first = ((run.status, _LOOKS.get(run.status, "")), (f"  {run.profile_id} · {driven} · {took}{spent}", "dim"))
        why = f"  {f.when(run.started_ms, now)} · {run.signal} · {run.input_bytes:,} bytes read"
        reason = f" · {one_line(run.reason, 200)}" if run.reason else ""
        listed.append(ItemRow(f"run:{run.id}", first, ((f"{why}{reason}", "dim"),)))
    return listed


def how(note: Note) -> str:
    """Where a note stands, in a few words."""
    match note.status:
        case "pending":
            return "waits"
        case "delivered":
            place = "a tool call" if note.carrier == notes.TOOL_STARTED else "the start of its work"
            return f"delivered to {one_line(note.receiver, 40)} at {place}, {f.clock(note.ended_ms or 0)}"
        case status:
            return f"{status}: {one_line(note.reason, 120)}" if note.reason else status


def whole(note: Note | None, run: Run | None) -> str:
    if note is not None:
        cited = "\n".join(f"cites {cite.id} of {cite.date}" for cite in note.cites)
        return f"{how(note)}\n\n{note.text}\n\n{cited}"
    if run is not None:
        tokens = "tokens unknown" if run.output_tokens is None else f"{run.output_tokens:,} tokens"
        spent = f"read {run.input_bytes:,} bytes, answered {run.output_bytes:,} bytes, {tokens}"
        return f"run {run.id}: {run.status}\n{run.profile_id} {run.profile_hash[:12]}\n{spent}\n\n{run.reason}".strip()
    return ""
