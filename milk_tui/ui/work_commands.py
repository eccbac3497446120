"""The slash commands about the agents' work: answering what they ask, and what they changed."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING

from milk_tui.core.errors import MilkError
from milk_tui.core.permissions import Scope, Verdict

if TYPE_CHECKING:
    from milk_tui.ui.control import Control
    from milk_tui.ui.permission_dialog import PermissionDialog


def work_commands(
    control: Control, dialog: Callable[[], PermissionDialog | None], note: Callable[[str], None]
) -> Mapping[str, Callable[[str], Awaitable[None]]]:
    """By the id of the action. A command answers the request that the dialog shows; ``note`` says what was done, and
    ``MilkError`` goes through to the caller."""

    def shown() -> PermissionDialog:
        asked = dialog()
        if asked is None or asked.request is None:
            raise MilkError("no agent asks anything")
        if not asked.settled:
            raise MilkError("what is asked has just changed", "look at it, then say it again")
        return asked

    async def allow(argument: str) -> None:
        asked = shown()
        assert asked.request is not None
        word = argument.strip().lower() or Scope.ONCE.value
        if asked.request.questions:
            raise MilkError("this is a question", "F6 goes to it")
        if word not in [scope.value for scope in asked.request.scopes]:
            offered = ", ".join(scope.value for scope in asked.request.scopes)
            raise MilkError(f"/allow {word} is not offered here", f"it may be: {offered}")
        control.answer(asked.request.id, Verdict(allowed=True, scope=Scope(word), wide=asked.wide))

    async def deny(argument: str) -> None:
        asked = shown()
        assert asked.request is not None
        control.answer(asked.request.id, Verdict(allowed=False, reason=argument.strip()))

    async def revert(argument: str) -> None:
        if control.conductor is None:
            raise MilkError("the session is not open yet")
        insist = argument.startswith("!")
        changed = await control.conductor.changes.revert(argument.removeprefix("!").strip(), insist=insist)
        note(f"{changed.name} is as it was before this session")

    return {"allow-once": allow, "deny": deny, "revert-file": revert}
