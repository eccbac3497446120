"""Which words of two statements say the same, and which values stand in each other's place; the first half of
``core.comparison``.
"""

from __future__ import annotations

import re
from collections import defaultdict
from enum import IntEnum

from msgspec import Struct

from milk_tui.core.sentence_parts import NAME, root
from milk_tui.core.statements import Statement, Token, Zone

SAID = (Zone.SUBJECT, Zone.VERB, Zone.OBJECT, Zone.CONDITION)
LOOSE = frozenset({NAME, "identifier", "path", "url"})
"""Groups of names: two of them can, but need not, be exchanged for each other."""
MEASURES = frozenset(
    (
        *("duration", "bytes", "share", "rate", "pixels", "length", "mass", "bandwidth", "temperature", "frequency"),
        *("frames", "dollars", "euros", "time", "port"),
    )
)
"""Groups that are a setting wherever they stand, never the name of a subject."""
VERSION = "version"

_COUNTS = frozenset({"number", VERSION})
_ORDINARY = frozenset(
    f"choice:{name}"
    for name in (
        *("weekday", "rhythm", "colour", "size", "speed", "length of answers", "order", "visibility", "priority"),
        *(
            "severity",
            "place of work",
            "architecture",
            "line ends",
            "loading",
            "timing",
            "theme",
            "measure",
            "formality",
        ),
    )
)
"""Choices that are no names: they are exchanged among themselves only."""
_MOST_RELATED = 60
_VALUE_FIRST = (Zone.OBJECT, Zone.CONDITION, Zone.VERB, Zone.SUBJECT, Zone.REST, Zone.OLD)


class Naming(IntEnum):
    """What a cue's old names in the other statement."""

    NOTHING = 0
    ASIDE = 1
    """Something of another clause or a reason."""
    SUBJECT = 2
    WORDS = 3
    """Ordinary words of what it says, not all of it."""
    VALUE = 4


class Pair(Struct, frozen=True):
    """A value of the new statement in the place of one of the old."""

    new: Token
    old: Token
    group: str

    @property
    def measured(self) -> bool:
        return self.group in MEASURES

    @property
    def chosen(self) -> bool:
        return self.group.startswith("choice:")


def match(new: list[Token], old: list[Token]) -> list[tuple[Token, Token]]:
    """Tokens that say the same, each once, of the same zone where there is one; they leave the two lists."""
    by_key: dict[str, list[Token]] = defaultdict(list)
    for token in old:
        by_key[token.key].append(token)
    found = [(token, other) for token in new if (other := _taken(token, by_key[token.key])) is not None]
    _remove(found, new, old)
    if len(new) <= _MOST_RELATED and len(old) <= _MOST_RELATED:
        rest = list(old)
        family = [(token, other) for token in new if (other := _relative(token, rest)) is not None]
        _remove(family, new, old)
        found += family
    return found


def named(new: Statement, old: Statement) -> Naming:
    """How far the new names, as what was before, something that the old says."""
    best = Naming.NOTHING
    olds = [token for token in new.tokens if token.zone is Zone.OLD and not token.soft]
    for cue in new.cues:
        if cue.old is None:
            continue
        text = new.text[cue.old[0] : cue.old[1]].strip(" .\"'“”`")
        if not text.isascii() and len(text) >= 2 and text in old.text:
            return Naming.VALUE
        mine = [token for token in olds if cue.old[0] <= token.start < cue.old[1]]
        if cue.spans and cue.spans[0][0] >= cue.old[1]:
            mine = mine[-2:]
        hits = [_hit(token, old) for token in mine]
        found = [hit for hit in hits if hit is not None]
        sure = bool(hits) and (hits[-1] is not None or any(hit.groups for hit in found))
        if not sure or len(found) * 2 < len(hits):
            continue
        if all(hit.zone in (Zone.REST, Zone.OLD) for hit in found):
            best = max(best, Naming.ASIDE)
        elif all(hit.zone is Zone.SUBJECT for hit in found):
            best = max(best, Naming.SUBJECT)
        elif any(hit.groups for hit in found) or _is_all_said(old, found):
            return Naming.VALUE
        elif len(found) == len(hits):
            best = max(best, Naming.WORDS)
    return best


def pairs(new: Statement, old: Statement, new_left: list[Token], old_left: list[Token]) -> list[Pair]:
    """Values that stand in each other's place; they leave the two lists. Those of one kind come first."""
    by_condition = not any(token.zone is Zone.OBJECT and token.groups for token in (*new.tokens, *old.tokens))
    mine = [token for token in new_left if _is_value(token, by_condition)]
    theirs = [token for token in old_left if _is_value(token, by_condition)]
    near, old_near = _neighbours(new), _neighbours(old)
    found: list[Pair] = []
    for certain in (True, False):
        for token in list(mine):
            for other in theirs:
                group = _group(token, other, certain)
                if not group or (group in _COUNTS and not _same_place(near[token.start], old_near[other.start])):
                    continue
                if group in _COUNTS and _after_same_name(near[token.start][0], old_near[other.start][0]):
                    group = VERSION
                found.append(Pair(token, other, group))
                mine.remove(token)
                theirs.remove(other)
                break
    _remove([(pair.new, pair.old) for pair in found], new_left, old_left)
    return found


def _remove(found: list[tuple[Token, Token]], new: list[Token], old: list[Token]) -> None:
    mine = {token.start for token, _ in found}
    theirs = {token.start for _, token in found}
    new[:] = [token for token in new if token.start not in mine]
    old[:] = [token for token in old if token.start not in theirs]


def _may_match(token: Token, other: Token) -> bool:
    """A value of another clause is not the one that this clause is about."""
    return not (token.groups or other.groups) or Zone.REST not in (token.zone, other.zone)


def _taken(token: Token, choices: list[Token]) -> Token | None:
    fitting = [other for other in choices if _may_match(token, other)]
    other = next((each for each in fitting if each.zone is token.zone), fitting[0] if fitting else None)
    if other is not None:
        choices.remove(other)
    return other


def _relative(token: Token, choices: list[Token]) -> Token | None:
    fitting = [other for other in choices if _related(token, other) and _may_match(token, other)]
    other = next((each for each in fitting if each.zone is token.zone), fitting[0] if fitting else None)
    if other is not None:
        choices.remove(other)
    return other


def _related(a: Token, b: Token) -> bool:
    """Words of one family: rotated, rotation."""
    if a.typed or b.typed or len(a.text) < 4 or len(b.text) < 4:
        return False
    one, other = root(a.folded), root(b.folded)
    return one == other or (min(len(one), len(other)) >= 5 and (one.startswith(other) or other.startswith(one)))


def _alike(a: Token, b: Token) -> bool:
    return a.key == b.key or _related(a, b)


def _hit(token: Token, old: Statement) -> Token | None:
    """What the token names in the old: as a value rather than as its subject."""
    number = _number(token)
    hits = [
        other
        for other in old.tokens
        if not other.soft and (_alike(token, other) or (number and number == _number(other)))
    ]
    return min(hits, key=lambda hit: _VALUE_FIRST.index(hit.zone), default=None)


def _number(token: Token) -> str:
    """The digits of a number, with or without a unit; empty for what is no number."""
    found = re.match(r"[$€]?\s?(\d[\d.,]*)\s?\D*\Z", token.text)
    return found[1].rstrip(".,") if found else ""


def _is_all_said(old: Statement, found: list[Token]) -> bool:
    return all(token in found for token in old.tokens if token.zone is Zone.OBJECT and not token.soft)


def _is_value(token: Token, by_condition: bool) -> bool:
    """``by_condition``: nothing else is said, so that the condition is what is said: "answers in French"."""
    if not token.groups:
        return False
    match token.zone:
        case Zone.OBJECT | Zone.VERB:
            return True
        case Zone.SUBJECT:
            return token.limits and bool(token.groups & MEASURES)
        case Zone.CONDITION:
            return (
                bool(token.groups & MEASURES)
                or (token.limits and "date" in token.groups)
                or (by_condition and (_is_choice(token) or NAME in token.groups))
            )
        case _:
            return False


def _group(a: Token, b: Token, certain: bool) -> str:
    """Within what the two can be exchanged; empty when they can't. ``certain``: they are of one kind."""
    if a.contrast & b.contrast and not (a.zone is b.zone is Zone.OBJECT):
        return ""
    if kind := min(a.groups & b.groups - {NAME}, default=""):
        return kind
    if certain or (_is_choice(a) and _is_choice(b)) or not (a.groups | b.groups) & LOOSE:
        return ""
    return NAME if all(token.groups & LOOSE or _is_product(token) for token in (a, b)) else ""


def _is_choice(token: Token) -> bool:
    return any(group.startswith("choice:") for group in token.groups)


def _is_product(token: Token) -> bool:
    return _is_choice(token) and not token.groups & _ORDINARY


_Around = tuple[Token | None, Token | None]


def _neighbours(statement: Statement) -> dict[int, _Around]:
    """For each token that says something, the one before and, if it follows closely, the one after."""
    said = [token for token in statement.tokens if not token.soft]
    around: dict[int, _Around] = {}
    for at, token in enumerate(said):
        after = said[at + 1] if at + 1 < len(said) else None
        if after is not None:
            between = statement.text[token.start + len(token.text) : after.start].strip(" -")
            after = after if len(between) <= 3 else None
        around[token.start] = (said[at - 1] if at else None, after)
    return around


def _after_same_name(before: Token | None, old_before: Token | None) -> bool:
    """ "Node 18", "Node 22": a number after a name is its version."""
    return bool(before and old_before and before.groups and before.key == old_before.key)


def _same_place(new: _Around, old: _Around) -> bool:
    """A bare number says something only with its neighbour: "Node 22", "5 devices"."""
    before, after = new
    old_before, old_after = old
    if before and old_before and _alike(before, old_before):
        if not (after and old_after) or _alike(after, old_after):
            return True
        return before.typed or after.zone is not old_after.zone
    if after and old_after:
        return _alike(after, old_after)
    return not after and not old_after and not (before and old_before)
