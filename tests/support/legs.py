"""Asking an agent for a leg without an engine around it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from milk_tui.agents.base import Agent, LegRequest, ToolOutcome, ToolSpec
from milk_tui.agents.events import AgentEvent, BlockReplaced, LegEnd, RemoteStarted, TextDelta
from milk_tui.core.permissions import PermissionRequest, Verdict
from milk_tui.core.records import ContextMode, ContextPlan, Role, Segment

STATIC = "Write <milk:KIND:abc123>BODY</milk:KIND:abc123>."
TOOL = ToolSpec("record_memory", "Remember a fact.", {"type": "object", "properties": {"fact": {"type": "string"}}})


def plan(volatile: str = "", static: str = "") -> ContextPlan:
    texts = (("instructions", static, True), ("current_need", volatile, False))
    segments = tuple(
        Segment(name=name, text=text, stable=stable, included=True, why="") for name, text, stable in texts if text
    )
    return ContextPlan(role=Role.ESCALATION, mode=ContextMode.FIRST, segments=segments)


@dataclass
class Desk:
    """Who answers what an agent asks: ``answer`` decides; everything that was asked is kept."""

    directory: Path
    answer: Callable[[PermissionRequest], Awaitable[Verdict]] | None = None
    asked: list[PermissionRequest] = field(default_factory=list)
    ended: list[str] = field(default_factory=list)
    """Requests that were answered or withdrawn."""
    called: list[tuple[str, str]] = field(default_factory=list)
    remote: str = ""
    legs: int = 0

    async def ask(self, request: PermissionRequest) -> Verdict:
        self.asked.append(request)
        try:
            return await self.answer(request) if self.answer else Verdict(allowed=True)
        finally:
            self.ended.append(request.id)

    async def run_tool(self, call_id: str, name: str, arguments: str) -> ToolOutcome:
        self.called.append((name, arguments))
        return ToolOutcome("kept")

    def request(self, prompt: str, **fields: Any) -> LegRequest:
        self.legs += 1
        given: dict[str, Any] = {
            "role": Role.ESCALATION,
            "plan": plan(),
            "prompt": prompt,
            "tools": (TOOL,),
            "run_tool": self.run_tool,
            "ask_permission": self.ask,
            "session_id": "s1",
            "directory": str(self.directory),
            "remote_id": self.remote,
            "static": STATIC,
            "leg_id": self.legs,
            "remote_leg": self.legs - 1,
        }
        return LegRequest(**given | fields)

    async def say(self, agent: Agent, prompt: str, **fields: Any) -> list[AgentEvent]:
        """The events of one leg; the next one goes on with its remote session."""
        events = []
        async with aclosing(agent.run(self.request(prompt, **fields))) as stream:  # type: ignore[type-var]
            async for event in stream:
                events.append(event)
                if isinstance(event, RemoteStarted):
                    self.remote = event.remote_id
        return events


def text_of(events: list[AgentEvent]) -> str:
    """What the person sees in the end, for answers whose blocks begin with the answer."""
    shown = ""
    for event in events:
        match event:
            case TextDelta(text):
                shown += text
            case BlockReplaced():
                shown = ""
    return shown


def of(events: list[AgentEvent], kind: type) -> list[Any]:
    return [event for event in events if isinstance(event, kind)]


def end_of(events: list[AgentEvent]) -> LegEnd:
    [end] = of(events, LegEnd)
    assert events[-1] is end
    return end
