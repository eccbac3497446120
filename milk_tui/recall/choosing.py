"""Which of the ranked facts are given: new to the reader, above the floor, no copies, as far as they fit."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from milk_tui.core import percepts as rules
from milk_tui.core.records import Percept
from milk_tui.recall.copies import Text
from milk_tui.recall.explain import Reason
from milk_tui.recall.grounding import missing
from milk_tui.recall.ranking import Candidate, Floor


class Verdict(Struct, frozen=True):
    """A candidate and what becomes of it; ``percept`` is the fact as it is given, with its aside."""

    candidate: Candidate
    percept: Percept
    reason: Reason
    detail: str = ""


class Bounds(Struct, frozen=True, kw_only=True):
    """``told``: ids that the reader was given and still knows; ``copies``: pairs of row numbers that say nearly the
    same; ``directory``: where the files are that the session's own facts name."""

    max_items: int
    max_bytes: int
    exclude_pinned: bool
    told: frozenset[str]
    copies: frozenset[frozenset[int]] = frozenset()
    session_id: str | None = None
    directory: Path | None = None


def choose(ranked: Iterable[Candidate], floor: Floor, bounds: Bounds) -> list[Verdict]:
    """One verdict for each, in their order. What doesn't fit is skipped and the next one tried."""
    verdicts: list[Verdict] = []
    taken: list[tuple[int, Percept, Text]] = []
    room = bounds.max_bytes
    for candidate in ranked:
        fact = candidate.percept
        reason, detail = _barred(candidate, floor, bounds, len(taken))
        if reason is Reason.GIVEN:
            text = Text(fact.content)
            aside = "; ".join(filter(None, (candidate.aside, _ungrounded(fact, bounds))))
            fact = replace(fact, aside=aside) if aside else fact
            size = len(rules.line(fact).encode(errors="replace")) + 1
            if twin := _twin(candidate, text, taken, bounds):
                reason, detail = Reason.COPY, f"says nearly what {twin} says"
            elif size > room:
                reason, detail = Reason.NO_ROOM, f"{size} bytes, {room} are left"
            else:
                room -= size
                taken.append((candidate.seq, fact, text))
        verdicts.append(Verdict(candidate, fact, reason, detail))
    return verdicts


def _barred(candidate: Candidate, floor: Floor, bounds: Bounds, taken: int) -> tuple[Reason, str]:
    fact = candidate.percept
    if fact.pinned and bounds.exclude_pinned:
        return Reason.PINNED, "given with every prompt"
    if fact.id in bounds.told:
        return Reason.TOLD, "given before in this conversation"
    if candidate.score < floor.least:
        return Reason.WEAK, f"evidence {candidate.strength:.2f} of the floor"
    if floor.most is not None and taken >= floor.most:
        return Reason.WEAK, f"so little evidence is good for {floor.most} facts"
    if taken >= bounds.max_items:
        return Reason.FULL, f"{bounds.max_items} are given"
    return Reason.GIVEN, ""


def _ungrounded(fact: Percept, bounds: Bounds) -> str:
    if bounds.directory is None or fact.session_id != bounds.session_id or fact.session_id is None:
        return ""
    gone = missing(fact.content, bounds.directory)
    return f"{gone} is not there now" if gone else ""


def _twin(candidate: Candidate, text: Text, taken: list[tuple[int, Percept, Text]], bounds: Bounds) -> str:
    for seq, fact, other in taken:
        near = frozenset((seq, candidate.seq)) in bounds.copies
        if (near and text.may_repeat(other)) or text.repeats(other):
            return fact.short_id
    return ""
