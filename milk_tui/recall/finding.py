"""Facts for a person who filters or searches: everything that isn't forgotten, with scores."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

from msgspec import Struct

from milk_tui.core import percepts as rules
from milk_tui.core.records import Percept, ScorePart
from milk_tui.recall import lexical, ranking
from milk_tui.store import fts, percept_lists

if TYPE_CHECKING:
    from milk_tui.recall.semantic import Semantic

LEAST_COSINE = 0.3
"""A fact that holds nothing of what is typed is only shown from here on."""

_HEX = frozenset("0123456789abcdef")
_ALL_READ = 50_000
"""Up to so many facts any part of their texts is looked for; of more, parts of words by the index."""


class Hit(Struct, frozen=True, kw_only=True):
    """A fact that fits; ``score`` 0 for a list without words, and 1 or more for one that was named by its id."""

    percept: Percept
    score: float
    parts: tuple[ScorePart, ...] = ()


def find(
    conn: sqlite3.Connection,
    text: str,
    *,
    session_id: str | None = None,
    limit: int = 50,
    semantic: Semantic | None = None,
) -> list[Hit]:
    """All but the forgotten facts that the session can see (``None``: those of every session), best first.

    A fact is found by its words, the beginning of one, the beginning of its id, a part of its text, and by what it
    means. A text without words lists by weight.
    """
    text = text.strip()
    if not text:
        return [Hit(percept=fact, score=0.0) for fact in percept_lists.browse(conn, session_id, limit=limit)]
    found: dict[str, Hit] = {}
    digits = text.removeprefix("#").lower()
    if digits and set(digits) <= _HEX:
        for fact in percept_lists.browse(conn, session_id, id_beginning=digits, limit=limit):
            found[fact.id] = Hit(percept=fact, score=2.0, parts=(ScorePart("id", 2.0),))
    for hit in _by_words_and_meaning(conn, text, session_id, limit, semantic):
        found.setdefault(hit.percept.id, hit)
    if len(found) < limit:
        for fact in _by_part(conn, text, session_id, limit):
            found.setdefault(fact.id, Hit(percept=fact, score=0.1, parts=(ScorePart("part of the text", 0.1),)))
    return list(found.values())[:limit]


def _by_words_and_meaning(
    conn: sqlite3.Connection, text: str, session_id: str | None, limit: int, semantic: Semantic | None
) -> list[Hit]:
    if semantic is not None:
        semantic.hint(text)

    def reach(seqs: list[int]) -> dict[int, Percept]:
        facts = percept_lists.browse(conn, session_id, seqs=seqs, limit=max(limit, lexical.WANTED))
        rows = percept_lists.seqs_of(conn, [fact.id for fact in facts])
        return {rows[fact.id]: fact for fact in facts}

    def heaviest(most: int) -> dict[int, Percept]:
        facts = percept_lists.browse(conn, session_id, limit=most)
        rows = percept_lists.seqs_of(conn, [fact.id for fact in facts])
        return {rows[fact.id]: fact for fact in facts}

    found = lexical.find(conn, text, reach, heaviest, typing=True, wanted=max(limit, lexical.WANTED))
    facts = dict(found.facts)
    near = {}
    if semantic is not None:
        nearest = semantic.nearest(text, session_id=session_id or "", limit=limit, among=list(facts))
        near = {fact.seq: fact for fact in nearest.facts} if nearest else {}
        facts |= reach([seq for seq, fact in near.items() if seq not in facts and fact.cosine >= LEAST_COSINE])
    candidates = [
        ranking.Candidate(
            fact,
            seq,
            words=found.scores.get(seq, 0.0),
            above=near[seq].above if seq in near else None,
            cosine=near[seq].cosine if seq in near else None,
        )
        for seq, fact in facts.items()
    ]
    ranked = ranking.score(candidates, ideal=found.asked.ideal)
    ideal = found.asked.ideal
    return [Hit(percept=c.percept, score=round(c.score, 4), parts=ranking.parts(c, ideal=ideal)) for c in ranked]


def _by_part(conn: sqlite3.Connection, text: str, session_id: str | None, limit: int) -> list[Percept]:
    if len(text) > rules.MAX_CHARS:
        return []
    if percept_lists.last_seq(conn) <= _ALL_READ:
        return percept_lists.browse(conn, session_id, part=text, limit=limit)
    try:
        seqs = [seq for seq, _ in fts.by_pieces(conn, fts.words_of(text), limit)]
    except sqlite3.DatabaseError:
        return []
    return percept_lists.browse(conn, session_id, seqs=seqs, limit=limit)
