"""When a model calls tools again and again without an answer: a visible stop, and the person says what then."""

from __future__ import annotations

import secrets
from enum import StrEnum

from milk_tui.agents.base import LegRequest
from milk_tui.core.permissions import PermissionRequest, Question
from milk_tui.core.records import ErrorKind, LegError


class Then(StrEnum):
    """What the person chose; the values are what is shown."""

    GO_ON = "go on"
    ESCALATE = "escalate"
    STOP = "stop"


async def ask(request: LegRequest, agent_name: str, rounds: int) -> Then:
    """Ask the person after ``rounds`` rounds. Where nobody is there, or nothing is answered, it stops."""
    if request.ask_permission is None:
        return Then.STOP
    text = f"{agent_name} called tools {rounds} times and did not come to an answer. What now?"
    choices = [Then.GO_ON, *([Then.ESCALATE] if request.may_escalate else []), Then.STOP]
    question = Question(text=text, header="many rounds of tools", choices=tuple(choices))
    verdict = await request.ask_permission(
        PermissionRequest(
            id=secrets.token_hex(8),
            role=request.role,
            agent_name=agent_name,
            tool="rounds",
            arguments=f'{{"rounds":{rounds}}}',
            title=text,
            directory=request.directory,
            questions=(question,),
        )
    )
    said = verdict.answers.get(text, "").strip().lower() if verdict.allowed else ""
    return Then(said) if said in choices else Then.STOP


def stopped(agent_name: str, rounds: int) -> LegError:
    """The end of a leg that may not go on."""
    return LegError(
        kind=ErrorKind.BAD_ANSWER,
        message=f"{agent_name} called tools {rounds} times and did not come to an answer; it was stopped.",
        hint="Ask for less at once, hand it over with /escalate, or raise [tools] max_rounds.",
    )
