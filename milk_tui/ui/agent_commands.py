"""Giving a role to another agent while the session runs: ``/agent``."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING

from milk_tui.core.errors import MilkError
from milk_tui.ui.action import Action, Takes, Where

if TYPE_CHECKING:
    from milk_tui.core.records import Role
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
        "[ROLE] [NAME] [default]",
        aliases=("agents",),
        takes=(Takes.ROLE_OR_AGENT, Takes.AGENT),
    ),
)


def agent_commands(control: Control, note: Callable[[str], None]) -> Mapping[str, Callable[[str], Awaitable[None]]]:
    """By the id of the action. ``note`` says what was done; ``MilkError`` goes through to the caller."""
    from milk_tui.core.records import Role

    def named(usual: Role) -> Callable[[str], Awaitable[None]]:
        async def give(argument: str) -> None:
            from milk_tui.ui import model_picker

            workspace = control.workspace
            if workspace is None or not control.session_id:
                raise MilkError("the session is not open yet")
            words = argument.split()
            role = usual
            if words[0].lower() in [each.value for each in Role]:
                role = Role(words.pop(0).lower())
            always = len(words) == 2 and words[1].lower() == "default"
            if len(words) != (2 if always else 1):
                raise MilkError(
                    "this takes a role and one name", "such as /agent primary claude, or with default at the end"
                )
            spec = await workspace.players.named(role, words[0])
            note(await model_picker.give(workspace, control.session_id, spec, always=always))

        return give

    return {"agent": named(Role.ESCALATION), "model": named(Role.PRIMARY)}
