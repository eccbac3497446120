"""Tool calls, stored as they happen."""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Iterable
from typing import TYPE_CHECKING

from milk_tui.core.records import ToolCall, ToolStatus
from milk_tui.store.clock import now_ms
from milk_tui.store.rows import id_list, one, storable

if TYPE_CHECKING:
    from sqlite_utils import Database


def start(
    db: Database,
    leg_id: int,
    *,
    call_id: str,
    name: str,
    arguments: str,
    position: int = 0,
    now: int | None = None,
) -> ToolCall:
    """``position``: characters of the leg's text that came before."""
    cursor = db.execute(
        "insert into tool_calls (leg_id, call_id, name, status, started_ms, position, arguments)"
        " values (?, ?, ?, 'running', ?, ?, ?)",
        (
            leg_id,
            storable(call_id),
            storable(name),
            now_ms() if now is None else now,
            position,
            storable(arguments),
        ),
    )
    db.execute("update legs set tools = tools + 1 where id = ?", (leg_id,))
    return get(db.conn, cursor.lastrowid or 0)


def begin(db: Database, tool_id: int, *, now: int | None = None) -> None:
    """A call that waited for the person begins to work: its time counts from here."""
    db.execute(
        "update tool_calls set started_ms = ? where id = ? and status = 'running'",
        (now_ms() if now is None else now, tool_id),
    )


def finish(
    db: Database,
    tool_id: int,
    status: ToolStatus,
    result: str = "",
    *,
    allowed_by: str = "",
    now: int | None = None,
) -> ToolCall | None:
    """End a running call; ``None`` when it has ended. ``allowed_by``: who allowed it, when that was asked."""
    cursor = db.execute(
        "update tool_calls set status = ?, result = ?, ended_ms = max(started_ms, ?), allowed_by = ?"
        " where id = ? and status = 'running'",
        (status, storable(result), now_ms() if now is None else now, allowed_by, tool_id),
    )
    return get(db.conn, tool_id) if cursor.rowcount == 1 else None


def end_all(db: Database, leg_id: int, status: ToolStatus = ToolStatus.CANCELLED, *, now: int | None = None) -> int:
    """End what still runs of a leg that ended; how many."""
    return db.execute(
        "update tool_calls set status = ?, ended_ms = max(started_ms, ?) where leg_id = ? and status = 'running'",
        (status, now_ms() if now is None else now, leg_id),
    ).rowcount


def get(conn: sqlite3.Connection, tool_id: int) -> ToolCall:
    """Raises StoreError when it is not there."""
    row = conn.execute("select * from tool_calls where id = ?", (tool_id,)).fetchone()
    return _call(one(row, f"tool call {tool_id}"))


def of_legs(conn: sqlite3.Connection, leg_ids: Iterable[int]) -> dict[int, tuple[ToolCall, ...]]:
    """By leg, each leg's calls in order; a leg without calls is absent."""
    rows = conn.execute(
        "select * from tool_calls where leg_id in (select value from json_each(?)) order by id",
        (id_list(leg_ids),),
    )
    found: dict[int, list[ToolCall]] = defaultdict(list)
    for row in rows:
        found[row["leg_id"]].append(_call(row))
    return {leg_id: tuple(calls) for leg_id, calls in found.items()}


def _call(row: sqlite3.Row) -> ToolCall:
    return ToolCall(**{**dict(row), "status": ToolStatus(row["status"])})
