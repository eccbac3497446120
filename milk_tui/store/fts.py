"""Queries for the text indexes, made so that no text can be read as query syntax."""

from __future__ import annotations

from milk_tui.core.words import tokens

MAX_WORDS = 32


def any_of(text: str, *, typing: bool = False, max_words: int = MAX_WORDS) -> str:
    """A query for any of the text's words, each quoted; empty when it has none that say something.

    ``typing``: the last word may be the beginning of one, if it has three letters. Of a long text the longest words
    are taken: they are the rare ones.
    """
    found = tokens(text)
    if len(found) > max_words:
        longest = frozenset(sorted(found, key=lambda word: (-len(word), word))[:max_words])
        found = [word for word in found if word in longest]
    quoted = ['"' + word.replace('"', '""') + '"' for word in found]
    if typing and found and len(found[-1]) >= 3:
        quoted[-1] += "*"
    return " OR ".join(quoted)
