"""After a program died: what it left running is marked interrupted, nothing of it is lost (``semantics.md``
§1, §7).

Run it once at start-up. It leaves alone what a living program works on, in any process on this machine.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from milk_tui.core.records import LegStatus, Turn, TurnStatus
from milk_tui.store import owner, percepts, tool_calls, turns
from milk_tui.store.clock import now_ms

if TYPE_CHECKING:
    from sqlite_utils import Database

NOTE = "from an interrupted answer"


class Recovered(Struct, frozen=True, kw_only=True):
    """What was found, as ids."""

    interrupted_legs: tuple[int, ...] = ()
    """They keep their text so far; they did not acknowledge, so the next leg is given the same again."""
    ended_turns: tuple[int, ...] = ()
    """Interrupted; or as their last leg ended, when the program died just after it."""
    waiting_turns: tuple[int, ...] = ()
    """Prompts that nothing was sent for: pending again, to be offered to the person."""
    percepts: tuple[percepts.Change, ...] = ()
    """Captures of interrupted legs, live now."""


def needed(conn: sqlite3.Connection) -> bool:
    """True when a turn or leg has not ended: a living program's, or one for ``recover``."""
    row = conn.execute(
        "select exists (select 1 from turns where status in ('pending', 'running'))"
        " or exists (select 1 from legs where status in ('pending', 'running'))"
    ).fetchone()
    return bool(row[0])


def recover(db: Database, running_folder: Path, *, now: int | None = None) -> Recovered:
    """``running_folder`` is ``Store.running_folder``. Does nothing the second time, except that it names the
    waiting turns again."""
    now = now_ms() if now is None else now
    conn = db.conn
    owner.sweep(running_folder)
    rows = conn.execute(
        "select owner from turns where status in ('pending', 'running')"
        " union select owner from legs where status in ('pending', 'running')"
    ).fetchall()
    legs: list[int] = []
    ended: list[int] = []
    waiting: list[int] = []
    changes: list[percepts.Change] = []
    for (gone,) in rows:
        if gone is not None and owner.alive(running_folder, gone):
            continue
        for leg_id in _end_legs(db, gone, now):
            changes += percepts.make_live(db, leg_id, note=NOTE, actor="recovery", now=now)
            legs.append(leg_id)
        for turn_id in _open_turns(conn, gone):
            status = _outcome(conn, turn_id)
            waits = status is TurnStatus.PENDING
            db.execute("update turns set status = ?, queued = ? where id = ?", (status, waits, turn_id))
            if waits:
                waiting.append(turn_id)
            else:
                ended.append(turn_id)
    return Recovered(
        interrupted_legs=tuple(legs),
        ended_turns=tuple(ended),
        waiting_turns=tuple(waiting),
        percepts=tuple(changes),
    )


def adopt_waiting(db: Database, running_folder: Path, session_id: str, *, owner_id: str) -> list[Turn]:
    """The session's prompts that nothing was done about and whose program is gone, oldest first: from now on they are
    those of ``owner_id``. Those of a living program are left to it."""
    left = [
        turn for turn, by in turns.waiting(db.conn, session_id) if by is None or not owner.alive(running_folder, by)
    ]
    for turn in left:
        db.execute("update turns set owner = ? where id = ?", (owner_id, turn.id))
    return left


def give_up(db: Database, turn_id: int, *, now: int | None = None) -> None:
    """A turn that its living program could not bring to an end has failed; its legs keep what was saved of them."""
    now = now_ms() if now is None else now
    rows = db.conn.execute(
        "select id, status from legs where status in ('pending', 'running') and turn_id = ? order by id", (turn_id,)
    ).fetchall()
    for leg_id in _interrupt(db, rows, now):
        percepts.make_live(db, leg_id, note=NOTE, actor="recovery", now=now)
    turns.finish(db, turn_id, TurnStatus.FAILED)


def _end_legs(db: Database, gone: str | None, now: int) -> list[int]:
    """Ids of those that ran. A leg that was never claimed is deleted: nothing was sent for it."""
    rows = db.conn.execute(
        "select id, status from legs where status in ('pending', 'running') and owner is ? order by id",
        (gone,),
    ).fetchall()
    return _interrupt(db, rows, now)


def _interrupt(db: Database, rows: list[tuple[int, str]], now: int) -> list[int]:
    """End legs, given with their status; the ids of those that ran."""
    for leg_id, status in rows:
        if status == LegStatus.PENDING:
            db.execute("delete from legs where id = ?", (leg_id,))
            continue
        db.execute("update legs set status = 'interrupted', ended_ms = max(started_ms, ?) where id = ?", (now, leg_id))
        tool_calls.end_all(db, leg_id, now=now)
    return [leg_id for leg_id, status in rows if status == LegStatus.RUNNING]


def _open_turns(conn: sqlite3.Connection, gone: str | None) -> list[int]:
    rows = conn.execute(
        "select id from turns where status in ('pending', 'running') and owner is ? order by id", (gone,)
    )
    return [row[0] for row in rows]


def _outcome(conn: sqlite3.Connection, turn_id: int) -> TurnStatus:
    """What became of a turn whose program is gone: that of its last leg, unless another was to follow."""
    last = conn.execute("select status from legs where turn_id = ? order by id desc limit 1", (turn_id,)).fetchone()
    if last is None:
        return TurnStatus.PENDING
    match LegStatus(last[0]):
        case LegStatus.DONE | LegStatus.EMPTY if not _hands_over(conn, turn_id):
            return TurnStatus.DONE
        case LegStatus.FAILED:
            return TurnStatus.FAILED
        case LegStatus.CANCELLED:
            return TurnStatus.CANCELLED
        case _:
            return TurnStatus.INTERRUPTED


def _hands_over(conn: sqlite3.Connection, turn_id: int) -> bool:
    """True when an escalation of the turn was asked for and not given to anyone."""
    row = conn.execute(
        "select delivered_leg from bricks where kind = 'escalation_brief' and turn_id = ?"
        " and session_id = (select session_id from turns where id = ?) order by version desc limit 1",
        (turn_id, turn_id),
    ).fetchone()
    return row is not None and row[0] is None
