"""The words that records are told apart by: who, what, and how it stands."""

from __future__ import annotations

from enum import StrEnum


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
