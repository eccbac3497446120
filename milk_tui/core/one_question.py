"""Two sentences that answer one question about one thing: where it is, how it is made, how long it is kept.

"Photos are stored in the database" and "photos live on object storage" share one word, and only one of them can be
all of the truth. Enough to ask the person, never to retire a fact (``recall.md``, "Writing a fact", 5).
"""

from __future__ import annotations

from enum import StrEnum

from milk_tui.core.comparison import Comparison
from milk_tui.core.cues import CueKind
from milk_tui.core.polarity import FLIPS
from milk_tui.core.sentence_parts import NAME
from milk_tui.core.sentence_words import DETERMINERS, HAS_ONE_VALUE, HAVING
from milk_tui.core.statements import Statement, Token, Zone
from milk_tui.core.words import stem


class Question(StrEnum):
    WHERE = "where"
    MADE = "how it is made"
    KEPT = "how long it is kept"


def _stems(words: str) -> frozenset[str]:
    return frozenset(stem(word) for word in words.split())


_BEING = frozenset(("is", "are", "be"))
_PLACED = _stems(
    "store stored keep kept live lives reside resides sit sits save saved put located locate lie lies come comes"
    " read load loaded find found held hold"
)
_AT = frozenset(("in", "on", "at", "under", "from", "inside", "within", "behind"))
_MADE = frozenset(
    (
        *("written", "generated", "built", "made", "produced", "created", "implemented", "assembled", "rendered"),
        *("compiled", "derived", "compared", "calculated", "computed", "sorted", "ordered", "trained", "encoded"),
    )
)
_KEPT = _stems("delete deleted remove removed purge purged keep kept retain retained archive archived expire expires")
_OF_TIME = frozenset(("date", "time", "duration", "choice:weekday", "choice:rhythm", "number"))
_ELSEWHERE = frozenset(("to", "for", "at", "after", "before", "until"))
_LEADING = frozenset(
    ("in", "on", "at", "with", "from", "to", "as", "via", "through", "into", "under", "auf", "mit", "dans")
)
_COUNTING = frozenset(("added", "removed", "joined", "left", "introduced", "installed"))


def answered_by_both(new: Statement, old: Statement, seen: Comparison) -> Question | None:
    """The question that both answer with other verbs; ``None`` when there is none, or one is about more."""
    if seen.shared == 0 or seen.narrower or seen.wider or seen.contrasted:
        return None
    said, before = (tuple(t for t in side if t.zone is Zone.OBJECT) for side in (seen.new_only, seen.old_only))
    exchanged = bool(seen.pairs)
    if not (said or exchanged) or not (before or exchanged):
        return None
    if seen.same_verb or _verb(new) == _verb(old):
        return None
    return min(_asked(new) & _asked(old), default=None)


def one_place(new: Statement, old: Statement, seen: Comparison) -> bool:
    """The same is said to be in, on or with something else, or an attribute that has one value has another."""
    if seen.narrower or seen.wider or not new.slot or new.slot != old.slot:
        return False
    if not (seen.new_only or seen.pairs) or not (seen.old_only or seen.pairs):
        return False
    left = {*(token.start for token in seen.old_only), *(pair.old.start for pair in seen.pairs)}
    both = [t for t in old.tokens if not t.soft and t.start not in left and t.zone not in (Zone.VERB, Zone.REST)]
    if new.slot.partition(" ")[2]:
        return bool(both) and not _has_verb(seen) and _of_time(new) is _of_time(old)
    about = (Zone.SUBJECT, Zone.CONDITION)
    subject = {token.folded for token in old.tokens if token.zone in about and token.start not in left}
    return new.slot in _BEING and bool(subject & HAS_ONE_VALUE)


def same_place(new: Statement, old: Statement, seen: Comparison) -> bool:
    """All that differs stands after one preposition: "write commit messages in *the past tense*"."""
    if (
        _verb(new) != _verb(old)
        or seen.pairs
        or seen.flipped
        or not (seen.new_only and seen.old_only)
        or _has_verb(seen)
    ):
        return False
    if any(token.zone is Zone.SUBJECT for token in (*seen.new_only, *seen.old_only)):
        return False
    (place, before), (old_place, old_before) = _led_by(new, seen.new_only), _led_by(old, seen.old_only)
    alike = bool(place) and before == old_before and place == old_place
    return alike and _of_time(new) is _of_time(old)


def _led_by(statement: Statement, left: tuple[Token, ...]) -> tuple[str, str]:
    """The preposition before what is left, when that is one phrase, and the word before it."""
    starts = {token.start for token in left}
    at = [index for index, token in enumerate(statement.tokens) if token.start in starts]
    if any(not token.soft and token.start not in starts for token in statement.tokens[at[0] : at[-1]]):
        return "", ""
    for place in range(at[0] - 1, 0, -1):
        token = statement.tokens[place]
        if token.folded in _LEADING:
            return token.folded, statement.tokens[place - 1].key
        if token.folded not in DETERMINERS:
            break
    return "", ""


def answers_of_two_cases(seen: Comparison) -> bool:
    """A status of HTTP is given for something else: "200 on success", "400 on bad input"."""
    return any(pair.group == "status" for pair in seen.pairs) and bool(seen.new_only and seen.old_only)


def exchanges_contrast(new: Statement, old: Statement, seen: Comparison) -> bool:
    """All that differs is which of two opposites is said: "is on the left", "is on the right"."""
    if new.slot != old.slot or new.slot in HAVING:
        return False
    if len(seen.new_only) != 1 or len(seen.old_only) != 1:
        return False
    one, other = seen.new_only[0], seen.old_only[0]
    return bool(one.contrast & other.contrast) and one.zone is other.zone is Zone.OBJECT


def _has_verb(seen: Comparison) -> bool:
    return any(token.zone is Zone.VERB for token in (*seen.new_only, *seen.old_only))


def counts_anew(new: Statement, old: Statement) -> bool:
    """Something is said to be added to, or taken from, what the old one counts: "four stages", "a fifth was added"."""
    cue = new.cue(CueKind.BECAME, CueKind.DROPPED)
    if cue is None or not _COUNTING & set(cue.label.split()):
        return False
    keys = {token.key for token in new.tokens if not token.soft}
    follows_number = [
        after.key
        for token, after in zip(old.tokens, old.tokens[1:], strict=False)
        if token.groups & {"number"} and not after.soft
    ]
    return any(key in keys for key in follows_number)


def denies_what_is_done(seen: Comparison) -> bool:
    """All that the new adds to the words of the old is that this is off, optional or forbidden."""
    added = [token for token in seen.new_only if token.zone is not Zone.CONDITION]
    return bool(added) and len(added) == len(seen.new_only) and all(_denying(token) for token in added)


def _denying(token: Token) -> bool:
    return FLIPS.get(token.folded, ("", False))[1]


def _asked(statement: Statement) -> frozenset[Question]:
    verbs = {token.folded for token in statement.tokens if token.zone is Zone.VERB}
    if not verbs:
        return frozenset()
    stems = {stem(verb) for verb in verbs}
    preposition = statement.slot.partition(" ")[2]
    found = set()
    placed = bool(stems & _PLACED) or (bool(verbs & _BEING) and verbs <= _BEING)
    if placed and preposition in _AT and not _of_time(statement):
        found.add(Question.WHERE)
    if verbs & _MADE and preposition not in _ELSEWHERE:
        found.add(Question.MADE)
    if stems & _KEPT and preposition not in _AT:
        found.add(Question.KEPT)
    return frozenset(found)


def _verb(statement: Statement) -> str:
    return statement.slot.partition(" ")[0]


def _of_time(statement: Statement) -> bool:
    said = [token for token in statement.tokens if token.zone is Zone.OBJECT and not token.soft]
    return any(token.groups - {NAME} & _OF_TIME for token in said if token.groups & _OF_TIME)
