"""Decision records for a prompt: ranked by shared words, and whether the best is worth a reminder.

Nothing is asked but the text index. A reminder interrupts, so that the threshold is high: several words that are rare
among the records, more of them the more records there are. It was chosen with the ``reminders`` benchmark, where a
prompt for which nothing should be said counts as much as one for which something should.
"""

from __future__ import annotations

import sqlite3
from math import log, log10

from msgspec import Struct
from msgspec.structs import replace

from milk_tui.core.sentence_words import SYNONYMS
from milk_tui.core.words import stem, tokens
from milk_tui.store import decision_records
from milk_tui.store.decision_records import Indexed

CANDIDATES = 60
TERMS_AT_START, TERMS_AT_END = 32, 16
"""Words of a prompt that are looked at: a pasted file shares a word with everything."""
IN_BODY = 0.7
"""What a word in the body counts, of one in the title."""
GENERAL = 0.25
"""What a word counts that every task is described with."""
SURE = 1.6
"""Rare words, so to speak, that the best record must share; among ``SURE_AT`` records."""
SURE_AT = 20
MORE_RECORDS = 0.4
"""So much more for ten times as many records."""
LEAST_WORDS = 2
LEAST_SHARE = 0.2
"""Of what all words of the prompt are worth."""
SUPERSEDED = 0.6
"""What a superseded record counts; its successor is given in its place."""

_GENERAL_WORDS = (
    "add also append back build call change check class code convert create delete display document drop each easy edit"
    " end every everybody field file first fix function generate get handle implement improve instead introduce itself"
    " keep know last let line list load make method module move name need new next number once one only open page"
    " parse print program project put read real refactor remove rename replace return run save send set show simple"
    " simpler sort start stop store support switch system table test three time two until update use used user using"
    " value version want way window work write"
)
_GENERAL = frozenset(stem(word) for word in _GENERAL_WORDS.split())


class RecordHit(Struct, frozen=True, kw_only=True):
    """A record that shares words with a text. ``strength`` counts rare words; ``share`` is that of the text's worth."""

    record: Indexed
    strength: float
    share: float
    words: tuple[str, ...]
    """Those that are shared, without the general ones."""
    in_place_of: str = ""
    """The superseded record that was found; this one replaced it."""
    sure: bool = False
    """Worth a reminder."""


def rank(conn: sqlite3.Connection, directory: str, text: str, *, limit: int = 5) -> list[RecordHit]:
    """The records of the folder that have most to do with the text, best first. Superseded ones give way to what
    replaced them. Never raises for what a text or an index holds."""
    terms = _terms(text)
    size = decision_records.count(conn, directory)
    if not terms or not size:
        return []
    try:
        ids = decision_records.matching(conn, directory, terms.values(), CANDIDATES)
        rarity = _rarities(conn, directory, terms, size)
    except sqlite3.DatabaseError:
        return []
    known = [each for each in decision_records.many(conn, ids).values() if each.status != "broken"]
    worth = sum(rarity[term] * _weight(term) for term in terms)
    least = SURE + MORE_RECORDS * max(0.0, log10(size / SURE_AT))
    hits: dict[str, RecordHit] = {}
    for each in known:
        hit = _hit(each, terms, rarity, worth, least)
        if hit is None:
            continue
        hit = _in_force(conn, directory, hit)
        if hit is not None:
            before = hits.get(hit.record.name, hit)
            better = hit if hit.strength > before.strength else before
            hits[hit.record.name] = replace(better, sure=hit.sure or before.sure)
    ranked = sorted(hits.values(), key=lambda hit: (-hit.strength, hit.record.name))
    return ranked[:limit]


def _hit(
    record: Indexed, terms: dict[str, str], rarity: dict[str, float], worth: float, least: float
) -> RecordHit | None:
    title, body = _terms(record.title), _terms(record.body, everything=True)
    shared = [term for term in terms if term in title or term in body]
    strength = sum(rarity[term] * _weight(term) * (1.0 if term in title else IN_BODY) for term in shared)
    if not strength:
        return None
    special = tuple(term for term in shared if term not in _GENERAL)
    share = strength / worth if worth else 0.0
    sure = strength >= least and share >= LEAST_SHARE and len(special) >= LEAST_WORDS
    if record.status == "superseded":
        strength *= SUPERSEDED
    return RecordHit(record=record, strength=strength, share=share, words=special, sure=sure)


def _in_force(conn: sqlite3.Connection, directory: str, hit: RecordHit) -> RecordHit | None:
    """The hit itself, or with what replaced its record; ``None`` when it was replaced by nothing that is there."""
    record, seen = hit.record, {hit.record.name}
    while not record.live:
        following = decision_records.get(conn, directory, record.superseded_by) if record.superseded_by else None
        if following is None or following.name in seen or following.status == "broken":
            return None
        seen.add(following.name)
        record = following
    return hit if record is hit.record else replace(hit, record=record, in_place_of=hit.record.name)


def _rarities(conn: sqlite3.Connection, directory: str, terms: dict[str, str], size: int) -> dict[str, float]:
    """1 for a word that one record has, next to nothing for one that most have; unknown words count as rare. Few
    records say little about which words are rare: they count as ``SURE_AT``."""
    counts = decision_records.counts(conn, directory, terms.values())
    size = max(size, SURE_AT)
    most = _log_odds(size, 1)
    return {term: _log_odds(size, max(counts[word], 1)) / most for term, word in terms.items()}


def _log_odds(size: int, count: int) -> float:
    return log(1 + (size - min(count, size) + 0.5) / (count + 0.5))


def _weight(term: str) -> float:
    return GENERAL if term in _GENERAL else 1.0


def _terms(text: str, *, everything: bool = False) -> dict[str, str]:
    """The words by which texts are compared, each with the stem that the index is asked for."""
    found = list({stem(SYNONYMS.get(word, word)): stem(word) for word in tokens(text)}.items())
    if everything or len(found) <= TERMS_AT_START + TERMS_AT_END:
        return dict(found)
    return dict(found[:TERMS_AT_START] + found[-TERMS_AT_END:])
