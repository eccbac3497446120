"""Runs of the recall helper: who works for a conversation, the signal that waits, and the log (``semantics.md`` §6).

A lease is a row with an expiry, not a lock: when its holder dies, it ends by itself, or as soon as anyone sees that the
holder is gone.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from milk_tui.core.helper_signals import Signal
from milk_tui.store.rows import encode, known, storable

if TYPE_CHECKING:
    from sqlite_utils import Database

KEPT = 1_000
"""Runs in the log."""
ENDS = ("note", "quiet", "failed", "refused", "cancelled", "interrupted")


class Run(Struct, frozen=True, kw_only=True):
    """One run. ``status``: running · note · quiet · failed · refused · cancelled · interrupted."""

    id: int
    session_id: str
    directory: str
    profile_id: str
    profile_hash: str
    runtime: str
    model: str
    signal: str
    turn_id: int | None
    status: str
    started_ms: int
    ended_ms: int | None
    input_bytes: int
    output_bytes: int
    input_tokens: int | None
    output_tokens: int | None
    reason: str


class Begin(Struct, frozen=True, kw_only=True):
    """What a run starts with."""

    signal: Signal
    profile_id: str
    profile_hash: str
    runtime: str
    model: str
    holder: str
    """``Store.owner_id`` of the program that runs it."""
    lease_ms: int
    max_concurrency: int


def begin(db: Database, asked: Begin, *, alive: Callable[[str], bool], now: int) -> int | None:
    """Take the conversation's lease and enter the run; ``None`` when somebody else has it: the signal then waits in
    the one slot, in place of an older one. ``alive`` says whether a holder's program runs.

    Raises ``BusyError`` when the profile runs elsewhere as often as it may.
    """
    clear(db, alive=alive, now=now)
    signal = asked.signal
    if db.execute("select 1 from helper_leases where session_id = ?", (signal.session_id,)).fetchone():
        wait(db, signal)
        return None
    (running,) = db.execute(
        "select count(*) from helper_runs r join helper_leases l on l.run_id = r.id where r.profile_id = ?",
        (asked.profile_id,),
    ).fetchone()
    if running >= asked.max_concurrency:
        raise BusyError(f"{asked.profile_id} runs {running} times already, which is what it may")
    run_id = enter(db, asked, now=now)
    db.execute(
        "insert into helper_leases (session_id, holder, run_id, expires_ms) values (?, ?, ?, ?)",
        (signal.session_id, asked.holder, run_id, now + asked.lease_ms),
    )
    return run_id


class BusyError(Exception):
    """The profile runs as often as it may."""


def enter(db: Database, asked: Begin, *, now: int) -> int:
    """A running row in the log, without a lease."""
    signal = asked.signal
    cursor = db.execute(
        "insert into helper_runs (session_id, directory, profile_id, profile_hash, runtime, model, signal, turn_id,"
        " status, started_ms) values (?, ?, ?, ?, ?, ?, ?, ?, 'running', ?)",
        (
            storable(signal.session_id),
            storable(signal.directory),
            asked.profile_id,
            asked.profile_hash,
            asked.runtime,
            storable(asked.model),
            signal.name,
            signal.turn_id,
            now,
        ),
    )
    db.execute(
        "delete from helper_runs where status <> 'running' and id <="
        " (select id from helper_runs order by id desc limit 1 offset ?)",
        (KEPT,),
    )
    return int(cursor.lastrowid or 0)


def end(db: Database, run_id: int, status: str, *, now: int, **values: Any) -> bool:
    """End a run once and give its lease back; False when it had ended, and then nothing is changed.

    ``values``: input_bytes, output_bytes, input_tokens, output_tokens, reason.
    """
    if status not in ENDS:
        raise ValueError(f"{status} is not an end")
    columns = "".join(f", {name} = ?" for name in values)
    cursor = db.execute(
        f"update helper_runs set status = ?, ended_ms = max(started_ms, ?){columns}"
        " where id = ? and status = 'running'",
        (status, now, *(storable(v) if isinstance(v, str) else v for v in values.values()), run_id),
    )
    db.execute("delete from helper_leases where run_id = ?", (run_id,))
    return cursor.rowcount == 1


def clear(db: Database, *, alive: Callable[[str], bool], now: int) -> int:
    """End leases that are over or whose program is gone, and runs without one; how many runs were interrupted. What
    waited behind such a run is forgotten with it: nothing is replayed."""
    for row in db.execute("select session_id, holder, expires_ms from helper_leases").fetchall():
        if row["expires_ms"] <= now or not alive(row["holder"]):
            for table in ("helper_leases", "helper_pending"):
                db.execute(f"delete from {table} where session_id = ?", (row["session_id"],))
    cursor = db.execute(
        "update helper_runs set status = 'interrupted', ended_ms = max(started_ms, ?), reason = 'its program ended'"
        " where status = 'running' and id not in (select run_id from helper_leases)",
        (now,),
    )
    return int(cursor.rowcount)


def wait(db: Database, signal: Signal) -> None:
    """Put the signal into the conversation's one slot."""
    db.execute(
        "insert into helper_pending (session_id, signal, turn_id, at_ms, payload) values (?, ?, ?, ?, ?)"
        " on conflict (session_id) do update set signal = excluded.signal, turn_id = excluded.turn_id,"
        " at_ms = excluded.at_ms, payload = excluded.payload",
        (signal.session_id, signal.name, signal.turn_id, signal.at_ms, encode(signal)),
    )


def waits(conn: sqlite3.Connection, session_id: str) -> bool:
    """Whether a signal is in the slot."""
    return conn.execute("select 1 from helper_pending where session_id = ?", (session_id,)).fetchone() is not None


def take_waiting(db: Database, session_id: str) -> Signal | None:
    """What waits in the slot, which is empty then."""
    row = db.execute("select payload from helper_pending where session_id = ?", (session_id,)).fetchone()
    db.execute("delete from helper_pending where session_id = ?", (session_id,))
    return known(row["payload"], Signal) if row else None


def leased(conn: sqlite3.Connection, session_id: str) -> bool:
    return conn.execute("select 1 from helper_leases where session_id = ?", (session_id,)).fetchone() is not None


def seen(conn: sqlite3.Connection, session_id: str, profile_id: str) -> int:
    """The newest leg that the profile has read of the conversation."""
    row = conn.execute(
        "select leg_id from helper_seen where session_id = ? and profile_id = ?", (session_id, profile_id)
    ).fetchone()
    return int(row[0]) if row else 0


def mark_seen(db: Database, session_id: str, profile_id: str, leg_id: int) -> None:
    db.execute(
        "insert into helper_seen (session_id, profile_id, leg_id) values (?, ?, ?)"
        " on conflict (session_id, profile_id) do update set leg_id = max(leg_id, excluded.leg_id)",
        (session_id, profile_id, leg_id),
    )


def log(conn: sqlite3.Connection, *, session_id: str | None = None, limit: int = 50) -> list[Run]:
    """Newest first."""
    rows = conn.execute(
        "select * from helper_runs where ?1 is null or session_id = ?1 order by id desc limit ?2", (session_id, limit)
    )
    return [Run(**dict(row)) for row in rows]


def get(conn: sqlite3.Connection, run_id: int) -> Run | None:
    row = conn.execute("select * from helper_runs where id = ?", (run_id,)).fetchone()
    return Run(**dict(row)) if row else None
