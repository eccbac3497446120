"""Grants: what the person allowed beyond one request (``core/grants.py`` has the rules)."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

from milk_tui.core.grants import Grant
from milk_tui.store.clock import now_ms
from milk_tui.store.rows import storable

if TYPE_CHECKING:
    from sqlite_utils import Database


def add(db: Database, grant: Grant) -> Grant:
    """Keep a grant; one that says the same is kept once."""
    row = db.execute(
        "select id from grants where agent_name = ? and tool = ? and directory = ? and arguments = ? and pattern = ?"
        " and session_id is ?",
        (grant.agent_name, grant.tool, grant.directory, storable(grant.arguments), grant.pattern, grant.session_id),
    ).fetchone()
    if row is not None:
        return get(db.conn, row[0]) or grant
    cursor = db.execute(
        "insert into grants (agent_name, tool, arguments, pattern, directory, session_id, title, created_ms)"
        " values (?, ?, ?, ?, ?, ?, ?, ?)",
        (
            storable(grant.agent_name),
            storable(grant.tool),
            storable(grant.arguments),
            storable(grant.pattern),
            storable(grant.directory),
            grant.session_id,
            storable(grant.title),
            grant.created_ms,
        ),
    )
    return get(db.conn, cursor.lastrowid or 0) or grant


def get(conn: sqlite3.Connection, grant_id: int) -> Grant | None:
    row = conn.execute("select * from grants where id = ?", (grant_id,)).fetchone()
    return Grant(**dict(row)) if row is not None else None


def candidates(conn: sqlite3.Connection, agent_name: str, tool: str, directory: str) -> list[Grant]:
    """What may cover a request of that agent, oldest first."""
    rows = conn.execute(
        "select * from grants where agent_name = ? collate nocase and tool = ? and directory = ? order by id",
        (agent_name, tool, directory),
    )
    return [Grant(**dict(row)) for row in rows]


def all_of(conn: sqlite3.Connection, *, directory: str | None = None) -> list[Grant]:
    """Every grant, or those of a directory, newest first."""
    rows = conn.execute("select * from grants where ?1 is null or directory = ?1 order by id desc", (directory,))
    return [Grant(**dict(row)) for row in rows]


def used(db: Database, grant_id: int, *, now: int | None = None) -> bool:
    """Count a use; False when it was revoked meanwhile, and then it covers nothing."""
    when = now_ms() if now is None else now
    return bool(db.execute("update grants set uses = uses + 1, used_ms = ? where id = ?", (when, grant_id)).rowcount)


def revoke(db: Database, grant_id: int) -> bool:
    """Take a grant back; False when there is none with that id."""
    return bool(db.execute("delete from grants where id = ?", (grant_id,)).rowcount)


def revoke_all(db: Database, *, directory: str | None = None) -> int:
    """Take all back, or those of a directory; how many."""
    return int(db.execute("delete from grants where ?1 is null or directory = ?1", (directory,)).rowcount)
