"""A session as it is kept: its agents, its turns, what worked on them, what they used."""

from __future__ import annotations

from typing import TypeVar

from msgspec import Struct, field

from milk_tui.core.states import ContextMode, ErrorKind, LegStatus, Role, ToolStatus, TurnStatus


class LegError(Struct, frozen=True, kw_only=True):
    """What went wrong, to what, and what to do: one line each, already free of secrets and escapes."""

    kind: ErrorKind
    message: str
    hint: str = ""
    retry_after_s: float | None = None


class Usage(Struct, frozen=True, kw_only=True):
    """Tokens of a leg as the provider reported them; ``None`` means unknown, which is not 0."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_tokens: int | None = None
    cache_write_tokens: int | None = None
    reasoning_tokens: int | None = None
    cost_usd: float | None = None

    @property
    def known(self) -> bool:
        return self.input_tokens is not None or self.output_tokens is not None

    def plus(self, other: Usage) -> Usage:
        """Sum; unknown + known = known."""

        return Usage(
            input_tokens=_add(self.input_tokens, other.input_tokens),
            output_tokens=_add(self.output_tokens, other.output_tokens),
            cached_tokens=_add(self.cached_tokens, other.cached_tokens),
            cache_write_tokens=_add(self.cache_write_tokens, other.cache_write_tokens),
            reasoning_tokens=_add(self.reasoning_tokens, other.reasoning_tokens),
            cost_usd=_add(self.cost_usd, other.cost_usd),
        )


_N = TypeVar("_N", int, float)


def _add(a: _N | None, b: _N | None) -> _N | None:
    if a is None:
        return b
    return a if b is None else a + b


class AgentName(Struct, frozen=True, kw_only=True):
    """An agent as a session knows it: its role, the user's name for it, its model and its nonce."""

    role: Role
    name: str
    model: str
    nonce: str


class Session(Struct, frozen=True, kw_only=True):
    """One dual-agent conversation in one directory."""

    id: str
    directory: str
    title: str
    created_ms: int
    updated_ms: int
    primary: AgentName
    escalation: AgentName | None
    pinned_agent: Role | None = None
    """The person's pin (``ctrl+g`` on an empty prompt): every turn goes there until it is taken back."""
    sticky: Role | None = None
    """Set by an escalation that the router or the primary made; cleared by handing back (§8)."""
    waiting: Role | None = None
    """The agent whose last answer ended in a question (§8)."""
    draft: str = ""
    revision: int = 0

    def agent(self, role: Role) -> AgentName | None:
        """Who has that role; ``None`` when nobody has."""
        return self.primary if role is Role.PRIMARY else self.escalation

    @property
    def nonces(self) -> tuple[str, ...]:
        """The live nonces: to be masked wherever they could be seen."""
        return tuple(agent.nonce for agent in (self.primary, self.escalation) if agent)


class SessionRow(Struct, frozen=True, kw_only=True):
    """A session in a list."""

    id: str
    directory: str
    title: str
    updated_ms: int
    created_ms: int
    turns: int
    last_prompt: str
    agents: str
    cost_usd: float | None


class Turn(Struct, frozen=True, kw_only=True):
    """One user prompt and everything done about it."""

    id: int
    session_id: str
    created_ms: int
    prompt: str
    status: TurnStatus
    route: RouteDecision | None = None
    queued: bool = False


class RouteDecision(Struct, frozen=True, kw_only=True):
    """Why a turn went where it went (``semantics.md`` §8); kept with the turn and shown."""

    role: Role
    rule: str
    """explicit · pin · waiting · sticky · hard · repeat · signals · classifier · primary; self-escalation · loop ·
    spending · fall-back; command: no agent works on it"""
    reason: str
    parts: tuple[ScorePart, ...] = ()
    one_turn: bool = False
    """True for an escalation of this one turn, which never sticks."""


class ScorePart(Struct, frozen=True):
    name: str
    value: float
    detail: str = ""


class ToolCall(Struct, frozen=True, kw_only=True):
    """A call that an agent made during a leg; ``arguments`` is the JSON text as the model wrote it."""

    id: int
    leg_id: int
    call_id: str
    name: str
    arguments: str
    status: ToolStatus
    result: str = ""
    started_ms: int = 0
    ended_ms: int | None = None
    position: int = 0
    """Characters of the leg's text that came before the call, so that the transcript can place it."""
    allowed_by: str = ""
    """Who allowed it, or denied it, such as ``person · once``; empty when nothing had to be asked."""


class Leg(Struct, frozen=True, kw_only=True):
    """One agent working on one turn."""

    id: int
    turn_id: int
    session_id: str
    role: Role
    agent_name: str
    model: str
    mode: ContextMode
    status: LegStatus
    started_ms: int
    ended_ms: int | None = None
    text: str = ""
    """The cleaned text: no tags, no escapes."""
    thinking: str = ""
    usage: Usage = field(default_factory=Usage)
    error: LegError | None = None
    reason: str = ""
    """Why this leg exists when a rule or an agent made it (the escalation's reason)."""
    remote_session: str | None = None
    revision_at_delivery: int = 0
    escalated: bool = False
    """True when this leg is shown as an escalation event in the conversation."""
