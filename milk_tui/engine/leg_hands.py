"""What an agent can do during a leg: its tools, the calls of them, and what is said beside their results."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from milk_tui.agents.base import ToolOutcome
from milk_tui.agents.mcp_tools import OWN_TOOLS
from milk_tui.core.records import Leg, Session, Usage
from milk_tui.core.tool_calls import ToolSpec
from milk_tui.engine.capture import LegCaptures
from milk_tui.engine.helper import delivery
from milk_tui.engine.leg_calls import LegCalls
from milk_tui.engine.mcp_setup import from_server, server_tools
from milk_tui.engine.order import Desk, Order
from milk_tui.engine.perception_harness import LegDoubts
from milk_tui.engine.work_tools import toolset_for
from milk_tui.tools import memory, my_memory
from milk_tui.tools.registry import Toolset


@dataclass(slots=True)
class LegHands:
    """The tools of one leg. ``leg`` is asked when it matters: a runtime may take up another session meanwhile."""

    desk: Desk
    session: Session
    order: Order
    leg: Callable[[], Leg]
    captures: LegCaptures
    calls: LegCalls
    doubts: LegDoubts
    _work: Toolset | None = None

    async def take_up(self, *, say: Callable[[str], None], spent: Callable[[Usage], None]) -> tuple[ToolSpec, ...]:
        """Make the tools ready; what the agent is told of them, nothing when it takes none.

        ``spent``: a tool that asks another agent costs as a request of this leg does.
        """
        order = self.order
        agent, other = self.session.agent(order.role), self.session.agent(order.role.other)
        work = self._work = toolset_for(
            self.desk,
            order,
            ask=self.calls.ask,
            emit=self.calls.printed,
            spent=spent,
            leg_id=self.leg().id,
            servers=await server_tools(self.desk.mcp, order.agent.caps, say),
        )
        if not order.agent.caps.tools:
            return ()
        own = memory.specs(
            agent.name if agent else order.agent.name,
            other.name if other else None,
            may_escalate=order.may_escalate,
        )
        return (*own, *my_memory.specs(), *(work.specs if work else ()))

    async def run(self, call_id: str, name: str, arguments: str) -> ToolOutcome:
        """Run a tool, and say beside its result what it speaks against and which notes wait."""
        outcome = await self._run(call_id, name, arguments)
        outcome = self.doubts.told(name, arguments, outcome, self.calls.status(call_id, outcome.ok))
        return await self._with_notes(outcome)

    async def boundary(self, tool: str) -> str:
        """Notes that wait, at a call of one of the runtime's own tools; beside the result of ours they come anyway."""
        if tool.startswith(OWN_TOOLS):
            return ""
        return (await self._with_notes(ToolOutcome(""))).content.strip()

    async def _with_notes(self, outcome: ToolOutcome) -> ToolOutcome:
        desk, order = self.desk, self.order
        return await delivery.beside(desk.store, self.session, order.role, order.agent.name, outcome, desk.publish)

    async def _run(self, call_id: str, name: str, arguments: str) -> ToolOutcome:
        if self._work is not None and name in self._work:
            if from_server(name):
                self.captures.taint()
            outcome = await self._work.run(call_id, name, arguments)
            if self._work.foreign:
                self.captures.taint()
            return outcome
        if name in my_memory.NAMES:
            leg = self.leg()
            own = my_memory.MyMemory(
                self.desk.store,
                self.order.agent.name,
                session_id=self.session.id,
                remote_id=leg.remote_session,
                leg_id=leg.id,
            )
            return await own.call(name, arguments)
        return await memory.call(self.captures, name, arguments)
