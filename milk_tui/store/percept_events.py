"""What happened to a percept: why it has its weight, and how each change is undone."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from milk_tui.core.records import Percept
from milk_tui.store.rows import decode, encode, storable

if TYPE_CHECKING:
    from sqlite_utils import Database

EDGES = "+edges"
"""Beside the columns from before a change: the edges that came or went with it (``store/percept_edges.py``)."""


class PerceptEvent(Struct, frozen=True, kw_only=True):
    """One change. ``kind``: captured · added · live · confirmed · pinned · unpinned · forgotten · restored · edited ·
    weighed · shared · superseded · merged · suspected · accepted · settled · used · decayed · lifted · contradicted ·
    promoted · imported · undone; ``actor``: a producer (``system`` for a consolidation), ``recovery`` or ``import``."""

    id: int
    percept_id: str
    at_ms: int
    kind: str
    actor: str
    turn_id: int | None
    weight_before: int | None
    weight_after: int | None
    note: str
    undone: bool


def record(
    db: Database,
    percept: Percept,
    kind: str,
    *,
    actor: str,
    now: int,
    before: Percept | None = None,
    turn_id: int | None = None,
    note: str = "",
    undo: Mapping[str, Any] | None = None,
) -> None:
    """``undo``: the columns that changed with their values from before; ``None`` when it can't be undone."""
    db.execute(
        "insert into percept_events"
        " (percept_id, at_ms, kind, actor, turn_id, weight_before, weight_after, note, undo)"
        " values (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            percept.id,
            now,
            kind,
            actor,
            turn_id,
            before.weight if before else None,
            percept.weight,
            storable(note),
            encode(undo),
        ),
    )


def of_percept(conn: sqlite3.Connection, percept_id: str) -> list[PerceptEvent]:
    """Oldest first."""
    rows = conn.execute(
        "select id, percept_id, at_ms, kind, actor, turn_id, weight_before, weight_after, note, undone"
        " from percept_events where percept_id = ? order by id",
        (percept_id,),
    )
    return [PerceptEvent(**{**dict(row), "undone": bool(row["undone"])}) for row in rows]


def last(conn: sqlite3.Connection, percept_id: str, kind: str) -> tuple[PerceptEvent, dict[str, Any]] | None:
    """The last event of that kind that still holds, and the columns from before it."""
    row = conn.execute(
        "select * from percept_events where percept_id = ? and kind = ? and undone = 0 order by id desc limit 1",
        (percept_id, kind),
    ).fetchone()
    return _with_undo(row) if row else None


def last_undoable(conn: sqlite3.Connection, percept_id: str) -> tuple[PerceptEvent, dict[str, Any]] | None:
    """The last change that still holds, if it can be undone."""
    row = conn.execute(
        "select * from percept_events where percept_id = ? and undone = 0 and kind <> 'undone'"
        " order by id desc limit 1",
        (percept_id,),
    ).fetchone()
    return _with_undo(row) if row and row["undo"] is not None else None


def newest_id(conn: sqlite3.Connection) -> int:
    """The last event there is: what a change records comes after it."""
    return int(conn.execute("select coalesce(max(id), 0) from percept_events").fetchone()[0])


def since(conn: sqlite3.Connection, event_id: int) -> list[int]:
    """The events after that one which can be undone, oldest first."""
    rows = conn.execute("select id from percept_events where id > ? and undo is not null order by id", (event_id,))
    return [row[0] for row in rows]


def standing(conn: sqlite3.Connection, event_id: int) -> tuple[PerceptEvent, dict[str, Any]] | None:
    """An event that still holds and can be undone, with those of its columns that nothing has changed since."""
    row = conn.execute(
        "select * from percept_events where id = ? and undone = 0 and undo is not null", (event_id,)
    ).fetchone()
    if row is None:
        return None
    event, values = _with_undo(row)
    later = conn.execute(
        "select undo from percept_events where percept_id = ? and id > ? and undone = 0 and kind <> 'undone'",
        (event.percept_id, event_id),
    ).fetchall()
    changed = {column for (undo,) in later for column in decode(undo, dict[str, Any]) or {}} - {EDGES}
    return event, {column: value for column, value in values.items() if column not in changed}


def mark_undone(db: Database, event_id: int) -> None:
    db.execute("update percept_events set undone = 1 where id = ?", (event_id,))


def confirmers(conn: sqlite3.Connection, percept_id: str) -> frozenset[str]:
    """Who has confirmed it so far."""
    rows = conn.execute(
        "select distinct actor from percept_events where percept_id = ? and kind = 'confirmed' and undone = 0",
        (percept_id,),
    )
    return frozenset(row[0] for row in rows)


def reinforced_in(conn: sqlite3.Connection, percept_id: str, turn_id: int) -> bool:
    """True when a confirmation or a use in that turn added weight already."""
    row = conn.execute(
        "select 1 from percept_events where percept_id = ? and turn_id = ? and kind in ('confirmed', 'used')"
        " and weight_after > weight_before and undone = 0",
        (percept_id, turn_id),
    ).fetchone()
    return row is not None


def used_in(conn: sqlite3.Connection, percept_id: str, turn_id: int) -> bool:
    """True when a use in that turn was counted already."""
    row = conn.execute(
        "select 1 from percept_events where percept_id = ? and turn_id = ? and kind = 'used' and undone = 0",
        (percept_id, turn_id),
    ).fetchone()
    return row is not None


def _with_undo(row: sqlite3.Row) -> tuple[PerceptEvent, dict[str, Any]]:
    event = PerceptEvent(
        **{name: row[name] for name in PerceptEvent.__struct_fields__ if name != "undone"},
        undone=bool(row["undone"]),
    )
    return event, decode(row["undo"], dict[str, Any]) or {}
