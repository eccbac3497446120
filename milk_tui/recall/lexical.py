"""Candidates by shared words: whole words first, parts of words as a second chance (``recall.md``, "Engine" 1).

Nothing that a text holds makes it fail, and neither does a damaged index: then the facts of most weight are looked
through, and ``damaged`` says so.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from math import log
from pathlib import Path

from msgspec import Struct

from milk_tui.core.records import Percept
from milk_tui.core.words import words
from milk_tui.store import fts
from milk_tui.store.faults import is_busy
from milk_tui.store.fts import Asked

WANTED = 60
"""Facts in reach that are compared further."""
LOOKED_THROUGH = 150
"""Facts of most weight that are read when the index can't be asked."""

_FIRST, _LATER = 240, 10_000
_AT_ONCE = 100
_SECOND_CHANCE = 5
_PART = 0.6
"""What a part of a word counts, of the whole word."""

Hydrate = Callable[[list[int]], dict[int, Percept]]
_damaged: set[str] = set()
_mended: set[str] = set()


class Found(Struct, frozen=True):
    """Facts in reach by row number, and their scores (BM25). ``damaged``: the index could not be asked."""

    asked: Asked
    facts: dict[int, Percept]
    scores: dict[int, float]
    out_of_reach: tuple[int, ...] = ()
    """Row numbers of the best that were not in reach."""
    damaged: bool = False


def find(
    conn: sqlite3.Connection,
    text: str,
    reach: Hydrate,
    heaviest: Callable[[int], dict[int, Percept]],
    *,
    typing: bool = False,
    wanted: int = WANTED,
) -> Found:
    """The best facts of ``reach`` (row numbers to the facts that may be seen). ``heaviest`` gives those of most weight,
    for when there is no index."""
    try:
        return _by_index(conn, text, reach, typing, wanted)
    except sqlite3.DatabaseError as error:
        if is_busy(error):
            raise
        _mark_damaged(conn)
        return _by_reading(text, heaviest(LOOKED_THROUGH))


def damaged(path: Path) -> bool:
    """True when a recall met a damaged text index of that database, and nobody has made it anew since."""
    return str(path) in _damaged


def mended(path: Path) -> None:
    """The indexes were made anew. What looks damaged after that is not: it is not said again."""
    _damaged.discard(str(path))
    _mended.add(str(path))


def _by_index(conn: sqlite3.Connection, text: str, reach: Hydrate, typing: bool, wanted: int) -> Found:
    asked = fts.ask(conn, text, typing=typing)
    facts: dict[int, Percept] = {}
    hits: list[tuple[int, float]] = []
    looked = 0
    for limit in (_FIRST, _LATER):
        hits = fts.best(conn, asked.match, limit)
        while len(facts) < wanted and looked < len(hits):
            facts |= reach([seq for seq, _ in hits[looked : looked + _AT_ONCE]])
            looked += _AT_ONCE
        if len(facts) >= wanted or len(hits) < limit:
            break
    scores = dict(hits[:looked])
    parts = _second_chance(conn, asked, len(hits))
    if parts:
        scores = {seq: scores.get(seq, 0.0) + parts.get(seq, 0.0) for seq in (scores | parts)}
        facts |= reach([seq for seq in parts if seq not in facts])
        if _contradicted(asked, [facts[seq] for seq in parts if seq in facts]):
            _mark_damaged(conn)
    best = sorted(facts, key=lambda seq: (-scores[seq], -seq))[:wanted]
    missed = sorted(scores.keys() - facts.keys(), key=lambda seq: -scores[seq])[:wanted]
    return Found(asked, {seq: facts[seq] for seq in best}, scores, tuple(missed))


def _second_chance(conn: sqlite3.Connection, asked: Asked, hits: int) -> dict[int, float]:
    """Scores for parts of the words that no fact has as a whole."""
    tried = [word for word in asked.unknown if hits < _SECOND_CHANCE or fts.is_odd(word)]
    if not (tried and asked.size):
        return {}
    worth = _PART * len(tried[:6]) * max(log((asked.size - 0.5) / 1.5), 1.0)
    return {seq: share * worth for seq, share in fts.by_pieces(conn, tried, WANTED)}


def _by_reading(text: str, facts: dict[int, Percept]) -> Found:
    sought = words(text)
    shared = {seq: len(sought & words(f"{fact.content} {fact.subject}")) for seq, fact in facts.items()}
    kept = {seq: fact for seq, fact in facts.items() if shared[seq]}
    asked = Asked(words=tuple(sorted(sought)), ideal=float(len(sought)), size=len(facts))
    return Found(asked, kept, {seq: float(shared[seq]) for seq in kept}, damaged=True)


def _contradicted(asked: Asked, facts: list[Percept]) -> bool:
    """True when a fact has a whole word of which the index says that no fact has it."""
    unknown = {word.casefold() for word in asked.unknown if word.isascii()}
    return bool(unknown) and any(
        unknown & {word.casefold() for word in fts.words_of(fact.content)} for fact in facts if fact.content.isascii()
    )


def _mark_damaged(conn: sqlite3.Connection) -> None:
    file = str(conn.execute("pragma database_list").fetchone()[2])
    if file not in _mended:
        _damaged.add(file)
