"""How two statements relate: what they share, which values differ, whether they are about the same (``recall.md``,
"Writing a fact", 4 and 5).
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from milk_tui.core.matching import SAID, Naming, Pair, match, named, pairs
from milk_tui.core.sentence_parts import NAME, unspaced
from milk_tui.core.sentence_words import SPOKEN_OF_US
from milk_tui.core.statements import Statement, Token, Zone

Rarity = Callable[[str], float]
"""How much a word says of what a text is about; larger is rarer, and only ratios matter."""

_VALUE_WEIGHT = 1.3


class Comparison(Struct, frozen=True):
    """Weights are sums of rarities; ``new_only`` and ``old_only`` are what neither matches nor is exchanged."""

    pairs: tuple[Pair, ...]
    new_only: tuple[Token, ...]
    old_only: tuple[Token, ...]
    shared: float
    new_rest: float
    old_rest: float
    same_order: bool
    grown: bool
    """The new names further values of a kind that both name: a list has grown."""
    same_verb: bool
    """They share a verb that says something."""
    flipped: bool
    naming: Naming
    several_named: bool
    """What the cue names as the old has several words."""

    @property
    def overlap(self) -> float:
        """0..1, of both: exchanged values left out."""
        whole = 2 * self.shared + self.new_rest + self.old_rest
        return 2 * self.shared / whole if whole else 1.0

    @property
    def covered(self) -> float:
        """0..1: how much of the old the new says again."""
        whole = self.shared + self.old_rest
        return self.shared / whole if whole else 1.0

    @property
    def other_subject(self) -> bool:
        """Each is about something that the other doesn't name, or they differ in a word that tells subjects apart."""
        return self.contrasted or (self.narrower and self.wider)

    @property
    def contrasted(self) -> bool:
        """They differ in a word that tells subjects apart."""
        return any(a.contrast & b.contrast for a in self.new_only for b in self.old_only)

    @property
    def new_subject_known(self) -> bool:
        """All that the new is about is named by the old."""
        return not any(token.zone is Zone.SUBJECT for token in self.new_only)

    @property
    def narrower(self) -> bool:
        """The new holds for less: it has a condition, or a longer subject, that the old hasn't."""
        return any(_is_about(token) for token in self.new_only)

    @property
    def surely_narrower(self) -> bool:
        """What the new is about in addition is a name, a value or a word that tells subjects apart."""
        return any(_is_about(token) and (token.groups or token.contrast) for token in self.new_only)

    @property
    def under_condition(self) -> bool:
        """The new has a condition that the old hasn't, or is about one of several that the old doesn't tell apart."""
        return any(
            token.contrast or (token.groups and token.zone is Zone.CONDITION)
            for token in self.new_only
            if token.zone in (Zone.SUBJECT, Zone.CONDITION)
        )

    @property
    def says_more(self) -> bool:
        """The new says something that the old doesn't."""
        return any(token.zone is Zone.OBJECT for token in self.new_only)

    @property
    def wider(self) -> bool:
        """The old holds for less."""
        return any(_is_about(token) for token in self.old_only)

    @property
    def surely_wider(self) -> bool:
        """The old has a condition, or a word that tells subjects apart, that the new hasn't."""
        return any(_is_about(token) and (token.contrast or token.zone is Zone.CONDITION) for token in self.old_only)


def default_rarity(word: str) -> float:
    """Without a collection to count in: longer words are rarer, a few are everywhere."""
    if word in SPOKEN_OF_US:
        return 0.2
    if not word.isascii():
        return 0.5 if len(word) <= 2 else 1.0
    return 0.5 if len(word) <= 3 else 0.8 if len(word) <= 5 else 1.0


def compare(new: Statement, old: Statement, rarity: Rarity = default_rarity) -> Comparison:
    """``new`` against ``old``."""
    new_left = [token for token in new.tokens if token.zone is not Zone.OLD and not token.soft]
    old_left = [token for token in old.tokens if not token.soft]
    matched = match(new_left, old_left)
    naming = named(new, old)
    exchanged = pairs(new, old, new_left, old_left)
    if naming > Naming.NOTHING:
        named_keys = {token.key for token in new.tokens if token.zone is Zone.OLD}
        old_left = [token for token in old_left if token.key not in named_keys]

    def weight(token: Token) -> float:
        return _VALUE_WEIGHT if token.groups else rarity(token.folded)

    new_only = tuple(token for token in new_left if token.zone in SAID)
    old_only = tuple(token for token in old_left if token.zone in SAID)
    return Comparison(
        pairs=tuple(exchanged),
        new_only=new_only,
        old_only=old_only,
        shared=sum(weight(b) for a, b in matched if Zone.REST not in (a.zone, b.zone) and b.zone is not Zone.OLD),
        new_rest=sum(weight(token) for token in new_only),
        old_rest=sum(weight(token) for token in old_only),
        same_order=_in_order([(a, b) for a, b in matched if a.groups or b.groups]) and _said_in_order(matched),
        grown=any(token.groups & a.groups - {NAME} for token in new_only for a, _ in matched),
        same_verb=any(a.zone is Zone.VERB and b.zone is Zone.VERB for a, b in matched),
        flipped=(new.denies is not old.denies) ^ _opposed(new, old),
        naming=naming,
        several_named=sum(token.zone is Zone.OLD and not token.soft for token in new.tokens) > 1,
    )


def _is_about(token: Token) -> bool:
    return token.zone in (Zone.SUBJECT, Zone.CONDITION) and not unspaced(token.text)


def _opposed(new: Statement, old: Statement) -> bool:
    return any(new.signs[base] is not old.signs[base] for base in new.signs.keys() & old.signs.keys())


def _in_order(matched: list[tuple[Token, Token]]) -> bool:
    places = [b.start for _, b in sorted(matched, key=lambda pair: pair[0].start)]
    return places == sorted(places)


def _said_in_order(matched: list[tuple[Token, Token]]) -> bool:
    """What is said stands in one order: "auth, then logging" is not "logging, then auth"."""
    return _in_order([(a, b) for a, b in matched if a.zone is b.zone is Zone.OBJECT])
