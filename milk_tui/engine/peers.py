"""The other agent as a tool, ``ask_NAME``: one question, one answer, nothing of the session given or kept.

It is given no tools, so that a question can't lead to another one (depth 1, ``semantics.md`` §8).
"""

from __future__ import annotations

import contextlib
import re
import secrets
from collections.abc import Callable
from typing import Annotated

from msgspec import Meta

from milk_tui.agents import events as said
from milk_tui.agents.base import Agent, LegRequest
from milk_tui.core.records import ContextMode, ContextPlan, Role, Segment, Usage
from milk_tui.core.text import clean, one_line
from milk_tui.core.tool_calls import ToolOutcome
from milk_tui.tools.base import Access, Arguments, Call, Prepared, Refused, Tool, cut, tool
from milk_tui.tools.site import Site

FAMILY = "agents"
QUESTION_CHARS = 20_000
ANSWER_CHARS = 20_000
ANSWER_S = 300.0
_STATIC = (
    "Another assistant asks you one question. You know nothing else of its task. Answer it, briefly and completely."
)


class Question(Arguments, frozen=True, kw_only=True):
    question: Annotated[str, Meta(description="The whole question, with everything needed to answer it.")]


def tool_name(agent_name: str) -> str:
    return "ask_" + re.sub(r"[^A-Za-z0-9_-]", "_", agent_name)[:50]


def peer_tool(agent: Agent, role: Role, spent: Callable[[Usage], None]) -> Tool | None:
    """The tool that asks ``agent``; ``None`` for one whose fixed text lives in its history (ACP), because it can't be
    asked beside it. ``spent`` is told its tokens."""
    if agent.caps.static_in_history:
        return None

    async def prepare(site: Site, question: Question) -> Prepared:
        text = question.question.strip()
        if not text:
            raise Refused("The question is empty.")
        if len(text) > QUESTION_CHARS:
            raise Refused(f"The question has {len(text):,} characters; at most {QUESTION_CHARS:,} are asked.")

        async def run(call: Call) -> ToolOutcome:
            return await _ask(agent, site, role, text, spent, call)

        return Prepared(run)

    return tool(
        tool_name(agent.name),
        f"Ask {one_line(agent.name, 60)}, the other agent, one question. It sees nothing else and keeps nothing.",
        Question,
        prepare,
        family=FAMILY,
        access=Access.SESSION,
        timeout_s=ANSWER_S,
    )


async def _ask(
    agent: Agent, site: Site, role: Role, text: str, spent: Callable[[Usage], None], call: Call
) -> ToolOutcome:
    """A runtime with processes gets one for this question alone, in which it is allowed nothing that it would ask."""
    static = Segment(name="identity", text=_STATIC, stable=True, included=True, why="a question of the other agent")
    once = f"ask-{secrets.token_hex(6)}"
    request = LegRequest(
        role=role,
        plan=ContextPlan(role=role, mode=ContextMode.FIRST, segments=(static,)),
        prompt=text,
        session_id=once,
        directory=str(site.directory),
        static="" if agent.caps.stateless else _STATIC,
    )
    parts: list[str] = []
    problem = ""
    try:
        async with contextlib.aclosing(agent.run(request)) as stream:  # type: ignore[type-var]
            async for event in stream:
                match event:
                    case said.TextDelta(piece):
                        parts.append(piece)
                        call.emit(clean(piece))
                    case said.BlockReplaced():
                        parts.clear()
                    case said.UsageReported(usage):
                        spent(usage)
                    case said.LegEnd(error=error) if error is not None:
                        problem = error.message
    finally:
        await agent.leave(once)
    answer = clean("".join(parts)).strip()
    if problem or not answer:
        return ToolOutcome(f"{agent.name} could not answer: {problem or 'it said nothing'}", ok=False)
    return ToolOutcome(cut(answer, ANSWER_CHARS))
