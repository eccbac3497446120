"""The slash commands on the session that is on the screen: fork it, write it to a file, bring a deleted one back."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from milk_tui.core.errors import MilkError

if TYPE_CHECKING:
    from milk_tui.engine.session_shelf import SessionShelf
    from milk_tui.ui.control import Control


def session_commands(control: Control, note: Callable[[str], None]) -> Mapping[str, Callable[[str], Awaitable[None]]]:
    """By the id of the action. ``note`` says what was done; ``MilkError`` goes through to the caller."""

    def shelf() -> SessionShelf:
        if control.workspace is None or control.conductor is None:
            raise MilkError("The session is not open yet.")
        return control.workspace.shelf

    async def fork(argument: str) -> None:
        copy = await shelf().fork(control.session_id, title=argument)
        await control.open_session(copy.id)
        note(f"this is {copy.title}, a copy to go another way with")

    async def export(argument: str) -> None:
        on = shelf()
        folder = Path(control.state.directory)
        file = argument or await on.default_file(control.session_id)
        note(f"written: {await on.export(control.session_id, file, folder)}")

    async def undelete(argument: str) -> None:
        session_id = await shelf().undelete()
        note("no deleted session can be brought back" if session_id is None else "brought back: ctrl+o lists it")

    return {"fork-session": fork, "export-session": export, "undelete-session": undelete}
