"""After a program died: what it left running is marked interrupted, nothing of it is lost (``semantics.md``
§1, §7).

Run it once at start-up. It leaves alone what a living program works on, in any process on this machine.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from milk_tui.store import owner, percepts, tool_calls
from milk_tui.store.clock import now_ms

if TYPE_CHECKING:
    from sqlite_utils import Database

NOTE = "from an interrupted answer"


class Recovered(Struct, frozen=True, kw_only=True):
    """What was found, as ids."""

    interrupted_legs: tuple[int, ...] = ()
    """They keep their text so far; they did not acknowledge, so the next leg is given the same again."""
    interrupted_turns: tuple[int, ...] = ()
    waiting_turns: tuple[int, ...] = ()
    """Prompts that nothing was sent for: pending again, to be offered to the person."""
    percepts: tuple[percepts.Change, ...] = ()
    """Captures of interrupted legs, live now."""


def needed(conn: sqlite3.Connection) -> bool:
    """True when something is open: cheap, so that a clean start costs nothing."""
    row = conn.execute(
        "select exists (select 1 from turns where status in ('pending', 'running'))"
        " or exists (select 1 from legs where status in ('pending', 'running'))"
    ).fetchone()
    return bool(row[0])


def recover(db: Database, running_folder: Path, *, now: int | None = None) -> Recovered:
    """``running_folder`` is ``Store.running_folder``. Does nothing the second time."""
    now = now_ms() if now is None else now
    conn = db.conn
    owner.sweep(running_folder)
    rows = conn.execute(
        "select owner from turns where status in ('pending', 'running')"
        " union select owner from legs where status in ('pending', 'running')"
    ).fetchall()
    dead = [row[0] for row in rows if row[0] is None or not owner.alive(running_folder, row[0])]
    legs: list[int] = []
    interrupted: list[int] = []
    waiting: list[int] = []
    changes: list[percepts.Change] = []
    for gone in dead:
        mine = conn.execute(
            "select id, status from legs where status in ('pending', 'running') and owner is ? order by id",
            (gone,),
        ).fetchall()
        for leg_id, status in mine:
            if status == "running":
                _interrupt(db, leg_id, now)
                changes += percepts.make_live(db, leg_id, note=NOTE, actor="recovery", now=now)
                legs.append(leg_id)
            else:
                db.execute("delete from legs where id = ?", (leg_id,))
        turns = conn.execute(
            "select id, status, exists (select 1 from legs where turn_id = turns.id) from turns"
            " where status in ('pending', 'running') and owner is ? order by id",
            (gone,),
        ).fetchall()
        for turn_id, status, has_legs in turns:
            if has_legs:
                db.execute("update turns set status = 'interrupted', queued = 0 where id = ?", (turn_id,))
                interrupted.append(turn_id)
            elif status == "running":
                db.execute("update turns set status = 'pending', queued = 1 where id = ?", (turn_id,))
                waiting.append(turn_id)
            else:
                waiting.append(turn_id)
    return Recovered(
        interrupted_legs=tuple(legs),
        interrupted_turns=tuple(interrupted),
        waiting_turns=tuple(waiting),
        percepts=tuple(changes),
    )


def _interrupt(db: Database, leg_id: int, now: int) -> None:
    db.execute(
        "update legs set status = 'interrupted', ended_ms = ? where id = ? and status = 'running'",
        (now, leg_id),
    )
    tool_calls.end_all(db, leg_id, now=now)
