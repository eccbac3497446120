"""Perception: every version of every entry is kept (``semantics.md`` §5).

Invariants belong to the directory, the frame to (directory, slice), the working set to the session. Where a slice is
asked for and none is named, it is the one that the session is at (``perception_slices``).
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from typing import TYPE_CHECKING

from milk_tui.core.perception_view import EXPIRES_AFTER, Version
from milk_tui.core.records import Layer, PerceptionEntry
from milk_tui.store import perception_slices
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
_LATEST = 2**62

_GROUPED = """
select {columns} from perception_entries join (
    select max(id) as newest, min(id) as first from perception_entries
    where {own} and layer = :layer and as_of_turn <= :at group by key, proposed
) on id = newest
where value <> '' order by first
"""
_SOUGHT = """
with recursive keys (name) as (
    select min(key) from perception_entries where {own} and layer = :layer
    union all
    select (select min(key) from perception_entries where {own} and layer = :layer and key > name)
    from keys where name is not null
)
select {columns} from perception_entries join (
    select
        (select id from perception_entries where {own} and layer = :layer and key = name and as_of_turn <= :at
            order by id desc limit 1) as newest,
        (select id from perception_entries where {own} and layer = :layer and key = name
            order by id limit 1) as first
    from keys where name is not null
) on id = newest
where value <> '' order by first
"""
"""The same for layers without proposals: it goes from key to key, whatever the number of their versions."""


def append(
    db: Database,
    session_id: str,
    entries: Iterable[PerceptionEntry],
    *,
    slice_name: str | None = None,
    as_of: int | None = None,
    now: int | None = None,
) -> None:
    """Store a new version of each entry; an empty value removes the key from then on.

    ``as_of`` is the turn from whose end on the versions count, by default the session's newest.
    """
    now = now_ms() if now is None else now
    owner = _owner(db.conn, session_id, slice_name, _LATEST)
    last = _last_turn(db.conn, session_id)
    for entry in entries:
        db.execute(
            "insert into perception_entries (directory, slice, session_id, layer, key, value, reason, blocker, stale,"
            " writer, turn_id, as_of_turn, updated_ms, proposed) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                owner["directory"],
                owner["slice"] if entry.layer is Layer.FRAME else "",
                session_id,
                entry.layer,
                storable(entry.key),
                storable(entry.value),
                storable(entry.reason),
                storable(entry.blocker),
                storable(entry.stale),
                storable(entry.writer),
                entry.turn_id,
                as_of if as_of is not None else max(last, entry.turn_id or 0),
                entry.updated_ms or now,
                entry.proposed,
            ),
        )


def current(
    conn: sqlite3.Connection,
    session_id: str,
    layer: Layer | None = None,
    *,
    slice_name: str | None = None,
    at_turn: int | None = None,
) -> list[PerceptionEntry]:
    """The newest version of each entry that is not removed, in the order in which the keys first came; ``at_turn``:
    as of the end of that turn.

    A proposed invariant stands beside the accepted one of its key, not in its place.
    """
    at = _LATEST if at_turn is None else at_turn
    owner = {**_owner(conn, session_id, slice_name, at), "at": at}
    layers = tuple(Layer) if layer is None else (layer,)
    return [entry for each in layers for entry in _current(conn, each, owner)]


def history(
    conn: sqlite3.Connection,
    session_id: str,
    layer: Layer,
    key: str,
    *,
    slice_name: str | None = None,
    limit: int = 100,
) -> list[PerceptionEntry]:
    """The versions of one entry, newest first, removals included."""
    rows = conn.execute(
        f"select {_COLUMNS} from perception_entries where {_OWN[layer]} and layer = :layer and key = :key"
        " order by id desc limit :limit",
        {**_owner(conn, session_id, slice_name, _LATEST), "layer": layer, "key": storable(key), "limit": limit},
    )
    return [_entry(row) for row in rows]


def versions(conn: sqlite3.Connection, session_id: str, *, limit: int = 10_000) -> list[Version]:
    """The turns that changed something of what the session's agents believe, oldest first."""
    owner = _owner(conn, session_id, "", _LATEST)
    rows = conn.execute(
        "select as_of_turn, max(updated_ms) as at_ms, count(*) as changes, group_concat(distinct writer) as writers"
        " from perception_entries where (layer <> 'working' and directory = :directory)"
        " or (layer = 'working' and session_id = :session) group by as_of_turn order by as_of_turn desc limit :limit",
        {**owner, "limit": limit},
    ).fetchall()
    return [
        Version(
            turn_id=row["as_of_turn"],
            at_ms=row["at_ms"],
            changes=row["changes"],
            writers=tuple(name for name in (row["writers"] or "").split(",") if name),
        )
        for row in reversed(rows)
    ]


def recent_turns(conn: sqlite3.Connection, session_id: str, *, before: int | None = None) -> list[int]:
    """The session's newest turns that were worked on, newest first, as many as make an entry expire."""
    rows = conn.execute(
        "select id from turns where session_id = ? and id < ? and status <> 'pending' order by id desc limit ?",
        (session_id, _LATEST if before is None else before, EXPIRES_AFTER),
    )
    return [row["id"] for row in rows]


def between(conn: sqlite3.Connection, after: int, upto: int) -> list[tuple[str, str, PerceptionEntry]]:
    """Versions with their session and directory by the numbers of their rows, in the order in which they came."""
    rows = conn.execute(
        f"select session_id, directory, {_COLUMNS} from perception_entries where id > ? and id <= ? order by id",
        (after, upto),
    ).fetchall()
    found = []
    for row in rows:
        values = {name: row[name] for name in PerceptionEntry.__struct_fields__}
        values |= {"layer": Layer(values["layer"]), "proposed": bool(values["proposed"])}
        found.append((row["session_id"], row["directory"], PerceptionEntry(**values)))
    return found


def last_turn(conn: sqlite3.Connection, session_id: str) -> int:
    """The newest turn that was worked on; 0 when there is none."""
    return _last_turn(conn, session_id)


def _current(conn: sqlite3.Connection, layer: Layer, owner: dict[str, str | int]) -> list[PerceptionEntry]:
    found = _GROUPED if layer is Layer.INVARIANT else _SOUGHT
    rows = conn.execute(found.format(columns=_COLUMNS, own=_OWN[layer]), {**owner, "layer": layer})
    return [_entry(row) for row in rows]


def _owner(conn: sqlite3.Connection, session_id: str, slice_name: str | None, at: int) -> dict[str, str | int]:
    row = conn.execute("select directory from sessions where id = ?", (session_id,)).fetchone()
    directory = one(row, f"session {session_id}")["directory"]
    if slice_name is None:
        slice_name = perception_slices.of_session(conn, session_id, at_turn=at)
    return {"session": session_id, "directory": directory, "slice": storable(slice_name)}


def _last_turn(conn: sqlite3.Connection, session_id: str) -> int:
    row = conn.execute(
        "select max(id) as last from turns where session_id = ? and status <> 'pending'", (session_id,)
    ).fetchone()
    return int(row["last"] or 0)


def _entry(row: sqlite3.Row) -> PerceptionEntry:
    return PerceptionEntry(**{**dict(row), "layer": Layer(row["layer"]), "proposed": bool(row["proposed"])})
