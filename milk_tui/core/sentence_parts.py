"""The words, values and names of a sentence in their order, and where its main clause is; the first half of
``core.statements``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from msgspec import Struct

from milk_tui.core import values
from milk_tui.core.choices import CAPITALISED, CHOICES, CONTRASTS, NEEDS_CAPITAL
from milk_tui.core.polarity import FLIPS
from milk_tui.core.sentence_words import SYNONYMS
from milk_tui.core.words import stem

NAME = "name"
"""The group of proper nouns."""
RHYTHM = "choice:rhythm"

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]{2,}"
)
_SPELLINGS = (
    (re.compile(r"\btim(?:e|es|ed|ing)[ -]out\b", re.IGNORECASE), "timeout"),
    (re.compile(r"\b(?:and/or|either/or)\b", re.IGNORECASE), "or"),
    (re.compile(r"\b(we|they|you)['’]re\b", re.IGNORECASE), r"\1 are"),
    (re.compile(r"\b(it|that|there|he|she)['’]s\b", re.IGNORECASE), r"\1 is"),
    (re.compile(r"(\w)['’]s (out|gone|dead|history|over|live|back)\b"), r"\1 is \2"),
    (re.compile(r"\bby hand\b", re.IGNORECASE), "manually"),
    (re.compile(r"\bset[ -]up\b", re.IGNORECASE), "setup"),
    (re.compile(r"\blog(?:s|ged)?[ -]in\b", re.IGNORECASE), "login"),
    (re.compile(r"\bevery second\b(?=\s+[a-z])", re.IGNORECASE), "every other"),
    (re.compile(r"\b(Apache|A?L?GPL|MPL|BSD|CC)[ -]v?(\d(?:\.\d)?)\b"), r"\1-\2"),
    (re.compile(r"\b(is|are|was|were|do|does|did|has|have|had|must|should|would|could|need)n['’]t\b", re.I), r"\1 not"),
    (re.compile(r"\b(?:can['’]t|cannot)\b", re.IGNORECASE), "can not"),
    (re.compile(r"\bwon['’]t\b", re.IGNORECASE), "will not"),
)
_CLAUSE_END = re.compile(
    r"[.!?;](?=\s)|[。；！？，]|(?<=\bnow),"
    r"|,?\s(?:because|so that|due to|since(?! \S*\d| the | last )|weil|denn|parce que|porque|para que)\b"
    r"|,\s(?:so|as|da|but|they|it|he|she|we|il|elle|ils|elles|sondern|er|sie|es|sino)\b",
    re.IGNORECASE,
)
_GERMAN = re.compile(r"\b(?:der|die|das|und|ist|sind|wir|nicht|auf|für|mit|im|wird|werden|ein|eine|von|den|dem)\b")
_NO_NAMES = frozenset(
    (
        *(
            "i",
            "ok",
            "yes",
            "no",
            "api",
            "apis",
            "url",
            "urls",
            "ui",
            "id",
            "ids",
            "cpu",
            "gpu",
            "pr",
            "prs",
            "ci",
            "cd",
        ),
        *("db", "os", "sdk", "cli", "http", "https", "css", "html", "pin", "io", "ip"),
    )
)
"""Written in capitals, and no name."""
_ENDINGS = (
    *("isation", "ization", "ational", "ations", "ation", "ments", "ment", "ables", "able", "ible", "ances", "ance"),
    *("ences", "ence", "ities", "ity", "ness", "ions", "ion", "ings", "ing", "ives", "ive", "ers", "ors", "er", "or"),
    *("ed", "ly", "al", "es", "s", "e"),
)
_MOST_ROOTS = 4_096
_LONGEST_CHOICE = 4
_LEFT = re.compile(r"\b(?:left|retired|quit|resigned|died|closed|expired)\s*\Z", re.IGNORECASE)


class Item(Struct, frozen=True):
    """``key`` is equal for items that mean the same; ``groups`` are what it can be exchanged within; ``contrast`` are
    the sets of words that tell subjects apart to which it belongs."""

    key: str
    text: str
    groups: frozenset[str]
    contrast: frozenset[int]
    start: int
    end: int
    is_word: bool

    @property
    def folded(self) -> str:
        return self.text.casefold()

    def within(self, span: tuple[int, int] | None) -> bool:
        return span is not None and span[0] <= self.start < span[1]


def respelled(text: str) -> str:
    """The text with one spelling for what has several."""
    for pattern, instead in _SPELLINGS:
        text = pattern.sub(instead, text)
    return text


def unspaced(word: str) -> bool:
    """True for letters of a script that puts no space between words."""
    return bool(_UNSPACED.match(word))


@lru_cache(maxsize=_MOST_ROOTS)
def root(word: str) -> str:
    """What words of one family share: rotate, rotates, rotation."""
    if len(word) < 5 or not word.isalpha():
        return word
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= (5 if ending == "al" else 4):
            word = word.removesuffix(ending)
            break
    if len(word) > 4 and word[-1] == word[-2]:
        word = word[:-1]
    return word.replace("y", "i")


def main_clause(text: str, content: list[int], dismissed: list[int]) -> tuple[int, int]:
    """Where the first clause that says what is so begins and ends.

    ``content`` are the positions of the words that say something, ``dismissed`` those of cues and of what they name as
    the old. A clause that only dismisses, such as "We left Crowdin;" or "Lena left;", is passed over.
    """
    start = 0
    ends = [found.start() for found in _CLAUSE_END.finditer(text) if found.start() > 0]
    for end in ends:
        said = sum(start <= at < end for at in content)
        only_dismisses = said < 2 and any(start <= at < end for at in dismissed)
        if not only_dismisses and not (said <= 2 and _LEFT.search(text[start:end])):
            return start, end
        start = end
    return (start, len(text)) if any(at >= start for at in content) else (0, ends[0] if ends else len(text))


def items(text: str) -> list[Item]:
    """What the text is made of, in its order."""
    found: list[Item] = []
    german = bool(_GERMAN.search(text))
    position = 0
    for value in values.find(text):
        found += _words(text, position, value.start, german)
        groups = _choice_groups(value.text) or frozenset({value.group})
        key = CHOICES[value.text.casefold()][0][1] if value.text.casefold() in CHOICES else f"{value.group}:{value.key}"
        if value.group == "duration" and found and found[-1].folded in ("every", "alle", "each"):
            groups |= {RHYTHM}
        found.append(Item(key, value.text, groups, frozenset(), value.start, value.end, False))
        position = value.end
    found += _words(text, position, len(text), german)
    return found


def _choice_groups(phrase: str) -> frozenset[str]:
    return frozenset(f"choice:{name}" for name, _ in CHOICES.get(phrase.casefold(), ()))


def _words(text: str, start: int, end: int, german: bool) -> Iterator[Item]:
    matches = list(_WORD.finditer(text, start, end))
    at = 0
    while at < len(matches):
        for length in range(min(_LONGEST_CHOICE, len(matches) - at), 0, -1):
            first, last = matches[at].start(), matches[at + length - 1].end()
            phrase = text[first:last]
            if groups := _choice_groups(phrase):
                if phrase in NEEDS_CAPITAL:
                    continue
                if phrase[0].isupper() and not (german or _begins(text, first) or groups & CAPITALISED):
                    groups |= {NAME}
                key = CHOICES[phrase.casefold()][0][1]
                yield Item(key, phrase, groups, _contrast(phrase.casefold()), first, last, length == 1)
                at += length
                break
        else:
            yield from _word(text, matches[at], german)
            at += 1


def _word(text: str, match: re.Match[str], german: bool) -> Iterator[Item]:
    position = match.start()
    for run in _UNSPACED.finditer(text, match.start(), match.end()):
        if run.start() > position:
            yield _spaced_word(text, position, run.start(), german)
        for start in range(run.start(), run.end() - 1):
            pair = text[start : start + 2]
            yield Item(pair, pair, frozenset(), frozenset(), start, start + 2, True)
        position = run.end()
    if position < match.end():
        yield _spaced_word(text, position, match.end(), german)


def _spaced_word(text: str, start: int, end: int, german: bool) -> Item:
    spelled = text[start:end].replace("’", "'")
    bare = spelled.removesuffix("'s").removesuffix("'")
    folded = bare.casefold()
    capital = any(char.isupper() for char in bare[1:]) or (
        bare[:1].isupper() and not german and not _begins(text, start)
    )
    contrasts = CONTRASTS.get(folded, ())
    key = contrasts[0][1] if contrasts else SYNONYMS.get(folded) or stem(folded)
    if folded in FLIPS and folded not in ("on", "down", "open"):
        key = FLIPS[folded][0]
    groups = _choice_groups(bare)
    if capital and folded not in _NO_NAMES:
        groups |= {NAME}
    return Item(key, bare, groups, _contrast(folded), start, end, True)


def _contrast(folded: str) -> frozenset[int]:
    return frozenset(number for number, _ in CONTRASTS.get(folded, ()))


def _begins(text: str, at: int) -> bool:
    """True at the beginning of a sentence, where a capital says nothing."""
    before = text[max(0, at - 8) : at].rstrip(" \"“'(")
    return not before if at < 8 else not before or before[-1] in ".!?:;"
