"""The protocol that every back end keeps."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from milk_tui.agents.events import AgentEvent
from milk_tui.core.permissions import PermissionAsker
from milk_tui.core.records import ContextPlan, Role
from milk_tui.core.tool_calls import ToolOutcome, ToolRunner, ToolSpec

__all__ = ["Agent", "Caps", "LegRequest", "ToolOutcome", "ToolRunner", "ToolSpec"]


@dataclass(frozen=True, slots=True)
class Caps:
    """What a back end can do; the engine asks these instead of the back end's type."""

    stateless: bool = True
    """True when every request must carry everything (any litellm model)."""
    tools: bool = True
    """True when the model may be given tools."""
    tags: bool = True
    """True when the model is told the nonce-tag protocol; False for models too small to keep it."""
    interrupt: bool = True
    cost: bool = False
    window_tokens: int | None = None
    hooks: bool = False
    resume: bool = False
    fork: bool = False
    own_tools: bool = False
    """True when the runtime brings tools of its own and asks for permissions."""
    static_in_history: bool = False
    """True where static text lives in the history and is given again after a while (ACP, ``semantics.md`` §4)."""
    images: bool | None = False
    """True when images may be given to it; ``None``: it is tried."""
    reads: tuple[str, ...] = ()
    """Names of project files that the runtime reads by itself."""
    system: str = ""
    """Fixed text that the back end uses instead of the memory protocol; shown in receipts like any other."""


Boundary = Callable[[str], Awaitable[str]]
"""``tool name -> text for the agent``, empty for none; answers at once."""


@dataclass(frozen=True, slots=True)
class LegRequest:
    """Everything an agent needs for one leg."""

    role: Role
    plan: ContextPlan
    prompt: str
    """With the text of what came with it."""
    images: Sequence[str] = ()
    """Images that came with it, as data URLs; the prompt names them."""
    words: str = ""
    """The prompt as the person wrote it, without what came with it; empty: nothing came with it."""
    tools: Sequence[ToolSpec] = ()
    run_tool: ToolRunner | None = None
    ask_permission: PermissionAsker | None = None
    """For runtimes that run their own tools and ask before they do; ``None``: everything is denied."""
    session_id: str = ""
    """The milk session: a long-lived runtime keeps one process for each."""
    directory: str = ""
    """Where the agent works."""
    remote_id: str = ""
    """The runtime's own session to go on with; empty: begin one (``RemoteStarted`` says its id)."""
    remote_model: str = ""
    """The model that this session began with; a prefix is cached for one model only."""
    session_cost_usd: float | None = None
    """What the runtime's session had cost before (``UsageReported.session_cost_usd``)."""
    leg_id: int = 0
    remote_leg: int = 0
    """The leg before this one in the remote session: another than this program's last means that another program has
    worked there since, and a running process does not know what it did."""
    static: str = ""
    """The whole static text as of the start of the remote session, for runtimes that take it with every process."""
    boundary: Boundary | None = None
    """Asked at each tool call of the agent itself, for what is to be known before it goes on (notes)."""
    may_escalate: bool = False
    """True when a working escalation agent exists and this agent may hand over to it."""
    need: str = ""
    """The current need; empty when none is set (an embedded agent then proposes one)."""

    @property
    def own_words(self) -> str:
        """What the person said themselves: only that may become a fact or a need of theirs."""
        return self.words or self.prompt


class Agent(Protocol):
    """One agent of a session.

    ``run`` yields events and ends with exactly one ``LegEnd``; it raises only ``asyncio.CancelledError``. Closing
    the generator or cancelling its task stops the request and closes the connection.
    """

    name: str
    model: str
    caps: Caps

    def run(self, request: LegRequest) -> AsyncIterator[AgentEvent]: ...

    async def warm(self, plan: ContextPlan) -> None:
        """Prepare for the next request where that helps (an embedded model's prompt cache); may do nothing."""

    async def leave(self, session_id: str) -> None:
        """A session is closed: what runs for it alone ends; it can be gone on with later."""

    async def aclose(self) -> None: ...
