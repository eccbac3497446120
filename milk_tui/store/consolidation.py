"""Consolidations: the rules of ``core/lifecycle.py`` applied to what is stored, once for each period.

A consolidation is one transaction: its events, the changed facts and the period's key are there together or not at
all. ``plan`` only reads, so it is also the dry run. Every change can be undone like any other (``percepts.undo``,
``percept_changes.undo``); the period stays counted.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from datetime import date, datetime
from typing import TYPE_CHECKING

from msgspec import Struct, structs

from milk_tui.core import lifecycle
from milk_tui.core.lifecycle import Changes, Edge, Period, Step
from milk_tui.core.records import Percept, PerceptScope, Producer
from milk_tui.store import percept_changes, percept_edges, percept_lists
from milk_tui.store.clock import now_ms
from milk_tui.store.percepts import Change
from milk_tui.store.rows import encode, id_list

if TYPE_CHECKING:
    from sqlite_utils import Database

ACTOR = Producer.SYSTEM

_OF_SESSION = "p.scope = 'session' and p.session_id = ? and p.status in ('staged', 'live', 'suspect')"
_OF_ALL = "p.scope = 'global' and p.status in ('staged', 'live', 'suspect')"
_WORKED = """t.status not in ('pending', 'running') and exists
    (select 1 from legs l where l.turn_id = t.id and l.status not in ('pending', 'running', 'failed'))"""
"""A turn that an agent did something in: prompts that nobody answered make no period."""


class Planned(Struct, frozen=True, kw_only=True):
    """What a consolidation would do. ``facts`` are those that it changes, as they are before it."""

    changes: Changes
    facts: dict[str, Percept]
    twins: dict[str, str]
    """Facts that become global though the same is known to all: the id of that one, which they are merged with."""


class Consolidated(Struct, frozen=True, kw_only=True):
    """What a consolidation did. ``changes`` has each changed fact once, as it is after it."""

    session_id: str
    changes: tuple[Change, ...] = ()
    forgotten: int = 0
    promoted: int = 0


class Ended(Struct, frozen=True, kw_only=True):
    """The end of a period: facts that were learned after ``until_ms`` belong to the next one."""

    session_id: str
    last_turn_id: int
    until_ms: int | None = None


def due(conn: sqlite3.Connection, session_id: str) -> Ended | None:
    """The session's period as it would end now; ``None`` when it has no new turn since the last one."""
    last_turn = _last_turn(conn, session_id)
    last = last_period(conn, session_id)
    if last_turn <= (last.last_turn_id if last else 0):
        return None
    return Ended(session_id=session_id, last_turn_id=last_turn)


def due_before(conn: sqlite3.Connection, session_id: str, turn_id: int, *, idle_ms: int) -> Ended | None:
    """The period that had ended when that turn began, because nothing had happened for longer than ``idle_ms``."""
    before = _last_turn(conn, session_id, before=turn_id)
    last = last_period(conn, session_id)
    if before <= (last.last_turn_id if last else 0):
        return None
    began = conn.execute("select created_ms from turns where id = ?", (turn_id,)).fetchone()
    if began is None or began[0] - _last_active(conn, session_id, before=turn_id) <= idle_ms:
        return None
    return Ended(session_id=session_id, last_turn_id=before, until_ms=began[0])


def idle(conn: sqlite3.Connection, *, now: int, idle_ms: int, limit: int = 200) -> list[Ended]:
    """The periods that nothing has happened in for longer than ``idle_ms``, the longest first."""
    rows = conn.execute(
        f"""
        select s.id from sessions s where s.updated_ms < ?1 and exists (
            select 1 from turns t where t.session_id = s.id and {_WORKED} and t.id >
                coalesce((select max(last_turn_id) from consolidations where session_id = s.id), 0))
        order by s.updated_ms limit ?2
        """,
        (now - idle_ms, limit),
    ).fetchall()
    ended = (due(conn, row[0]) for row in rows if now - _last_active(conn, row[0]) > idle_ms)
    return [each for each in ended if each is not None]


def last_period(conn: sqlite3.Connection, session_id: str) -> Period | None:
    """The session's last period that was counted."""
    row = conn.execute("select max(last_turn_id) from consolidations where session_id = ?", (session_id,)).fetchone()
    return None if row[0] is None else Period(session_id=session_id, last_turn_id=row[0])


def last_ms(conn: sqlite3.Connection, session_id: str) -> int | None:
    """When the session was last consolidated."""
    row = conn.execute("select max(at_ms) from consolidations where session_id = ?", (session_id,)).fetchone()
    return None if row[0] is None else int(row[0])


def plan(conn: sqlite3.Connection, ended: Ended, *, now: int | None = None) -> Planned:
    """What ``consolidate`` would do; nothing for a period that was counted."""
    now = now_ms() if now is None else now
    today = datetime.fromtimestamp(now / 1000).date()
    global_day = _global_day(conn)
    facts, edges = _in_reach(conn, ended, global_is_due=global_day is None or today > global_day)
    changes = lifecycle.consolidate(
        facts.values(),
        edges,
        period=Period(session_id=ended.session_id, last_turn_id=ended.last_turn_id),
        last=last_period(conn, ended.session_id),
        today=today,
        global_day=global_day,
    )
    return Planned(
        changes=changes,
        facts={row.percept_id: facts[row.percept_id] for row in changes.rows},
        twins=_twins(conn, changes.promoted, without=changes.forgotten),
    )


def consolidate(db: Database, ended: Ended, *, now: int | None = None) -> Consolidated | None:
    """Do it, in the caller's transaction; ``None`` when the period was counted before."""
    now = now_ms() if now is None else now
    planned = plan(db.conn, ended, now=now)
    changes = planned.changes
    if not changes.counted:
        return None
    done_to = _write(db, planned, now)
    for row in changes.rows:
        if row.step is Step.FORGOTTEN:
            gone = percept_changes.forget(db, row.percept_id, actor=ACTOR, note=row.reason, now=now)
            done_to.update({change.percept.id: change for change in gone})
    for percept_id, twin in planned.twins.items():
        merged = percept_changes.merge(db, twin, percept_id, actor=ACTOR, now=now)
        done_to.update({change.percept.id: change for change in merged})
    done = Consolidated(
        session_id=ended.session_id,
        changes=tuple(done_to.values()),
        forgotten=len(changes.forgotten),
        promoted=len(changes.promoted) - len(planned.twins),
    )
    db.execute(
        "insert into consolidations (session_id, last_turn_id, at_ms, global_day, forgotten, promoted, told)"
        " values (?, ?, ?, ?, ?, ?, ?)",
        (
            ended.session_id,
            ended.last_turn_id,
            now,
            changes.global_day.isoformat() if changes.global_day else None,
            done.forgotten,
            done.promoted,
            not (done.forgotten or done.promoted),
        ),
    )
    return done


def untold(conn: sqlite3.Connection) -> tuple[int, int]:
    """How many facts faded and became global in consolidations that nobody was told of."""
    row = conn.execute(
        "select coalesce(sum(forgotten), 0), coalesce(sum(promoted), 0) from consolidations where told = 0"
    ).fetchone()
    return row[0], row[1]


def tell(db: Database) -> tuple[int, int]:
    """``untold``, once: the person is told now."""
    found = untold(db.conn)
    db.execute("update consolidations set told = 1 where told = 0")
    return found


def expired(conn: sqlite3.Connection, *, now: int | None = None) -> list[str]:
    """The facts that faded so long ago that they can't be expected back. What a person removed is not among them: it
    stays known as removed, so that it doesn't come back (``store/percepts.py``)."""
    now = now_ms() if now is None else now
    rows = conn.execute(
        """
        select p.id, e.at_ms from percepts p join percept_events e on e.id = (select max(id) from percept_events
            where percept_id = p.id and kind = 'forgotten' and undone = 0)
        where p.status = 'forgotten' and e.actor = ?
        """,
        (ACTOR,),
    ).fetchall()
    return [row["id"] for row in rows if not lifecycle.restorable(row["at_ms"], now)]


def purge(db: Database, *, now: int | None = None) -> int:
    """Delete what is ``expired``, for good; how many."""
    gone = expired(db.conn, now=now)
    db.execute("delete from percepts where id in (select value from json_each(?))", (id_list(gone),))
    return len(gone)


def _last_turn(conn: sqlite3.Connection, session_id: str, *, before: int = 2**62) -> int:
    row = conn.execute(
        f"select t.id from turns t where t.session_id = ? and {_WORKED} and t.id < ? order by t.id desc limit 1",
        (session_id, before),
    ).fetchone()
    return row[0] if row else 0


def _last_active(conn: sqlite3.Connection, session_id: str, *, before: int = 2**62) -> int:
    """When something last happened in the turns before that one."""
    row = conn.execute(
        """
        select t.created_ms, (select max(l.ended_ms) from legs l where l.turn_id = t.id)
        from turns t where t.session_id = ? and t.id < ? order by t.id desc limit 1
        """,
        (session_id, before),
    ).fetchone()
    return max(row[0], row[1] or 0) if row else 0


def _global_day(conn: sqlite3.Connection) -> date | None:
    row = conn.execute("select max(global_day) from consolidations where global_day is not null").fetchone()
    return date.fromisoformat(row[0]) if row[0] else None


def _in_reach(
    conn: sqlite3.Connection, ended: Ended, *, global_is_due: bool
) -> tuple[dict[str, Percept], Iterable[Edge]]:
    """The facts that the rules look at. While global ones are not due, those are enough that edges lead to from the
    session's, and those that are too light to stay."""
    own = percept_lists.select(conn, _OF_SESSION, (ended.session_id,))
    shared = percept_lists.select(
        conn, _OF_ALL if global_is_due else f"{_OF_ALL} and p.pinned = 0 and p.weight <= {lifecycle.FORGET_AT:d}"
    )
    facts = {fact.id: fact for fact in (*own, *shared)}
    edges = percept_edges.touching(conn, facts)
    facts.update(percept_lists.many(conn, {end for edge in edges for end in (edge.source, edge.target)} - facts.keys()))
    until = ended.until_ms
    return {id_: fact for id_, fact in facts.items() if until is None or fact.created_ms <= until}, edges


def _twins(conn: sqlite3.Connection, promoted: Iterable[str], *, without: Iterable[str]) -> dict[str, str]:
    rows = conn.execute(
        """
        select a.id, min(b.id) from percepts a join percepts b on b.hash = a.hash and b.id <> a.id
            and b.scope = 'global' and b.status in ('live', 'suspect') and b.tainted = 0
            and b.id not in (select value from json_each(?2))
        where a.id in (select value from json_each(?1)) group by a.id
        """,
        (id_list(promoted), id_list(without)),
    )
    return dict(rows.fetchall())


def _write(db: Database, planned: Planned, now: int) -> dict[str, Change]:
    """The weights, and what becomes global, with their events, thousands at a time; the facts as they are then."""
    rows = [
        row
        for row in planned.changes.rows
        if row.step is not Step.FORGOTTEN and not (row.step is Step.PROMOTED and row.percept_id in planned.twins)
    ]
    to_session = encode({"scope": PerceptScope.SESSION})
    db.conn.executemany(
        "insert into percept_events (percept_id, at_ms, kind, actor, weight_before, weight_after, note, undo)"
        " values (?, ?, ?, ?, ?, ?, ?, ?)",
        [
            (
                row.percept_id,
                now,
                row.step,
                ACTOR,
                row.before,
                row.after,
                row.reason,
                to_session if row.step is Step.PROMOTED else encode({"weight": row.before}),
            )
            for row in rows
        ],
    )
    done_to: dict[str, Change] = {}
    for row in rows:
        fact = planned.facts[row.percept_id]
        scope = PerceptScope.GLOBAL if row.step is Step.PROMOTED else fact.scope
        done_to[fact.id] = Change(structs.replace(fact, weight=row.after, scope=scope, updated_ms=now), row.step.value)
    db.conn.executemany(
        "update percepts set weight = ?, scope = ?, updated_ms = ? where id = ?",
        [(change.percept.weight, change.percept.scope, now, id_) for id_, change in done_to.items()],
    )
    return done_to
