"""The difference between two texts, line by line and word by word. Pure.

Lines are compared first, then the words of lines that stand for one another. What is too long is compared as a whole:
the cost is bounded, whatever the texts are.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import StrEnum

MOST_LINES = 3_000
"""Lines of each text that are compared; what is beyond them is said to be left out."""
MOST_CHARS = 4_000
"""Characters of one line."""
WORD_CHARS = 600
"""The longest line whose words are compared."""
ALIKE = 0.4
"""From this likeness on one line is taken as the other one changed."""
_WORDS = re.compile(r"\w+|\s+|[^\w\s]")

Span = tuple[int, int]


class Change(StrEnum):
    SAME = "same"
    REMOVED = "removed"
    ADDED = "added"
    CHANGED = "changed"


@dataclass(frozen=True, slots=True)
class Side:
    """A line of one text: its number, what it says, and the pieces that the other line does not have."""

    number: int
    text: str
    spans: tuple[Span, ...] = ()


@dataclass(frozen=True, slots=True)
class Pair:
    """A line and what it became; one of them is missing where it was added or removed."""

    change: Change
    old: Side | None
    new: Side | None


@dataclass(frozen=True, slots=True)
class Difference:
    """Every line of both texts, in order. ``left_out``: lines that were not compared, or not to their end."""

    pairs: tuple[Pair, ...]
    left_out: int = 0

    @property
    def changed(self) -> bool:
        return self.left_out > 0 or any(pair.change is not Change.SAME for pair in self.pairs)

    @property
    def added(self) -> int:
        return sum(pair.change in (Change.ADDED, Change.CHANGED) for pair in self.pairs)

    @property
    def removed(self) -> int:
        return sum(pair.change in (Change.REMOVED, Change.CHANGED) for pair in self.pairs)


def compare(old: str, new: str) -> Difference:
    """From the old text to the new one."""
    before, after = _lines(old), _lines(new)
    left_out = 0 if old == new else _beyond(old) + _beyond(new)
    before, after = before[:MOST_LINES], after[:MOST_LINES]
    head = _common(before, after)
    tail = _common(before[head:][::-1], after[head:][::-1])
    pairs = [_same(i, i, before) for i in range(head)]
    middle_old, middle_new = before[head : len(before) - tail], after[head : len(after) - tail]
    for tag, a, b, c, d in SequenceMatcher(None, middle_old, middle_new).get_opcodes():
        if tag == "equal":
            pairs += [_same(head + i, head + c + i - a, before) for i in range(a, b)]
        else:
            pairs += _replaced(middle_old[a:b], middle_new[c:d], head + a, head + c)
    pairs += [_same(len(before) - tail + i, len(after) - tail + i, before) for i in range(tail)]
    return Difference(tuple(pairs), left_out)


def _lines(text: str) -> list[str]:
    return [line[:MOST_CHARS] for line in text.split("\n")] if text else []


def _beyond(text: str) -> int:
    """Lines that are not compared, or not to their end."""
    lines = text.split("\n")
    return max(0, len(lines) - MOST_LINES) + sum(len(line) > MOST_CHARS for line in lines[:MOST_LINES])


def _common(one: Sequence[str], other: Sequence[str]) -> int:
    """How many lines both begin with."""
    count = 0
    for a, b in zip(one, other, strict=False):
        if a != b:
            break
        count += 1
    return count


def _same(old: int, new: int, lines: Sequence[str]) -> Pair:
    text = lines[old]
    return Pair(Change.SAME, Side(old + 1, text), Side(new + 1, text))


def _replaced(old: Sequence[str], new: Sequence[str], old_at: int, new_at: int) -> list[Pair]:
    """Lines one under another as long as they are alike; the rest is removed, then added."""
    pairs: list[Pair] = []
    at = 0
    while at < min(len(old), len(new)) and _alike(old[at], new[at]):
        spans = _spans(old[at], new[at])
        pairs.append(
            Pair(
                Change.CHANGED,
                Side(old_at + at + 1, old[at], spans[0]),
                Side(new_at + at + 1, new[at], spans[1]),
            )
        )
        at += 1
    pairs += [Pair(Change.REMOVED, Side(old_at + i + 1, old[i]), None) for i in range(at, len(old))]
    pairs += [Pair(Change.ADDED, None, Side(new_at + i + 1, new[i])) for i in range(at, len(new))]
    return pairs


def _alike(one: str, other: str) -> bool:
    if max(len(one), len(other)) > WORD_CHARS or not one.strip() or not other.strip():
        return False
    matcher = SequenceMatcher(None, one, other, autojunk=False)
    return matcher.real_quick_ratio() >= ALIKE and matcher.quick_ratio() >= ALIKE and matcher.ratio() >= ALIKE


def _spans(old: str, new: str) -> tuple[tuple[Span, ...], tuple[Span, ...]]:
    """Where the words differ."""
    one, other = _WORDS.findall(old), _WORDS.findall(new)
    ends = [_ends(words) for words in (one, other)]
    spans: tuple[list[Span], list[Span]] = ([], [])
    for tag, a, b, c, d in SequenceMatcher(None, one, other, autojunk=False).get_opcodes():
        if tag == "equal":
            continue
        for found, (start, stop), end in zip(spans, ((a, b), (c, d)), ends, strict=True):
            if stop > start:
                found.append((end[start], end[stop]))
    return tuple(spans[0]), tuple(spans[1])


def _ends(words: Sequence[str]) -> list[int]:
    """Where each word begins, and where the last one ends."""
    at, ends = 0, [0]
    for word in words:
        at += len(word)
        ends.append(at)
    return ends
