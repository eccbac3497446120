"""What a leg is told to do and how it ended; what every leg of a session works with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from milk_tui.agents.base import Agent
from milk_tui.config import Config
from milk_tui.core.loops import Finding
from milk_tui.core.records import Leg, LegError, LegStatus, Role, RouteDecision, Session, Turn
from milk_tui.engine.events import AnyEvent
from milk_tui.engine.gather import LegView, Project
from milk_tui.engine.permissions import PermissionDesk
from milk_tui.engine.spend_guard import SpendGuard
from milk_tui.store import Store
from milk_tui.tools.site import Site

if TYPE_CHECKING:
    from milk_tui.recall import Semantic
    from milk_tui.tools.mcp_tools import McpHub


@dataclass(frozen=True, slots=True)
class Desk:
    """What every leg of a session works with."""

    store: Store
    config: Config
    project: Project
    publish: Callable[[AnyEvent], None]
    semantic: Semantic | None = None
    permissions: PermissionDesk | None = None
    """Where agents ask before they do something; without it everything is denied."""
    site: Site | None = None
    """Where the tools work; without it there are none."""
    mcp: McpHub | None = None
    """The MCP servers whose tools the agents may use."""
    guard: SpendGuard | None = None
    """Asks before an escalation costs more than the person wants."""


@dataclass(frozen=True, slots=True)
class Order:
    """What a leg is to do: ``decision`` says why this agent works on the turn."""

    turn: Turn
    agent: Agent
    decision: RouteDecision
    fresh: bool = False
    gone: bool = False
    """The agent's runtime has just said that it no longer has the session."""
    may_escalate: bool = False
    peer: Agent | None = None
    """The other agent, when there is one to ask."""

    @property
    def role(self) -> Role:
        return self.decision.role


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a leg ended, for what comes next in the turn."""

    leg: Leg
    status: LegStatus
    escalation: str | None = None
    via: str = ""
    """How the agent asked for the escalation: tool, tag or decision."""
    error: LegError | None = None
    silent: bool = False
    """True when nothing of it can be seen: no text, no call."""
    circle: Finding | None = None
    """Why the agent was stopped when it went in circles."""


def view_of(desk: Desk, session: Session, order: Order) -> LegView:
    """What the leg's context is asked for."""
    return LegView(
        session=session,
        role=order.role,
        caps=order.agent.caps,
        config=desk.config,
        project=desk.project,
        turn_id=order.turn.id,
        prompt=order.turn.prompt,
        fresh=order.fresh,
        gone=order.gone,
        may_escalate=order.may_escalate,
        semantic=desk.semantic,
    )
