"""Writing percepts: staged while an agent speaks, live with its leg, changed and undone by the person.

This is the one door: every text is admitted by ``core.percepts.admit``, every change is a row in
``percept_events``. The producer comes from the channel that calls, never from a text.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from milk_tui.core import percepts as rules
from milk_tui.core.errors import MilkError, PerceptRefusedError
from milk_tui.core.lifecycle import restored_weight
from milk_tui.core.records import (
    BIRTH_WEIGHT,
    PINNED_WEIGHT,
    Consumer,
    LegStatus,
    Percept,
    PerceptScope,
    PerceptStatus,
    Producer,
    Role,
)
from milk_tui.store import agents, legs, percept_edges, percept_events, percept_lists, percept_rows
from milk_tui.store.clock import now_ms

if TYPE_CHECKING:
    from sqlite_utils import Database

REINFORCEMENT = 50
"""Thousandths that an independent confirmation adds (``semantics.md`` §2)."""

_AGENTS = {Producer.PRIMARY: Role.PRIMARY, Producer.ESCALATION: Role.ESCALATION}


class Change(Struct, frozen=True):
    """A percept as it is now and what happened to it (the words of ``engine.events.PerceptChanged``, and
    ``edited``, ``weighed``, ``shared``; ``repeated``: a capture that says what is known, confirmed when its
    leg ends)."""

    percept: Percept
    what: str


def stage(
    db: Database,
    *,
    leg_id: int,
    producer: Producer,
    content: str,
    consumer: Consumer = Consumer.ALL,
    subject: str = "",
    tainted: bool = False,
    per_turn: int = rules.MAX_PER_TURN,
    position: int | None = None,
    now: int | None = None,
) -> Change:
    """Keep what an agent stated during a leg; it counts only from ``make_live`` on.

    ``position``: characters of the answer that came before it; ``None``: what is stored of it so far.

    Raises PerceptRefusedError for what ``core.percepts.admit`` refuses, for more than ``per_turn`` facts of a
    turn, for a fact that the person has removed, and when the leg has ended.
    """
    now = now_ms() if now is None else now
    conn = db.conn
    leg = legs.get(conn, leg_id)
    if leg.status is not LegStatus.RUNNING:
        raise PerceptRefusedError("Not stored: the answer that it belongs to has ended.")
    session_id = leg.session_id
    content = rules.admit(content, nonces=agents.nonces(conn, session_id))
    digest = rules.content_hash(content)
    again = percept_lists.select(conn, "p.leg_id = ? and p.hash = ? and p.status = 'staged'", (leg_id, digest))
    if again:
        return Change(again[0], "repeated")
    _refuse_removed(conn, digest, session_id)
    rules.check_flood(count_of_turn(conn, leg.turn_id), per_turn)
    known = percept_rows.same(conn, digest, session_id)
    percept = percept_rows.insert(
        db,
        content=content,
        producer=producer,
        agent_name=leg.agent_name,
        consumer=consumer,
        scope=PerceptScope.SESSION,
        status=PerceptStatus.STAGED,
        session_id=session_id,
        turn_id=leg.turn_id,
        leg_id=leg_id,
        subject=subject,
        tainted=tainted,
        position=position,
        now=now,
    )
    percept_events.record(db, percept, "captured", actor=producer, turn_id=percept.turn_id, now=now)
    return Change(known, "repeated") if known else Change(percept, "captured")


def make_live(db: Database, leg_id: int, *, note: str = "", actor: str = "", now: int | None = None) -> list[Change]:
    """What a leg captured counts from now on; call it in the transaction that ends the leg.

    A capture that says what is known already confirms that and goes. ``note`` is kept with each, such as
    "from an interrupted answer".
    """
    now = now_ms() if now is None else now
    changes: list[Change] = []
    for staged in percept_lists.of_leg(db.conn, leg_id, staged=True):
        known = percept_rows.same(db.conn, rules.content_hash(staged.content), staged.session_id)
        if known is None:
            percept_rows.settle_moment(db, staged)
            values = {"status": PerceptStatus.LIVE, **({"note": note} if note else {})}
            live = percept_rows.change(
                db, staged, "live", values, actor=actor or staged.producer, undoable=False, note=note, now=now
            )
            changes.append(Change(live, "live"))
            continue
        percept_rows.delete(db, [staged.id])
        changes.append(Change(staged, "removed"))
        confirmed = confirm(
            db,
            known,
            producer=staged.producer,
            consumer=staged.consumer,
            turn_id=staged.turn_id,
            now=now,
        )
        changes.append(Change(confirmed, "confirmed"))
    return changes


def drop_staged(db: Database, leg_id: int, ids: Iterable[str] | None = None) -> list[Change]:
    """Delete what an abandoned answer had captured (all of the leg's, or these): it was never said."""
    chosen = None if ids is None else frozenset(ids)
    gone = [
        percept
        for percept in percept_lists.of_leg(db.conn, leg_id, staged=True)
        if chosen is None or percept.id in chosen
    ]
    percept_rows.delete(db, [percept.id for percept in gone])
    return [Change(percept, "removed") for percept in gone]


def add(
    db: Database,
    *,
    content: str,
    producer: Producer = Producer.USER,
    session_id: str | None = None,
    scope: PerceptScope | None = None,
    consumer: Consumer = Consumer.ALL,
    pinned: bool = False,
    subject: str = "",
    agent_name: str = "",
    tainted: bool = False,
    turn_id: int | None = None,
    allow_secret: bool = False,
    now: int | None = None,
) -> Change:
    """Store a fact at once (``/learn``). ``scope`` follows from ``session_id`` when it is not given.

    One that is known is confirmed, one that was forgotten is restored. ``allow_secret`` is the person's
    override. Raises PerceptRefusedError.
    """
    now = now_ms() if now is None else now
    conn = db.conn
    scope = scope or (PerceptScope.SESSION if session_id else PerceptScope.GLOBAL)
    by_person = producer is Producer.USER
    content = rules.admit(
        content,
        nonces=agents.nonces(conn, session_id) if session_id else (),
        allow_secret=allow_secret and by_person,
    )
    digest = rules.content_hash(content)
    known = percept_rows.same(conn, digest, session_id)
    if known is None and by_person and (removed := percept_rows.forgotten_twin(conn, digest, session_id)):
        known = restore(db, removed.id, now=now).percept
        change = Change(known, "restored")
    elif known is not None:
        known = confirm(db, known, producer=producer, consumer=consumer, turn_id=turn_id, now=now)
        change = Change(known, "confirmed")
    else:
        _refuse_removed(conn, digest, session_id)
        percept = percept_rows.insert(
            db,
            content=content,
            producer=producer,
            agent_name=agent_name,
            consumer=consumer,
            scope=scope,
            status=PerceptStatus.LIVE,
            session_id=session_id,
            turn_id=turn_id,
            subject=subject,
            pinned=pinned,
            tainted=tainted,
            now=now,
        )
        percept_events.record(db, percept, "added", actor=producer, turn_id=turn_id, now=now)
        return Change(percept, "live")
    if pinned and not change.percept.pinned:
        return pin(db, change.percept.id, True, now=now)
    return change


def confirm(
    db: Database,
    percept: Percept,
    *,
    producer: Producer,
    consumer: Consumer | None = None,
    turn_id: int | None = None,
    independent: bool | None = None,
    now: int | None = None,
) -> Percept:
    """The fact was stated again.

    Only an independent confirmation adds weight, once a turn and once a producer, and never its own
    producer's. An agent that repeats may be echoing what it was given, so ``independent`` is by default true
    for the person alone. When the person, or an agent that the fact was kept from, states it for more
    readers, they may all have it.
    """
    now = now_ms() if now is None else now
    conn = db.conn
    values: dict[str, Any] = {"confirmed_ms": max(percept.confirmed_ms, now)}
    independent = producer is Producer.USER if independent is None else independent
    earlier = {percept.producer, *percept_events.confirmers(conn, percept.id)}
    fresh = turn_id is None or not percept_events.reinforced_in(conn, percept.id, turn_id)
    if independent and producer not in earlier and fresh:
        values["weight"] = min(PINNED_WEIGHT, percept.weight + REINFORCEMENT)
    if consumer is not None and consumer is not percept.consumer and percept.consumer is not Consumer.ALL:
        kept_from_it = producer in _AGENTS and percept.consumer != _AGENTS[producer].value
        if producer is Producer.USER or kept_from_it:
            values["consumer"] = Consumer.ALL
    return percept_rows.change(db, percept, "confirmed", values, actor=producer, turn_id=turn_id, now=now)


def pin(
    db: Database, reference: str, pinned: bool, *, actor: Producer = Producer.USER, now: int | None = None
) -> Change:
    """A pinned fact is always given and weighs 1000; unpinned it weighs what it did before."""
    percept = percept_rows.known(db.conn, reference)
    what = "pinned" if pinned else "unpinned"
    if percept.pinned is pinned:
        return Change(percept, what)
    weight = PINNED_WEIGHT
    if not pinned:
        before = percept_events.last(db.conn, percept.id, "pinned")
        weight = before[1].get("weight", BIRTH_WEIGHT[percept.producer]) if before else BIRTH_WEIGHT[percept.producer]
    return Change(
        percept_rows.change(db, percept, what, {"pinned": pinned, "weight": weight}, actor=actor, now=now), what
    )


def forget(db: Database, reference: str, *, actor: Producer = Producer.USER, now: int | None = None) -> Change:
    """Nobody is given it any more and no search finds it; it can be restored."""
    percept = percept_rows.known(db.conn, reference)
    if percept.status is PerceptStatus.FORGOTTEN:
        return Change(percept, "forgotten")
    values = {"status": PerceptStatus.FORGOTTEN, "valid_to_ms": now_ms() if now is None else now}
    return Change(percept_rows.change(db, percept, "forgotten", values, actor=actor, now=now), "forgotten")


def restore(db: Database, reference: str, *, actor: Producer = Producer.USER, now: int | None = None) -> Change:
    """Bring a forgotten fact back as it was; when the same is known by another id, that one is confirmed.

    One that faded comes back heavy enough not to fade again at once.
    """
    percept = percept_rows.known(db.conn, reference)
    if percept.status is not PerceptStatus.FORGOTTEN:
        return Change(percept, "restored")
    known = percept_rows.same(db.conn, rules.content_hash(percept.content), percept.session_id)
    if known is not None:
        return Change(confirm(db, known, producer=actor, consumer=percept.consumer, now=now), "confirmed")
    before = percept_events.last(db.conn, percept.id, "forgotten")
    status = PerceptStatus(before[1]["status"]) if before else PerceptStatus.LIVE
    if status is PerceptStatus.STAGED and not _leg_runs(db.conn, percept.leg_id):
        status = PerceptStatus.LIVE
    values = {"status": status, "valid_to_ms": before[1].get("valid_to_ms") if before else None}
    if before and before[0].actor == Producer.SYSTEM:
        values["weight"] = restored_weight(percept)
    return Change(percept_rows.change(db, percept, "restored", values, actor=actor, now=now), "restored")


def set_weight(
    db: Database, reference: str, weight: int, *, actor: Producer = Producer.USER, now: int | None = None
) -> Change:
    """In thousandths, held within 0..1000."""
    percept = percept_rows.known(db.conn, reference)
    weight = max(0, min(PINNED_WEIGHT, weight))
    return Change(percept_rows.change(db, percept, "weighed", {"weight": weight}, actor=actor, now=now), "weighed")


def edit(db: Database, reference: str, content: str, *, allow_secret: bool = False, now: int | None = None) -> Change:
    """The person says it in other words, which makes it the person's own fact. Raises PerceptRefusedError."""
    percept = percept_rows.known(db.conn, reference)
    nonces = agents.nonces(db.conn, percept.session_id) if percept.session_id else ()
    content = rules.admit(content, nonces=nonces, allow_secret=allow_secret)
    digest = rules.content_hash(content)
    known = percept_rows.same(db.conn, digest, percept.session_id)
    if known is not None and known.id != percept.id:
        raise PerceptRefusedError(f"Not changed: {known.short_id} says the same.", "Forget one of the two.")
    values = {
        "content": content,
        "hash": digest,
        "producer": Producer.USER,
        "agent_name": "",
        "weight": max(percept.weight, BIRTH_WEIGHT[Producer.USER]),
        "tainted": False,
    }
    return Change(percept_rows.change(db, percept, "edited", values, actor=Producer.USER, now=now), "edited")


def share(
    db: Database,
    reference: str,
    *,
    consumer: Consumer | None = None,
    scope: PerceptScope | None = None,
    now: int | None = None,
) -> Change:
    """Who may be given it, and whether in every session. Raises MilkError for a global fact made a session's
    that was learned in none."""
    percept = percept_rows.known(db.conn, reference)
    if scope is PerceptScope.SESSION and percept.session_id is None:
        raise MilkError(f"{percept.short_id} was learned outside of any session.", "It can only be global.")
    values: dict[str, Any] = {}
    if consumer is not None:
        values["consumer"] = consumer
    if scope is not None:
        values["scope"] = scope
    return Change(percept_rows.change(db, percept, "shared", values, actor=Producer.USER, now=now), "shared")


def undo(db: Database, reference: str, *, actor: Producer = Producer.USER, now: int | None = None) -> Change | None:
    """Take back the last change of the percept; ``None`` when there is none that can be."""
    percept = percept_rows.known(db.conn, reference)
    found = percept_events.last_undoable(db.conn, percept.id)
    if found is None:
        return None
    event, values = found
    percept_events.mark_undone(db, event.id)
    percept_edges.take_back(db, percept_edges.kept(values))
    after = percept_rows.change(db, percept, "undone", values, actor=actor, note=event.kind, undoable=False, now=now)
    return Change(after, "restored" if event.kind == "forgotten" else "undone")


def check_turn(conn: sqlite3.Connection, turn_id: int, limit: int) -> None:
    """Raises PerceptRefusedError when the turn's agents have stored as many facts as a turn may give."""
    rules.check_flood(count_of_turn(conn, turn_id), limit)


def check_time(conn: sqlite3.Connection, session_id: str, agent_name: str | None, *, since: int, limit: int) -> None:
    """The same for a client that works in no turn: what it, or with ``None`` anyone, stored in the session since
    then."""
    row = conn.execute(
        "select count(*) from percepts where session_id = ?1 and (?2 is null or agent_name = ?2)"
        " and turn_id is null and created_ms > ?3",
        (session_id, agent_name, since),
    ).fetchone()
    if row[0] >= limit:
        raise PerceptRefusedError(
            f"Not stored: that would be more than {limit} facts within minutes.", "Keep to what lasts; try later."
        )


def count_of_turn(conn: sqlite3.Connection, turn_id: int) -> int:
    """Facts that the agents stored in a turn, whatever became of them."""
    row = conn.execute(
        "select count(*) from percepts where turn_id = ? and producer in ('primary', 'escalation')",
        (turn_id,),
    ).fetchone()
    return int(row[0])


def _refuse_removed(conn: sqlite3.Connection, digest: str, session_id: str | None) -> None:
    """What the person removed does not come back because an agent says it again."""
    removed = percept_rows.forgotten_twin(conn, digest, session_id)
    if removed is None:
        return
    event = percept_events.last(conn, removed.id, "forgotten")
    if event is not None and event[0].actor == Producer.USER:
        raise PerceptRefusedError(
            f"Not stored again: you removed this fact ({removed.short_id}).", "Restore it to keep it."
        )


def _leg_runs(conn: sqlite3.Connection, leg_id: int | None) -> bool:
    row = conn.execute("select 1 from legs where id = ? and status = 'running'", (leg_id,)).fetchone()
    return row is not None
