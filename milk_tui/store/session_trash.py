"""Sessions that the person deleted: gone from every list, and there for a while, so that it can be undone."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

from msgspec import Struct

from milk_tui.store import sessions
from milk_tui.store.clock import now_ms

if TYPE_CHECKING:
    from sqlite_utils import Database

KEPT_MS = 30 * 86_400_000
"""How long a deleted session can be brought back: as long as a forgotten fact (``semantics.md`` §2)."""


class Deleted(Struct, frozen=True, kw_only=True):
    id: str
    directory: str
    title: str
    turns: int
    deleted_ms: int


def delete(db: Database, session_id: str, *, now: int | None = None) -> bool:
    """Put the session away; False when it is not there. Those put away more than ``KEPT_MS`` ago go for good."""
    now = now_ms() if now is None else now
    purge(db, now=now)
    cursor = db.execute("update sessions set deleted_ms = ? where id = ? and deleted_ms is null", (now, session_id))
    return cursor.rowcount == 1


def restore(db: Database, session_id: str) -> bool:
    """Bring it back as it was; False when it is not among the deleted."""
    cursor = db.execute("update sessions set deleted_ms = null where id = ? and deleted_ms is not null", (session_id,))
    return cursor.rowcount == 1


def listed(conn: sqlite3.Connection) -> list[Deleted]:
    """What can be brought back, deleted last first."""
    rows = conn.execute(
        "select id, directory, title, deleted_ms, (select count(*) from turns where session_id = s.id) as turns"
        " from sessions s where deleted_ms is not null order by deleted_ms desc, id"
    )
    return [Deleted(**dict(row)) for row in rows]


def purge(db: Database, *, now: int) -> int:
    """Remove for good what was deleted more than ``KEPT_MS`` ago; how many."""
    old = db.conn.execute("select id from sessions where deleted_ms < ?", (now - KEPT_MS,)).fetchall()
    for row in old:
        sessions.delete(db, row["id"])
    return len(old)
