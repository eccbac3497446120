"""The words of a text by which it is found: folded, without those that say nothing, in any script."""

from __future__ import annotations

import re
import unicodedata

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]+")
"""Scripts that put no space between words: Thai, Lao, Burmese, Khmer, Kana, Han. They are taken two letters
at a time.
"""

_STOP_WORDS = """
    a about after again all also am an and any are as at be because been before being but by can could did
    do does doing don't done for from get had has have having he her here him his how i i'm if in into is it
    it's its just let like make may me might more most must my need no not of off on once one only or other
    our out over please shall she should so some such than that the their them then there these they this
    those through to too under until up us use very want was we were what when where which while who why will
    with would you your
"""
STOP_WORDS = frozenset(_STOP_WORDS.split())
"""English words that are in every prompt. A polarity word counts for nothing in a search; it is never dropped
from a fact itself."""

_ENDINGS = (("ies", "y"), ("ied", "y"), ("sses", "ss"), ("ing", ""), ("ed", ""), ("es", ""), ("s", ""))

MAX_WORD = 64
MAX_WORDS = 400
"""Of a text, as far as it is read: a prompt may be a pasted file."""


def words(text: str) -> frozenset[str]:
    """What the text is about: its words without their endings, to be compared with another text's."""
    return frozenset(stem(word) for word in tokens(text))


def tokens(text: str) -> list[str]:
    """The text's words as they stand (case folded), in order, each once, at most ``MAX_WORDS``."""
    found: dict[str, None] = {}
    for match in _WORD.finditer(unicodedata.normalize("NFKC", text[: MAX_WORDS * MAX_WORD]).casefold()):
        for word in _split(match.group()):
            if word not in STOP_WORDS:
                found[word[:MAX_WORD]] = None
        if len(found) >= MAX_WORDS:
            break
    return list(found)[:MAX_WORDS]


def _split(word: str) -> list[str]:
    if not _UNSPACED.search(word):
        return [word]
    parts: list[str] = []
    position = 0
    for run in _UNSPACED.finditer(word):
        if run.start() > position:
            parts.append(word[position : run.start()])
        letters = run.group()
        parts += [letters[i : i + 2] for i in range(len(letters) - 1)] or [letters]
        position = run.end()
    if position < len(word):
        parts.append(word[position:])
    return parts


def stem(word: str) -> str:
    """English endings off, as far as that is safe without a dictionary."""
    word = word.removesuffix("'s").removesuffix("’s")
    if len(word) < 4 or not (word.isascii() and word.isalpha()):
        return word
    for ending, instead in _ENDINGS:
        if word.endswith(ending) and not word.endswith("ss") and len(word) - len(ending) >= 3:
            word = word[: -len(ending)] + instead
            if ending in ("ing", "ed") and word[-1] == word[-2] and word[-1] not in "aeioulsz":
                word = word[:-1]
            break
    return word.removesuffix("e") if len(word) > 3 else word
