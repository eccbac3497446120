"""What an agent said beside its answer, other than facts: needs, perception, an escalation (``semantics.md``
§1).

A capture is staged when it is read, so that a kill can't lose it; the leg's transaction settles it. Facts are
staged as percepts (``store/percepts.py``).
"""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

from msgspec import Struct

from milk_tui.core.tags import TagKind
from milk_tui.store.clock import now_ms
from milk_tui.store.rows import storable

if TYPE_CHECKING:
    from sqlite_utils import Database


class StagedCapture(Struct, frozen=True):
    id: int
    leg_id: int
    kind: TagKind
    body: str
    created_ms: int


def stage(db: Database, leg_id: int, kind: TagKind, body: str, *, now: int | None = None) -> int:
    """Keep a capture of a running leg; its id."""
    cursor = db.execute(
        "insert into captures (leg_id, kind, body, created_ms) values (?, ?, ?, ?)",
        (leg_id, kind, storable(body), now_ms() if now is None else now),
    )
    return cursor.lastrowid or 0


def staged(conn: sqlite3.Connection, leg_id: int) -> list[StagedCapture]:
    """What waits for the end of the leg, in the order in which it was said."""
    rows = conn.execute(
        "select id, leg_id, kind, body, created_ms from captures where leg_id = ? and status = 'staged' order by id",
        (leg_id,),
    )
    return [StagedCapture(r["id"], r["leg_id"], TagKind(r["kind"]), r["body"], r["created_ms"]) for r in rows]


def settle(db: Database, leg_id: int) -> list[StagedCapture]:
    """Make live what was staged; the caller applies it in the same transaction. A second call has nothing."""
    found = staged(db.conn, leg_id)
    db.execute("update captures set status = 'live' where leg_id = ? and status = 'staged'", (leg_id,))
    return found


def drop(db: Database, ids: list[int]) -> None:
    """Undo captures of an answer that the runtime took back."""
    for capture in ids:
        db.execute("update captures set status = 'dropped' where id = ? and status = 'staged'", (capture,))
