"""What a helper can be started by: the catalogue of signals (``semantics.md`` §6)."""

from __future__ import annotations

from msgspec import Struct


class SignalKind(Struct, frozen=True):
    """``source`` says what sends it; ``served`` is False where this version has no such source."""

    name: str
    source: str
    served: bool = True


CATALOGUE = (
    SignalKind("session.started", "a session is opened, on the screen or by a hook"),
    SignalKind("session.active", "a session that was idle for 10 minutes is used again"),
    SignalKind("session.ended", "a session is left", served=False),
    SignalKind("session.turn-started", "a prompt begins its turn, on the screen or by a hook"),
    SignalKind("session.tool-completed", "an agent's tool call has ended"),
    SignalKind("session.turn-ended", "a turn has ended, however"),
    SignalKind("task.completed", "an agent that another one asked has answered"),
    SignalKind("task.failed", "an agent that another one asked has failed"),
    SignalKind("task.interrupted", "an agent that another one asked was stopped"),
    SignalKind("task.unknown", "an asked agent's end was not seen", served=False),
    SignalKind("task.message-completed", "an agent that another one asked has said something", served=False),
    SignalKind("task.tool-completed", "a tool call of an agent that another one asked has ended", served=False),
    SignalKind("approval.pending", "an agent waits for the person's permission"),
)
SIGNALS = tuple(kind.name for kind in CATALOGUE)
SETTLE_S = 0.5
"""A signal waits so long before it is acted on: what follows it at once comes with it."""
IDLE_MS = 10 * 60 * 1000


class Signal(Struct, frozen=True, kw_only=True):
    """One signal about a conversation. ``hops`` counts helpers between the person and it, ``depth`` agents that
    agents asked; both are 0 for what a person or their agent did."""

    name: str
    session_id: str
    directory: str
    turn_id: int | None = None
    at_ms: int = 0
    prompt: str = ""
    hops: int = 0
    depth: int = 0
    helper: bool = False
    """True for what a helper itself did: nothing is started by it."""
