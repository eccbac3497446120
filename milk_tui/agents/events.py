"""What an agent says while it works on a leg: the same events from every back end."""

from __future__ import annotations

from dataclasses import dataclass, field

from milk_tui.core.records import LegError, Usage


@dataclass(frozen=True, slots=True)
class TextDelta:
    """A piece of the answer as the model sent it: tags not yet taken out."""

    text: str


@dataclass(frozen=True, slots=True)
class ThinkDelta:
    """A piece of the reasoning; never parsed for tags, never sent back."""

    text: str


@dataclass(frozen=True, slots=True)
class BlockStarted:
    """What follows may be taken back as one (``BlockReplaced``). The first block, and one after a tool's result, begin
    without it."""


@dataclass(frozen=True, slots=True)
class BlockReplaced:
    """The runtime took back the text of the current block and will send it again."""

    message_id: str = ""


@dataclass(frozen=True, slots=True)
class ToolStart:
    call_id: str
    name: str
    arguments: str
    sub_agent: bool = False
    """Called by an agent that this one started: no boundary of the leg, and nobody is reminded of anything."""


@dataclass(frozen=True, slots=True)
class ToolResult:
    call_id: str
    ok: bool
    content: str


@dataclass(frozen=True, slots=True)
class Retrying:
    """The runtime tries again by itself after ``delay_s`` seconds."""

    attempt: int
    delay_s: float
    reason: str


@dataclass(frozen=True, slots=True)
class Progress:
    """Something the person should see while waiting, such as "loading the embedded model 43 %"."""

    text: str
    fraction: float | None = None


@dataclass(frozen=True, slots=True)
class UsageReported:
    """Tokens of one request; a leg with tool rounds has several, to be summed."""

    usage: Usage
    session_cost_usd: float | None = None
    """What the runtime's session has cost in all, where it says only that: the next cost is a difference to it."""


@dataclass(frozen=True, slots=True)
class RemoteStarted:
    """The runtime's own session goes on under this id; ``fresh`` when what was asked for is gone and it began anew."""

    remote_id: str
    fresh: bool = False
    model: str = ""
    """The model that the runtime has chosen for it; empty when it doesn't say."""


@dataclass(frozen=True, slots=True)
class Compacted:
    """The runtime shortened its history: what it was told may be gone."""

    before_tokens: int | None = None
    after_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class NeedSuggested:
    """A need that the back end worked out beside the answer (small models, which write no tags)."""

    text: str


@dataclass(frozen=True, slots=True)
class FactSuggested:
    """A fact that the back end worked out beside the answer (small models, which write no tags)."""

    text: str


@dataclass(frozen=True, slots=True)
class EscalationAsked:
    """The agent hands this turn to the escalation agent; the engine starts that leg when this one has ended."""

    reason: str


@dataclass(frozen=True, slots=True)
class LegEnd:
    """The last event of a leg, always sent. ``stopped``: finished | cancelled | length | error."""

    stopped: str = "finished"
    error: LegError | None = field(default=None)


AgentEvent = (
    TextDelta
    | ThinkDelta
    | BlockStarted
    | BlockReplaced
    | ToolStart
    | ToolResult
    | Retrying
    | Progress
    | UsageReported
    | RemoteStarted
    | Compacted
    | NeedSuggested
    | FactSuggested
    | EscalationAsked
    | LegEnd
)
