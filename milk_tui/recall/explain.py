"""What recall decided and why, for each fact that came into question (``semantics.md`` §2, ``ux.md``)."""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct

from milk_tui.core.readers import Reader
from milk_tui.core.records import Percept, ScorePart


class Reason(StrEnum):
    """Why a fact is given, or why not."""

    GIVEN = "given"
    PINNED = "pinned"
    """Given with every prompt anyway, from its own budget."""
    TOLD = "told"
    """This remote session was given it before."""
    WEAK = "weak"
    """Below the floor: it has too little to do with the prompt, or much less than the best."""
    COPY = "copy"
    REPLACED = "replaced"
    """Superseded: what replaced it stands for it."""
    NO_ROOM = "no room"
    """It doesn't fit into the bytes that are left."""
    FULL = "full"
    """There are as many as there may be."""
    NOT_FOR_IT = "not for it"
    """Kept for the other agent."""
    ELSEWHERE = "elsewhere"
    """It belongs to another session."""
    NOT_LIVE = "not live"
    """Staged or in quarantine."""


class Judged(Struct, frozen=True, kw_only=True):
    """A fact that came into question; its ``aside`` as it would be given."""

    percept: Percept
    score: float
    parts: tuple[ScorePart, ...]
    """What the score is made of."""
    reason: Reason
    detail: str = ""

    @property
    def given(self) -> bool:
        return self.reason is Reason.GIVEN


class Explanation(Struct, frozen=True, kw_only=True):
    """A whole recall: ``items`` are those given, in their order, then the others, best first."""

    prompt: str
    role: Reader | None
    engine: str
    """``fts`` or ``fts+minilm``."""
    note: str = ""
    """What was missing or damaged, in one line."""
    words: tuple[str, ...] = ()
    common: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    """The prompt's words that were looked for, left out as too common, and in no fact."""
    past: bool = False
    """The prompt asks about the past: what was replaced is given too."""
    items: tuple[Judged, ...] = ()

    @property
    def given(self) -> tuple[Percept, ...]:
        return tuple(item.percept for item in self.items if item.given)
