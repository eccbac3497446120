"""What one statement does to one other, by its words alone (``recall.md``, "Writing a fact", 5); who said them is not
looked at here.
"""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct

from milk_tui.core.choices import EXCLUSIVE
from milk_tui.core.comparison import Comparison
from milk_tui.core.cues import CueKind
from milk_tui.core.matching import LOOSE, VERSION, Naming
from milk_tui.core.mood import Mood
from milk_tui.core.one_question import (
    answered_by_both,
    answers_of_two_cases,
    counts_anew,
    denies_what_is_done,
    exchanges_contrast,
    one_place,
    same_place,
)
from milk_tui.core.sentence_parts import NAME, unspaced
from milk_tui.core.sentence_words import ADDITIVE, BEING, HAVING, ONLY, PLACING, SETTING, WEAK
from milk_tui.core.statements import Statement, Token, Zone


class Verdict(StrEnum):
    SAME = "same"
    REPLACES = "replaces"
    CONFLICTS = "conflicts"
    APART = "apart"


class Judgement(Struct, frozen=True):
    """``score`` orders judgements of one verdict; ``why`` is one line for the person."""

    verdict: Verdict
    score: float = 0.0
    why: str = ""
    cue: str = ""


APART = Judgement(Verdict.APART)

SAME_SENTENCE = 0.9
"""Overlap from which on two statements are one sentence with another value."""
SAME_SUBJECT = 0.4
"""Overlap from which on a cue is about this fact."""
SAME_THING = 0.6
"""Overlap from which on names that differ, or opposites, are worth a question."""
LOOKS_ALIKE = 0.3
"""Overlap from which on two values for one thing are worth a question."""
HALF = 0.45
"""Overlap from which on another word in the same place is worth a question."""
MOSTLY = 0.7
"""Overlap from which on another word is worth a question even where several things can be said at once."""
NEAR = 0.28
"""Overlap from which on a cue is worth a question."""
NEAR_UNSPACED = 0.2
"""The same for scripts of which words are taken two letters at a time."""
CLOSE = 0.8
"""Cosine from which on the same holds whatever the words."""

_DOUBTFUL = (Mood.ASKED, Mood.SUPPOSED, Mood.QUOTED)
_RETIRES = (Mood.STATED, Mood.TENTATIVE)
_CAN_END = (Mood.STATED, Mood.TENTATIVE, Mood.HAPPENED)


def judge(
    new: Statement, old: Statement, seen: Comparison, *, named: bool = False, cosine: float | None = None
) -> Judgement:
    """``named``: the writer says by id that the old is replaced; ``cosine``: how near the two are as vectors."""
    if _says_the_same(new, old, seen):
        if new.qualifiers == old.qualifiers and seen.same_order:
            return Judgement(Verdict.SAME, 1.0, "it says the same in other words")
        differ = ", ".join(sorted(new.qualifiers ^ old.qualifiers)) or "the order of the words"
        return Judgement(Verdict.CONFLICTS, 1.0, f"it says nearly the same ({differ})")
    if named and new.mood not in _DOUBTFUL:
        near = seen.shared > 0 or bool(seen.pairs) or seen.naming > Naming.NOTHING
        verdict = Verdict.REPLACES if near else Verdict.CONFLICTS
        return Judgement(verdict, 2.0 + seen.overlap, "its writer named it as replaced", "replaces")
    if new.mood not in _RETIRES or old.mood not in _CAN_END:
        return APART
    cue = new.cues[0].label if new.cues else ""
    found = _by_words(new, old, seen, cue)
    if found.verdict is Verdict.APART:
        found = _worth_asking(new, old, seen, cue)
    if found.verdict is Verdict.APART and cosine is not None and cosine >= CLOSE and (seen.pairs or seen.flipped):
        return Judgement(Verdict.CONFLICTS, cosine, _differs(seen))
    if found.verdict is Verdict.REPLACES and Mood.TENTATIVE in (new.mood, old.mood):
        return Judgement(Verdict.CONFLICTS, found.score, f"{found.why}, but with a doubt", found.cue)
    return found


def _says_the_same(new: Statement, old: Statement, seen: Comparison) -> bool:
    """No word, value, cue, sign or mood differs. In a script of which few words are known, the small ones count too."""
    if seen.pairs or seen.new_only or seen.old_only or seen.flipped or seen.naming > Naming.NOTHING:
        return False
    cues, old_cues = ({cue.kind for cue in each.cues} - {CueKind.NOW} for each in (new, old))
    moods = new.mood is old.mood or not {new.mood, old.mood} & set(_DOUBTFUL)
    weak, old_weak = ({token.folded for token in each.tokens if token.folded in WEAK} for each in (new, old))
    if cues != old_cues or weak != old_weak or not moods:
        return False
    known = new.text.isascii() and old.text.isascii()
    return known or sorted(token.key for token in new.tokens) == sorted(token.key for token in old.tokens)


def _by_words(new: Statement, old: Statement, seen: Comparison, cue: str) -> Judgement:
    if seen.naming in (Naming.VALUE, Naming.WORDS):
        return _old_named(seen, cue)
    if seen.naming is Naming.ASIDE and seen.shared > 0 and not seen.other_subject:
        return Judgement(Verdict.CONFLICTS, seen.overlap, f'"{cue}" is said of a part of this fact', cue)
    ended = new.cue(CueKind.DROPPED) is not None
    if (
        seen.naming is Naming.SUBJECT
        and (seen.shared > 0 or ended)
        and new.cue(CueKind.FROM, CueKind.REPLACED, CueKind.DROPPED)
    ):
        return Judgement(Verdict.CONFLICTS, seen.overlap, f'"{cue}" is said of what this fact is about', cue)
    if seen.flipped:
        return _flipped(new, seen, cue)
    if seen.pairs:
        return _exchanged(new, old, seen, cue)
    if new.cue(CueKind.NOW, CueKind.BECAME, CueKind.FROM):
        return _another_way(new, old, seen, cue)
    return APART


def _old_named(seen: Comparison, cue: str) -> Judgement:
    why = f'"{cue}" is said of what this fact says'
    if seen.naming is Naming.WORDS and seen.shared == 0:
        return Judgement(Verdict.CONFLICTS, 0.3, why + ", perhaps", cue) if seen.several_named else APART
    if seen.other_subject or seen.under_condition or (seen.narrower and seen.shared == 0):
        return Judgement(Verdict.CONFLICTS, 0.5 + seen.overlap, why + ", perhaps of something else", cue)
    return Judgement(Verdict.REPLACES, 1.0 + seen.overlap, why, cue)


def _flipped(new: Statement, seen: Comparison, cue: str) -> Judgement:
    ended = new.cue(CueKind.NO_LONGER) is not None
    why = "it says that this no longer holds" if ended else "it says the opposite"
    said = seen.surely_narrower or any(token.zone is Zone.CONDITION for token in seen.new_only)
    if seen.other_subject:
        alike = ended and seen.covered >= 0.5
        return Judgement(Verdict.CONFLICTS, seen.overlap, why, cue) if alike else APART
    if ended and seen.covered >= 0.5 and not said and not seen.says_more and not seen.pairs:
        return Judgement(Verdict.REPLACES, 1.0 + seen.covered, why, cue)
    if seen.overlap >= SAME_SENTENCE and not seen.pairs and seen.shared > 0:
        return Judgement(Verdict.REPLACES, seen.overlap, why, cue)
    if new.cue(CueKind.NOW, CueKind.BECAME) and seen.overlap >= 0.5 and not said:
        return Judgement(Verdict.REPLACES, seen.overlap, why, cue)
    if seen.overlap >= SAME_THING:
        return Judgement(Verdict.CONFLICTS, seen.overlap, why, cue)
    return APART


def _exchanged(new: Statement, old: Statement, seen: Comparison, cue: str) -> Judgement:
    """Values differ."""
    why = _differs(seen)
    loose = all(pair.group in LOOSE for pair in seen.pairs)
    adds = _adds(new) and not any(pair.group not in LOOSE | {VERSION} and not pair.chosen for pair in seen.pairs)
    if new.cue(CueKind.NOW, CueKind.BECAME, CueKind.FROM, CueKind.RENAMED):
        return _exchanged_with_cue(new, old, seen, cue, loose=loose, adds=adds)
    if seen.other_subject or adds or answers_of_two_cases(seen):
        return APART
    by_condition = any(pair.new.zone is Zone.CONDITION and not pair.measured for pair in seen.pairs)
    one = len(seen.pairs) == 1 and not by_condition
    same_place = (seen.shared > 0 or seen.pairs[0].group in EXCLUSIVE) and (not loose or new.slot == old.slot)
    if one and seen.overlap >= SAME_SENTENCE and not seen.narrower and same_place:
        return Judgement(Verdict.REPLACES, seen.overlap, why)
    if one and seen.shared == 0 and seen.pairs[0].group in EXCLUSIVE and not (seen.contrasted or _limited(seen)):
        return Judgement(Verdict.CONFLICTS, SAME_SUBJECT, why)
    other_verb = _has_verb(seen.new_only) and _has_verb(seen.old_only)
    if other_verb or (seen.shared == 0 and not one) or (loose and new.slot != old.slot):
        return APART
    if seen.overlap >= (SAME_THING if loose else LOOKS_ALIKE):
        return Judgement(Verdict.CONFLICTS, seen.overlap, why)
    return APART


def _exchanged_with_cue(
    new: Statement, old: Statement, seen: Comparison, cue: str, *, loose: bool, adds: bool
) -> Judgement:
    why = _differs(seen)
    if seen.other_subject:
        alike = seen.new_subject_known and seen.overlap >= SAME_SUBJECT
        return Judgement(Verdict.CONFLICTS, seen.overlap, why, cue) if alike else APART
    if max(seen.overlap, seen.covered) >= (SAME_THING if loose else SAME_SUBJECT):
        if new.cue(CueKind.BECAME, CueKind.FROM, CueKind.RENAMED):
            unsure = loose and _has_verb(seen.old_only)
        else:
            unsure = adds or (loose and new.slot != old.slot)
        event = all(pair.group == "date" for pair in seen.pairs) and old.cue(CueKind.BECAME, CueKind.FROM) is not None
        if unsure or event or seen.narrower or seen.surely_wider:
            return Judgement(Verdict.CONFLICTS, 0.5 + seen.overlap, why, cue)
        return Judgement(Verdict.REPLACES, 0.5 + seen.overlap, why, cue)
    if seen.shared > 0 and seen.overlap >= LOOKS_ALIKE:
        return Judgement(Verdict.CONFLICTS, seen.overlap, why, cue)
    return APART


def _another_way(new: Statement, old: Statement, seen: Comparison, cue: str) -> Judgement:
    """A cue, and something else is said of the same subject."""
    why = f'"{cue}" is said of the same'
    conflict = Judgement(Verdict.CONFLICTS, seen.overlap, why, cue)
    said = [token for token in seen.new_only if token.zone is Zone.OBJECT]
    before = [token for token in seen.old_only if token.zone in (Zone.OBJECT, Zone.CONDITION)]
    if seen.grown and not seen.other_subject and seen.overlap >= SAME_THING:
        return conflict
    if seen.other_subject or not said or not before or seen.shared == 0:
        return APART
    same_subject = not seen.narrower and not seen.wider
    became = new.cue(CueKind.BECAME)
    sets = became is not None and became.label.split()[0] in SETTING and not _unlike(said, before)
    same_slot = sets or (new.slot == old.slot and (" " in new.slot or seen.same_verb))
    if same_subject and same_slot and not _has_verb(seen.new_only) and not _has_verb(seen.old_only):
        return conflict if _adds(new) else Judgement(Verdict.REPLACES, seen.overlap, why, cue)
    if same_subject and (new.slot == old.slot or seen.same_verb) and old.slot not in HAVING:
        return conflict
    values = any(token.groups for token in (*said, *before)) and not _unlike(said, before)
    return conflict if seen.overlap >= SAME_SUBJECT and (same_slot or values) else APART


def _worth_asking(new: Statement, old: Statement, seen: Comparison, cue: str) -> Judgement:
    """Not enough to retire anything, and too much to say nothing."""
    if seen.shared == 0:
        return APART
    if answers_of_two_cases(seen):
        return APART
    if exchanges_contrast(new, old, seen) and not _adds(new):
        return Judgement(Verdict.CONFLICTS, seen.overlap, _replaced_words(seen), cue)
    if seen.contrasted:
        return APART
    near = NEAR_UNSPACED if unspaced(new.text) else NEAR
    if cue and unspaced(new.text) and _begin_alike(new, old):
        return Judgement(Verdict.CONFLICTS, seen.overlap, f'"{cue}" is said of the same', cue)
    if cue and old.slot not in HAVING and (seen.overlap >= near or seen.covered >= HALF):
        return Judgement(Verdict.CONFLICTS, seen.overlap, f'"{cue}" is said of something near', cue)
    if question := answered_by_both(new, old, seen):
        return Judgement(Verdict.CONFLICTS, seen.overlap, f"both say {question}: {_replaced_words(seen)}", cue)
    if one_place(new, old, seen) and seen.overlap >= LOOKS_ALIKE and not _adds(new):
        return Judgement(Verdict.CONFLICTS, seen.overlap, _replaced_words(seen), cue)
    if same_place(new, old, seen) and seen.overlap >= SAME_SUBJECT and not _adds(new):
        return Judgement(Verdict.CONFLICTS, seen.overlap, _replaced_words(seen), cue)
    if counts_anew(new, old):
        return Judgement(Verdict.CONFLICTS, seen.overlap, f'"{cue}" is said of what this fact counts', cue)
    if denies_what_is_done(seen) and seen.covered >= SAME_THING:
        return Judgement(Verdict.CONFLICTS, seen.overlap, f"it says {_shown(seen.new_only[0])} of this", cue)
    if ONLY & (old.qualifiers ^ new.qualifiers) and seen.overlap >= HALF:
        return Judgement(Verdict.CONFLICTS, seen.overlap, "one of the two says only")
    if _adds(new) and (seen.pairs or seen.overlap < MOSTLY or any(token.groups for token in seen.new_only)):
        return APART
    if _same_kind_left(seen) and seen.overlap >= SAME_THING:
        return Judgement(Verdict.CONFLICTS, seen.overlap, _replaced_words(seen))
    if seen.overlap < HALF:
        return APART
    if any(pair.group == VERSION for pair in seen.pairs):
        return Judgement(Verdict.CONFLICTS, seen.overlap, _differs(seen))
    if seen.covered == 1 and not seen.narrower and " and " in new.text[len(old.text) // 2 :] and seen.says_more:
        return Judgement(Verdict.CONFLICTS, seen.overlap, f"it says more: {_shown(seen.new_only[-1])}")
    if not (seen.new_only or seen.pairs) or not (seen.old_only or seen.pairs):
        return APART
    if seen.same_verb and seen.overlap >= SAME_THING and _says_name(seen):
        return Judgement(Verdict.CONFLICTS, seen.overlap, _replaced_words(seen))
    if not (seen.other_subject or seen.flipped) and _same_slot(new, old, seen):
        return Judgement(Verdict.CONFLICTS, seen.overlap, _replaced_words(seen))
    return APART


def _begin_alike(new: Statement, old: Statement) -> bool:
    first, old_first = (next((t for t in each.tokens if not t.soft), None) for each in (new, old))
    return bool(first and old_first and first.key == old_first.key and first.zone is Zone.SUBJECT)


def _same_slot(new: Statement, old: Statement, seen: Comparison) -> bool:
    """What differs is said by the same verb, and with a preposition of the same sort as far as both have one."""
    if _has_verb(seen.new_only) or _has_verb(seen.old_only):
        return False
    verb, _, word = new.slot.partition(" ")
    old_verb, _, old_word = old.slot.partition(" ")
    if not verb or not old_verb:
        return False
    if word and old_word and word != old_word:
        return seen.same_verb and "by" not in (word, old_word)
    if seen.same_verb or (word and word == old_word) or (verb == old_verb and verb in PLACING):
        return True
    if verb == old_verb and verb not in HAVING | BEING and seen.overlap >= MOSTLY:
        return len(seen.new_only) == len(seen.old_only) == 1
    return verb == old_verb and _is_a_noun(new, seen.new_only) and _is_a_noun(old, seen.old_only)


def _is_a_noun(statement: Statement, tokens: tuple[Token, ...]) -> bool:
    """What is left is one word after an article: "our logo is *a fox*"."""
    if len(tokens) != 1:
        return False
    before = statement.text[: tokens[0].start].split()
    return bool(before) and before[-1].casefold() in ("a", "an", "the")


def _same_kind_left(seen: Comparison) -> bool:
    """What is left of both is a value of one kind, wherever it stands."""
    new = {group for token in seen.new_only for group in token.groups - {NAME}}
    old = {group for token in seen.old_only for group in token.groups - {NAME}}
    both_about = seen.narrower and seen.wider
    return bool(new & old) and not both_about


def _says_name(seen: Comparison) -> bool:
    return any(NAME in token.groups and token.zone is Zone.OBJECT for token in seen.new_only)


def _replaced_words(seen: Comparison) -> str:
    before, after = (" ".join(_shown(token) for token in side[:3]) for side in (seen.old_only, seen.new_only))
    return f"{before} → {after}" if before or after else _differs(seen)


def _adds(new: Statement) -> bool:
    """What is said can hold beside what was: "supports", "also"; not by default."""
    return any(token.folded in ADDITIVE for token in new.tokens) and " by default" not in new.text


def _limited(seen: Comparison) -> bool:
    """What the new adds is a condition."""
    return any(token.zone is Zone.CONDITION or token.limits for token in seen.new_only)


def _has_verb(tokens: tuple[Token, ...]) -> bool:
    return any(token.zone is Zone.VERB for token in tokens)


def _unlike(one: list[Token], other: list[Token]) -> bool:
    """One names a value and the other doesn't, or they name values that are never exchanged."""
    mine = {group for token in one for group in token.groups}
    theirs = {group for token in other for group in token.groups}
    return bool(mine or theirs) and not mine & theirs


def _differs(seen: Comparison) -> str:
    if not seen.pairs:
        return "it says the opposite"
    return ", ".join(f"{_shown(pair.old)} → {_shown(pair.new)}" for pair in seen.pairs[:2])


def _shown(token: Token) -> str:
    return token.text.strip("`")
