"""Sessions (ctrl+o): look into them, search in all that was said, resume, rename, fork, write out, delete."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Protocol

from textual import on, work
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.events import Resize
from textual.widgets import Input

from milk_tui.core.errors import MilkError
from milk_tui.core.text import one_line
from milk_tui.ui import format as f
from milk_tui.ui.actions import BY_ID, Keymap, Where, dialog_bindings
from milk_tui.ui.dialogs import Ask, Picker
from milk_tui.ui.paint import Piece
from milk_tui.ui.row_list import Row, RowList
from milk_tui.ui.session_lines import SessionLines
from milk_tui.ui.words import ItemRow, TextRow, blank, joined, text_rows

if TYPE_CHECKING:
    from textual.app import App

    from milk_tui.core.records import SessionRow
    from milk_tui.engine.session_shelf import Glimpse, SessionShelf
    from milk_tui.store.messages import MessageHit
    from milk_tui.ui.control import Control

NEW = "new"
LOOK_AFTER_S = 0.08
"""How long the cursor rests on a session, or the typing, before the database is asked."""
PREVIEW_FROM = 110
"""Columns from which on the end of the conversation is shown beside the list."""
SNIPPET_CHARS = 100


class Switcher(Protocol):
    async def switch_session(self, which: str | None = None, *, new: bool = False) -> None: ...


async def choose(app: App[int], control: Control, switcher: Switcher) -> None:
    """Show the sessions until one is chosen or the dialog is closed. Raises MilkError."""
    if control.workspace is None:
        raise MilkError("The session is not open yet.")
    picker = SessionPicker(control, control.workspace.shelf, await control.sessions(everywhere=False))
    chosen = await app.push_screen_wait(picker)
    if chosen == NEW:
        await switcher.switch_session(new=True)
    elif chosen is not None:
        await switcher.switch_session(chosen)


class SessionPicker(Picker):
    """The list; its own keys are no letters, because letters narrow it."""

    BINDINGS: ClassVar = dialog_bindings(Where.SESSIONS)
    here: ClassVar = (Where.SESSIONS,)

    def __init__(self, control: Control, shelf: SessionShelf, sessions: Sequence[SessionRow]) -> None:
        start = next((row.id for row in sessions if row.id != control.session_id), control.session_id or NEW)
        super().__init__(
            "sessions", self._found, empty="no session says that", start=start, placeholder="type to search"
        )
        self.add_class("-sessions")
        self._control = control
        self._shelf = shelf
        self._sessions = sessions
        self._everywhere = False
        self._said: Mapping[str, MessageHit] = {}
        """What was said that holds the words, by session."""
        self.preview = RowList(empty="nothing was said yet", classes="-preview")
        self.preview.can_focus = False

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog-box pane -wide-box -sessions-box") as self._box:
            yield self.filter
            with Horizontal():
                yield self.list
                yield self.preview
        self._entitle()

    def on_resize(self, event: Resize) -> None:
        self.preview.display = event.size.width >= PREVIEW_FROM

    def _entitle(self) -> None:
        here = "every directory" if self._everywhere else "this directory"
        other = "this directory" if self._everywhere else "all directories"
        self._box.border_title = Content(f"sessions of {here}")
        keymap: Keymap = getattr(self.app, "keymap", Keymap({}))
        names = {
            "rename-session": "rename",
            "fork-session": "fork",
            "export-session": "write",
            "delete-session": "delete",
        }
        names |= {"undelete-session": "undo", "all-sessions": other}
        wide = " · ".join(f"{keymap.shown(BY_ID[id_], 1)} {name}" for id_, name in names.items())
        self._box.border_subtitle = Content(f"enter resumes · {wide} · esc closes")

    def _found(self, words: str) -> list[Row]:
        return session_rows(
            self._sessions, words, self._control.session_id, everywhere=self._everywhere, said=self._said
        )

    @on(Input.Changed)
    def words_changed(self, event: Input.Changed) -> None:
        self._said = {}
        self._search(event.value)

    @work(group="search", exclusive=True, exit_on_error=False)
    async def _search(self, words: str) -> None:
        """Look for the words in all that was said, when the typing rests."""
        if not words.strip():
            return
        await self._rest()
        directory = None if self._everywhere else self._control.state.directory
        said: dict[str, MessageHit] = {}
        for hit in await self._shelf.search(words, directory=directory):
            said.setdefault(hit.session_id, hit)
        if self.filter.value == words and self.is_mounted:
            self._said = said
            self.narrow()

    @on(RowList.Moved)
    def moved(self, event: RowList.Moved) -> None:
        event.stop()
        if event.list is self.list:
            self._look(event.key)

    @work(group="look", exclusive=True, exit_on_error=False)
    async def _look(self, session_id: str) -> None:
        """Show the end of the session that the cursor rests on."""
        if session_id in ("", NEW):
            self.preview.set_rows(())
            return
        await self._rest()
        rows = preview_rows(await self._shelf.glimpse(session_id))
        if self.is_mounted:
            self.preview.set_rows(rows)
            self.preview.scroll_end(animate=False)

    async def _rest(self) -> None:
        await asyncio.sleep(LOOK_AFTER_S)

    def _session_here(self) -> SessionRow | None:
        """The session under the cursor; that there is none is said."""
        key = self.list.current.key if self.list.current is not None else ""
        session = next((row for row in self._sessions if row.id == key), None)
        if session is None:
            self.notify("no session is under the cursor")
        return session

    @work(group="doing", exclusive=True, exit_on_error=False)
    async def action_all_sessions(self) -> None:
        self._everywhere = not self._everywhere
        await self._read()
        self._entitle()
        self._search(self.filter.value)

    @work(group="doing", exclusive=True, exit_on_error=False)
    async def action_rename_session(self) -> None:
        if (session := self._session_here()) is None:
            return
        title = await self.app.push_screen_wait(Ask("rename the session", session.title))
        if title is not None:
            await self._do(self._rename(session.id, title))

    async def _rename(self, session_id: str, title: str) -> str:
        conductor = self._control.conductor
        if conductor is not None and conductor.session.id == session_id:
            await conductor.rename(title)
            return ""
        await self._shelf.rename(session_id, title)
        return ""

    @work(group="doing", exclusive=True, exit_on_error=False)
    async def action_fork_session(self) -> None:
        if (session := self._session_here()) is not None:
            await self._do(self._fork(session.id))

    async def _fork(self, session_id: str) -> str:
        copy = await self._shelf.fork(session_id)
        await self._read()
        self.list.go_to(copy.id)
        return f"{copy.title}: a copy to go another way with"

    @work(group="doing", exclusive=True, exit_on_error=False)
    async def action_export_session(self) -> None:
        if (session := self._session_here()) is None:
            return
        suggested = await self._shelf.default_file(session.id)
        hint = "a file ending in .md, .html or .json · enter writes · esc leaves"
        file = await self.app.push_screen_wait(Ask("write the session to a file", suggested, hint=hint))
        if file is not None:
            await self._do(self._export(session.id, file))

    async def _export(self, session_id: str, file: str) -> str:
        return f"written: {await self._shelf.export(session_id, file, Path(self._control.state.directory))}"

    @work(group="doing", exclusive=True, exit_on_error=False)
    async def action_delete_session(self) -> None:
        if (session := self._session_here()) is not None:
            await self._do(self._delete(session))

    async def _delete(self, session: SessionRow) -> str:
        await self._shelf.delete(session.id)
        keymap: Keymap = getattr(self.app, "keymap", Keymap({}))
        undo = keymap.shown(BY_ID["undelete-session"], 1)
        return f"deleted: {one_line(session.title, 40) or 'untitled'} ({undo} brings it back)"

    @work(group="doing", exclusive=True, exit_on_error=False)
    async def action_undelete_session(self) -> None:
        await self._do(self._undelete())

    async def _undelete(self) -> str:
        session_id = await self._shelf.undelete()
        if session_id is None:
            return "no deleted session can be brought back"
        await self._read()
        return "" if self.list.go_to(session_id) else "brought back, in another directory"

    async def _do(self, doing: Awaitable[str]) -> None:
        """Do it, show the list anew, and say what came of it."""
        try:
            said = await doing
        except MilkError as error:
            self.notify(str(error), severity="warning", markup=False)
        else:
            if said:
                self.notify(said, markup=False)
        await self._read()

    async def _read(self) -> None:
        self._sessions = await self._control.sessions(everywhere=self._everywhere)
        self.narrow()


def session_rows(
    sessions: Sequence[SessionRow],
    words: str,
    current: str,
    *,
    everywhere: bool,
    said: Mapping[str, MessageHit] | None = None,
    now_ms: int | None = None,
) -> list[Row]:
    """The sessions that hold all words in title, last prompt or directory, newest first, then those in which ``said``
    was said; then a new one."""
    now_ms = int(time.time() * 1000) if now_ms is None else now_ms
    wanted = words.casefold().split()
    rows: list[Row] = []
    named: set[str] = set()
    for session in sessions:
        text = f"{session.title} {session.last_prompt} {session.directory}".casefold()
        if all(word in text for word in wanted):
            named.add(session.id)
            rows.append(_row(session, current, everywhere, now_ms))
    for session in sessions:
        hit = (said or {}).get(session.id)
        if hit is not None and session.id not in named:
            rows.append(_row(session, current, everywhere, now_ms, snippet(hit.text, wanted)))
    if not wanted:
        rows.append(ItemRow(NEW, (("+ new session in this directory", "key"),)))
    return rows


def snippet(text: str, words: Sequence[str]) -> str:
    """The part of a text where the first of the words stands, on one line."""
    line = one_line(text, 100_000)
    places = [place for word in words if (place := line.casefold().find(word)) >= 0]
    start = max(0, min(places, default=0) - SNIPPET_CHARS // 3)
    return ("…" if start else "") + one_line(line[start:], SNIPPET_CHARS)


def _row(session: SessionRow, current: str, everywhere: bool, now_ms: int, said: str = "") -> Row:
    about: list[Piece] = [
        (f.plural(session.turns, "turn"), "dim"),
        (session.agents, "dim"),
        (f.money(session.cost_usd) if session.cost_usd else "", "dim"),
        (f.directory(session.directory) if everywhere else "", "dim"),
    ]
    title, last = one_line(session.title, 200), one_line(session.last_prompt, 200)
    return SessionLines(
        session.id,
        title=title or "untitled",
        when=f.when(session.updated_ms, now_ms),
        about=joined(about),
        said=said or (last if last != title else ""),
        current=session.id == current,
        found=bool(said),
    )


def preview_rows(seen: Sequence[Glimpse]) -> list[Row]:
    """The end of a conversation, as the transcript shows it, without its colours and calls."""
    rows: list[Row] = []
    for number, each in enumerate(seen):
        if number:
            rows.append(blank(f"gap:{number}"))
        mark = {"primary": "● ", "escalation": "◆ "}.get(str(each.role), "")
        look = str(each.role) if each.role else "strong"
        rows.append(TextRow(f"who:{number}", f"{mark}{each.who or 'you'} · {f.moment(each.at_ms)}", look))
        rows += text_rows(each.text, prefix=f"text:{number}")
    return rows
