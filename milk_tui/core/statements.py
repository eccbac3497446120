"""A fact's sentence taken apart: what it is about, what it says of it, under which condition (``recall.md``, "Writing a
fact", 4).

There is no grammar here: the first verb divides the subject from what is said of it, prepositions divide that from the
condition. What is said in another clause or as a reason doesn't tell one fact from another.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from enum import StrEnum
from functools import lru_cache

from msgspec import Struct

from milk_tui.core import cues as change
from milk_tui.core.cues import Cue, CueKind
from milk_tui.core.mood import Mood, mood
from milk_tui.core.polarity import FLIPS, denials
from milk_tui.core.sentence_parts import NAME, Item, items, main_clause, respelled
from milk_tui.core.sentence_words import (
    CERTAIN_VERBS,
    DETERMINERS,
    KEY_PREPOSITIONS,
    LIKELY_VERBS,
    PARTICIPLES,
    PAST_VERBS,
    PLACING,
    QUALIFIERS,
    SOFT_VERBS,
    SOFT_WORDS,
    SPOKEN_OF_US,
    STATE_BY_CHOICE,
    VALUE_PREPOSITIONS,
)
from milk_tui.core.words import stem

_Span = tuple[int, int]


class Zone(StrEnum):
    SUBJECT = "subject"
    VERB = "verb"
    OBJECT = "object"
    CONDITION = "condition"
    """Where, when or for what it holds: with the subject, what the fact is about."""
    OLD = "old"
    """Named as what was before."""
    REST = "rest"
    """A reason, a later sentence."""


class Token(Struct, frozen=True):
    """An item (``core.sentence_parts``) with its part in the sentence; ``soft`` ones say little."""

    key: str
    text: str
    groups: frozenset[str]
    contrast: frozenset[int]
    zone: Zone
    soft: bool
    start: int
    limits: bool = False
    """It stands after a preposition: "orders *above 100 EUR*"."""

    @property
    def folded(self) -> str:
        return self.text.casefold()

    @property
    def typed(self) -> bool:
        return bool(self.groups - {NAME})


class Statement(Struct, frozen=True):
    text: str
    tokens: tuple[Token, ...]
    denies: bool
    mood: Mood
    cues: tuple[Cue, ...]
    signs: dict[str, bool]
    """The opposites that it says: what they have in common, and whether it is the denying one."""
    qualifiers: frozenset[str]
    """Small words that change what is said: "only", "must", "above"."""
    slot: str
    """The verb and the preposition after it: what is said next stands in the same place in two facts with one slot."""

    def cue(self, *kinds: CueKind) -> Cue | None:
        return next((cue for cue in self.cues if cue.kind in kinds), None)


_LIKELY_STEMS = frozenset(stem(word) for word in LIKELY_VERBS)
_PREPOSITIONS = VALUE_PREPOSITIONS | KEY_PREPOSITIONS
_NO_NOUNS = (SOFT_WORDS - SPOKEN_OF_US) | DETERMINERS
_AFTER_VERB = PARTICIPLES | CERTAIN_VERBS | {"to", "not", "never", "also", "still"}
_LIMITS = VALUE_PREPOSITIONS | {"until", "before", "by", "till", "within"}
_MODALS = frozenset(("can", "could", "may", "might", "must", "should", "shall", "will", "would", "do", "does", "did"))
_LEADS_TO_NEW = frozenset(
    ("to", "into", "onto", "by", "with", "for", "auf", "zu", "nach", "vers", "à", "a", "по", "на")
)
_MOST_PARSED = 512


@lru_cache(maxsize=_MOST_PARSED)
def parse(text: str) -> Statement:
    """The statement of a normalised text."""
    text = respelled(unicodedata.normalize("NFKC", text))
    found = tuple(change.find(text))
    parts = items(text)
    olds = [cue.old for cue in found if cue.old is not None]
    spans = [span for cue in found for span in cue.spans]
    content = [
        part.start for part in parts if not _is_soft(part) and not any(part.within(span) for span in (*olds, *spans))
    ]
    dismissed = [part.start for part in parts if any(part.within(span) for span in (*olds, *spans))]
    clause = main_clause(text, content, dismissed)
    verb = _verb(text, parts, olds, spans, clause)
    tokens = tuple(_tokens(text, parts, found, verb, clause))
    said = [token for token in tokens if token.zone is not Zone.REST]
    return Statement(
        text=text,
        tokens=tokens,
        denies=_denies(text, found, clause),
        mood=mood(
            text,
            text[clause[0] : clause[1]],
            changed=bool(found),
            past=verb > 0 and _is_past(parts[verb].folded),
        ),
        cues=found,
        signs={FLIPS[token.folded][0]: FLIPS[token.folded][1] for token in said if _flips(token, text)},
        qualifiers=frozenset(token.folded for token in said if token.folded in QUALIFIERS),
        slot=_slot(tokens) or ("is" if verb >= 0 else ""),
    )


def _is_soft(part: Item) -> bool:
    return part.is_word and not part.groups and (part.folded in SOFT_WORDS or part.folded in SOFT_VERBS)


def _is_past(verb: str) -> bool:
    if verb in STATE_BY_CHOICE or verb == "need":
        return False
    return verb in PAST_VERBS or verb in ("was", "were", "had", "did") or verb.endswith("ed")


def _denies(text: str, found: tuple[Cue, ...], clause: _Span) -> bool:
    blank = [span for cue in found if cue.kind is not CueKind.NO_LONGER for span in cue.spans]
    blank += [cue.old for cue in found if cue.old and cue.kind is CueKind.REPLACED]
    for start, end in blank:
        text = text[:start] + " " * (min(end, len(text)) - start) + text[end:]
    ended = [cue.label for cue in found if cue.kind is CueKind.NO_LONGER]
    unsaid = any(label.endswith(("plus", "stopped", "ceased to")) or label[0] in "不已" for label in ended)
    return (denials(text[clause[0] : clause[1]]) + unsaid) % 2 == 1


def _flips(token: Token, text: str) -> bool:
    """ "On" and "off" are opposites as the last word of what is said only."""
    if token.folded not in FLIPS or token.zone is Zone.OLD:
        return False
    if token.folded not in ("on", "off"):
        return True
    return re.match(r"\s*(?:$|[.,;)]|by default)", text[token.start + len(token.text) :]) is not None


def _slot(tokens: tuple[Token, ...]) -> str:
    at = next((index for index, token in enumerate(tokens) if token.zone is Zone.VERB), None)
    if at is None:
        return ""
    verb = tokens[at].folded
    for token in tokens[at + 1 : at + 5]:
        if (token.zone is Zone.VERB and not token.soft) or (
            token.soft and (token.folded.endswith("ed") or token.folded in PARTICIPLES)
        ):
            verb = token.folded
        elif token.folded in _PREPOSITIONS:
            return f"{stem(verb)} {token.folded}"
        elif not token.soft:
            break
    return stem(verb)


def _tokens(text: str, parts: list[Item], found: tuple[Cue, ...], verb: int, clause: _Span) -> Iterator[Token]:
    spans = [span for cue in found for span in cue.spans]
    olds = [cue.old for cue in found if cue.old is not None]
    breaks = _breaks(text, found, parts, clause)
    first = next((index for index, part in enumerate(parts) if part.start >= clause[0]), 0)
    zone = Zone.SUBJECT
    said = 0  # how much of the object was there
    for index, part in enumerate(parts):
        in_cue = any(part.within(span) for span in spans)
        is_old = any(part.within(span) for span in olds)
        inside = clause[0] <= part.start < clause[1]
        new_clause = index < verb and "," in text[parts[index - 1].end : part.start] if index else False
        if (new_clause and zone is Zone.OBJECT) or (clause[0] > 0 and index == first):
            zone = Zone.SUBJECT
        if in_cue:
            zone = next((then for span, then in breaks if part.within(span)), zone)
        elif inside and not is_old:
            zone = _next_zone(text, parts, index, verb, zone, said)
        soft = (in_cue and not is_old) or _is_soft(part)
        soft = soft or (zone is Zone.VERB and part.is_word and stem(part.folded) in SOFT_VERBS | PLACING)
        shown = Zone.OLD if is_old else zone if inside else Zone.REST
        if index == verb and zone is Zone.OBJECT:
            shown = Zone.SUBJECT
        elif zone is Zone.OBJECT and shown is Zone.OBJECT and not soft:
            said += 1
        limits = index > 0 and parts[index - 1].folded in _LIMITS
        yield Token(part.key, part.text, part.groups, part.contrast, shown, soft, part.start, limits)


def _next_zone(text: str, parts: list[Item], index: int, verb: int, zone: Zone, said: int) -> Zone:
    part = parts[index]
    if index == verb:
        return Zone.OBJECT if _assigns(text, part) else Zone.VERB
    if not part.is_word:
        if zone is Zone.VERB or (verb < 0 and index > 1 and zone is Zone.SUBJECT):
            return Zone.OBJECT
        return zone
    word = part.folded
    if index < verb or (verb < 0 and zone is not Zone.OBJECT):
        if verb < 0 and index > 1 and zone is Zone.SUBJECT and part.groups - {NAME}:
            return Zone.OBJECT
        if verb < 0 and index and word in VALUE_PREPOSITIONS:
            return Zone.OBJECT
        return _before_verb(text, parts, index, zone)
    if zone is Zone.VERB and (_after_modal(parts, index) or word in _AFTER_VERB or (word.endswith("ed") and said == 0)):
        return zone
    if zone is Zone.VERB:
        return Zone.OBJECT
    if word in KEY_PREPOSITIONS and said:
        return Zone.CONDITION
    if word in VALUE_PREPOSITIONS and zone is Zone.CONDITION:
        return Zone.OBJECT
    return zone


def _after_modal(parts: list[Item], index: int) -> bool:
    """ "Guests can not *see* prices"."""
    before = parts[index - 1].folded
    if before in ("not", "never", "also", "only", "always") and index > 1:
        before = parts[index - 2].folded
    return before in _MODALS


def _before_verb(text: str, parts: list[Item], index: int, zone: Zone) -> Zone:
    """ "In staging the timeout …" begins with its condition."""
    word = parts[index].folded
    if index == 0 and word in KEY_PREPOSITIONS | {"on", "at", "with", "after"}:
        return Zone.CONDITION
    if zone is Zone.CONDITION and index:
        comma = "," in text[parts[index - 1].end : parts[index].start]
        opened = index > 1 and parts[0].folded in KEY_PREPOSITIONS
        if comma or (opened and word in ("we", "i", "the", "our", "you")):
            return Zone.SUBJECT
    return zone


def _breaks(text: str, found: tuple[Cue, ...], parts: list[Item], clause: _Span) -> list[tuple[_Span, Zone]]:
    """What follows the words of a cue: "migrated *the service* from", "from A to *B*", "auf *B* umgestellt"."""
    breaks: list[tuple[_Span, Zone]] = []
    for cue in found:
        if cue.kind in (CueKind.NOW, CueKind.NO_LONGER) or not cue.spans:
            continue
        is_last = not any(cue.spans[-1][1] <= part.start < clause[1] for part in parts)
        for span in cue.spans[:-1]:
            leads = text[span[0] : span[1]].casefold().split()[-1] in _LEADS_TO_NEW
            breaks.append((span, Zone.OBJECT if leads or is_last else Zone.CONDITION))
        breaks.append((cue.spans[-1], Zone.OBJECT))
    return breaks


def _assigns(text: str, part: Item) -> bool:
    """True before a sign that stands for a verb: "timeout: 30 s", "Дежурный — Иван"."""
    return bool(re.match(r"\s?[:=]\s|\s[—–]\s", text[part.end : part.end + 3]))


def _verb(text: str, parts: list[Item], olds: list[_Span], cues: list[_Span], clause: _Span) -> int:
    """The place of the first verb of the clause; −1 when none is to be seen."""
    inside = [index for index, part in enumerate(parts) if clause[0] <= part.start < clause[1]]
    words = [
        index
        for index in inside
        if parts[index].is_word
        and not any(parts[index].within(old) for old in olds)
        and (parts[index].folded in CERTAIN_VERBS or not any(parts[index].within(cue) for cue in cues))
    ]
    comma = text.find(", ", clause[0], clause[1])
    if comma >= 0:
        early = [index for index in words if parts[index].start < comma]
        found = _verb_among(text, parts, early, [], clause, guess=False)
        if found >= 0:
            return found
    assigned = [index for index in inside[:6] if _assigns(text, parts[index])]
    return _verb_among(text, parts, words, assigned, clause, guess=True)


def _verb_among(
    text: str, parts: list[Item], words: list[int], assigned: list[int], clause: _Span, *, guess: bool
) -> int:
    for index in words:
        if parts[index].folded in CERTAIN_VERBS or _agrees(text, parts, index, clause[1]):
            return index
    if assigned:
        return assigned[0]
    if words and parts[words[0]].folded in ("we", "i", "you", "they"):
        return words[1] if words[1:] and words[1] == words[0] + 1 else -1
    for index in words:
        part = parts[index]
        likely = stem(part.folded) in _LIKELY_STEMS or part.folded in PAST_VERBS
        if likely and not (
            part.folded.endswith("ing") or part.folded in DETERMINERS or part.groups or _after_determiner(parts, index)
        ):
            return index
    for index in words[1:] if guess else ():
        part = parts[index]
        if part.groups or part.folded in SOFT_WORDS:
            continue
        third_person = part.folded.endswith("s") and not part.folded.endswith("ss") and len(part.folded) > 3
        if third_person and not _after_determiner(parts, index) and not parts[index - 1].folded.endswith("s"):
            return index
    return -1


def _agrees(text: str, parts: list[Item], index: int, end: int) -> bool:
    """True for a likely verb between a noun of its number and a preposition: "backups run at", "the job runs at"."""
    if not 0 < index < len(parts) - 1 or parts[index].groups or parts[index + 1].start >= end:
        return False
    word, noun, after = (parts[at].folded for at in (index, index - 1, index + 1))
    if stem(word) not in _LIKELY_STEMS or after not in _PREPOSITIONS | {"now", "out"} or noun in _NO_NOUNS:
        return False
    together = text[parts[index - 1].end : parts[index].start] == " "
    return together and word.endswith("s") is not noun.endswith("s") and not word.endswith("ing")


def _after_determiner(parts: list[Item], index: int) -> bool:
    return index > 0 and parts[index - 1].folded in DETERMINERS
