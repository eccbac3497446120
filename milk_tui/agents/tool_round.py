"""The tool calls of one answer: run at once, answered in order."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass, field

from milk_tui.agents.base import LegRequest, ToolOutcome
from milk_tui.agents.events import AgentEvent, ToolResult, ToolStart
from milk_tui.core.records import Message, MessageToolCall
from milk_tui.core.text import one_line, spelled_out
from milk_tui.core.tool_calls import arguments_of
from milk_tui.modelhost.protocol import ToolCallMade

ESCALATE = "escalate"
MOST_CALLS = 64
"""Calls of one answer that are done."""
NAME_CHARS = 64
"""The longest name of a tool that every server takes."""
_TOOL_NAME = re.compile(rf"[A-Za-z0-9_-]{{1,{NAME_CHARS}}}")


@dataclass(slots=True)
class ToolRound:
    """Calls and, once ``run`` is through, their outcomes in the same order."""

    calls: Sequence[MessageToolCall]
    outcomes: list[ToolOutcome] = field(default_factory=list)

    async def run(self, request: LegRequest) -> AsyncGenerator[AgentEvent, None]:
        """Every call is started before the first is waited for, and each is told when it is through; the model is
        answered in the order of its calls. Closing the generator cancels what runs."""

        for call in self.calls:
            yield ToolStart(call.id, call.name, call.arguments)
        tasks = [asyncio.create_task(_outcome(call, request, at)) for at, call in enumerate(self.calls)]
        place = {task: at for at, task in enumerate(tasks)}
        waiting = set(tasks)
        try:
            while waiting:
                through, waiting = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
                for task in sorted(through, key=place.__getitem__):
                    outcome = task.result()
                    yield ToolResult(self.calls[place[task]].id, outcome.ok, outcome.content)
            self.outcomes = [task.result() for task in tasks]
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    def messages(self, text: str) -> tuple[Message, ...]:
        """What the next request carries of this round; ``text`` is what the model said beside the calls."""

        asked = Message(role="assistant", content=text, tool_calls=tuple(self.calls))
        results = (
            Message(role="tool", content=outcome.content, tool_call_id=call.id)
            for call, outcome in zip(self.calls, self.outcomes, strict=True)
        )
        return (asked, *results)

    def escalation(self) -> str | None:
        """The reason of an escalation that was granted in this round."""

        for call, outcome in zip(self.calls, self.outcomes, strict=True):
            if call.name == ESCALATE and outcome.ok:
                fields = arguments_of(call.arguments) or {}
                return str(fields.get("reason", ""))
        return None


def plain_call(made: ToolCallMade, used: set[str]) -> MessageToolCall:
    """The call as every server takes it back with the requests that follow, under an id that is its own within the leg:
    some servers count from zero in every answer. A name that no tool can have never becomes that of a tool."""

    given = made.call_id if _printable(made.call_id) else "call"
    call_id, number = given, 1
    while call_id in used:
        number += 1
        call_id = f"{given}_{number}"
    used.add(call_id)
    name = made.name
    if not _TOOL_NAME.fullmatch(name):
        name = f"unknown_{re.sub('[^A-Za-z0-9_-]', '_', name[:NAME_CHARS])}"[:NAME_CHARS]
    return MessageToolCall(id=call_id, name=name, arguments=spelled_out(made.arguments))


def _printable(call_id: str) -> bool:
    return bool(call_id) and call_id.isascii() and call_id.isprintable() and " " not in call_id


async def _outcome(call: MessageToolCall, request: LegRequest, position: int) -> ToolOutcome:
    if position >= MOST_CALLS:
        return ToolOutcome(f"Not done: at most {MOST_CALLS} calls in one answer. Call it again.", ok=False)
    names = [tool.name for tool in request.tools]
    if call.name not in names or request.run_tool is None:
        known = ", ".join(names) if names and request.run_tool is not None else "none"
        return ToolOutcome(f"There is no tool “{one_line(call.name, 80)}”. Tools: {known}.", ok=False)
    if arguments_of(call.arguments) is None:
        return ToolOutcome(f"The arguments of {call.name} are not a JSON object. Call it again.", ok=False)
    try:
        return await request.run_tool(call.id, call.name, call.arguments.strip() or "{}")
    except Exception as error:
        return ToolOutcome(f"{call.name} failed: {type(error).__name__}.", ok=False)
