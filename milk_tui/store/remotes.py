"""Remote sessions: what a runtime remembers by itself, and what it was told (``semantics.md`` §4, §7).

A stateless agent has none; the milk session stands in for it (``remote_id`` is the session's id).
"""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING, Any

from msgspec import Struct, field

from milk_tui.store.clock import now_ms
from milk_tui.store.rows import encode, known

if TYPE_CHECKING:
    from sqlite_utils import Database


class RemoteSession(Struct, frozen=True, kw_only=True):
    id: int
    session_id: str
    agent_name: str
    remote_id: str
    started_ms: int
    ended_ms: int | None = None
    last_seen: int = 0
    """The highest revision of the agent's memory that was delivered to it or read by it."""
    seen_ms: int | None = None
    """When that was last acknowledged; ``None`` for one that nothing was delivered to yet."""
    told: tuple[str, ...] = ()
    """Ids of the percepts that it was given."""
    markers: dict[str, Any] = field(default_factory=dict)
    """What was injected already, by name."""


def current(
    conn: sqlite3.Connection, session_id: str, agent_name: str, *, stand_in: bool | None = None
) -> RemoteSession | None:
    """The one that is open, the newest of several. ``stand_in``: only the one that the milk session stands in for,
    or only one that a runtime keeps."""
    row = conn.execute(
        "select * from remote_sessions where session_id = ? and agent_name = ? and ended_ms is null"
        " and (? is null or (remote_id = session_id) = ?) order by id desc limit 1",
        (session_id, agent_name, stand_in, stand_in),
    ).fetchone()
    return _remote(row) if row else None


def owner(conn: sqlite3.Connection, agent_name: str, remote_id: str) -> str | None:
    """The milk session that a runtime's session belongs to."""
    row = conn.execute(
        "select session_id from remote_sessions where agent_name = ? and remote_id = ?", (agent_name, remote_id)
    ).fetchone()
    return str(row[0]) if row else None


def open_one(
    db: Database, *, session_id: str, agent_name: str, remote_id: str | None = None, now: int | None = None
) -> RemoteSession:
    """Begin it, or go on with it when it is known; ``None`` for a stateless agent."""
    remote_id = session_id if remote_id is None else remote_id
    db.execute(
        "insert into remote_sessions (session_id, agent_name, remote_id, started_ms) values (?, ?, ?, ?)"
        " on conflict (agent_name, remote_id) do update set ended_ms = null",
        (session_id, agent_name, remote_id, now_ms() if now is None else now),
    )
    row = db.conn.execute(
        "select * from remote_sessions where agent_name = ? and remote_id = ?", (agent_name, remote_id)
    ).fetchone()
    return _remote(row)


def mark(
    db: Database,
    remote: RemoteSession,
    *,
    told: tuple[str, ...] | None = None,
    markers: dict[str, Any] | None = None,
) -> RemoteSession:
    """Remember what was given; only after the leg that gave it has succeeded (§4)."""
    told = remote.told if told is None else told
    markers = remote.markers if markers is None else markers
    db.execute(
        "update remote_sessions set told = ?, markers = ? where id = ?",
        (encode(told), encode(markers), remote.id),
    )
    return _remote(db.conn.execute("select * from remote_sessions where id = ?", (remote.id,)).fetchone())


def end(db: Database, remote: RemoteSession, now: int | None = None) -> None:
    """The runtime no longer knows it; the next leg starts as a first one."""
    db.execute("update remote_sessions set ended_ms = ? where id = ?", (now_ms() if now is None else now, remote.id))


def seen(
    db: Database,
    *,
    session_id: str,
    agent_name: str,
    remote_id: str | None,
    revision: int,
    now: int | None = None,
) -> None:
    """Advance ``last_seen``; it never goes back."""
    now = now_ms() if now is None else now
    remote = open_one(db, session_id=session_id, agent_name=agent_name, remote_id=remote_id, now=now)
    db.execute(
        "update remote_sessions set last_seen = max(last_seen, ?), seen_ms = ? where id = ?",
        (revision, now, remote.id),
    )


def _remote(row: sqlite3.Row) -> RemoteSession:
    return RemoteSession(
        **{
            **dict(row),
            "told": known(row["told"], tuple[str, ...]) or (),
            "markers": known(row["markers"], dict[str, Any]) or {},
        }
    )
