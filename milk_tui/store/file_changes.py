"""Files that the tools of a session changed, as they were before and after each call."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from sqlite_utils import Database


class FileChange(Struct, frozen=True, kw_only=True):
    """One change of one file; ``None`` for content means that there was no file. ``mode``: its permission bits before
    the change, where there was one."""

    id: int = 0
    session_id: str
    leg_id: int | None = None
    path: str
    verb: str
    """write · edit · move · delete · revert"""
    before: bytes | None
    after: bytes | None
    mode: int | None = None
    at_ms: int = 0


def add(db: Database, change: FileChange) -> int:
    """Keep a change; its id."""
    cursor = db.execute(
        "insert into file_changes (session_id, leg_id, path, verb, before, after, mode, at_ms)"
        " values (?, ?, ?, ?, ?, ?, ?, ?)",
        (
            change.session_id,
            change.leg_id,
            change.path,
            change.verb,
            change.before,
            change.after,
            change.mode,
            change.at_ms,
        ),
    )
    return cursor.lastrowid or 0


def remove(db: Database, change_id: int) -> None:
    """The change was not done after all."""
    db.execute("delete from file_changes where id = ?", (change_id,))


def of_session(conn: sqlite3.Connection, session_id: str, path: str | None = None) -> list[FileChange]:
    """The changes of a session, or of one file in it, oldest first."""
    rows = conn.execute(
        "select * from file_changes where session_id = ?1 and (?2 is null or path = ?2) order by id",
        (session_id, path),
    )
    return [FileChange(**dict(row)) for row in rows]
