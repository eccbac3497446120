"""Text to the numbers that the embedding model reads: BERT's uncased WordPiece.

``wordpieces.txt.gz`` is the model's vocabulary (the one of BERT base uncased, Apache-2.0), one piece a line; a piece's
number is its line, from 0.
"""

from __future__ import annotations

import gzip
import unicodedata
from functools import cache
from pathlib import Path

MAX_PIECES = 128
"""Of a text, the marks of its beginning and its end included; what comes after is not read."""

_UNKNOWN, _BEGIN, _END = "[UNK]", "[CLS]", "[SEP]"
_READ_CHARS = 2_000
_MAX_WORD = 100
_IDEOGRAPHS = (
    (0x3400, 0x4DBF),
    (0x4E00, 0x9FFF),
    (0xF900, 0xFAFF),
    (0x20000, 0x2A6DF),
    (0x2A700, 0x2B73F),
    (0x2B740, 0x2B81F),
    (0x2B820, 0x2CEAF),
    (0x2F800, 0x2FA1F),
)


@cache
def vocabulary() -> dict[str, int]:
    text = gzip.decompress(Path(__file__).with_name("wordpieces.txt.gz").read_bytes()).decode()
    return {piece: number for number, piece in enumerate(text.splitlines())}


def pieces(text: str, limit: int = MAX_PIECES) -> list[int]:
    """The numbers of the text's pieces between the two marks, ``limit`` at most."""
    known = vocabulary()
    found = [known[_BEGIN]]
    for word in _words(text[:_READ_CHARS]):
        found += _split(word, known)
        if len(found) >= limit - 1:
            break
    return [*found[: limit - 1], known[_END]]


def _words(text: str) -> list[str]:
    spaced: list[str] = []
    for letter in text:
        kind = _kind(letter)
        if kind == " ":
            spaced.append(" ")
        elif kind == "i":
            spaced += (" ", letter, " ")
        elif kind:
            spaced.append(letter)
    bare = "".join(c for c in unicodedata.normalize("NFD", "".join(spaced)) if unicodedata.category(c) != "Mn")
    return "".join(f" {c} " if _is_punctuation(c) else c for c in bare.lower()).split()


def _kind(letter: str) -> str:
    """``" "`` for white space, ``"i"`` for an ideograph, nothing for what is left out, ``"."`` for the rest."""
    if letter.isascii():
        if letter in " \t\n\r":
            return " "
        return "." if letter.isprintable() else ""
    category = unicodedata.category(letter)
    if category == "Zs":
        return " "
    if category in ("Cc", "Cf", "Co", "Cs") or letter == "\ufffd":
        return ""
    code = ord(letter)
    return "i" if any(first <= code <= last for first, last in _IDEOGRAPHS) else "."


def _is_punctuation(letter: str) -> bool:
    if letter.isascii():
        return not letter.isalnum() and letter != " "
    return unicodedata.category(letter)[0] == "P"


def _split(word: str, known: dict[str, int]) -> list[int]:
    """The longest pieces that the word is made of, from the left."""
    if len(word) > _MAX_WORD:
        return [known[_UNKNOWN]]
    found: list[int] = []
    start = 0
    while start < len(word):
        for end in range(len(word), start, -1):
            number = known.get(("##" if start else "") + word[start:end])
            if number is not None:
                found.append(number)
                start = end
                break
        else:
            return [known[_UNKNOWN]]
    return found
