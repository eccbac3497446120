"""What a new fact does to those that are known: confirm, supersede, suspect or add (``recall.md``, "Writing a fact").

Local and deterministic. Nothing is lost by a decision: a superseded fact is kept and can be restored, and when the
evidence is not enough both stay and the person is asked.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from enum import StrEnum

from msgspec import Struct

from milk_tui.core.comparison import Rarity, compare, default_rarity
from milk_tui.core.judgement import Judgement, Verdict, judge
from milk_tui.core.percepts import content_hash, normalise
from milk_tui.core.records import Consumer, Percept, Producer
from milk_tui.core.statements import parse
from milk_tui.core.words import words

NEAREST = 5
"""How many of the nearest facts are worth comparing."""
MOST_RETIRED = 2
"""In one write."""


class Kind(StrEnum):
    CONFIRM = "confirm"
    """The target says the same."""
    SUPERSEDE = "supersede"
    """The targets end with the new fact."""
    HISTORY = "history"
    """The target is the newer one: the new fact is stored as superseded by it."""
    SUSPECT = "suspect"
    """Both stay, linked; the person decides."""
    ADD = "add"


class Candidate(Struct, frozen=True, kw_only=True):
    """A fact that is about to be written. ``content`` is normalised and without the id that it replaces."""

    content: str
    producer: Producer
    consumer: Consumer = Consumer.ALL
    tainted: bool = False
    subject: str = ""
    replaces: tuple[str, ...] = ()
    """Short ids that an agent named as replaced."""
    valid_from_ms: int | None = None
    """From when on it holds, when that is not now."""


class Decision(Struct, frozen=True, kw_only=True):
    kind: Kind
    target: str = ""
    """The id of the fact that it is about; empty for ``add``."""
    also: tuple[str, ...] = ()
    """Further ones that are retired by the same write."""
    why: str = ""
    """One line for the person."""
    cue: str = ""
    """The words that said that something changed."""

    @property
    def retired(self) -> tuple[str, ...]:
        return (self.target, *self.also) if self.kind is Kind.SUPERSEDE else ()


_REPLACES = re.compile(
    r"\b(?:replaces|supersedes|instead of)\s?:?\s?"
    r"(?P<ids>#[0-9a-f]{4,36}(?:\s?(?:,|and|&)\s?#[0-9a-f]{4,36}){0,3})\s?[)\]]?\s?\.?\s?$",
    re.IGNORECASE,
)


_LABEL = re.compile(
    r"^(?:[-*•]\s+)?(?:#[0-9a-f]{6}\s+(?:\d{4}-\d{2}-\d{2}\s+)?\(?(?:user|primary|escalation|helper|system)\)?\s*:?\s+)?",
    re.IGNORECASE,
)


def without_label(text: str) -> str:
    """The text without a bullet and without the id, date and producer with which a fact is given to an agent: a fact
    that is said again is not a new one."""
    return _LABEL.sub("", text, count=1) or text


def take_replaced(text: str) -> tuple[str, tuple[str, ...]]:
    """The text without "(replaces #a1b2c3)" at its end, and the short ids that it names, at most ``MOST_RETIRED``."""
    found = _REPLACES.search(text)
    if found is None:
        return text, ()
    rest = text[: found.start()].rstrip()
    if rest.endswith(("(", "[")):
        rest = rest[:-1].rstrip()
    if not rest:
        return text, ()
    ids = tuple(dict.fromkeys(each.casefold() for each in re.findall(r"#[0-9a-fA-F]{4,36}", found["ids"])))
    return rest.rstrip(" ,;"), ids[:MOST_RETIRED]


def decide(
    new: Candidate,
    nearest: Sequence[Percept],
    *,
    rarity: Rarity | Mapping[str, float] | None = None,
    similarity: Mapping[str, float] | None = None,
) -> Decision:
    """What the write of ``new`` does to the live facts ``nearest`` to it, at most ``NEAREST`` of them.

    ``rarity`` says how rare a word (case folded) is among all facts; ``similarity`` is the cosine by id where vectors
    exist. The rules and their guards are those of ``recall.md``, "Writing a fact", 2–6.
    """
    weigh = _rarity(rarity)
    statement = parse(new.content)
    digest = content_hash(new.content)
    judged: list[tuple[Percept, Judgement]] = []
    for percept in nearest[:NEAREST] if not new.replaces else nearest:
        if not percept.holds:
            continue
        if content_hash(percept.content) == digest:
            return Decision(kind=Kind.CONFIRM, target=percept.id, why="it says the same")
        named = any(percept.id.replace("-", "").startswith(short.lstrip("#")) for short in new.replaces)
        old = parse(normalise(percept.content))
        cosine = similarity.get(percept.id) if similarity else None
        found = judge(statement, old, compare(statement, old, weigh), named=named, cosine=cosine)
        if found.verdict is Verdict.REPLACES and not named and _of_other_subject(new, percept):
            found = Judgement(Verdict.CONFLICTS, found.score, f"{found.why}, under another subject", found.cue)
        judged.append((percept, found))
    return _settle(new, judged)


def _of_other_subject(new: Candidate, percept: Percept) -> bool:
    """Both were given a subject, and the two have no word in common."""
    mine, theirs = words(new.subject), words(percept.subject)
    return bool(mine and theirs) and not mine & theirs


def _rarity(given: Rarity | Mapping[str, float] | None) -> Rarity:
    if given is None:
        return default_rarity
    if isinstance(given, Mapping):
        table = given
        return lambda word: table.get(word, default_rarity(word))
    return given


def _settle(new: Candidate, judged: list[tuple[Percept, Judgement]]) -> Decision:
    """The best judgement, as far as the guards let it act."""

    def of(verdict: Verdict) -> list[tuple[Percept, Judgement]]:
        chosen = [each for each in judged if each[1].verdict is verdict]
        return sorted(chosen, key=lambda each: (-each[1].score, each[0].id))

    same, replaced, conflicts = of(Verdict.SAME), of(Verdict.REPLACES), of(Verdict.CONFLICTS)
    if same:
        percept, found = same[0]
        return Decision(kind=Kind.CONFIRM, target=percept.id, why=found.why)
    for percept, found in replaced:
        if new.valid_from_ms is not None and new.valid_from_ms < _since(percept):
            return Decision(kind=Kind.HISTORY, target=percept.id, why="it is older than this fact", cue=found.cue)
    free = [each for each in replaced if not _guard(new, each[0])]
    if free and free[0][0] is replaced[0][0]:
        percept, found = free[0]
        also = tuple(other.id for other, each in free[1:] if each.score >= 1.0)[: MOST_RETIRED - 1]
        return Decision(kind=Kind.SUPERSEDE, target=percept.id, also=also, why=found.why, cue=found.cue)
    if replaced:
        percept, found = replaced[0]
        return Decision(kind=Kind.SUSPECT, target=percept.id, why=f"{found.why}; {_guard(new, percept)}", cue=found.cue)
    if conflicts:
        percept, found = conflicts[0]
        return Decision(kind=Kind.SUSPECT, target=percept.id, why=found.why, cue=found.cue)
    return Decision(kind=Kind.ADD)


def may_be_retired(victim: Percept, *, by: Percept) -> bool:
    """True where something other than the person may let ``by`` take the place of ``victim``."""
    new = Candidate(content=by.content, producer=by.producer, consumer=by.consumer, tainted=by.tainted)
    return not (_guard(new, victim) or victim.pinned or victim.producer is Producer.USER or victim.tainted)


def _since(percept: Percept) -> int:
    return percept.created_ms if percept.valid_from_ms is None else percept.valid_from_ms


def _guard(new: Candidate, victim: Percept) -> str:
    """Why the new fact may not retire that one by itself; empty when it may."""
    if new.tainted:
        return "what came from outside retires nothing"
    if new.producer is not Producer.USER:
        if victim.pinned:
            return "only you retire a pinned fact"
        if victim.producer is Producer.USER:
            return "only you retire a fact of yours"
    if new.consumer is not Consumer.ALL and new.consumer is not victim.consumer:
        return "not every reader of the old fact would see the new one"
    return ""
