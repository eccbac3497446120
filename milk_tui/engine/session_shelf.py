"""All sessions of the database, as a list the person deals with: look into, search, rename, fork, write out, delete."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from milk_tui.core.errors import MilkError
from milk_tui.core.records import Role, Session
from milk_tui.core.text import one_line
from milk_tui.engine import session_writer
from milk_tui.engine.casting import new_nonce
from milk_tui.engine.session_writer import Form
from milk_tui.store import Store, messages, owner, session_copies, session_trash, sessions

if TYPE_CHECKING:
    from milk_tui.store.messages import MessageHit

TITLE_CHARS = 80
PREVIEW_TURNS = 6
PREVIEW_CHARS = 1_200


class Glimpse(Struct, frozen=True):
    """The end of a prompt or an answer, for a preview."""

    who: str
    """Empty: the person."""
    role: Role | None
    at_ms: int
    text: str


class SessionShelf:
    """``open_here`` says whether the program has the session open: one that is in use is not deleted."""

    def __init__(self, store: Store, open_here: Callable[[str], bool]) -> None:
        self._store = store
        self._open_here = open_here
        self._deleted: list[str] = []

    async def rename(self, session_id: str, title: str) -> str:
        """The title as it is kept. Raises MilkError for a blank one."""
        name = one_line(title, TITLE_CHARS)
        if not name:
            raise MilkError("The title is empty.")
        await self._store.write(lambda db: sessions.rename(db, session_id, name))
        return name

    async def fork(self, session_id: str, *, last_turn: int | None = None, title: str = "") -> Session:
        """A copy of the session, up to and with a turn. Raises MilkError when there is none such."""
        source = await self._store.read(lambda conn: sessions.get(conn, session_id))
        called = one_line(title, TITLE_CHARS) or one_line(f"{source.title or 'untitled'} (fork)", TITLE_CHARS)
        nonces = {role: new_nonce() for role in Role}
        return await self._store.write(
            lambda db: session_copies.fork(db, session_id, nonces=nonces, title=called, last_turn=last_turn)
        )

    async def delete(self, session_id: str) -> None:
        """Put the session away; ``undelete`` brings it back. Raises MilkError when somebody works in it."""
        if self._open_here(session_id):
            raise MilkError("This session is open here.", "Begin or resume another one, then delete it.")
        working = await self._store.read(lambda conn: sessions.owners(conn, session_id))
        if any(owner.alive(self._store.running_folder, each) for each in working):
            raise MilkError("Another program works in this session.", "Stop it or wait, then delete the session.")
        if await self._store.write(lambda db: session_trash.delete(db, session_id)):
            self._deleted.append(session_id)

    async def undelete(self) -> str | None:
        """Bring back what was deleted last in this run, or last of all; its id, ``None`` when there is nothing."""
        while self._deleted:
            session_id = self._deleted.pop()
            if await self._store.write(lambda db, gone=session_id: session_trash.restore(db, gone)):  # type: ignore[misc]
                return session_id
        gone = await self._store.read(session_trash.listed)
        if not gone or not await self._store.write(lambda db: session_trash.restore(db, gone[0].id)):
            return None
        return gone[0].id

    async def glimpse(self, session_id: str) -> list[Glimpse]:
        """The newest turns, oldest of them first; long texts are cut."""
        from milk_tui.engine.session_export import Words, conversation

        session = await self._store.read(lambda conn: sessions.get(conn, session_id))
        said = await asyncio.to_thread(lambda: list(conversation(self._store, session_id, PREVIEW_TURNS)))
        words = Words(session.nonces, secrets=True)
        seen: list[Glimpse] = []
        for each in said:
            seen.append(Glimpse("", None, each.turn.created_ms, _cut(words.text(each.turn.prompt))))
            seen += [
                Glimpse(leg.agent_name, leg.role, leg.started_ms, _cut(words.text(leg.text)))
                for leg, _ in each.legs
                if leg.text.strip()
            ]
        return seen

    async def search(self, text: str, *, directory: str | None = None, limit: int = 40) -> list[MessageHit]:
        """Prompts and answers of sessions that hold the words, best first; ``directory``: of its sessions alone."""

        def find(conn: sqlite3.Connection) -> list[MessageHit]:
            hits = messages.search(conn, text, limit=limit * 4)
            here = {row.id for row in sessions.rows(conn, directory)}
            return [hit for hit in hits if hit.session_id in here][:limit]

        return await self._store.read(find)

    async def export(self, session_id: str, file: str, folder: Path) -> Path:
        """Write the session to a file, named from ``folder`` on, by its ending; a free name beside it when it is there.

        Raises MilkError when the file can't be written, or its ending is none that is known.
        """
        form = session_writer.form_of(file)
        if form is None:
            known = ", ".join(f".{each}" for each in Form)
            raise MilkError(f"{file}: no such kind of file.", f"Let it end in {known}.")
        session = await self._store.read(lambda conn: sessions.get(conn, session_id))
        return await asyncio.to_thread(lambda: self._write(session, folder / Path(file).expanduser(), form))

    def _write(self, session: Session, path: Path, form: Form) -> Path:
        target = path
        try:
            for number in range(2, 1_000):
                try:
                    descriptor = os.open(target, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o600)
                    break
                except FileExistsError:
                    target = path.with_name(f"{path.stem}-{number}{path.suffix}")
            else:
                raise MilkError(f"{path} is there already.", "Name another file.")
        except OSError as error:
            raise MilkError(f"{path}: {(error.strerror or 'it can not be written').lower()}.") from error
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8", newline="\n") as out:
                session_writer.write(out, self._store, session, form)
        except OSError as error:
            with contextlib.suppress(OSError):
                target.unlink()
            raise MilkError(f"{target}: {(error.strerror or 'it can not be written').lower()}.") from error
        return target

    async def default_file(self, session_id: str) -> str:
        """The file of an export when none is named."""
        from milk_tui.engine.session_export import default_name

        session = await self._store.read(lambda conn: sessions.get(conn, session_id))
        return default_name(session, "md")


def _cut(text: str) -> str:
    words = text.strip()
    return words if len(words) <= PREVIEW_CHARS else f"{words[:PREVIEW_CHARS].rstrip()} …"
