"""Sessions (ctrl+o): resume, rename, begin."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar, Protocol

from milk_tui.core.errors import MilkError
from milk_tui.core.text import one_line
from milk_tui.ui import format as f
from milk_tui.ui.actions import Where, bindings
from milk_tui.ui.dialogs import Ask, Picker
from milk_tui.ui.paint import Line, Piece
from milk_tui.ui.row_list import Row
from milk_tui.ui.words import ItemRow, joined

if TYPE_CHECKING:
    from textual.app import App

    from milk_tui.core.records import SessionRow
    from milk_tui.ui.control import Control

NEW = "new"
EVERYWHERE = "everywhere"
RENAME = "rename:"


class Switcher(Protocol):
    async def switch_session(self, which: str | None = None, *, new: bool = False) -> None: ...


class SessionPicker(Picker):
    """The list; its own keys are no letters, because letters narrow it."""

    BINDINGS: ClassVar = bindings(Where.SESSIONS)

    def action_all_sessions(self) -> None:
        self.dismiss(EVERYWHERE)

    def action_rename_session(self) -> None:
        if self.list.current is not None and self.list.current.key != NEW:
            self.dismiss(RENAME + self.list.current.key)


async def choose(app: App[int], control: Control, switcher: Switcher) -> None:
    """Show the sessions until one is chosen or the dialog is closed. Raises MilkError."""
    everywhere = False
    while True:
        rows = await control.sessions(everywhere=everywhere)
        chosen = await app.push_screen_wait(_picker(rows, control.session_id, everywhere))
        if chosen is None:
            return
        if chosen == EVERYWHERE:
            everywhere = not everywhere
        elif chosen == NEW:
            await switcher.switch_session(new=True)
            return
        elif chosen.startswith(RENAME):
            await _rename(app, control, rows, chosen.removeprefix(RENAME))
        else:
            await switcher.switch_session(chosen)
            return


def _picker(rows: Sequence[SessionRow], current: str, everywhere: bool) -> SessionPicker:
    here = "sessions of every directory" if everywhere else "sessions of this directory"
    other = "this directory" if everywhere else "all directories"
    return SessionPicker(
        here,
        lambda words: session_rows(rows, words, current, everywhere=everywhere),
        hint=f"enter resumes · ^r renames · tab {other} · esc closes",
        empty="no session says that",
        start=next((row.id for row in rows if row.id != current), NEW),
        wide=True,
    )


def session_rows(
    sessions: Sequence[SessionRow],
    words: str,
    current: str,
    *,
    everywhere: bool,
    now_ms: int | None = None,
) -> list[Row]:
    """The sessions that hold all words in title, last prompt or directory, newest first; then a new one."""
    now_ms = int(time.time() * 1000) if now_ms is None else now_ms
    wanted = words.casefold().split()
    rows: list[Row] = []
    for session in sessions:
        text = f"{session.title} {session.last_prompt} {session.directory}".casefold()
        if all(word in text for word in wanted):
            rows.append(_row(session, current, everywhere, now_ms))
    if not wanted:
        rows.append(ItemRow(NEW, (("+ new session in this directory", "key"),)))
    return rows


def _row(session: SessionRow, current: str, everywhere: bool, now_ms: int) -> ItemRow:
    mark = "› " if session.id == current else "  "
    title: Line = (
        (mark, "key"),
        (one_line(session.title, 70) or "untitled", "strong"),
        (f"  {f.when(session.updated_ms, now_ms)}", "dim"),
    )
    about: list[Piece] = [
        (f.plural(session.turns, "turn"), "dim"),
        (session.agents, "dim"),
        (f.money(session.cost_usd) if session.cost_usd else "", "dim"),
        (f.directory(session.directory) if everywhere else "", "dim"),
        (one_line(session.last_prompt, 120), "dim"),
    ]
    return ItemRow(session.id, title, (("    ", ""), *joined(about)))


async def _rename(app: App[int], control: Control, rows: Sequence[SessionRow], session_id: str) -> None:
    title = next((row.title for row in rows if row.id == session_id), "")
    wanted = await app.push_screen_wait(Ask("rename the session", title))
    if wanted is None:
        return
    if session_id == control.session_id and control.conductor is not None:
        await control.conductor.rename(wanted)
        return
    if control.workspace is None:
        raise MilkError("The session is not open yet.")
    await control.rename_other(session_id, wanted)
