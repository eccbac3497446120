"""Whether an answer shows that its agent used a fact that it was given (``semantics.md`` §2: "a recall that the agent
used reinforces").

Only what the answer says counts, and of that only what the agent can have from the fact: what the prompt says already
is no sign. A sentence of the answer shows the use of a fact when

- it names the fact's id, or
- it has a value of the fact (a number, a path, a name from code), and it or the prompt has another word of the fact, or
- it has at least ``SHARE`` of the fact's words that the prompt doesn't have, and at least two of them; one is enough
  where there is no more and the prompt asked for the rest.

A sentence that denies what the fact affirms, or the other way round, says the opposite and shows nothing. All of it is
the same on every machine, and errs towards "not used".
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator

from msgspec import Struct

from milk_tui.core import values
from milk_tui.core.polarity import denials
from milk_tui.core.records import Percept
from milk_tui.core.values import ValueKind
from milk_tui.core.words import words

SHARE = 0.5
MOST_CHARS = 20_000
"""Of an answer, as far as it is read."""
_SENTENCE_CHARS = 600
_CROWD = 4
"""A word that so many of the given facts have in common tells none of them from the others."""

_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])|\n+")
_NAMED = re.compile(r"#([0-9a-f]{6,12})\b", re.IGNORECASE)
_PLAIN_NUMBER = re.compile(r"\d{1,2}\Z")


class _Said(Struct, frozen=True):
    """What a text says, in the forms in which it is compared."""

    words: frozenset[str]
    values: frozenset[str]
    denies: bool = False


def used(facts: Iterable[Percept], *, answer: str, prompt: str) -> tuple[str, ...]:
    """The ids of the ``facts`` that the answer to ``prompt`` used, in their order; each once."""
    known = {fact.id: fact for fact in facts}
    answer = answer[:MOST_CHARS]
    if not known or not answer.strip():
        return ()
    named = {short.lower() for short in _NAMED.findall(answer)}
    asked = _said(prompt[:MOST_CHARS])
    told = {fact.id: _said(fact.content) for fact in known.values()}
    crowd = Counter(word for each in told.values() for word in each.words)
    common = {word for word, count in crowd.items() if count >= _CROWD}
    telling = frozenset(word for each in told.values() for word in each.words)
    sentences = [_said(sentence) for sentence in _sentences(answer) if words(sentence) & telling]
    return tuple(
        fact_id
        for fact_id, fact in told.items()
        if any(fact_id.replace("-", "").startswith(short) for short in named)
        or any(_shows(sentence, fact, asked, common) for sentence in sentences)
    )


def _sentences(text: str) -> Iterator[str]:
    for sentence in _SENTENCE_END.split(text):
        for start in range(0, len(sentence), _SENTENCE_CHARS):
            yield sentence[start : start + _SENTENCE_CHARS]


def _shows(sentence: _Said, fact: _Said, asked: _Said, common: set[str]) -> bool:
    if sentence.denies is not fact.denies:
        return False
    if telling := (fact.values - asked.values) & sentence.values:
        said = sentence.words if all(map(_PLAIN_NUMBER.match, telling)) else sentence.words | asked.words
        if (fact.words - words(" ".join(telling))) & said:
            return True
    own = fact.words - asked.words - common
    shared = len(own & sentence.words)
    if len(own) == 1:
        return shared == 1 and len(fact.words & asked.words) >= 2
    return shared >= max(2, SHARE * len(own))


def _said(text: str) -> _Said:
    found = [value for value in values.find(text) if value.kind is not ValueKind.REFERENCE]
    return _Said(words(text), frozenset(value.key for value in found), denials(text) > 0)
