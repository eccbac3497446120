"""The records of a session: what the store keeps, the engine changes and the screen shows.

Every record is frozen; a change is a new record. Times are UTC milliseconds (``_ms``), weights are thousandths,
sizes are characters unless the name says bytes or tokens. Positions in a session are turn ids, never list lengths
(``semantics.md``, "Words").
"""

from __future__ import annotations

from enum import StrEnum
from typing import TypeVar

from msgspec import Struct, field


class Role(StrEnum):
    """One of the two agents of a session."""

    PRIMARY = "primary"
    ESCALATION = "escalation"

    @property
    def other(self) -> Role:
        return Role.ESCALATION if self is Role.PRIMARY else Role.PRIMARY


class Producer(StrEnum):
    """Who stated a percept. Decided by the channel it came through, never by an argument."""

    USER = "user"
    PRIMARY = "primary"
    ESCALATION = "escalation"
    HELPER = "helper"
    SYSTEM = "system"


class Consumer(StrEnum):
    """Which agent may be given a percept."""

    ALL = "all"
    PRIMARY = "primary"
    ESCALATION = "escalation"


class PerceptScope(StrEnum):
    SESSION = "session"
    GLOBAL = "global"


class PerceptStatus(StrEnum):
    STAGED = "staged"
    LIVE = "live"
    SUSPECT = "suspect"
    QUARANTINED = "quarantined"
    SUPERSEDED = "superseded"
    FORGOTTEN = "forgotten"


class TurnStatus(StrEnum):
    """``pending``: stored, nothing done yet. ``running``: a leg works on it. The rest are final."""

    PENDING = "pending"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"
    INTERRUPTED = "interrupted"


class LegStatus(StrEnum):
    """``interrupted``: the program died under it; found by the start-up recovery."""

    PENDING = "pending"
    RUNNING = "running"
    DONE = "done"
    EMPTY = "empty"
    FAILED = "failed"
    CANCELLED = "cancelled"
    INTERRUPTED = "interrupted"

    @property
    def answered(self) -> bool:
        """True when the agent did its part (``semantics.md`` §3: "last answered leg")."""
        return self is LegStatus.DONE


class ContextMode(StrEnum):
    """How much an agent is given (``semantics.md`` §4, table)."""

    FIRST = "first"
    RETURNING = "returning"
    RESUME = "resume"
    CONTINUATION = "continuation"


class ToolStatus(StrEnum):
    RUNNING = "running"
    OK = "ok"
    FAILED = "failed"
    DENIED = "denied"
    CANCELLED = "cancelled"


class NeedStatus(StrEnum):
    OPEN = "open"
    FULFILLED = "fulfilled"
    REPLACED = "replaced"


class BrickKind(StrEnum):
    """The four summary bricks (``semantics.md`` §3). The source document's names are aliases in exports."""

    NEED = "current_need"
    BRIEF = "escalation_brief"
    PRIMARY_SUMMARY = "primary_summary"
    ESCALATION_SUMMARY = "escalation_summary"


class Layer(StrEnum):
    """The layers of perception (``semantics.md`` §5)."""

    INVARIANT = "invariant"
    FRAME = "frame"
    WORKING = "working"


class ErrorKind(StrEnum):
    """Why a leg failed, in the words that the screen can act on."""

    AUTH = "auth"
    NOT_FOUND = "not_found"
    RATE_LIMIT = "rate_limit"
    CONTEXT_TOO_LONG = "context_too_long"
    REFUSED = "refused"
    TIMEOUT = "timeout"
    CUT = "cut"
    BAD_ANSWER = "bad_answer"
    BAD_REQUEST = "bad_request"
    UNREACHABLE = "unreachable"
    SERVER = "server"
    HOST_DIED = "host_died"
    NO_AGENT = "no_agent"
    REMOTE_GONE = "remote_gone"
    INTERNAL = "internal"


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


class Segment(Struct, frozen=True, kw_only=True):
    """One piece of a leg's context, or the reason why it is not there (``semantics.md`` §4)."""

    name: str
    text: str
    stable: bool
    """True when its bytes do not change within the session: part of the cacheable prefix."""
    included: bool
    why: str
    shrunk_from: int | None = None
    """Characters before the hard cap shrank it; ``None`` when it was not shrunk."""

    @property
    def chars(self) -> int:
        return len(self.text)

    @property
    def tokens_estimated(self) -> int:
        """A rough count (characters / 4, rounded up); shown as estimated."""
        return -(-len(self.text) // 4)


class Message(Struct, frozen=True, kw_only=True):
    """One message of an agent's own thread, in the shape that every provider can be given."""

    role: str
    """system · user · assistant · tool"""
    content: str = ""
    tool_calls: tuple[MessageToolCall, ...] = ()
    tool_call_id: str | None = None
    cache_point: bool = False
    """True at the end of a layer where a provider that has cache breakpoints should set one."""
    images: tuple[str, ...] = ()
    """Images of a user's message as data URLs."""


class MessageToolCall(Struct, frozen=True, kw_only=True):
    id: str
    name: str
    arguments: str


class TurnCut(Struct, frozen=True, kw_only=True):
    """What became of one turn of a bounded thread: tool rounds whose results shrank, and rounds that left."""

    leg_id: int
    shrunk: int = 0
    left: int = 0


class ThreadMark(Struct, frozen=True, kw_only=True):
    """Where an agent's bounded thread stands (``semantics.md`` §4). Positions are leg ids."""

    after: int = 0
    """Legs up to this one have left; the thread is made of the later ones."""
    upto: int = 0
    """The last leg that the bound was applied to."""
    gone: int = 0
    """How many turns have left in all."""
    fresh: bool = False
    """The thread starts at a fresh start (§4); what the agent did before is in its summary alone."""
    cuts: tuple[TurnCut, ...] = ()


class ContextPlan(Struct, frozen=True, kw_only=True):
    """What an agent is given for a leg; stored with the leg as its receipt and shown by the inspector."""

    role: Role
    mode: ContextMode
    segments: tuple[Segment, ...]
    thread: tuple[Message, ...] = ()
    thread_note: str = ""
    """What left the thread and why, when its bound was reached."""
    thread_mark: ThreadMark | None = None
    """Where the thread stands with this plan: kept when the leg has succeeded, given to the next plan."""
    thread_limit: int = 0
    """Characters that thread and running turn together may have; 0: no bound."""

    @property
    def chars(self) -> int:
        """Characters of every included segment: what the hard cap bounds (§4), without thread and prompt."""
        return sum(s.chars for s in self.segments if s.included)

    def segment(self, name: str) -> Segment | None:
        return next((s for s in self.segments if s.name == name), None)


class Receipt(Struct, frozen=True, kw_only=True):
    """The plan of a leg as it was sent, nonces masked."""

    leg_id: int
    turn_id: int
    role: Role
    agent_name: str
    mode: ContextMode
    segments: tuple[Segment, ...]
    sent_ms: int
    thread_messages: int = 0
    thread_chars: int = 0
    thread_note: str = ""

    @property
    def chars(self) -> int:
        return sum(s.chars for s in self.segments if s.included)


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
