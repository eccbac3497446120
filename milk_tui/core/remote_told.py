"""What a runtime that keeps its own history has been given, and what is due again (``semantics.md`` §4).

Kept with the remote session, and changed only by a leg that succeeded. What the runtime forgets by shortening its
history is due again, so the record is emptied then.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

import msgspec
from msgspec import Struct, field
from msgspec.structs import replace

from milk_tui.core.records import Brick, ContextMode, ContextPlan, NeedStatus, Percept, PerceptionEntry

PARTS = ("current_need", "frame", "working")
"""Layers that are given again only when they changed."""
CHANGES = "changes"


class Told(Struct, frozen=True, kw_only=True):
    """The record of one remote session."""

    facts: dict[str, str] = field(default_factory=dict)
    """Id of each fact that it was given → fingerprint of the words."""
    lines: tuple[str, ...] = ()
    """What it was told that no longer is as it was, line by line."""
    prints: dict[str, str] = field(default_factory=dict)
    """Name of a layer → fingerprint of what it was given of it."""
    turns: int = 0
    """Answered legs since it was given the static text."""
    bytes: int = 0
    """Bytes of the answers since then."""
    compacted: bool = False
    """It has shortened its history since its last leg began: what it was told may be gone."""
    model: str = ""
    cost_usd: float | None = None
    """What the session has cost in all, where the runtime says only that."""


def standing(told: Told) -> Told:
    """What of the record still counts before the next leg: nothing of it after the runtime shortened its history."""
    return Told(model=told.model, cost_usd=told.cost_usd) if told.compacted else told


def due(told: Told, *, turns: int, bytes_: int) -> bool:
    """Whether the static text is due again, where it lives in the history; 0 switches a bound off."""
    return told.compacted or (0 < turns <= told.turns) or (0 < bytes_ <= told.bytes)


def mark_of(text: str) -> str:
    """A short fingerprint."""
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:12]


def known(told: Told, facts: Iterable[Percept]) -> frozenset[str]:
    """Those of the facts that it has in the words that they have now."""
    return frozenset(fact.id for fact in facts if told.facts.get(fact.id) == mark_of(fact.content))


def prints(
    need: Brick | None, frame: tuple[PerceptionEntry, ...], working: tuple[PerceptionEntry, ...]
) -> dict[str, str]:
    """The layers as they are now; one that is empty has no fingerprint."""
    now: dict[str, str] = {}
    if need is not None and need.text and need.status is NeedStatus.OPEN:
        now["current_need"] = mark_of(need.text)
    for name, entries in (("frame", frame), ("working", working)):
        shown = [replace(e, updated_ms=0, turn_id=None, writer="") for e in entries if e.value]
        if shown:
            now[name] = mark_of(msgspec.json.encode(shown).decode())
    return now


def changed(told: Told, now: dict[str, str]) -> frozenset[str]:
    """The layers that are to be given again."""
    return frozenset(name for name, value in now.items() if told.prints.get(name) != value)


def emptied(told: Told, now: dict[str, str]) -> tuple[str, ...]:
    """One line for each layer that it was given and that holds nothing any more."""
    return tuple(_emptied(name) for name in PARTS if name in told.prints and name not in now)


def _emptied(name: str) -> str:
    return f"no longer holds: the {name.replace('_', ' ')}, which is empty now"


def own_doings(told: Told, *, before: dict[str, str], now: dict[str, str], facts: Iterable[Percept]) -> Told:
    """The record with what the agent did itself in the leg: facts that it recorded, and layers that it changed. A
    layer counts as known when the remote session knew how it was ``before``.
    """
    if told.compacted:
        return told
    prints = dict(told.prints)
    for name in PARTS:
        if told.prints.get(name) == before.get(name):
            prints.pop(name, None)
            prints |= {name: now[name]} if name in now else {}
    return replace(told, prints=prints, facts=told.facts | {fact.id: mark_of(fact.content) for fact in facts})


def short(fact_id: str) -> str:
    """How the fact is named to agents; ``Percept.short_id`` without the percept."""
    return "#" + fact_id.replace("-", "")[:6]


def after(
    told: Told,
    plan: ContextPlan,
    *,
    facts: Iterable[Percept],
    now: dict[str, str],
    answer: str,
    reinjected: bool,
    compacted: bool,
    model: str = "",
    cost_usd: float | None = None,
) -> Told:
    """The record after a leg that succeeded. ``told`` is what counted before it, ``facts`` what the plan gave."""
    begun = plan.mode is ContextMode.FIRST
    base = Told() if begun else told
    cost = told.cost_usd if cost_usd is None and not begun else cost_usd
    if compacted:
        return Told(compacted=True, model=model or base.model, cost_usd=cost)
    given = {segment.name: segment.text for segment in plan.segments if segment.included}
    layers = {name: now[name] for name in PARTS if name in given and name in now}
    lines = [line for line in (*base.lines, *given.get(CHANGES, "").splitlines()[1:-1]) if line]
    back = {_emptied(name) for name in layers}
    gone = {name for name in base.prints if _emptied(name) in lines and name not in layers}
    news = {fact.id: mark_of(fact.content) for fact in facts}
    fresh_ids = {short(fact_id) for fact_id in news}
    stale = {line.split(" ", 1)[0] for line in lines if " no longer holds" in line} - fresh_ids
    lines = [line for line in lines if line.split(" ", 1)[0] not in fresh_ids and not line.endswith("more changes)")]
    size = len(answer.encode("utf-8", "replace"))
    anew = begun or reinjected
    return Told(
        facts={key: value for key, value in (base.facts | news).items() if short(key) not in stale},
        lines=tuple(dict.fromkeys(line for line in lines if line not in back)),
        prints={**{name: value for name, value in base.prints.items() if name not in gone}, **layers},
        turns=1 if anew else base.turns + 1,
        bytes=size if anew else base.bytes + size,
        model=model or base.model,
        cost_usd=cost,
    )
