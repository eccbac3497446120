"""The slash commands for a fresh session and for the perception's file."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING

from milk_tui.core.errors import MilkError
from milk_tui.ui.action import Action, Takes, Where

if TYPE_CHECKING:
    from milk_tui.engine.conductor import Conductor
    from milk_tui.ui.control import Control

PERCEPTION_ACTIONS: tuple[Action, ...] = (
    Action(
        "fresh-session",
        "fresh",
        "Begin a session from the perception and the pinned facts alone: no thread, no summary.",
        Where.SESSION,
        (),
        "fresh",
    ),
    Action(
        "perception-file",
        "perception file",
        "Write perception.md beside the code, read what was changed in it, or have git ignore it.",
        Where.SESSION,
        (),
        "perception-file",
        "write/read/ignore",
        takes=(Takes.FILE_DOING,),
    ),
)


def perception_commands(
    control: Control, note: Callable[[str], None]
) -> Mapping[str, Callable[[str], Awaitable[None]]]:
    """By the id of the action. ``note`` says what was done; ``MilkError`` goes through to the caller."""

    def conductor() -> Conductor:
        if control.conductor is None:
            raise MilkError("The session is not open yet.")
        return control.conductor

    async def fresh(argument: str) -> None:
        conductor()
        await control.open_fresh()
        note("a fresh session: it knows the perception and the pinned facts, nothing else")

    async def file(argument: str) -> None:
        desk = conductor().perception
        match argument.strip().lower():
            case "write":
                note(f"written: {await desk.write_file(dense=control.dense_file)}")
            case "read":
                note((await desk.read_file()).words or "nothing was changed in it")
            case "ignore":
                note(f"git leaves it alone: {await desk.ignore_file()}")
            case _:
                raise MilkError(f"“{argument}” can't be done with the file.", "Use write, read or ignore.")

    return {"fresh-session": fresh, "perception-file": file}
