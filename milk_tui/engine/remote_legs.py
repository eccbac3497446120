"""Legs of agents whose runtime keeps its own history: which session of it goes on, and what it is given anew
(``semantics.md`` §4)."""

from __future__ import annotations

import sqlite3
from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import replace

from milk_tui.core import bricks as brick_rules
from milk_tui.core import remote_told
from milk_tui.core.blocks import StaleFact
from milk_tui.core.bricks import Rendering
from milk_tui.core.context import ContextState
from milk_tui.core.errors import MilkError
from milk_tui.core.records import Brick, Leg, Percept, PerceptionEntry, Role
from milk_tui.core.remote_told import Told
from milk_tui.store import Store, legs, percept_lists, remotes, threads
from milk_tui.store.remotes import RemoteSession

if TYPE_CHECKING:
    from sqlite_utils import Database

TOLD = "told"
"""Where the record stands among a remote session's markers."""


class TakenError(MilkError):
    """The runtime's session belongs to another session of ours: two would overwrite each other's turns."""


def last_answered(conn: sqlite3.Connection, session_id: str, role: Role, remote: RemoteSession | None) -> Leg | None:
    """The newest leg that ended well in the remote session."""
    if remote is None:
        return None
    row = conn.execute(
        "select * from legs where session_id = ? and role = ? and remote_session = ? and status = 'done'"
        " order by id desc limit 1",
        (session_id, role, remote.remote_id),
    ).fetchone()
    return legs.to_leg(row) if row else None


def newest(conn: sqlite3.Connection, remote: RemoteSession) -> int:
    """The newest leg in the remote session, however it ended; 0 when there is none."""
    row = conn.execute(
        "select max(id) from legs where session_id = ? and remote_session = ?", (remote.session_id, remote.remote_id)
    ).fetchone()
    return int(row[0] or 0)


def told_of(remote: RemoteSession | None) -> Told:
    """What the remote session has been given; nothing for one that hasn't begun."""
    return msgspec.convert(remote.markers.get(TOLD) or {}, Told) if remote else Told()


def delta(conn: sqlite3.Connection, session_id: str, other: Role, name: str, since: Leg, budget: int) -> Rendering:
    """What the other agent did since the remote session's last leg."""
    return brick_rules.delta(
        threads.digests(conn, session_id, other, after_leg=since.id),
        name,
        since_leg=since.id,
        budget=budget,
        total=threads.count(conn, session_id, other, after_leg=since.id),
    )


def given(
    conn: sqlite3.Connection,
    told: Told,
    *,
    in_history: bool,
    reinject_after: tuple[int, int],
    facts: tuple[Percept, ...],
    need: Brick | None,
    frame: tuple[PerceptionEntry, ...],
    working: tuple[PerceptionEntry, ...],
) -> dict[str, Any]:
    """What ``ContextState`` says about the remote session, for one that goes on. ``reinject_after``: turns, bytes."""
    again = in_history and remote_told.due(told, turns=reinject_after[0], bytes_=reinject_after[1])
    record = replace(told, compacted=True) if again else told
    record = remote_told.standing(record)
    now = remote_told.prints(need, frame, working)
    return {
        "told": remote_told.known(record, facts),
        "told_lines": frozenset(record.lines),
        "told_record": record,
        "prints": now,
        "changed": remote_told.changed(record, now),
        "emptied": remote_told.emptied(record, now),
        "reinject": again,
        "stale": stale(conn, record),
    }


def stale(conn: sqlite3.Connection, told: Told) -> tuple[StaleFact, ...]:
    """Facts that it was told and that no longer hold, with what holds now."""
    if not told.facts:
        return ()
    known = percept_lists.many(conn, told.facts)
    gone = []
    for fact_id, words in told.facts.items():
        fact = known.get(fact_id)
        if fact is not None and fact.holds and remote_told.mark_of(fact.content) == words:
            continue
        if fact is None:
            gone.append(StaleFact(short_id=remote_told.short(fact_id)))
            continue
        successor = percept_lists.get(conn, fact.superseded_by) if fact.superseded_by and not fact.holds else None
        now = fact.content if fact.holds else successor.content if successor else ""
        gone.append(StaleFact(short_id=fact.short_id, now=now))
    return tuple(gone)


async def adopt(store: Store, leg: Leg, remote_id: str, model: str = "") -> Leg:
    """The runtime says which session the leg works in. Raises TakenError when it belongs to another session of ours."""
    return await store.write(partial(_adopt, leg=leg, remote_id=remote_id, model=model))


def _adopt(db: Database, leg: Leg, remote_id: str, model: str) -> Leg:
    owner = remotes.owner(db.conn, leg.agent_name, remote_id)
    if owner is not None and owner != leg.session_id:
        raise TakenError(
            f"{leg.agent_name}'s own session {remote_id[:8]} belongs to another session.",
            "Go on there, or start anew with /escalate fresh.",
        )
    before = remotes.current(db.conn, leg.session_id, leg.agent_name, stand_in=False)
    if before is not None and before.remote_id != remote_id:
        remotes.end(db, before)
    remotes.open_one(db, session_id=leg.session_id, agent_name=leg.agent_name, remote_id=remote_id)
    legs.set_remote(db, leg.id, remote_id, model)
    return replace(leg, remote_session=remote_id, model=model or leg.model)


def record_after(
    state: ContextState,
    plan: Any,
    *,
    facts: tuple[Percept, ...],
    answer: str,
    compacted: bool,
    model: str,
    cost_usd: float | None,
) -> Told | None:
    """The record once the leg has succeeded; ``None`` for an agent without a remote session."""
    if state.stateless:
        return None
    return remote_told.after(
        state.told_record,
        plan,
        facts=facts,
        now=state.prints,
        answer=answer,
        reinjected=state.reinject,
        compacted=compacted,
        model=model,
        cost_usd=cost_usd,
    )


def spent(db: Database, leg: Leg, cost_usd: float) -> None:
    """Keep what the remote session has cost in all, also when the leg failed."""
    if leg.remote_session is None:
        return
    remote = remotes.open_one(db, session_id=leg.session_id, agent_name=leg.agent_name, remote_id=leg.remote_session)
    told = replace(told_of(remote), cost_usd=cost_usd)
    remotes.mark(db, remote, markers={**remote.markers, TOLD: msgspec.to_builtins(told)})
