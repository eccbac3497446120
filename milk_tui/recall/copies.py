"""Do two facts say nearly the same, so that one of them is enough (``recall.md``, "Engine" 3)?

Nearness alone can't tell: "port 5432" and "port 5433", "use X" and "don't use X" are near, and never copies.
"""

from __future__ import annotations

import re

from milk_tui.core.polarity import denials
from milk_tui.core.words import tokens

NEAR = 0.92
_ROUGHLY = 0.8
_WORD = re.compile(r"\w+")
_EXACT = re.compile(r"\S*[\d/_.:@#]\S*\w|\b[A-Z]\w*[A-Z]\w*\b")


class Text:
    """A fact's content, taken apart as far as is needed."""

    __slots__ = ("_content", "_rough")

    def __init__(self, content: str) -> None:
        self._content = content
        self._rough = frozenset(_WORD.findall(content.casefold()))

    def may_repeat(self, other: Text) -> bool:
        """False when a value or the sign differs, however near the two are."""
        one, two = self._content, other._content
        return _exact(one) == _exact(two) and denials(one) % 2 == denials(two) % 2

    def repeats(self, other: Text) -> bool:
        """Nearly the same words."""
        if not _alike(self._rough, other._rough, _ROUGHLY):
            return False
        words, others = frozenset(tokens(self._content)), frozenset(tokens(other._content))
        return _alike(words, others, NEAR) and self.may_repeat(other)


def _alike(one: frozenset[str], two: frozenset[str], share: float) -> bool:
    both = len(one & two)
    return both > share * (len(one) + len(two) - both)


def _exact(content: str) -> frozenset[str]:
    return frozenset(part.strip(".,;:!?()`\"'").casefold() for part in _EXACT.findall(content))
