"""What happens in a session, as the conductor publishes it.

The screen, ``-p --output-format stream-json`` and the tests read the same stream. An event carries what a reader
needs to show it without asking the store again; everything in it is cleaned (no tags, no terminal escapes).
"""

from __future__ import annotations

from msgspec import Struct

from milk_tui.core.permissions import PermissionRequest, Verdict
from milk_tui.core.records import (
    Brick,
    ContextMode,
    LegError,
    LegStatus,
    Percept,
    PerceptionEntry,
    Receipt,
    Role,
    RouteDecision,
    Session,
    ToolStatus,
    TurnStatus,
    Usage,
)


class Event(Struct, frozen=True, kw_only=True, tag_field="event"):
    """Base of all events; ``session_id`` says whose."""

    session_id: str


class TurnQueued(Event, frozen=True, kw_only=True, tag="turn_queued"):
    """The prompt is stored; it waits because another turn runs or the agent is not ready (``why``)."""

    turn_id: int
    prompt: str
    created_ms: int
    why: str


class TurnStarted(Event, frozen=True, kw_only=True, tag="turn_started"):
    turn_id: int
    prompt: str
    created_ms: int
    route: RouteDecision


class LegStarted(Event, frozen=True, kw_only=True, tag="leg_started"):
    turn_id: int
    leg_id: int
    role: Role
    agent_name: str
    model: str
    mode: ContextMode
    started_ms: int
    escalated: bool
    reason: str
    receipt: Receipt


class LegText(Event, frozen=True, kw_only=True, tag="leg_text"):
    leg_id: int
    text: str


class LegThinking(Event, frozen=True, kw_only=True, tag="leg_thinking"):
    leg_id: int
    text: str


class LegTextReplaced(Event, frozen=True, kw_only=True, tag="leg_text_replaced"):
    """The runtime took text back: ``text`` is the whole answer so far."""

    leg_id: int
    text: str


class LegNotice(Event, frozen=True, kw_only=True, tag="leg_notice"):
    """Progress, a retry, a refused fact: one line about a running leg. ``fraction`` 0..1 when it is a progress."""

    leg_id: int
    text: str
    fraction: float | None = None
    severity: str = "information"
    retry_in_s: float | None = None
    """Seconds until the agent is asked again; ``None`` when this says nothing of that."""


class ToolStarted(Event, frozen=True, kw_only=True, tag="tool_started"):
    leg_id: int
    tool_id: int
    name: str
    arguments: str


class ToolFinished(Event, frozen=True, kw_only=True, tag="tool_finished"):
    leg_id: int
    tool_id: int
    status: ToolStatus
    result: str
    seconds: float | None = None
    """How long it ran, without the time in which the person was asked."""


class ToolOutput(Event, frozen=True, kw_only=True, tag="tool_output"):
    """A piece of what a running tool prints."""

    leg_id: int
    tool_id: int
    text: str


class CommandStarted(Event, frozen=True, kw_only=True, tag="command_started"):
    """A shell command of the person runs; its turn is an entry of the conversation."""

    turn_id: int
    command: str
    created_ms: int


class CommandPrinted(Event, frozen=True, kw_only=True, tag="command_printed"):
    """A piece of what it prints."""

    turn_id: int
    text: str


class CommandEnded(Event, frozen=True, kw_only=True, tag="command_ended"):
    """It ended; ``text`` is what is kept of its output, and how it ended."""

    turn_id: int
    ok: bool
    text: str


class PermissionAsked(Event, frozen=True, kw_only=True, tag="permission_asked"):
    """Somebody waits for the person's answer."""

    request: PermissionRequest


class PermissionEnded(Event, frozen=True, kw_only=True, tag="permission_ended"):
    """Answered or withdrawn; the dialog closes."""

    request_id: str
    verdict: Verdict


class UsageChanged(Event, frozen=True, kw_only=True, tag="usage"):
    leg_id: int
    usage: Usage


class LegFinished(Event, frozen=True, kw_only=True, tag="leg_finished"):
    turn_id: int
    leg_id: int
    role: Role
    status: LegStatus
    text: str
    usage: Usage
    error: LegError | None
    ended_ms: int


class TurnFinished(Event, frozen=True, kw_only=True, tag="turn_finished"):
    turn_id: int
    status: TurnStatus


class TurnDropped(Event, frozen=True, kw_only=True, tag="turn_dropped"):
    """A queued prompt was taken back before it started."""

    turn_id: int
    prompt: str


class PerceptChanged(Event, frozen=True, kw_only=True, tag="percept_changed"):
    """A percept is new or changed. ``what``: captured · live · confirmed · pinned · unpinned · forgotten · restored
    · edited · weighed · shared · superseded · merged · suspected · accepted · settled · undone · used · decayed
    · lifted · contradicted · promoted · removed (a staged capture of an abandoned answer)."""

    percept: Percept
    what: str


class PerceptRefused(Event, frozen=True, kw_only=True, tag="percept_refused"):
    """A fact was not stored; ``why`` is shown to the person."""

    content: str
    why: str
    leg_id: int | None = None


class BrickChanged(Event, frozen=True, kw_only=True, tag="brick_changed"):
    brick: Brick


class PerceptionChanged(Event, frozen=True, kw_only=True, tag="perception_changed"):
    entries: tuple[PerceptionEntry, ...]


class SessionChanged(Event, frozen=True, kw_only=True, tag="session_changed"):
    """Title, pin, sticky, waiting or agents changed."""

    session: Session


class HostChanged(Event, frozen=True, kw_only=True, tag="host_changed"):
    """The model host's state: stopped · starting · ready · restarting · failed."""

    state: str
    detail: str = ""


class AgentStatus(Event, frozen=True, kw_only=True, tag="agent_status"):
    """How an agent is: ready · loading · missing · down; ``text`` is one line for the person."""

    role: Role
    state: str
    text: str
    fraction: float | None = None


class Notice(Event, frozen=True, kw_only=True, tag="notice"):
    """One line for the person that belongs to no leg. ``severity``: information · warning · error."""

    text: str
    severity: str = "information"


class HelperStatus(Event, frozen=True, kw_only=True, tag="helper_status"):
    """What the recall helper is at: off · idle · searching · failed; ``text`` is one line for the person."""

    state: str
    text: str = ""


class NoteChanged(Event, frozen=True, kw_only=True, tag="note_changed"):
    """A note of the helper: pending · claimed · delivered (to ``receiver``) · expired · dropped (``reason``)."""

    note_id: int
    status: str
    text: str
    receiver: str = ""
    reason: str = ""
    at_ms: int = 0


AnyEvent = (
    TurnQueued
    | TurnStarted
    | LegStarted
    | LegText
    | LegThinking
    | LegTextReplaced
    | LegNotice
    | ToolStarted
    | ToolFinished
    | ToolOutput
    | CommandStarted
    | CommandPrinted
    | CommandEnded
    | PermissionAsked
    | PermissionEnded
    | UsageChanged
    | LegFinished
    | TurnFinished
    | TurnDropped
    | PerceptChanged
    | PerceptRefused
    | BrickChanged
    | PerceptionChanged
    | SessionChanged
    | HostChanged
    | AgentStatus
    | Notice
    | HelperStatus
    | NoteChanged
)
