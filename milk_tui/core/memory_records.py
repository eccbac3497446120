"""What is known: facts, summary bricks and the perception, each version by version."""

from __future__ import annotations

from msgspec import Struct

from milk_tui.core.states import BrickKind, Consumer, Layer, NeedStatus, PerceptScope, PerceptStatus, Producer


class Percept(Struct, frozen=True, kw_only=True, gc=False):
    """One natural-language assertion with weight, provenance and currency (``semantics.md`` §2).

    It holds plain values alone, so that no search for garbage needs to look at ten thousand of them.
    """

    id: str
    content: str
    producer: Producer
    agent_name: str
    consumer: Consumer
    scope: PerceptScope
    weight: int
    """Thousandths, 0..1000."""
    pinned: bool
    status: PerceptStatus
    created_ms: int
    updated_ms: int
    confirmed_ms: int
    used_ms: int | None = None
    uses: int = 0
    session_id: str | None = None
    turn_id: int | None = None
    leg_id: int | None = None
    tainted: bool = False
    subject: str = ""
    note: str = ""
    """For example "from an interrupted answer"."""
    valid_from_ms: int | None = None
    valid_to_ms: int | None = None
    superseded_by: str | None = None
    aside: str = ""
    """What recall says beside the fact, such as what it replaced; never stored."""

    @property
    def short_id(self) -> str:
        """``#`` and the first six hexadecimal digits: how a percept is named to people and agents."""
        return "#" + self.id.replace("-", "")[:6]

    @property
    def holds(self) -> bool:
        """True while it is believed: an agent may be given it."""
        return self.status in (PerceptStatus.LIVE, PerceptStatus.SUSPECT)


class Brick(Struct, frozen=True, kw_only=True):
    """One version of one summary brick; every version is kept."""

    kind: BrickKind
    text: str
    version: int
    turn_id: int
    updated_ms: int
    author: str = "milk"
    """primary · escalation · user · milk"""
    status: NeedStatus | None = None
    """Only for the need."""
    collapsed: int = 0
    """Tool calls folded into ``[N more NAME calls collapsed]``."""
    cut: int = 0
    """Texts shortened inside (tool results, a single turn larger than the budget)."""
    dropped: int = 0
    """Whole turns left out because the budget was full."""
    delivered_leg: int | None = None
    """The leg that was given this version (a brief is delivered exactly once)."""


class PerceptionEntry(Struct, frozen=True, kw_only=True):
    """One version of one entry of the perception (``semantics.md`` §5)."""

    layer: Layer
    key: str
    value: str
    reason: str = ""
    writer: str = ""
    turn_id: int | None = None
    """The turn in which its words were written."""
    updated_ms: int = 0
    proposed: bool = False
    """An invariant that an agent proposed and the person has not accepted."""
    blocker: str = ""
    """What an open question waits for."""
    stale: str = ""
    """Why the entry may no longer be true; empty while nothing speaks against it."""


BIRTH_WEIGHT: dict[Producer, int] = {
    Producer.USER: 900,
    Producer.PRIMARY: 700,
    Producer.ESCALATION: 700,
    Producer.HELPER: 600,
    Producer.SYSTEM: 400,
}
"""Weight at birth in thousandths (``semantics.md`` §2); a pinned percept has ``PINNED_WEIGHT``."""


PINNED_WEIGHT = 1000
