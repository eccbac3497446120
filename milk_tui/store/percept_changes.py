"""What a person does with facts beyond one of them: replace, merge, decide, bring back, and take all of it back.

Each function works in the transaction that calls it and records every change in ``percept_events``. ``actor`` is who
decides; a rule that retires a fact by itself uses ``supersede`` and ``suspect`` too (``recall.md``, "Writing a fact").
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, TypeVar

from milk_tui.core import forgetting
from milk_tui.core import percepts as rules
from milk_tui.core.errors import MilkError, PerceptRefusedError
from milk_tui.core.lifecycle import EdgeKind
from milk_tui.core.records import PINNED_WEIGHT, Consumer, Percept, PerceptScope, PerceptStatus, Producer
from milk_tui.store import percept_edges, percept_events, percept_imports, percept_lists, percept_rows, percepts
from milk_tui.store.clock import now_ms
from milk_tui.store.percept_edges import EdgeChange
from milk_tui.store.percepts import Change

if TYPE_CHECKING:
    from sqlite_utils import Database

T = TypeVar("T")


def supersede(
    db: Database,
    old: str,
    new: str,
    *,
    actor: Producer = Producer.USER,
    note: str = "",
    inherits: bool = True,
    now: int | None = None,
) -> list[Change]:
    """``new`` says what holds instead of ``old``, which keeps its text and is never given again.

    The successor takes the place of the old in every session that had it, and is given to nobody from whom the old was
    kept; a pin passes to it, and a conflict between the two is decided by it. ``inherits`` False: only the old one
    changes, since it was never in force beside the other. Raises MilkError when one of them does not hold.
    """
    now = now_ms() if now is None else now
    before, after = _two(db, old, new)
    changes = [_retire(db, before, after, EdgeKind.UPDATES, "superseded", actor=actor, note=note, now=now)]
    values = _inherited(before, after) if inherits else {}
    changes += _settle(db, after, before, values, actor=actor, now=now)
    return changes + _released(db, before, actor=actor, now=now)


def merge(
    db: Database, keep: str, gone: str, *, actor: Producer = Producer.USER, now: int | None = None
) -> list[Change]:
    """The two say the same: ``keep`` stays, ``gone`` becomes a superseded one that it stands for.

    What either had, ``keep`` has: its readers, its reach, a pin, the greater weight, the later confirmation. It weighs
    a little more when the person merges what somebody else had stated too; an agent may only repeat what it was given,
    and what comes from outside gives nobody anything. So a fact that the person keeps from an agent stays kept from it
    until that agent says it itself. Raises MilkError when one of them does not hold.
    """
    now = now_ms() if now is None else now
    other, kept = _two(db, gone, keep)
    note = f"{kept.short_id} says the same"
    changes = [_retire(db, other, kept, EdgeKind.DERIVES, "merged", actor=actor, note=note, now=now)]
    pinned = kept.pinned or other.pinned
    weight = max(kept.weight, other.weight)
    if other.producer is not kept.producer and actor is Producer.USER:
        weight = min(PINNED_WEIGHT, weight + percepts.REINFORCEMENT)
    values: dict[str, Any] = {
        "confirmed_ms": max(kept.confirmed_ms, other.confirmed_ms),
        "weight": PINNED_WEIGHT if pinned else weight,
        "pinned": pinned,
    }
    outside = other.tainted and not kept.tainted
    if kept.consumer is not other.consumer and not outside and _may_widen(kept, other, actor):
        values["consumer"] = Consumer.ALL
    if kept.scope is not other.scope and not outside:
        values["scope"] = PerceptScope.GLOBAL
    confirmed = percept_rows.change(
        db, kept, "confirmed", values, actor=actor, note=f"merged with {other.short_id}", now=now
    )
    changes.append(Change(confirmed, "confirmed"))
    changes += _settle(db, confirmed, other, {}, actor=actor, now=now)
    return changes + _released(db, other, actor=actor, now=now)


def suspect(
    db: Database, new: str, old: str, *, actor: Producer, note: str = "", now: int | None = None
) -> list[Change]:
    """The two may not both be true: both stay, linked, and the person is asked. The newer one is doubted, unless it is
    pinned or the person's and the older one is not."""
    now = now_ms() if now is None else now
    before, after = _two(db, old, new)
    edges = percept_edges.link(db, after.id, before.id, EdgeKind.CONTRADICTS, now=now)
    doubted = before if _standing(after) > _standing(before) else after
    if not edges and doubted.status is PerceptStatus.SUSPECT:
        return []
    values = {"status": PerceptStatus.SUSPECT, **({"note": note} if note else {})}
    changed = percept_rows.change(db, doubted, "suspected", values, actor=actor, note=note, edges=edges, now=now)
    return [Change(changed, "suspected")]


def decide(
    db: Database,
    newer: str,
    older: str,
    *,
    replace: bool,
    actor: Producer = Producer.USER,
    note: str = "",
    now: int | None = None,
) -> list[Change]:
    """End a conflict: ``newer`` replaces ``older``, or both hold. ``note`` says who says so."""
    now = now_ms() if now is None else now
    if replace:
        return supersede(db, older, newer, actor=actor, note=note or "the newer holds", now=now)
    old, new = _two(db, older, newer)
    note = f"both hold, {note}" if note else "both hold"
    return _settle(db, new, old, {}, actor=actor, note=note, now=now) + _cleared(db, old, actor=actor, now=now)


def accept(db: Database, reference: str, *, actor: Producer = Producer.USER, now: int | None = None) -> list[Change]:
    """A fact that was held back, doubted or tainted holds: it is given like any other from now on.

    When the same is known by another id, that one is confirmed and this one goes. Raises MilkError when nothing is to
    be decided about it.
    """
    now = now_ms() if now is None else now
    fact = percept_rows.known(db.conn, reference)
    if fact.status not in (PerceptStatus.QUARANTINED, PerceptStatus.SUSPECT) and not (fact.tainted and fact.holds):
        raise MilkError(f"Nothing is to be decided about {fact.short_id}.")
    known = percept_rows.same(db.conn, rules.content_hash(fact.content), fact.session_id)
    if known is not None and known.id != fact.id:
        gone = percept_rows.change(db, fact, "forgotten", _forgotten(now), actor=actor, note="known already", now=now)
        confirmed = percepts.confirm(db, known, producer=fact.producer, consumer=fact.consumer, now=now)
        return [Change(gone, "forgotten"), Change(confirmed, "confirmed")]
    values = {"status": PerceptStatus.LIVE, "tainted": False, **percept_imports.vouched(db.conn, fact)}
    if forgetting.asked(fact):
        values["note"] = ""
    return [Change(percept_rows.change(db, fact, "accepted", values, actor=actor, now=now), "accepted")]


def reject(db: Database, reference: str, *, actor: Producer = Producer.USER, now: int | None = None) -> list[Change]:
    """The opposite of ``accept``: it is forgotten, and can be restored. Raises MilkError as that does."""
    now = now_ms() if now is None else now
    fact = percept_rows.known(db.conn, reference)
    if fact.status not in (PerceptStatus.QUARANTINED, PerceptStatus.SUSPECT) and not (fact.tainted and fact.holds):
        raise MilkError(f"Nothing is to be decided about {fact.short_id}.")
    return forget(db, fact.id, actor=actor, note="rejected", now=now)


def forget(
    db: Database, reference: str, *, actor: Producer = Producer.USER, note: str = "", now: int | None = None
) -> list[Change]:
    """Nobody is given it any more; a fact that was only doubted because of it is doubted no longer."""
    now = now_ms() if now is None else now
    fact = percept_rows.known(db.conn, reference)
    if fact.status is PerceptStatus.FORGOTTEN:
        return [Change(fact, "forgotten")]
    gone = percept_rows.change(db, fact, "forgotten", _forgotten(now), actor=actor, note=note, now=now)
    return [Change(gone, "forgotten"), *_released(db, gone, actor=actor, now=now)]


def restore(db: Database, reference: str, *, actor: Producer = Producer.USER, now: int | None = None) -> list[Change]:
    """Bring a forgotten or superseded fact back as it was. Raises PerceptRefusedError when another one says the same
    as a superseded one; of a forgotten one, that other is confirmed instead."""
    now = now_ms() if now is None else now
    fact = percept_rows.known(db.conn, reference)
    if fact.status is not PerceptStatus.SUPERSEDED:
        return [percepts.restore(db, fact.id, actor=actor, now=now)]
    known = percept_rows.same(db.conn, rules.content_hash(fact.content), fact.session_id)
    if known is not None:
        raise PerceptRefusedError(f"Not restored: {known.short_id} says the same.")
    edges: list[EdgeChange] = []
    if fact.superseded_by:
        for kind in (EdgeKind.UPDATES, EdgeKind.DERIVES):
            edges += percept_edges.unlink(db, fact.superseded_by, fact.id, kind)
    values = {"status": PerceptStatus.LIVE, "superseded_by": None, "valid_to_ms": None}
    restored = percept_rows.change(db, fact, "restored", values, actor=actor, edges=edges, now=now)
    return [Change(restored, "restored")]


def recorded(db: Database, do: Callable[[Database], T]) -> tuple[T, tuple[int, ...]]:
    """Do it, and say which events it recorded, for ``undo``."""
    last = percept_events.newest_id(db.conn)
    result = do(db)
    return result, tuple(percept_events.since(db.conn, last))


def undo(
    db: Database, events: Iterable[int], *, actor: Producer = Producer.USER, now: int | None = None
) -> list[Change]:
    """Take these changes back, the last first. What was changed again since stays as it is now."""
    now = now_ms() if now is None else now
    changed: dict[str, Change] = {}
    for event_id in sorted(events, reverse=True):
        found = percept_events.standing(db.conn, event_id)
        if found is None:
            continue
        event, values = found
        percept_events.mark_undone(db, event_id)
        edges = percept_edges.kept(values)
        percept_edges.take_back(db, edges)
        if not (values or edges):
            continue
        fact = percept_lists.many(db.conn, [event.percept_id])[event.percept_id]
        after = percept_rows.change(db, fact, "undone", values, actor=actor, note=event.kind, undoable=False, now=now)
        changed[after.id] = Change(after, "restored" if event.kind == "forgotten" else "undone")
    return list(changed.values())


def _may_widen(kept: Percept, other: Percept, actor: Producer) -> bool:
    """The person may say so; an agent knows already what it says."""
    if actor is Producer.USER or kept.consumer is Consumer.ALL:
        return True
    return other.producer.value in (Consumer.PRIMARY, Consumer.ESCALATION) and other.producer.value != kept.consumer


def _inherited(before: Percept, after: Percept) -> dict[str, Any]:
    values: dict[str, Any] = {}
    if before.pinned and not after.pinned:
        values |= {"pinned": True, "weight": PINNED_WEIGHT}
    if before.scope is PerceptScope.GLOBAL and after.scope is PerceptScope.SESSION and not after.tainted:
        values["scope"] = PerceptScope.GLOBAL
    if before.consumer is not Consumer.ALL and after.consumer is Consumer.ALL:
        values["consumer"] = before.consumer
    return values


def _standing(fact: Percept) -> tuple[bool, bool]:
    return fact.pinned, fact.producer is Producer.USER


def _two(db: Database, old: str, new: str) -> tuple[Percept, Percept]:
    before, after = percept_rows.known(db.conn, old), percept_rows.known(db.conn, new)
    if before.id == after.id:
        raise MilkError(f"{before.short_id} can't take its own place.", "Name two facts.")
    for fact in (before, after):
        if not fact.holds:
            raise MilkError(f"{fact.short_id} does not hold: it is {fact.status}.", "Restore or accept it first.")
    return before, after


def _retire(
    db: Database,
    fact: Percept,
    by: Percept,
    edge: EdgeKind,
    kind: str,
    *,
    actor: Producer,
    note: str,
    now: int,
) -> Change:
    edges = percept_edges.link(db, by.id, fact.id, edge, now=now)
    values = {
        "status": PerceptStatus.SUPERSEDED,
        "superseded_by": by.id,
        "valid_to_ms": now if edge is EdgeKind.DERIVES else max(by.valid_from_ms or now, fact.valid_from_ms or 0),
    }
    return Change(percept_rows.change(db, fact, kind, values, actor=actor, note=note, edges=edges, now=now), kind)


def _settle(
    db: Database,
    fact: Percept,
    other: Percept,
    values: dict[str, Any],
    *,
    actor: Producer,
    now: int,
    note: str = "",
) -> list[Change]:
    """The two contradict each other no longer; ``fact`` is doubted no longer when nothing else speaks against it."""
    edges = [
        *percept_edges.unlink(db, fact.id, other.id, EdgeKind.CONTRADICTS),
        *percept_edges.unlink(db, other.id, fact.id, EdgeKind.CONTRADICTS),
    ]
    if fact.status is PerceptStatus.SUSPECT and not _doubted(db, fact):
        values = {**values, "status": PerceptStatus.LIVE}
    if not (values or edges):
        return []
    return [
        Change(
            percept_rows.change(db, fact, "settled", values, actor=actor, note=note, edges=edges, now=now), "settled"
        )
    ]


def _cleared(db: Database, fact: Percept, *, actor: Producer, now: int) -> list[Change]:
    if fact.status is not PerceptStatus.SUSPECT or _doubted(db, fact):
        return []
    values = {"status": PerceptStatus.LIVE}
    return [Change(percept_rows.change(db, fact, "settled", values, actor=actor, now=now), "settled")]


def _released(db: Database, gone: Percept, *, actor: Producer, now: int) -> list[Change]:
    """Facts that were doubted because of one that holds no longer."""
    others = [link.other for link in percept_edges.links(db.conn, gone.id) if link.kind is EdgeKind.CONTRADICTS]
    return [change for other in others for change in _cleared(db, other, actor=actor, now=now)]


def _doubted(db: Database, fact: Percept) -> bool:
    """True while a fact that holds contradicts it."""
    return any(link.kind is EdgeKind.CONTRADICTS and link.other.holds for link in percept_edges.links(db.conn, fact.id))


def _forgotten(now: int) -> dict[str, Any]:
    return {"status": PerceptStatus.FORGOTTEN, "valid_to_ms": now}
