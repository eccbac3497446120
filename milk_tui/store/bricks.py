"""Summary bricks: every version is kept (``semantics.md`` §3)."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

from milk_tui.core.records import Brick, BrickKind, NeedStatus
from milk_tui.store.rows import storable

if TYPE_CHECKING:
    from sqlite_utils import Database

_COLUMNS = ", ".join(Brick.__struct_fields__)


def save(db: Database, session_id: str, brick: Brick) -> None:
    """Store a version. Of one that is there only the status and the delivery change (a need that was
    replaced, a brief that was delivered); its text never does."""
    db.execute(
        f"insert into bricks (session_id, {_COLUMNS}) values (?, {', '.join('?' * len(Brick.__struct_fields__))})"
        " on conflict (session_id, kind, version) do update"
        " set status = excluded.status, delivered_leg = excluded.delivered_leg",
        (
            session_id,
            *(storable(brick.text) if name == "text" else getattr(brick, name) for name in Brick.__struct_fields__),
        ),
    )


def current(conn: sqlite3.Connection, session_id: str) -> dict[BrickKind, Brick]:
    """The newest version of each kind that there is."""
    found = (newest(conn, session_id, kind) for kind in BrickKind)
    return {brick.kind: brick for brick in found if brick is not None}


def newest(conn: sqlite3.Connection, session_id: str, kind: BrickKind) -> Brick | None:
    versions = history(conn, session_id, kind, limit=1)
    return versions[0] if versions else None


def history(
    conn: sqlite3.Connection, session_id: str, kind: BrickKind, *, limit: int = 100, before: int | None = None
) -> list[Brick]:
    """The versions of one brick, newest first, those below ``before``."""
    rows = conn.execute(
        f"select {_COLUMNS} from bricks where session_id = ? and kind = ? and version < ?"
        " order by version desc limit ?",
        (session_id, kind, 2**62 if before is None else before, limit),
    )
    return [_brick(row) for row in rows]


def between(conn: sqlite3.Connection, after: int, upto: int) -> list[tuple[str, Brick]]:
    """Versions with their session by the numbers of their rows, in the order in which they were written."""
    rows = conn.execute(
        f"select session_id as owner, {_COLUMNS} from bricks where id > ? and id <= ? order by id", (after, upto)
    ).fetchall()
    return [(row["owner"], _brick(row)) for row in rows]


def version(conn: sqlite3.Connection, session_id: str, kind: BrickKind, number: int) -> Brick | None:
    """``None`` when there is no such version."""
    found = history(conn, session_id, kind, limit=1, before=number + 1)
    return found[0] if found and found[0].version == number else None


def _brick(row: sqlite3.Row) -> Brick:
    return Brick(
        **{
            **{name: row[name] for name in Brick.__struct_fields__},
            "kind": BrickKind(row["kind"]),
            "status": None if row["status"] is None else NeedStatus(row["status"]),
        }
    )
