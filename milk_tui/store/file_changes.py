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


class ChangedFile(Struct, frozen=True, kw_only=True):
    """A file of a session: as it was before the first change, and as the last one left it."""

    path: str
    before: bytes | None
    after: bytes | None
    mode: int | None
    times: int


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


def files(conn: sqlite3.Connection, session_id: str) -> list[ChangedFile]:
    """The changed files, in the order in which they were first changed; those that are as they were left out."""
    rows = conn.execute(
        "select first.path, first.before, last.after, first.mode, changed.times from"
        " (select min(id) as first, max(id) as last, count(*) as times from file_changes where session_id = ?"
        "  group by path) as changed"
        " join file_changes as first on first.id = changed.first join file_changes as last on last.id = changed.last"
        " where first.before is not last.after order by changed.first",
        (session_id,),
    )
    return [ChangedFile(**dict(row)) for row in rows]
