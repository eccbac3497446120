"""What a fact that has just become live does to those that were known (``recall.md``, "Writing a fact" and "Safety").

Runs in the transaction that made it live, so that a reader never sees a fact beside the one that it replaces.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from milk_tui import recall
from milk_tui.core import currency
from milk_tui.core.currency import Candidate, Decision, Kind
from milk_tui.core.errors import MilkError
from milk_tui.core.order_scan import looks_like_order
from milk_tui.core.records import Consumer, Percept, PerceptScope, PerceptStatus, Producer, Session
from milk_tui.core.tags import split_consumer
from milk_tui.store import percept_changes, percept_lists, percept_rows, percepts
from milk_tui.store.percepts import Change

if TYPE_CHECKING:
    from sqlite_utils import Database

_LOOKED_AT = (24, 240)
"""Best hits that are looked at for the ``currency.NEAREST`` live ones among them; more where most of them are past."""


def learn(
    db: Database,
    text: str,
    *,
    session: Session | None,
    scope: PerceptScope | None = None,
    pinned: bool = False,
    allow_secret: bool = False,
    now: int,
) -> list[Change]:
    """The person states a fact: what happened to it, then what it did to others.

    ``@NAME:`` before it restricts who gets it, "(replaces #id)" at its end names what it replaces. Raises
    PerceptRefusedError.
    """
    consumer, content = Consumer.ALL, text.strip()
    names = (session.primary.name, session.escalation.name if session.escalation else "") if session else ("", "")
    if any(names):
        consumer, content = split_consumer(content, *names)
    content, replaces = currency.take_replaced(content)
    change = percepts.add(
        db,
        content=content,
        session_id=session.id if session else None,
        scope=scope,
        consumer=consumer,
        pinned=pinned,
        allow_secret=allow_secret,
        now=now,
    )
    if change.what != "live":
        return [change]
    return [change, *weigh(db, change.percept, replaces=replaces, now=now)]


def approve(db: Database, reference: str, *, waiting: Collection[str] = (), now: int) -> list[Change]:
    """The person vouches for a fact that was held back, doubted or tainted: from now on it counts like any other, and
    it is compared with what is known as a new one is.

    ``waiting``: facts that are approved after it, which it therefore doesn't replace.
    """
    before = percept_lists.get(db.conn, reference)
    changes = percept_changes.accept(db, reference, now=now)
    fresh = before is not None and (before.tainted or before.status is PerceptStatus.QUARANTINED)
    if fresh and changes[0].what == "accepted":
        changes += weigh(db, changes[0].percept, vouched=True, waiting=waiting, now=now)
    return changes


def weigh(
    db: Database,
    fact: Percept,
    *,
    replaces: Sequence[str] = (),
    vouched: bool = False,
    waiting: Collection[str] = (),
    now: int,
) -> list[Change]:
    """Compare a live fact with its nearest and act on it; the changes, in order. Everything can be undone.

    ``replaces`` are the short ids that its author named as replaced. What reads like an order is held back first, for
    the person to accept or reject, unless the person ``vouched`` for it.
    """
    if (
        not vouched
        and fact.producer is not Producer.USER
        and (why := looks_like_order(fact.content, tainted=fact.tainted))
    ):
        values = {"status": PerceptStatus.QUARANTINED, "note": f"held back: it {why}"}
        held = percept_rows.change(db, fact, "quarantined", values, actor=Producer.SYSTEM, note=why, now=now)
        return [Change(held, "quarantined")]
    nearest = _nearest(db.conn, fact, replaces, waiting)
    candidate = Candidate(
        content=fact.content,
        producer=fact.producer,
        consumer=fact.consumer,
        tainted=fact.tainted,
        subject=fact.subject,
        replaces=tuple(replaces),
        valid_from_ms=fact.valid_from_ms,
    )
    decision = currency.decide(candidate, nearest)
    try:
        return _apply(db, fact, decision, now)
    except MilkError:
        return []


def _apply(db: Database, fact: Percept, decision: Decision, now: int) -> list[Change]:
    actor, why = fact.producer, decision.why
    match decision.kind:
        case Kind.CONFIRM:
            return percept_changes.merge(db, decision.target, fact.id, actor=actor, now=now)
        case Kind.SUPERSEDE:
            changes: list[Change] = []
            for old in decision.retired:
                changes += percept_changes.supersede(db, old, fact.id, actor=actor, note=why, now=now)
            return changes
        case Kind.HISTORY:
            return percept_changes.supersede(
                db, fact.id, decision.target, actor=actor, note=why, inherits=False, now=now
            )
        case Kind.SUSPECT:
            return percept_changes.suspect(db, fact.id, decision.target, actor=actor, note=why, now=now)
        case Kind.ADD:
            return []


def _nearest(
    conn: sqlite3.Connection, fact: Percept, replaces: Sequence[str], waiting: Collection[str] = ()
) -> list[Percept]:
    """The named ones, then the live facts that have most to do with it, among those that its readers can see."""
    named = [found for short in replaces if (found := _get(conn, short)) is not None]
    chosen: dict[str, Percept] = {}
    for limit in _LOOKED_AT:
        hits = recall.find(conn, fact.content, session_id=fact.session_id, limit=limit)
        near = (*named, *(hit.percept for hit in hits))
        chosen = {p.id: p for p in near if _is_compared(fact, p) and p.id not in waiting}
        if len(hits) < limit or len(chosen) >= currency.NEAREST + len(named):
            break
    return list(chosen.values())[: currency.NEAREST + len(named)]


def _is_compared(fact: Percept, other: Percept) -> bool:
    return other.holds and other.id != fact.id and _shared(fact, other)


def _get(conn: sqlite3.Connection, short: str) -> Percept | None:
    try:
        return percept_lists.get(conn, short)
    except MilkError:
        return None


def _shared(fact: Percept, other: Percept) -> bool:
    """True when some agent is given both."""
    return Consumer.ALL in (fact.consumer, other.consumer) or fact.consumer is other.consumer
