"""Facts that a person may want to be rid of: what is proposed, and which of them are marked at first. Pure.

Nothing here is ever done by itself: the person sees the list, changes the marks and decides.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable, Sequence
from enum import StrEnum

from msgspec import Struct

from milk_tui.core.records import Percept, Producer
from milk_tui.core.words import words

UNUSED_DAYS = 7
"""How old a fact must be to be called never recalled."""
COPY_SHARE = 0.7
"""Of the longer fact's words that its near copy has: below it the longer one says something more."""

_DAY_MS = 86_400_000
_RAW_WORD = re.compile(r"\w+(?:['’.:/_-]\w+)*")
_POLAR = frozenset(
    (
        "no",
        "not",
        "never",
        "none",
        "neither",
        "nor",
        "without",
        "don't",
        "doesn't",
        "can't",
        "cannot",
        "isn't",
        "aren't",
    )
)
_COMPARED = 200
"""Facts with the same rarest word that one is compared with."""


class CleanUp(StrEnum):
    """A kind of fact to look through."""

    NEVER_RECALLED = "never recalled"
    LOOK_ALIKES = "look-alikes"
    CONFLICTS = "conflicts"
    EXPIRED = "expired"


class Candidates(Struct, frozen=True, kw_only=True):
    """What is shown for one kind, in groups that belong together, and which ids are marked at first."""

    kind: CleanUp
    groups: tuple[tuple[Percept, ...], ...] = ()
    marked: frozenset[str] = frozenset()

    @property
    def percepts(self) -> tuple[Percept, ...]:
        return tuple({percept.id: percept for group in self.groups for percept in group}.values())


def never_recalled(facts: Iterable[Percept], given: Collection[str], now_ms: int) -> Candidates:
    """Facts of a week or more that no agent was ever given; ``given`` are short ids. The person's own are shown and
    not marked; pinned ones are always given."""
    found = [
        fact
        for fact in facts
        if fact.holds
        and not fact.pinned
        and not fact.uses
        and fact.short_id not in given
        and now_ms - fact.created_ms >= UNUSED_DAYS * _DAY_MS
    ]
    found.sort(key=lambda fact: (fact.created_ms, fact.id))
    return Candidates(
        kind=CleanUp.NEVER_RECALLED,
        groups=tuple((fact,) for fact in found),
        marked=frozenset(fact.id for fact in found if fact.producer is not Producer.USER),
    )


def expired(facts: Iterable[Percept], now_ms: int) -> Candidates:
    """Facts whose time is over though nothing took their place."""
    found = [fact for fact in facts if fact.holds and fact.valid_to_ms is not None and fact.valid_to_ms < now_ms]
    found.sort(key=lambda fact: (fact.valid_to_ms or 0, fact.id))
    return Candidates(
        kind=CleanUp.EXPIRED,
        groups=tuple((fact,) for fact in found),
        marked=frozenset(fact.id for fact in found if not fact.pinned),
    )


def conflicts(pairs: Sequence[tuple[Percept, Percept]]) -> Candidates:
    """Undecided pairs, each (newer, older). The older one is marked, but never the person's or a pinned one."""
    return Candidates(
        kind=CleanUp.CONFLICTS,
        groups=tuple(pairs),
        marked=frozenset(older.id for _, older in pairs if not (older.pinned or older.producer is Producer.USER)),
    )


def look_alikes(facts: Iterable[Percept]) -> Candidates:
    """Facts that say the same in almost the same words.

    One is a near copy of another when all its words of meaning are among the other's, these are at least
    ``COPY_SHARE`` of them, and what the other has more is neither a number nor a word of polarity: another value or a
    "not" makes another fact. Of each group the best stays unmarked: pinned, then the person's, then by weight and age.
    """
    said = sorted(
        (_Said(fact, words(fact.content), _exact(fact.content)) for fact in facts if fact.holds),
        key=lambda each: (-len(each.words), each.fact.id),
    )
    holders: dict[str, list[int]] = {}
    leaders = list(range(len(said)))
    for index, each in enumerate(said):
        if not each.words:
            continue
        rarest = min(each.words, key=lambda word: (len(holders.get(word, ())), word))
        for other in holders.get(rarest, [])[-_COMPARED:]:
            if _copies(each, said[other]):
                leaders[_leader(leaders, index)] = _leader(leaders, other)
        for word in each.words:
            holders.setdefault(word, []).append(index)
    together: dict[int, list[Percept]] = {}
    for index, each in enumerate(said):
        together.setdefault(_leader(leaders, index), []).append(each.fact)
    groups = sorted(
        (tuple(sorted(group, key=_worth)) for group in together.values() if len(group) > 1),
        key=lambda group: (group[0].content.casefold(), group[0].id),
    )
    return Candidates(
        kind=CleanUp.LOOK_ALIKES,
        groups=tuple(groups),
        marked=frozenset(fact.id for group in groups for fact in group[1:] if not fact.pinned),
    )


class _Said(Struct, frozen=True):
    fact: Percept
    words: frozenset[str]
    exact: frozenset[str]
    """Numbers and words of polarity, as they stand."""


def _exact(text: str) -> frozenset[str]:
    found = _RAW_WORD.findall(unicodedata.normalize("NFKC", text).casefold().replace("’", "'"))
    return frozenset(word for word in found if word in _POLAR or any(letter.isdigit() for letter in word))


def _copies(short: _Said, long: _Said) -> bool:
    return (
        short.exact == long.exact
        and short.words <= long.words
        and len(short.words) >= COPY_SHARE * len(long.words)
        and (short.fact.consumer is long.fact.consumer)
    )


def _leader(leaders: list[int], index: int) -> int:
    while leaders[index] != index:
        leaders[index] = index = leaders[leaders[index]]
    return index


def _worth(fact: Percept) -> tuple[bool, bool, int, int, str]:
    return not fact.pinned, fact.producer is not Producer.USER, -fact.weight, fact.created_ms, fact.id
