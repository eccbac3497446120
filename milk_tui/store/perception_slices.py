"""Which slice a session is at, and which others its directory has (``semantics.md`` §5).

Every opening is a row. A session that never opened one is at the slice that was opened last in its directory.
"""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

from milk_tui.core.perception_view import SliceInfo
from milk_tui.store.clock import now_ms
from milk_tui.store.rows import one, storable

if TYPE_CHECKING:
    from sqlite_utils import Database

_LATEST = 2**62


def of_session(conn: sqlite3.Connection, session_id: str, *, at_turn: int = _LATEST) -> str:
    """The slice that the session is at, or was at by the end of a turn; empty: one without a name."""
    row = conn.execute(
        "select slice from perception_slices where session_id = ? and as_of_turn <= ? order by id desc limit 1",
        (session_id, at_turn),
    ).fetchone()
    if row is None:
        row = conn.execute(
            "select slice from perception_slices where directory = (select directory from sessions where id = ?)"
            " and as_of_turn <= ? order by id desc limit 1",
            (session_id, at_turn),
        ).fetchone()
    return str(row["slice"]) if row else ""


def newest(conn: sqlite3.Connection, session_id: str) -> str:
    """The slice that was opened last in the session's directory."""
    row = conn.execute(
        "select slice from perception_slices where directory = ? order by id desc limit 1",
        (_directory(conn, session_id),),
    ).fetchone()
    return str(row["slice"]) if row else ""


def stands(conn: sqlite3.Connection, session_id: str) -> bool:
    """Whether the session has opened, or taken up, a slice by itself."""
    row = conn.execute("select 1 from perception_slices where session_id = ? limit 1", (session_id,)).fetchone()
    return row is not None


def open_one(db: Database, session_id: str, name: str, *, as_of: int, now: int | None = None) -> None:
    """The session is at this slice from now on; what is kept of it is its frame again."""
    db.execute(
        "insert into perception_slices (directory, session_id, slice, as_of_turn, opened_ms) values (?, ?, ?, ?, ?)",
        (_directory(db.conn, session_id), session_id, storable(name), as_of, now_ms() if now is None else now),
    )


def give_name(db: Database, session_id: str, name: str) -> bool:
    """What the session wrote before the slice had a name goes on under ``name``; False when that slice is there
    already, there is nothing to name, or another session wrote it: that was other work."""
    directory = _directory(db.conn, session_id)
    name = storable(name)
    has = "select 1 from perception_entries where directory = ? and layer = 'frame' and slice = ? limit 1"
    if db.conn.execute(has, (directory, name)).fetchone() or not db.conn.execute(has, (directory, "")).fetchone():
        return False
    others = (
        "select 1 from perception_entries where directory = ? and layer = 'frame' and slice = ''"
        " and session_id is not ? limit 1"
    )
    if db.conn.execute(others, (directory, session_id)).fetchone():
        return False
    for table in ("perception_entries", "perception_slices"):
        only = " and layer = 'frame'" if table == "perception_entries" else ""
        db.execute(f"update {table} set slice = ? where directory = ? and slice = ''{only}", (name, directory))
    return True


def take_name(db: Database, session_id: str, name: str) -> None:
    """Undo ``give_name``: what goes under the name has none again."""
    directory = _directory(db.conn, session_id)
    for table in ("perception_entries", "perception_slices"):
        only = " and layer = 'frame'" if table == "perception_entries" else ""
        sql = f"update {table} set slice = '' where directory = ? and slice = ?{only}"
        db.execute(sql, (directory, storable(name)))


def of_directory(conn: sqlite3.Connection, session_id: str) -> list[SliceInfo]:
    """Every slice of the session's directory that has a frame, and the open one, the one changed last first."""
    now_at = of_session(conn, session_id)
    rows = conn.execute(
        """
        select slice, max(updated_ms) as updated_ms, (
            select count(*) from (
                select value from perception_entries as newest where newest.directory = e.directory
                and newest.layer = 'frame' and newest.slice = e.slice
                and id = (select max(id) from perception_entries as v where v.directory = newest.directory
                          and v.layer = 'frame' and v.slice = newest.slice and v.key = newest.key)
            ) where value <> ''
        ) as entries, coalesce((
            select max(opened_ms) from perception_slices as s where s.directory = e.directory and s.slice = e.slice
        ), min(updated_ms)) as opened_ms
        from perception_entries as e where directory = ? and layer = 'frame' group by slice order by updated_ms desc
        """,
        (_directory(conn, session_id),),
    )
    found = [
        SliceInfo(
            name=row["slice"],
            open=row["slice"] == now_at,
            entries=row["entries"],
            opened_ms=row["opened_ms"],
            updated_ms=row["updated_ms"],
        )
        for row in rows
    ]
    return [info for info in found if info.entries or info.open]


def _directory(conn: sqlite3.Connection, session_id: str) -> str:
    row = conn.execute("select directory from sessions where id = ?", (session_id,)).fetchone()
    return str(one(row, f"session {session_id}")["directory"])
