"""What holds now stands for what held before, and a conflict is shown as a pair (``recall.md``, "Writing a fact")."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable
from datetime import UTC, datetime

from msgspec import Struct

from milk_tui.core.records import Percept, PerceptStatus
from milk_tui.core.text import one_line
from milk_tui.recall import ranking
from milk_tui.recall.ranking import Candidate
from milk_tui.store import percept_lists

MOST_STEPS = 8
"""Of a chain of facts that replaced each other."""
WORTH_A_CLAUSE = 0.75
"""Of the score of what replaced it: so well must a superseded fact fit to be named beside it."""

_OLD_CHARS = 160
_AFTER_THE_OLD = 0.98
_LAST_MS = 253_402_300_799_000

Reach = Callable[[Iterable[int]], dict[int, Percept]]


class Replaced(Struct, frozen=True):
    """A superseded fact that fits the prompt, and the one that is given for it, if that may be."""

    candidate: Candidate
    by: str
    """Its short id; empty when nobody may be told."""


def current(
    conn: sqlite3.Connection, reach: Reach, ranked: list[Candidate], *, past: bool
) -> tuple[list[Candidate], list[Replaced]]:
    """Put what replaced a fact in its place, with a clause about what was. ``past``: the superseded fact is given too,
    with a clause about what is."""
    olds = [candidate for candidate in ranked if candidate.percept.status is PerceptStatus.SUPERSEDED]
    if not olds:
        return ranked, []
    ends = _ends(conn, reach, [old.percept for old in olds])
    by_id = {c.percept.id: c for c in ranked if c.percept.status is not PerceptStatus.SUPERSEDED}
    kept = list(by_id.values())
    replaced: list[Replaced] = []
    for old in olds:
        now = ends.get(old.percept.id)
        until = _date(old.percept.valid_to_ms or (now[1].created_ms if now else old.percept.updated_ms))
        if past:
            old.aside = f"held until {until}" + (f", now {now[1].short_id}" if now else "")
            kept.append(old)
        else:
            replaced.append(Replaced(old, now[1].short_id if now else ""))
        if now is None:
            continue
        heir = by_id.get(now[1].id)
        if heir is None:
            heir = by_id[now[1].id] = Candidate(now[1], now[0])
            kept.append(heir)
        if not past and old.score >= WORTH_A_CLAUSE * heir.score and not heir.aside:
            heir.aside = f"was “{one_line(old.percept.content, _OLD_CHARS)}” until {until}"
        if heir.score < old.score:
            heir.score = old.score * (_AFTER_THE_OLD if past else 1.0)
            heir.strength = max(heir.strength, old.strength)
            heir.words, heir.cosine, heir.shares = old.words, old.cosine, old.shares
            heir.in_place_of = old.percept.short_id
    return ranking.sort(kept), replaced


def with_doubts(conn: sqlite3.Connection, reach: Reach, ranked: list[Candidate], *, among: int) -> list[Candidate]:
    """Put beside a fact in doubt, if it is one of the first ``among``, the one that contradicts it, both with dates."""
    doubtful = [c.percept.id for c in ranked[:among] if c.percept.status is PerceptStatus.SUSPECT]
    pairs = percept_lists.doubted(conn, doubtful) if doubtful else []
    if not pairs:
        return ranked
    rows = percept_lists.seqs_of(conn, {id_ for pair in pairs for id_ in pair})
    seen = {fact.id: (seq, fact) for seq, fact in reach(rows.values()).items() if fact.holds}
    at = {candidate.percept.id: candidate for candidate in ranked}
    for pair in pairs:
        if not seen.keys() >= set(pair):
            continue
        for one, other in (pair, pair[::-1]):
            candidate = at.get(one)
            if candidate is None:
                seq, fact = seen[one]
                candidate = at[one] = Candidate(fact, seq)
                ranked = [*ranked, candidate]
            against = seen[other][1]
            candidate.aside = candidate.aside or f"{against.short_id} of {_date(against.created_ms)} contradicts it"
        first, second = sorted((at[pair[0]], at[pair[1]]), key=lambda c: -c.score)
        if second.score < first.score:
            second.score = first.score * (1 - 1e-6)
            second.strength = first.strength
            second.in_place_of = second.in_place_of or first.percept.short_id
    return ranking.sort(ranked)


def _ends(conn: sqlite3.Connection, reach: Reach, olds: list[Percept]) -> dict[str, tuple[int, Percept]]:
    """By the id of the superseded fact, row number and fact of what holds in its place, if that may be seen."""
    known: dict[str, tuple[int, Percept]] = {}
    wanted = {old.superseded_by for old in olds if old.superseded_by}
    for _ in range(MOST_STEPS):
        wanted -= known.keys()
        if not wanted:
            break
        facts = reach(percept_lists.seqs_of(conn, wanted).values())
        known |= {fact.id: (seq, fact) for seq, fact in facts.items()}
        wanted = {fact.superseded_by for fact in facts.values() if fact.superseded_by and not fact.holds}
    ends: dict[str, tuple[int, Percept]] = {}
    for old in olds:
        at = old.superseded_by
        for _ in range(MOST_STEPS):
            step = known.get(at or "")
            if step is None:
                break
            if step[1].holds:
                ends[old.id] = step
                break
            at = step[1].superseded_by
    return ends


def _date(ms: int) -> str:
    return datetime.fromtimestamp(min(max(ms, 0), _LAST_MS) / 1000, UTC).date().isoformat()
