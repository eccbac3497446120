"""Where a call from outside the screen belongs: its session, and the facts in its reach."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from msgspec import Struct

from milk_tui.core.errors import MilkError
from milk_tui.core.records import Leg, Session
from milk_tui.engine.outside_client import Client
from milk_tui.store import sessions


class Place(Struct, frozen=True, kw_only=True):
    """Where a call belongs. ``session`` ``None``: there is none yet."""

    client: Client
    session: Session | None
    reach: tuple[str, ...]
    """Ids of the sessions whose facts the client may see."""
    leg: Leg | None = None
    """The leg that the client works on, when the screen started it."""


def place(conn: sqlite3.Connection, client: Client, directory: Path, *, session: str = "") -> Place:
    """Of this moment; nothing is made. ``session``: the one that is named, by id or title. Raises MilkError when it is
    gone."""
    if session:
        found = sessions.by_name(conn, session, str(directory))
        if found is None:
            raise MilkError(f"There is no session {session}.", "Run: milk-tui sessions list")
    else:
        found = nearest(conn, directory)
    client = client.in_session(found)
    if client.known:
        leg = _running(conn, found, client) if session and found else None
        return Place(client=client, session=found, reach=_ids(found), leg=leg)
    apart = sessions.outside_of(conn, str(directory))
    return Place(client=client, session=apart, reach=(*_ids(found), *_ids(apart)))


def nearest(conn: sqlite3.Connection, directory: Path) -> Session | None:
    """The newest session of the directory, or of the nearest one above it in the same repository."""
    for folder in (directory, *directory.parents):
        session = sessions.newest(conn, str(folder))
        if session is not None or (folder / ".git").exists():
            return session
        if folder == directory and not _in_repository(directory):
            return None
    return None


def _in_repository(directory: Path) -> bool:
    return any((folder / ".git").exists() for folder in directory.parents)


def _ids(session: Session | None) -> tuple[str, ...]:
    return (session.id,) if session else ()


def _running(conn: sqlite3.Connection, session: Session, client: Client) -> Leg | None:
    """The leg that the agent works on now."""
    row = conn.execute(
        "select l.id from legs l where l.session_id = ? and l.agent_name = ? and l.status = 'running'"
        " order by l.id desc limit 1",
        (session.id, client.name),
    ).fetchone()
    if row is None:
        return None
    from milk_tui.store import legs

    return legs.get(conn, row[0])
