"""Where was this said? Turns for a text, by their words, those of the turns beside them, and the facts learned in them.

What answers a question is often said in words that stand in the turn before or after it (``recall.md``, "Findings"). A
word counts once for a turn, however often it stands there and beside it.
"""

from __future__ import annotations

import sqlite3
from math import log
from typing import TYPE_CHECKING

from msgspec import Struct

from milk_tui.recall import finding
from milk_tui.store import fts, messages

if TYPE_CHECKING:
    from milk_tui.recall.semantic import Semantic

BESIDE = 0.7
"""What a word in the turn before or after counts, of one in the turn itself."""
BY_FACTS = 0.8
BY_MEANING = 0.8
COMPARED = 60
"""Turns whose meaning is compared."""

_COUNTED = 50_000
_MOST_OF_A_WORD = 3_000
_TEXT_CHARS = 300
_SATURATION = 2.2
_FACTS = 50


class TurnHit(Struct, frozen=True, kw_only=True):
    """A turn that fits, with its session."""

    turn_id: int
    session_id: str
    score: float


def find(
    conn: sqlite3.Connection,
    text: str,
    *,
    session_id: str | None = None,
    limit: int = 20,
    semantic: Semantic | None = None,
) -> list[TurnHit]:
    """The turns that have most to do with the text, best first, of one session or all. Raises
    sqlite3.DatabaseError when the index of messages is damaged."""
    by_words, places = _by_words(conn, text)
    if session_id is not None:
        by_words = {turn: score for turn, score in by_words.items() if places[turn].session_id == session_id}
    scores = _normal(by_words)
    for turn, score in _normal(_by_facts(conn, text, session_id, semantic)).items():
        scores[turn] = scores.get(turn, 0.0) + BY_FACTS * score
    if semantic is not None:
        best = sorted(scores, key=lambda turn: (-scores[turn], -turn))[:COMPARED]
        for turn, score in _by_meaning(conn, text, best, semantic).items():
            scores[turn] += BY_MEANING * score
    best = sorted(scores, key=lambda turn: (-scores[turn], -turn))[:limit]
    places |= messages.neighbours(conn, [turn for turn in best if turn not in places])
    return [
        TurnHit(turn_id=turn, session_id=places[turn].session_id, score=round(scores[turn], 4))
        for turn in best
        if turn in places
    ]


def _by_words(conn: sqlite3.Connection, text: str) -> tuple[dict[int, float], dict[int, messages.Neighbours]]:
    size = messages.size(conn)
    counts = {word: messages.count_of(conn, word, _COUNTED) for word in fts.words_of(text)[: fts.MAX_WORDS]}
    rare = sorted((word for word, count in counts.items() if count), key=lambda word: counts[word])
    asked = [word for number, word in enumerate(rare) if not number or counts[word] < _COUNTED]
    hits = {word: messages.of_word(conn, word, _MOST_OF_A_WORD) for word in asked}
    places = messages.neighbours(conn, {turn for found in hits.values() for turn, _ in found})
    scores: dict[int, float] = {}
    for word, found in hits.items():
        worth = _SATURATION * max(log((size - counts[word] + 0.5) / (counts[word] + 0.5)), 1e-6)
        lacking: dict[int, float] = {}
        for turn, score in found:
            place = places.get(turn)
            if place is None:
                continue
            share = min(score / worth, 1.0)
            for near, part in ((turn, 1.0), (place.before, BESIDE), (place.after, BESIDE)):
                if near is not None:
                    lacking[near] = lacking.get(near, 1.0) * (1 - part * share)
        for turn, lack in lacking.items():
            scores[turn] = scores.get(turn, 0.0) + worth * (1 - lack)
    places |= messages.neighbours(conn, [turn for turn in scores if turn not in places])
    return {turn: score for turn, score in scores.items() if turn in places}, places


def _by_facts(
    conn: sqlite3.Connection, text: str, session_id: str | None, semantic: Semantic | None
) -> dict[int, float]:
    scores: dict[int, float] = {}
    for hit in finding.find(conn, text, session_id=session_id, limit=_FACTS, semantic=semantic):
        turn = hit.percept.turn_id
        if turn is not None and (session_id is None or hit.percept.session_id == session_id):
            scores[turn] = max(scores.get(turn, 0.0), hit.score)
    return scores


def _by_meaning(conn: sqlite3.Connection, text: str, turns: list[int], semantic: Semantic) -> dict[int, float]:
    """How much nearer each is than the usual one of them, the nearest 1; nothing when nobody can say."""
    known = messages.texts(conn, turns, _TEXT_CHARS)
    cosines = semantic.compare(text, list(known.values()))
    if not cosines:
        return {}
    usual = sum(cosines) / len(cosines)
    return _normal({turn: max(cosine - usual, 0.0) for turn, cosine in zip(known, cosines, strict=True)})


def _normal(scores: dict[int, float]) -> dict[int, float]:
    most = max(scores.values(), default=0.0)
    return {turn: score / most for turn, score in scores.items()} if most else {}
