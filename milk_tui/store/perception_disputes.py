"""What stood in an entry when the file beside the code had another value (``semantics.md`` §5)."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

from milk_tui.core.perception_view import Dispute
from milk_tui.core.records import Layer, PerceptionEntry
from milk_tui.store.rows import one, storable

if TYPE_CHECKING:
    from sqlite_utils import Database

_FIELDS = "layer, key, value, reason, blocker, writer, turn_id, updated_ms"


def add(db: Database, session_id: str, entry: PerceptionEntry, *, slice_name: str, now: int) -> None:
    """Keep an entry that gave way; one that waited for the same key is settled by it."""
    settle(db, session_id, entry.layer, entry.key, slice_name=slice_name)
    directory = one(
        db.conn.execute("select directory from sessions where id = ?", (session_id,)).fetchone(),
        f"session {session_id}",
    )["directory"]
    db.execute(
        f"insert into perception_conflicts (directory, session_id, slice, at_ms, {_FIELDS})"
        " values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            directory,
            session_id,
            _slice(entry.layer, slice_name),
            now,
            entry.layer,
            storable(entry.key),
            storable(entry.value),
            storable(entry.reason),
            storable(entry.blocker),
            storable(entry.writer),
            entry.turn_id,
            entry.updated_ms,
        ),
    )


def settle(db: Database, session_id: str, layer: Layer, key: str, *, slice_name: str) -> None:
    """Nothing is kept for this key any more."""
    db.execute(
        "update perception_conflicts set settled = 1 where settled = 0 and session_id = ? and layer = ? and slice = ?"
        " and key = ?",
        (session_id, layer, _slice(layer, slice_name), storable(key)),
    )


def waiting(conn: sqlite3.Connection, session_id: str, *, slice_name: str) -> dict[tuple[Layer, str], Dispute]:
    """What is kept for a swap, by layer and key."""
    rows = conn.execute(
        f"select id, at_ms, {_FIELDS} from perception_conflicts"
        " where settled = 0 and session_id = ? and (layer <> 'frame' or slice = ?) order by id",
        (session_id, storable(slice_name)),
    )
    found = {}
    for row in rows:
        values = {name: row[name] for name in _FIELDS.split(", ")}
        entry = PerceptionEntry(**{**values, "layer": Layer(row["layer"])})
        found[(entry.layer, entry.key)] = Dispute(id=row["id"], entry=entry, at_ms=row["at_ms"])
    return found


def _slice(layer: Layer, slice_name: str) -> str:
    return storable(slice_name) if layer is Layer.FRAME else ""
