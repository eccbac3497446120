"""Everything that decides what an agent is given for a leg, as data (``semantics.md`` §4)."""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct, field

from milk_tui.core.blocks import StaleFact
from milk_tui.core.bricks import BRIEF_CHARS, NEED_CHARS, Rendering
from milk_tui.core.exchanges import Digest
from milk_tui.core.modes import FRESH_AFTER_TURNS, ModeChoice, ModeInputs
from milk_tui.core.records import (
    AgentName,
    Brick,
    BrickKind,
    ContextMode,
    Percept,
    PerceptionEntry,
    Role,
    ThreadMark,
)
from milk_tui.core.remote_told import Told
from milk_tui.core.thread import THREAD_TOKENS, ThreadTurn, limit_chars

OVERHEAD_CHARS = 120
"""Kept free for what joins and wraps the segments of a request."""
MIN_TOTAL_CHARS = 4_000
SMALL_STATIC_CHARS = 1_200
"""The system text of a small model: about 300 tokens."""


class Size(StrEnum):
    """``minimal`` is for small local models: a short, byte-stable system text, everything else behind the
    thread.
    """

    FULL = "full"
    MINIMAL = "minimal"


class Part(StrEnum):
    """The segments of a plan by name, besides the two summaries, which have their bricks' names."""

    IDENTITY = "identity"
    INSTRUCTIONS = "instructions"
    PROJECT = "project_file"
    PINNED = "pinned"
    INVARIANTS = "invariants"
    FRAME = "frame"
    WORKING = "working"
    NEED = "current_need"
    BRIEF = "escalation_brief"
    CHANGES = "changes"
    FACTS = "facts"
    NOTES = "notes"
    DIGEST = "digest"
    CUE = "digest_cue"


def summary_part(role: Role) -> BrickKind:
    """The name of the segment that holds a role's summary."""
    return BrickKind.PRIMARY_SUMMARY if role is Role.PRIMARY else BrickKind.ESCALATION_SUMMARY


class Budgets(Struct, frozen=True, kw_only=True):
    """How much of each. Characters unless the name says otherwise."""

    total_chars: int = 24_000
    """Everything that is neither thread nor prompt; at least ``MIN_TOTAL_CHARS`` count."""
    volatile_chars: int | None = None
    """A tighter bound for the part before the newest prompt alone."""
    window_tokens: int | None = None
    """The model's window, when known."""
    thread_tokens: int = THREAD_TOKENS
    facts_items: int = 25
    facts_bytes: int = 2_048
    pinned_bytes: int = 1_024
    project_bytes: int = 16_384
    fresh_after_turns: int = FRESH_AFTER_TURNS

    @classmethod
    def minimal(cls, window_tokens: int = 4_096) -> Budgets:
        """For a small model whose window holds system text, volatile part, thread, prompt and answer."""
        return cls(
            total_chars=MIN_TOTAL_CHARS,
            volatile_chars=2_000,
            window_tokens=window_tokens,
            thread_tokens=max(500, window_tokens // 4),
            facts_items=8,
            facts_bytes=600,
            pinned_bytes=400,
        )

    @property
    def cap(self) -> int:
        return max(MIN_TOTAL_CHARS, self.total_chars) - OVERHEAD_CHARS

    @property
    def brief_chars(self) -> int:
        return min(BRIEF_CHARS, self.cap // 8)

    @property
    def pinned(self) -> int:
        return min(self.pinned_bytes, self.cap // 8)

    @property
    def changes_chars(self) -> int:
        return min(700, self.cap // 16)

    @property
    def reserve(self) -> int:
        """What need, brief and changes, which never shrink, can take with their labels."""
        return NEED_CHARS + 70 + self.brief_chars + 60 + self.pinned + self.changes_chars + 100

    @property
    def floor(self) -> int:
        """What invariants, and the frame, have at the least."""
        return self.cap // 16

    @property
    def thread_limit(self) -> int:
        return limit_chars(self.window_tokens, self.thread_tokens)


class ContextState(Struct, frozen=True, kw_only=True):
    """The state before a leg of ``role``. ``agent`` is the one that works, ``other`` its peer, if there is
    one.
    """

    role: Role
    agent: AgentName
    other: AgentName | None = None
    directory: str = ""
    size: Size = Size.FULL
    budgets: Budgets = field(default_factory=Budgets)
    mode: ModeInputs = field(default_factory=ModeInputs)

    instructions: str = ""
    """The protocol text for this agent (``core.instructions``)."""
    project_name: str = ""
    project_text: str = ""
    """AGENTS.md or CLAUDE.md, for agents that don't read it themselves; as of the start."""
    pinned_at_start: tuple[Percept, ...] = ()
    """Pinned facts as they were when the session (a remote one: that one) or its last fresh start began."""
    invariants_at_start: tuple[PerceptionEntry, ...] = ()
    pinned: tuple[Percept, ...] = ()
    """Pinned facts now; what differs travels in the volatile part."""
    invariants: tuple[PerceptionEntry, ...] = ()
    frame: tuple[PerceptionEntry, ...] = ()
    working: tuple[PerceptionEntry, ...] = ()
    dense: bool = False
    """The working set is given on one line (``core/perception_dense.py``)."""

    need: Brick | None = None
    need_age: int = 0
    """Turns of this session since the need was set."""
    brief: Brick | None = None
    """The brief of this escalation event (``bricks.brief_for``)."""
    own_summary: Brick | None = None
    other_summary: Brick | None = None
    other_delta: Rendering | None = None
    """What the other agent did since this one's last answered leg (``bricks.delta``).

    For a stateless agent ``None`` says that the caller does not replay what was delivered with earlier turns
    (``ThreadTurn.delivered``): the whole summary is then part of every request.
    """
    facts: tuple[Percept, ...] = ()
    """Recalled facts, best first."""
    stale: tuple[StaleFact, ...] = ()
    """Facts this agent was told, or has in its static part, that no longer hold."""
    notes: str = ""
    digest: str = ""
    """The agent's news from its other sessions, for one that can't read them by tool."""
    cue: str = ""
    """One line that says that there are news, for one that can."""
    news: Digest = field(default_factory=Digest)
    """What ``digest`` or ``cue`` stand for (``core.exchanges``)."""

    stateless: bool = True
    told: frozenset[str] = frozenset()
    """Ids of facts that the remote session has; only where it remembers."""
    told_lines: frozenset[str] = frozenset()
    """Changes that the remote session was told of."""
    emptied: tuple[str, ...] = ()
    """A line for each layer that it was given and that holds nothing any more."""
    told_record: Told = field(default_factory=Told)
    """What counts of what it was given so far, from which ``told`` and the like are made."""
    prints: dict[str, str] = field(default_factory=dict)
    """The layers' fingerprints now."""
    remote_id: str = ""
    """The remote session that goes on with this leg; empty: one begins, or the agent has none."""
    remote_leg: int = 0
    """The newest leg in that remote session."""
    changed: frozenset[str] = frozenset()
    """Names of the parts that changed since the remote session was given them."""
    reinject: bool = False
    """The static text is due again, because it lives in the remote's history."""

    thread: tuple[ThreadTurn, ...] = ()
    """The agent's own turns, oldest first; those up to ``mark.after`` may be missing."""
    mark: ThreadMark | None = None
    """``ContextPlan.thread_mark`` of its last leg that succeeded. It must be kept: without it the cuts of
    the whole history are worked out anew, and a summary that left the thread counts as having left just
    now.
    """
    prompt: str = ""
    """The newest prompt with what came with it; empty when the plan is only looked at."""
    images: tuple[str, ...] = ()
    """Images that came with it, as data URLs."""

    @property
    def replays(self) -> bool:
        """Whether what was delivered once is still there in later requests."""
        return not self.stateless or self.other_delta is not None

    def remote_has(self, choice: ModeChoice) -> str:
        """Why static text is not sent: the remote session has it. Empty when it must be sent."""
        if self.stateless or choice.mode is ContextMode.FIRST or self.reinject:
            return ""
        return "its remote session has it"

    def not_due(self, choice: ModeChoice, part: Part) -> str:
        """Why a layer is not sent again to a remote session that remembers; empty when it must be sent."""
        if not self.remote_has(choice) or part in self.changed:
            return ""
        return "unchanged since its last leg"
