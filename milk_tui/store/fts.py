"""Queries for the text indexes, made so that no text can be read as query syntax, and what they find.

``percepts_fts`` holds whole words (stemmed), ``percepts_trigram`` pieces of three letters: the second chance for
parts of identifiers and for scripts without spaces (``recall.md``, "Engine").
"""

from __future__ import annotations

import re
import sqlite3
import unicodedata
from collections.abc import Iterable, Sequence
from math import log

from msgspec import Struct

from milk_tui.core.words import STOP_WORDS
from milk_tui.store.rows import id_list, tuples

MAX_WORDS = 32
"""Words of a text that are asked for."""
LARGE = 200_000
LARGE_WORDS = 8
"""Above ``LARGE`` facts only so many words are asked for, the rarest (``recall.md``)."""
POSTINGS = 5_000
"""Entries of the index that a ranked query reads, about: of more, the commonest words are left out."""

_WORDS_COUNTED = 96
_IDEAL_WORDS = 12
_COUNTED = 50_000
_READ_CHARS = 24_000
_MAX_WORD = 64
_PIECED_WORDS = 6
_PIECED_FACTS = 1_000
_LEAST_SPACED, _LEAST_UNSPACED = 0.6, 0.12

_WORD = re.compile(r"[^\W_]+")
_COMPOUND = re.compile(r"[^\W_]+(?:[./:@#~+_-]{1,2}[^\W_]+)+")
_POSSESSIVE = re.compile(r"['’]s\b")
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0002fa1f]{2,}"
)
"""Scripts that put no space between words: Thai, Lao, Burmese, Khmer, Kana, Han."""
_ODD = re.compile(r"[a-z][A-Z]|[^\W\d_][0-9]|[0-9][^\W\d_]")
_TO_AN_ASSISTANT = frozenset(
    ("describe", "draft", "explain", "give", "hello", "hey", "hi", "ok", "okay", "recommend", "show", "suggest")
) | frozenset(("summarise", "summarize", "tell", "thank", "thanks", "write", "yes"))
"""Words with which people speak to an assistant: they say nothing about what is asked."""


class Asked(Struct, frozen=True, kw_only=True):
    """The words of a text that the index was asked for, with how rare they are."""

    words: tuple[str, ...] = ()
    """The rarest first."""
    common: tuple[str, ...] = ()
    """Left out, since so many facts have them."""
    unknown: tuple[str, ...] = ()
    """Those that no fact has."""
    ideal: float = 0.0
    """The score of a fact that has all of them, the unknown ones too, as far as one fact can have many words; 0 when
    there are none."""
    match: str = ""
    """The query; empty when there is nothing to ask for."""
    size: int = 0
    """About how many facts the index holds."""


def words_of(text: str) -> list[str]:
    """What a text can be found by: its words as they stand, each once, without those that say nothing."""
    if len(text) > _READ_CHARS:
        head, tail = text[: _READ_CHARS * 3 // 4], text[-_READ_CHARS // 4 :]
        text = f"{head.rpartition(' ')[0] or head} {tail.partition(' ')[2] or tail}"
    found: dict[str, str] = {}
    for match in _WORD.finditer(_POSSESSIVE.sub(" ", unicodedata.normalize("NFKC", text))):
        word = match.group()
        folded = word.casefold()
        if folded not in STOP_WORDS and folded not in _TO_AN_ASSISTANT:
            found.setdefault(folded, word[:_MAX_WORD])
    return list(found.values())


def any_of(text: str, *, typing: bool = False, max_words: int = MAX_WORDS) -> str:
    """A query for any of the text's words, each quoted; empty when it has none that say something.

    ``typing``: the last word may be the beginning of one, if it has three letters. Of a long text the longest words
    are taken: they are the rare ones.
    """
    found = words_of(text)
    if len(found) > max_words:
        longest = frozenset(sorted(found, key=lambda word: (-len(word), word))[:max_words])
        found = [word for word in found if word in longest]
    quoted = [_quoted(word) for word in found]
    if typing and found and len(found[-1]) >= 3:
        quoted[-1] += "*"
    return " OR ".join(quoted)


def ask(conn: sqlite3.Connection, text: str, *, typing: bool = False) -> Asked:
    """Which words of the text to ask for: the rare ones, as many as can be ranked in time.

    What stands together (``a/path.py``, ``3.11``) is also asked for as a whole. Raises sqlite3.DatabaseError when the
    index is damaged.
    """
    size = conn.execute("select max(seq) from percepts").fetchone()[0] or 0
    found = words_of(text)
    if not (size and found):
        return Asked(unknown=tuple(found), size=size)
    begun = found[-1] if typing and len(found[-1]) >= 3 else None
    found = _fewer(found)
    terms = {word: _quoted(word) + ("*" if word == begun else "") for word in found}
    counts = {word: _count(conn, term) for word, term in terms.items()}
    known = sorted((word for word in found if counts[word]), key=lambda word: counts[word])
    most = LARGE_WORDS if size > LARGE else MAX_WORDS
    taken: list[str] = []
    read = 0
    for word in known[:most]:
        if taken and read + counts[word] > POSTINGS:
            break
        taken.append(word)
        read += counts[word]
    wholes = [_quoted(whole) for whole in _COMPOUND.findall(text[:_READ_CHARS])[:8] if _has_all(whole, taken)]
    unknown = [word for word in found if not counts[word]]
    return Asked(
        words=tuple(taken),
        common=tuple(known[len(taken) :]),
        unknown=tuple(unknown),
        ideal=sum(_rarity(size, counts[word]) for word in [*known, *unknown][:_IDEAL_WORDS]),
        match=" OR ".join([terms[word] for word in taken] + wholes),
        size=size,
    )


def best(conn: sqlite3.Connection, match: str, limit: int) -> list[tuple[int, float]]:
    """Row numbers of facts with their scores (BM25, more is better), best first."""
    if not match:
        return []
    sql = "select rowid, -rank from percepts_fts where percepts_fts match ? order by rank limit ?"
    return [(seq, max(score, 0.0)) for seq, score in tuples(conn, sql, (match, limit))]


def by_pieces(conn: sqlite3.Connection, words: Sequence[str], limit: int) -> list[tuple[int, float]]:
    """Row numbers of facts that hold parts of the words, best first, with the share of the words that they hold.

    A part is three letters; of scripts without spaces two. Half a word is no part of it: most of its pieces must be
    there, but for scripts without spaces, where a "word" is a sentence. Raises sqlite3.DatabaseError when the index is
    damaged.
    """
    pieces = {word: _pieces(word) for word in words[:_PIECED_WORDS]}
    terms = {term for parts in pieces.values() for part in parts for term in _terms(conn, part)}
    if not terms:
        return []
    match = " OR ".join(_quoted(term) for term in sorted(terms))
    seqs = [seq for (seq,) in tuples(conn, _BY_PIECES, (match, _PIECED_FACTS))]
    sql = "select seq, content || ' ' || subject from percepts where seq in (select value from json_each(?))"
    scored: list[tuple[int, float]] = []
    for seq, content in tuples(conn, sql, (id_list(seqs),)):
        folded = unicodedata.normalize("NFKC", content).casefold()
        share = sum(_held(word, parts, folded) for word, parts in pieces.items()) / len(pieces)
        if share:
            scored.append((seq, share))
    scored.sort(key=lambda row: (-row[1], -row[0]))
    return scored[:limit]


_BY_PIECES = "select rowid from percepts_trigram where percepts_trigram match ? order by rowid desc limit ?"


def is_odd(word: str) -> bool:
    """True for what is looked for by its parts even when whole words are found: an identifier such as ``getUser`` or
    ``E17``, and a script without spaces."""
    return _ODD.search(word) is not None or _UNSPACED.search(word) is not None


def _held(word: str, parts: list[str], text: str) -> float:
    share = sum(part in text for part in parts) / len(parts) if parts else 0.0
    return share if share >= (_LEAST_UNSPACED if _UNSPACED.search(word) else _LEAST_SPACED) else 0.0


def _pieces(word: str) -> list[str]:
    folded = word.casefold()
    size = 2 if _UNSPACED.search(word) else 3
    return list(dict.fromkeys(folded[start : start + size] for start in range(len(folded) - size + 1)))


def _terms(conn: sqlite3.Connection, piece: str) -> Iterable[str]:
    """The pieces of the index that begin so; those of two letters begin several."""
    if len(piece) >= 3:
        return (piece,)
    sql = "select term from percepts_trigram_terms where term >= ? and term < ? limit 16"
    return [term for (term,) in tuples(conn, sql, (piece, piece + "\U0010ffff"))]


def _fewer(words: list[str]) -> list[str]:
    """Of many words those at the two ends, where the question is, and the longest, which are the rare ones."""
    if len(words) <= _WORDS_COUNTED:
        return words
    end = _WORDS_COUNTED // 3
    ends = words[:end] + words[-end:]
    longest = sorted(words[end:-end], key=lambda word: (-len(word), word))[:end]
    chosen = {*ends, *longest}
    return [word for word in words if word in chosen]


def _quoted(word: str) -> str:
    return '"' + word.replace('"', '""') + '"'


def _count(conn: sqlite3.Connection, term: str) -> int:
    sql = f"select count(*) from (select 1 from percepts_fts where percepts_fts match ? limit {_COUNTED:d})"
    return int(conn.execute(sql, (term,)).fetchone()[0])


def _rarity(size: int, count: int) -> float:
    """As BM25 has it: next to nothing for a word that half of the facts have."""
    return max(log((size - count + 0.5) / (count + 0.5)), 1e-6) if count <= size else 1e-6


def _has_all(whole: str, taken: Sequence[str]) -> bool:
    folded = {word.casefold() for word in taken}
    return any(part.casefold() in folded for part in _WORD.findall(whole))
