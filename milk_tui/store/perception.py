"""Perception: every version of every entry is kept (``semantics.md`` §5).

Invariants belong to the directory, the frame to (directory, slice), the working set to the session.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from typing import TYPE_CHECKING

from milk_tui.core.records import Layer, PerceptionEntry
from milk_tui.store.clock import now_ms
from milk_tui.store.rows import one, storable

if TYPE_CHECKING:
    from sqlite_utils import Database

_COLUMNS = ", ".join(PerceptionEntry.__struct_fields__)

_OWN: dict[Layer, str] = {
    Layer.INVARIANT: "directory = :directory",
    Layer.FRAME: "directory = :directory and slice = :slice",
    Layer.WORKING: "session_id = :session",
}


def append(
    db: Database,
    session_id: str,
    entries: Iterable[PerceptionEntry],
    *,
    slice_name: str = "",
    now: int | None = None,
) -> None:
    """Store a new version of each entry; an empty value removes the key from then on."""
    now = now_ms() if now is None else now
    row = db.conn.execute("select directory from sessions where id = ?", (session_id,)).fetchone()
    directory = one(row, f"session {session_id}")["directory"]
    for entry in entries:
        db.execute(
            "insert into perception_entries (directory, slice, session_id, layer, key, value, reason, writer,"
            " turn_id, updated_ms, proposed) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                directory,
                storable(slice_name) if entry.layer is Layer.FRAME else "",
                session_id,
                entry.layer,
                storable(entry.key),
                storable(entry.value),
                storable(entry.reason),
                storable(entry.writer),
                entry.turn_id,
                entry.updated_ms or now,
                entry.proposed,
            ),
        )


def current(
    conn: sqlite3.Connection, session_id: str, layer: Layer | None = None, *, slice_name: str = ""
) -> list[PerceptionEntry]:
    """The newest version of each entry that is not removed, in the order in which the keys first came.

    A proposed invariant stands beside the accepted one of its key, not in its place.
    """
    layers = tuple(Layer) if layer is None else (layer,)
    return [entry for each in layers for entry in _current(conn, session_id, each, slice_name)]


def history(
    conn: sqlite3.Connection,
    session_id: str,
    layer: Layer,
    key: str,
    *,
    slice_name: str = "",
    limit: int = 100,
) -> list[PerceptionEntry]:
    """The versions of one entry, newest first, removals included."""
    rows = conn.execute(
        f"select {_COLUMNS} from perception_entries where {_OWN[layer]} and layer = :layer and key = :key"
        " order by id desc limit :limit",
        {**_owner(conn, session_id, slice_name), "layer": layer, "key": storable(key), "limit": limit},
    )
    return [_entry(row) for row in rows]


def _current(conn: sqlite3.Connection, session_id: str, layer: Layer, slice_name: str) -> list[PerceptionEntry]:
    rows = conn.execute(
        f"""
        select {_COLUMNS} from perception_entries join (
            select max(id) as newest, min(id) as first from perception_entries
            where {_OWN[layer]} and layer = :layer group by key, proposed
        ) on id = newest
        where value <> '' order by first
        """,
        {**_owner(conn, session_id, slice_name), "layer": layer},
    )
    return [_entry(row) for row in rows]


def _owner(conn: sqlite3.Connection, session_id: str, slice_name: str) -> dict[str, str]:
    row = conn.execute("select directory from sessions where id = ?", (session_id,)).fetchone()
    directory = one(row, f"session {session_id}")["directory"]
    return {"session": session_id, "directory": directory, "slice": storable(slice_name)}


def _entry(row: sqlite3.Row) -> PerceptionEntry:
    return PerceptionEntry(**{**dict(row), "layer": Layer(row["layer"]), "proposed": bool(row["proposed"])})
