"""The slash commands about what was answered last: ``/copy``, ``/other``."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING

from milk_tui.core.errors import MilkError

if TYPE_CHECKING:
    from milk_tui.core.records import Leg
    from milk_tui.ui.control import Control


def answer_commands(control: Control, copy: Callable[[str], None]) -> Mapping[str, Callable[[str], Awaitable[None]]]:
    """By the id of the action. ``copy`` puts a text into the clipboard and says what came of it; ``MilkError`` goes
    through to the caller."""

    async def newest() -> Leg:
        if (leg := await last_answer(control)) is None:
            raise MilkError("nothing was answered yet")
        return leg

    async def copied(argument: str) -> None:
        copy((await newest()).text.strip())

    async def other(argument: str) -> None:
        from milk_tui.ui import conversation_doings

        await conversation_doings.ask_other(control, ("leg", (await newest()).id))

    return {"copy-answer": copied, "ask-other": other}


async def last_answer(control: Control) -> Leg | None:
    """The newest leg of the session that said something; ``None`` when there is none."""
    from milk_tui.store import legs

    if control.workspace is None or control.conductor is None:
        raise MilkError("the session is not open yet")
    session_id = control.session_id

    return await control.workspace.store.read(lambda conn: legs.last_with_text(conn, session_id))
