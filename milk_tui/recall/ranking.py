"""Scores of facts for a prompt, and the floor below which nothing is better than noise (``recall.md``, "Engine" 3).

Pure. The numbers were chosen with the ``locomo`` and ``low-overlap`` benchmarks, where a prompt that no fact answers
counts as much as one that a fact does.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from msgspec import Struct

from milk_tui.core.records import Percept, ScorePart

IDEAL_SHARE = 0.8
"""Words count 1 when the best fact has at least this share of what the prompt's words are worth together, less when
even the best has little of it: then meaning decides."""
MEANING = 0.13
"""What each deviation above the usual nearness counts."""
TIES_WEIGHT, TIES_CONFIRMED = 0.04, 0.01
"""At most so much of the score for weight and for the last confirmation: they break ties, no more."""

FLOOR_WORDS = 0.25
"""The best fact's share of the prompt's words, below which nothing is given; only words can be asked."""
FLOOR_BOTH = 0.36
"""The same with ``WORDS_IN_BOTH`` of that share and the cosine."""
WORDS_IN_BOTH = 0.35
LEAST_COSINE = 0.2
"""A fact that shares no word is only considered from here on."""
SURE = 1.5
"""So many times the floor, and the prompt is about these facts; below it at most ``FEW`` are given."""
FEW = 5
RELATIVE = 0.35
"""Facts with less than this share of the best score are left out."""
SMALL, GROWN = 20, 220
"""Up to ``SMALL`` facts there is no floor: whatever overlaps is given. It rises to its height at ``GROWN``."""


@dataclass(slots=True)
class Candidate:
    """A fact in question. ``words`` is its BM25 score, ``above`` and ``cosine`` are its nearness (``None``: it has no
    vector, or nobody could say)."""

    percept: Percept
    seq: int
    words: float = 0.0
    above: float | None = None
    cosine: float | None = None
    score: float = 0.0
    strength: float = 0.0
    """Its evidence as a multiple of the floor."""
    shares: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 0.0)
    """What of the score is for words, meaning, weight and confirmation."""
    in_place_of: str = ""
    """The short id of the superseded fact that fits, whose score this one has."""
    aside: str = ""


def score(candidates: Iterable[Candidate], *, ideal: float) -> list[Candidate]:
    """Set the scores; best first. ``ideal``: the BM25 score of a fact that has all of the prompt's words."""
    known = list(candidates)
    most = max(max((c.words for c in known), default=0.0), IDEAL_SHARE * ideal, 1e-9)
    times = [c.percept.confirmed_ms for c in known]
    oldest = min(times, default=0)
    span = max(times, default=0) - oldest or 1
    for candidate in known:
        by_words = candidate.words / most
        by_meaning = MEANING * max(candidate.above or 0.0, 0.0)
        relevance = by_words + by_meaning
        by_weight = relevance * TIES_WEIGHT * candidate.percept.weight / 1000
        by_recency = relevance * TIES_CONFIRMED * (candidate.percept.confirmed_ms - oldest) / span
        candidate.score = relevance + by_weight + by_recency
        candidate.shares = by_words, by_meaning, by_weight, by_recency
        share = min(candidate.words / ideal, 1.0) if ideal else 0.0
        if candidate.cosine is None:
            candidate.strength = share / FLOOR_WORDS
        else:
            candidate.strength = (WORDS_IN_BOTH * share + candidate.cosine) / FLOOR_BOTH
    return sort(c for c in known if c.words > 0 or (c.cosine or 0.0) >= LEAST_COSINE)


def parts(candidate: Candidate, *, ideal: float) -> tuple[ScorePart, ...]:
    """The score taken apart, for a person."""
    fact = candidate.percept
    details = (
        f"{candidate.words:.1f} of {ideal:.1f}",
        "no vector" if candidate.cosine is None else f"cosine {candidate.cosine:.2f}",
        f"{fact.weight / 1000:.2f}",
        "",
    )
    names = ("words", "meaning", "weight", "confirmed")
    found = tuple(
        ScorePart(name, round(value, 3), detail)
        for name, value, detail in zip(names, candidate.shares, details, strict=True)
    )
    return (*found, ScorePart("in place of", 0.0, candidate.in_place_of)) if candidate.in_place_of else found


def sort(candidates: Iterable[Candidate]) -> list[Candidate]:
    return sorted(candidates, key=lambda c: (-c.score, -c.percept.weight, -c.percept.confirmed_ms, c.percept.id))


def height(size: int) -> float:
    """0..1: how much of the floor counts among so many facts."""
    return min(max((size - SMALL) / (GROWN - SMALL), 0.0), 1.0)


class Floor(Struct, frozen=True):
    """What is given needs the score ``least``, and is at most ``most`` facts."""

    least: float
    most: int | None


def floor(ranked: Sequence[Candidate], *, size: int) -> Floor:
    """The floor for these candidates, best first, among about ``size`` facts."""
    full = height(size)
    strength = max((candidate.strength for candidate in ranked), default=0.0)
    if strength < full:
        return Floor(float("inf"), 0)
    return Floor(RELATIVE * full * ranked[0].score if ranked else 0.0, None if strength >= SURE * full else FEW)
