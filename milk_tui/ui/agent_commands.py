"""Giving a role to another agent while the session runs: ``/agent``."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING

from milk_tui.core.errors import MilkError
from milk_tui.ui.action import Action, Takes, Where

if TYPE_CHECKING:
    from milk_tui.ui.control import Control

AGENT_ACTIONS: tuple[Action, ...] = (
    Action(
        "agent",
        "agents",
        "Who plays which role and who could; or give a role to another agent: primary or escalation (the latter when "
        "left out), and a name of the config, claude, an installed agent, or a model. Session and memory stay.",
        Where.SESSION,
        (),
        "agent",
        "[ROLE] [NAME]",
        aliases=("agents",),
        takes=(Takes.ROLE_OR_AGENT, Takes.AGENT),
    ),
)


def agent_commands(control: Control, note: Callable[[str], None]) -> Mapping[str, Callable[[str], Awaitable[None]]]:
    """By the id of the action. ``note`` says what was done; ``MilkError`` goes through to the caller."""

    async def agent(argument: str) -> None:
        from milk_tui.core.records import Role

        workspace = control.workspace
        if workspace is None:
            raise MilkError("the session is not open yet")
        words = argument.split()
        role = Role.ESCALATION
        if words and words[0].lower() in [each.value for each in Role]:
            role = Role(words.pop(0).lower())
        if not words:
            others = workspace.players.candidates()
            note(f"{workspace.players.cast()}; /agent ROLE NAME, with one of: {', '.join(others)}, or a model")
            return
        if len(words) > 1:
            raise MilkError("/agent takes a role and one name", "such as /agent primary claude")
        spec = await workspace.use_agent(role, words[0])
        note(f"{spec.name} is the {role} agent from the next turn on")

    return {"agent": agent}
