"""The one way from a prompt to facts: candidates, scores, currency, what was told, copies, room (``recall.md``).

What an agent is given and the explanation of it come from the same judgement, so they can't differ.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from milk_tui.core import percepts as rules
from milk_tui.core.readers import Reader
from milk_tui.core.records import Consumer, Percept, PerceptScope, ScorePart
from milk_tui.recall import currency, lexical, ranking
from milk_tui.recall.choosing import Bounds, Verdict, choose
from milk_tui.recall.explain import Explanation, Judged, Reason
from milk_tui.recall.past import asks_about_the_past
from milk_tui.recall.ranking import Candidate, Floor
from milk_tui.store import percept_lists, sessions

if TYPE_CHECKING:
    from milk_tui.recall.protocol import Nearest
    from milk_tui.recall.semantic import Semantic

NEAREST = 50
"""Facts near in meaning that are compared further."""

_UNREACHED = 40


class Request(Struct, frozen=True, kw_only=True):
    """What is asked for whom. ``role`` ``None`` is the person, ``session_id`` ``None`` every session."""

    prompt: str
    role: Reader | None
    session_id: str | None
    max_items: int = rules.MAX_ITEMS
    max_bytes: int = rules.MAX_BYTES
    exclude_pinned: bool = True
    told: frozenset[str] = frozenset()
    """Ids that this remote session was given already."""


class Judgement(Struct, frozen=True, kw_only=True):
    """What became of everything that came into question, best first."""

    request: Request
    verdicts: list[Verdict]
    found: lexical.Found | None = None
    """``None`` for a blank prompt."""
    replaced: list[currency.Replaced] = []
    by_meaning: bool = False
    past: bool = False

    @property
    def given(self) -> list[Percept]:
        return [verdict.percept for verdict in self.verdicts if verdict.reason is Reason.GIVEN]


def judge(conn: sqlite3.Connection, request: Request, semantic: Semantic | None = None) -> Judgement:
    if not request.prompt.strip():
        return _newest(conn, request)

    def reach(seqs: Iterable[int]) -> dict[int, Percept]:
        return percept_lists.readable(conn, request.role, request.session_id, seqs)

    if semantic is not None:
        semantic.hint(request.prompt)
    found = lexical.find(conn, request.prompt, reach, lambda limit: _heaviest(conn, request, limit))
    nearest = _nearest(request, found, semantic)
    facts = dict(found.facts)
    near = {fact.seq: fact for fact in nearest.facts} if nearest else {}
    facts |= reach([seq for seq, at in near.items() if seq not in facts and at.cosine >= ranking.LEAST_COSINE])
    candidates = [
        Candidate(
            fact,
            seq,
            words=found.scores.get(seq, 0.0),
            above=near[seq].above if seq in near else None,
            cosine=near[seq].cosine if seq in near else None,
        )
        for seq, fact in facts.items()
    ]
    past = asks_about_the_past(request.prompt)
    ranked = ranking.score(candidates, ideal=found.asked.ideal)
    ranked, replaced = currency.current(conn, reach, ranked, past=past)
    ranked = currency.with_doubts(conn, reach, ranked, among=2 * request.max_items)
    copies = frozenset(frozenset(pair) for pair in nearest.copies) if nearest else frozenset()
    floor = ranking.floor(ranked, size=found.asked.size)
    return Judgement(
        request=request,
        verdicts=choose(ranked, floor, _bounds(conn, request, copies)),
        found=found,
        replaced=replaced,
        by_meaning=nearest is not None,
        past=past,
    )


def explain(conn: sqlite3.Connection, judgement: Judgement, semantic: Semantic | None = None) -> Explanation:
    """The judgement for a person, with the facts that were out of reach."""
    request, found = judgement.request, judgement.found
    if found is None:
        items = [_item(v.candidate, v.percept, v.reason, v.detail, ideal=0.0) for v in judgement.verdicts]
        return Explanation(prompt="", role=request.role, engine="fts", items=_ordered(items))
    ideal = found.asked.ideal
    items = [_item(v.candidate, v.percept, v.reason, v.detail, ideal=ideal) for v in judgement.verdicts]
    for old in judgement.replaced:
        detail = f"by {old.by}" if old.by else "by a fact that may not be given here"
        items.append(_item(old.candidate, old.candidate.percept, Reason.REPLACED, detail, ideal=ideal))
    items += _unreached(conn, request, found)
    return Explanation(
        prompt=request.prompt,
        role=request.role,
        engine="fts+minilm" if judgement.by_meaning else "fts",
        note=_note(judgement, semantic),
        words=found.asked.words,
        common=found.asked.common,
        unknown=found.asked.unknown,
        past=judgement.past,
        items=_ordered(items),
    )


def _newest(conn: sqlite3.Connection, request: Request) -> Judgement:
    """Without a prompt: the facts of most weight, then the newest (``semantics.md`` §2)."""
    facts = _heaviest(conn, request, 4 * request.max_items)
    ranked = [Candidate(fact, seq) for seq, fact in facts.items()]
    return Judgement(request=request, verdicts=choose(ranked, Floor(0.0, None), _bounds(conn, request, frozenset())))


def _heaviest(conn: sqlite3.Connection, request: Request, limit: int) -> dict[int, Percept]:
    if request.role is None or request.session_id is None:
        found = percept_lists.browse(conn, request.session_id, limit=limit)
        found = [fact for fact in found if fact.holds and not (request.exclude_pinned and fact.pinned)]
    else:
        pinned = False if request.exclude_pinned else None
        found = percept_lists.visible(conn, request.role, request.session_id, pinned=pinned, limit=limit)
    seqs = percept_lists.seqs_of(conn, [fact.id for fact in found])
    return {seqs[fact.id]: fact for fact in found}


def _nearest(request: Request, found: lexical.Found, semantic: Semantic | None) -> Nearest | None:
    if semantic is None:
        return None
    return semantic.nearest(
        request.prompt,
        session_id=request.session_id or "",
        reader=request.role or "",
        limit=NEAREST,
        among=list(found.facts),
    )


def _bounds(conn: sqlite3.Connection, request: Request, copies: frozenset[frozenset[int]]) -> Bounds:
    directory = sessions.directory_of(conn, request.session_id) if request.session_id and request.role else None
    return Bounds(
        session_id=request.session_id,
        directory=Path(directory) if directory else None,
        max_items=request.max_items,
        max_bytes=request.max_bytes,
        exclude_pinned=request.exclude_pinned,
        told=request.told,
        copies=copies,
    )


def _item(candidate: Candidate, percept: Percept, reason: Reason, detail: str, *, ideal: float) -> Judged:
    return Judged(
        percept=percept,
        score=round(candidate.score, 4),
        parts=ranking.parts(candidate, ideal=ideal),
        reason=reason,
        detail=detail,
    )


def _ordered(items: list[Judged]) -> tuple[Judged, ...]:
    """Those given in their order, then the others, best first."""
    given = [item for item in items if item.given]
    return (*given, *sorted((item for item in items if not item.given), key=lambda item: -item.score))


def _unreached(conn: sqlite3.Connection, request: Request, found: lexical.Found) -> list[Judged]:
    """Facts that share words with the prompt and may not be given, with the reason."""
    best = ranking.IDEAL_SHARE * found.asked.ideal
    items = []
    for seq, fact in percept_lists.by_seq(conn, found.out_of_reach[:_UNREACHED]).items():
        reason, detail = _barrier(request, fact)
        words = found.scores[seq]
        share = round(words / best, 4) if best else 0.0
        parts = (ScorePart("words", share, f"{words:.1f} of {found.asked.ideal:.1f}"),)
        items.append(Judged(percept=fact, score=share, parts=parts, reason=reason, detail=detail))
    return items


def _barrier(request: Request, fact: Percept) -> tuple[Reason, str]:
    if request.session_id is not None and fact.scope is PerceptScope.SESSION and fact.session_id != request.session_id:
        return Reason.ELSEWHERE, f"it belongs to session {(fact.session_id or '')[:8]}"
    if request.role is not None and fact.consumer not in (Consumer.ALL, Consumer(request.role)):
        return Reason.NOT_FOR_IT, f"only {fact.consumer} is given it"
    return Reason.NOT_LIVE, fact.status.value


def _note(judgement: Judgement, semantic: Semantic | None) -> str:
    if judgement.found is not None and judgement.found.damaged:
        return "The text index is damaged: the facts of most weight were looked through."
    if semantic is not None and not judgement.by_meaning:
        state = semantic.state
        return f"Found by words alone: {state.what or f'the model is {state.phase}'}"
    return ""
