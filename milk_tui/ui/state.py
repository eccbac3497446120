"""What the screen knows: one object, changed by the engine's events, read by every widget.

``reduce.apply`` changes it and says what is to be drawn again. Roles are the plain words ``primary`` and
``escalation``, so that nothing heavy is imported before the first paint.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from milk_tui.core.permissions import PermissionRequest
    from milk_tui.core.records import Brick, Percept, PerceptionEntry, Session, Usage

PRIMARY, ESCALATION = "primary", "escalation"


class Topic(StrEnum):
    """What changed."""

    HEADER = "header"
    STATUS = "status"
    PERCEPTS = "percepts"
    BRICKS = "bricks"
    PERCEPTION = "perception"
    ASKED = "asked"
    """What the agents ask the person."""
    KEYS = "keys"
    """Which actions make sense now."""


class AgentView(NamedTuple):
    """An agent as the header shows it. ``state``: unknown · ready · loading · missing · down."""

    role: str
    name: str = ""
    model: str = ""
    state: str = "unknown"
    text: str = ""
    fraction: float | None = None


class RunningLeg(NamedTuple):
    """The leg that runs now. ``started`` is on the monotonic clock, in seconds."""

    leg_id: int
    turn_id: int
    role: str
    agent_name: str
    started: float
    chars: int = 0
    thinking_chars: int = 0
    tool: str = ""
    notice: str = ""
    fraction: float | None = None
    stopping: bool = False
    retry_at: float = 0.0
    """When the agent tries again, on the monotonic clock; 0: it does not wait to."""


class QueuedPrompt(NamedTuple):
    turn_id: int
    prompt: str
    why: str


class ContextUse(NamedTuple):
    """The tokens of the newest request; an estimate is said to be one."""

    tokens: int
    estimated: bool
    role: str = PRIMARY


@dataclass(slots=True)
class SessionState:
    """Everything that the main screen shows, beside the transcript."""

    directory: str = ""
    session: Session | None = None
    agents: dict[str, AgentView] = field(
        default_factory=lambda: {PRIMARY: AgentView(PRIMARY), ESCALATION: AgentView(ESCALATION)}
    )
    running: RunningLeg | None = None
    queue: dict[int, QueuedPrompt] = field(default_factory=dict)
    waiting_here: list[str] = field(default_factory=list)
    """Prompts submitted before the session was open."""
    usage: Usage | None = None
    """The sum over the session; ``None`` until something was reported."""
    usage_partial: bool = False
    """True when some leg reported nothing, so that the sum is a lower bound."""
    sent_where_cache_known: int = 0
    """Input tokens of the legs that reported what came from a cache."""
    cold: str = ""
    """Why the next prompt will pay for the whole prefix again; empty when it likely will not."""
    context: ContextUse | None = None
    windows: dict[str, int] = field(default_factory=dict)
    """Tokens that each role's model can take, where that is known."""
    reported: tuple[int, int] = (0, 0)
    """The running leg and the input tokens that it has reported so far, in all its requests."""
    percepts: dict[str, Percept] = field(default_factory=dict)
    bricks: dict[str, Brick] = field(default_factory=dict)
    brick_budget: int = 12_000
    """Characters of a summary brick."""
    pinned_bytes: int = 1_024
    """Bytes that pinned facts have."""
    perception: dict[tuple[str, str], PerceptionEntry] = field(default_factory=dict)
    host: str = "stopped"
    host_detail: str = ""
    asked: dict[str, PermissionRequest] = field(default_factory=dict)
    """What agents wait for the person to answer, by request, in the order of asking."""
    command: str = ""
    """The shell command of the person that runs."""
    command_since: float = 0.0
    note: str = ""
    """The newest line that belongs to no answer: a fact that was refused, news of the agents."""
    helper: str = ""
    """What the memory helper is at, as ``note`` says it."""
    helper_before: str = ""
    """What ``note`` was before that."""
    problem: str = ""
    """Why there is no session: shown where the person looks, until it is mended."""
    ready: bool = False
    """True when a session is open."""

    @property
    def title(self) -> str:
        return self.session.title if self.session is not None else ""

    def agent(self, role: str) -> AgentView:
        return self.agents[role]

    def begin(self, session: Session) -> None:
        """Another session: what belonged to the one before is gone."""
        self.session = session
        self.directory = session.directory
        self.running = None
        self.command = ""
        self.queue = {}
        self.asked = {}
        self.usage = None
        self.usage_partial = False
        self.sent_where_cache_known = 0
        self.cold = ""
        self.context = None
        self.percepts = {}
        self.bricks = {}
        self.perception = {}
        self.note = self.helper = self.helper_before = ""
        self.problem = ""
        self.name_agents()

    def name_agents(self) -> None:
        """Take the agents' names from the session."""
        if self.session is None:
            return
        for role, agent in ((PRIMARY, self.session.primary), (ESCALATION, self.session.escalation)):
            view = self.agents[role]
            if agent is not None:
                self.agents[role] = view._replace(name=agent.name, model=agent.model)
            elif view.state in ("unknown", "ready"):
                self.agents[role] = AgentView(role, state="missing", text=view.text)

    @property
    def cached_share(self) -> float | None:
        """Which part of what was sent came from a cache, over the legs that reported it; ``None``: none did."""
        if self.usage is None or self.usage.cached_tokens is None or not self.sent_where_cache_known:
            return None
        return min(1.0, self.usage.cached_tokens / self.sent_where_cache_known)

    def pin_note(self, role: str) -> str:
        """``pinned`` · ``sticky`` · ``waiting``: why the next prompt goes to this agent, if it does."""
        if self.session is None:
            return ""
        for note, value in (
            ("pinned", self.session.pinned_agent),
            ("waiting", self.session.waiting),
            ("sticky", self.session.sticky),
        ):
            if value == role:
                return note
        return ""

    @property
    def next_role(self) -> str:
        """Where a prompt goes when nothing else decides."""
        if self.session is None:
            return PRIMARY
        return str(self.session.pinned_agent or self.session.waiting or self.session.sticky or PRIMARY)

    @property
    def loading(self) -> AgentView | None:
        """An agent that is being fetched or loaded."""
        return next((view for view in self.agents.values() if view.state == "loading"), None)

    @property
    def busy(self) -> bool:
        """True while something moves on the screen by itself."""
        if self.command:
            return True
        return self.running is not None or self.loading is not None or self.host in ("starting", "restarting")
