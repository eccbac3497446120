"""How facts gain and lose weight, become global and are forgotten (``semantics.md`` §2, "Lifecycle").

Weights are integers in thousandths, 0..1000. A period is one session between two consolidations with at least one
new turn; its key is the session and the last turn's id, and a period counts once however often it is asked for. The
order is decay, edges, prune, promote.

What the document leaves open is decided here:

- An edge acts at the rhythm of decay: on a session's fact once a period, on a global one once a calendar day. An edge
  of which one end no longer holds does nothing.
- However many edges a fact has, they lift it by at most ``MOST_LIFT`` and lower it by at most ``CONTRADICTED`` in a
  consolidation: a flood of contradictions is one contradiction. A tainted fact moves no other.
- The weight of a pinned fact never changes here and it is never forgotten; at weight 1000 it becomes global.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import date
from enum import StrEnum

from msgspec import Struct

from milk_tui.core.records import BIRTH_WEIGHT, PINNED_WEIGHT, Percept, PerceptScope, Producer

DECAY = 100
"""Of an unpinned fact of the session, each period."""
GLOBAL_DECAY = 20
"""Of an unpinned global fact, at most once a calendar day."""
LIFT = 50
"""For the target of an edge that extends, updates or derives."""
MOST_LIFT = 100
CONTRADICTED = 100
"""For both ends of a contradiction."""
REINFORCEMENT = 50
"""For a use or an independent confirmation, at most once a turn."""
FORGET_AT = 200
PROMOTE_AT = 800
RESTORE_DAYS = 30

_DAY_MS = 86_400_000


class EdgeKind(StrEnum):
    EXTENDS = "extends"
    UPDATES = "updates"
    DERIVES = "derives"
    CONTRADICTS = "contradicts"


class Edge(Struct, frozen=True, kw_only=True):
    """``source`` extends, updates, derives from or contradicts ``target``; both are ids of percepts."""

    source: str
    target: str
    kind: EdgeKind


class Period(Struct, frozen=True, kw_only=True):
    """What one consolidation is about."""

    session_id: str
    last_turn_id: int

    @property
    def key(self) -> str:
        return f"{self.session_id}:{self.last_turn_id}"


class Step(StrEnum):
    """What a consolidation did to a fact: the kind of its ``percept_events`` row."""

    DECAYED = "decayed"
    LIFTED = "lifted"
    CONTRADICTED = "contradicted"
    FORGOTTEN = "forgotten"
    PROMOTED = "promoted"


class Change(Struct, frozen=True, kw_only=True):
    """One row for ``percept_events``. ``reason`` is one line for the person."""

    percept_id: str
    step: Step
    before: int
    after: int
    reason: str


class Changes(Struct, frozen=True, kw_only=True):
    """What a consolidation does, in the order in which it is done; grouped by fact, facts by id."""

    period: Period
    rows: tuple[Change, ...] = ()
    counted: bool = False
    """True when the period is new: its key is to be stored with the rows."""
    global_day: date | None = None
    """To be stored as the last day on which global facts decayed; ``None``: unchanged."""

    @property
    def weights(self) -> dict[str, int]:
        """The weight that each changed fact ends with."""
        return {row.percept_id: row.after for row in self.rows}

    @property
    def forgotten(self) -> tuple[str, ...]:
        return tuple(row.percept_id for row in self.rows if row.step is Step.FORGOTTEN)

    @property
    def promoted(self) -> tuple[str, ...]:
        return tuple(row.percept_id for row in self.rows if row.step is Step.PROMOTED)


def consolidate(
    facts: Iterable[Percept],
    edges: Iterable[Edge],
    *,
    period: Period,
    last: Period | None,
    today: date,
    global_day: date | None = None,
) -> Changes:
    """What the end of a period does to the facts in reach of its session: the session's own and the global ones.

    ``last`` is the last period of that session that was consolidated, ``global_day`` the last calendar day on which
    global facts decayed. Facts of other sessions, and those that do not hold, are left alone. The result depends on
    neither order. Nothing happens for a period without a new turn.
    """
    if period.last_turn_id <= (last.last_turn_id if last else 0):
        return Changes(period=period)
    known = {fact.id: fact for fact in facts if fact.holds and _in_reach(fact, period)}
    global_is_due = global_day is None or today > global_day
    due = {
        fact.id for fact in known.values() if not fact.pinned and (fact.scope is PerceptScope.SESSION or global_is_due)
    }
    neighbours = _neighbours(known, edges)
    rows: list[Change] = []
    for percept_id in sorted(known):
        rows += _life(known[percept_id], neighbours.get(percept_id, ()), due=percept_id in due)
    return Changes(period=period, rows=tuple(rows), counted=True, global_day=today if global_is_due else None)


def reinforced(
    percept: Percept,
    *,
    by: Producer | None,
    earlier: Collection[str] = (),
    already_this_turn: bool = False,
    tainted: bool = False,
) -> int:
    """The weight after a use (``by`` is ``None``) or after a confirmation by that producer.

    ``earlier`` are those who have confirmed it before. The producer of the fact, or one of these, adds nothing; nor
    does a second use or confirmation in one turn, nor one that is ``tainted``.
    """
    if percept.pinned or already_this_turn or tainted or (by is not None and (by is percept.producer or by in earlier)):
        return percept.weight
    return _clamp(percept.weight + REINFORCEMENT)


def restorable(forgotten_ms: int, now_ms: int) -> bool:
    """True while a forgotten fact can be brought back."""
    return now_ms - forgotten_ms <= RESTORE_DAYS * _DAY_MS


def restored_weight(percept: Percept) -> int:
    """What a forgotten fact weighs when it is brought back: enough not to be forgotten again at once."""
    return max(percept.weight, BIRTH_WEIGHT[percept.producer])


def _in_reach(fact: Percept, period: Period) -> bool:
    return fact.scope is PerceptScope.GLOBAL or fact.session_id == period.session_id


def _neighbours(known: Mapping[str, Percept], edges: Iterable[Edge]) -> dict[str, list[tuple[EdgeKind, Percept]]]:
    """For each fact that edges move, why and by whom; in one order, each edge once."""
    found: dict[str, list[tuple[EdgeKind, Percept]]] = {}
    for kind, source_id, target_id in sorted({(edge.kind, edge.source, edge.target) for edge in edges}):
        source, target = known.get(source_id), known.get(target_id)
        if source is None or target is None or source is target:
            continue
        if not source.tainted or target.tainted:
            found.setdefault(target_id, []).append((kind, source))
        if kind is EdgeKind.CONTRADICTS and (not target.tainted or source.tainted):
            found.setdefault(source_id, []).append((kind, target))
    return found


def _life(fact: Percept, neighbours: Iterable[tuple[EdgeKind, Percept]], *, due: bool) -> list[Change]:
    rows: list[Change] = []
    weight = fact.weight

    def step(kind: Step, by: int, reason: str) -> None:
        nonlocal weight
        after = _clamp(weight + by)
        if after != weight or by == 0:
            rows.append(Change(percept_id=fact.id, step=kind, before=weight, after=after, reason=reason))
        weight = after

    if due:
        if fact.scope is PerceptScope.SESSION:
            step(Step.DECAYED, -DECAY, "a session passed")
        else:
            step(Step.DECAYED, -GLOBAL_DECAY, "a day passed")
        lifts = [(kind, other) for kind, other in neighbours if kind is not EdgeKind.CONTRADICTS]
        if lifts:
            step(Step.LIFTED, min(MOST_LIFT, LIFT * len(lifts)), _lifted_by(lifts))
        against = [other for kind, other in neighbours if kind is EdgeKind.CONTRADICTS]
        if against:
            step(Step.CONTRADICTED, -CONTRADICTED, f"{_named(against)} says otherwise")
    if weight <= FORGET_AT and not fact.pinned:
        step(Step.FORGOTTEN, 0, f"its weight fell to {weight / 1000:.2f}; it can be restored for {RESTORE_DAYS} days")
    elif fact.scope is PerceptScope.SESSION and weight >= PROMOTE_AT and not fact.tainted:
        step(Step.PROMOTED, 0, f"its weight of {weight / 1000:.2f} makes it one for every session")
    return rows


def _lifted_by(lifts: Sequence[tuple[EdgeKind, Percept]]) -> str:
    verbs = {EdgeKind.EXTENDS: "extends it", EdgeKind.UPDATES: "updates it", EdgeKind.DERIVES: "derives from it"}
    kind, _ = lifts[0]
    of_kind = [other for each, other in lifts if each is kind]
    return f"{_named(of_kind)} {verbs[kind]}"


def _named(others: list[Percept]) -> str:
    more = f" and {len(others) - 1} more" if len(others) > 1 else ""
    return f"{others[0].short_id}{more}"


def _clamp(weight: int) -> int:
    return max(0, min(PINNED_WEIGHT, weight))
