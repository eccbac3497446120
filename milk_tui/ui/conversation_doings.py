"""What is done with a prompt or an answer of the conversation: quoted, read elsewhere, asked of the other agent, gone
on from another way."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from textual.app import App, SuspendNotSupported

from milk_tui.core.errors import MilkError

if TYPE_CHECKING:
    from milk_tui.ui.control import Control
    from milk_tui.ui.prompt import Prompt
    from milk_tui.ui.transcript import Key

QUOTED_LINES = 200
"""Lines of a quotation at the longest."""


def quote(prompt: Prompt, text: str) -> None:
    """Put a quotation before the cursor, on lines of its own."""
    lines = text.split("\n")
    kept = [f"> {line}".rstrip() for line in lines[:QUOTED_LINES]]
    if len(lines) > QUOTED_LINES:
        kept.append("> …")
    before = prompt.full_text
    lead = "\n\n" if before.strip() and not before.endswith("\n") else ""
    prompt.insert_text(f"{lead}{chr(10).join(kept)}\n\n")
    prompt.focus()


async def read_elsewhere(app: App[int], text: str, terminal: int | None) -> None:
    """Show the text in ``$EDITOR``; what is written there changes nothing. Raises MilkError."""
    from milk_tui.ui import editor

    try:
        with app.suspend(), app.batch_update():
            await asyncio.to_thread(editor.edit, text, terminal)
    except SuspendNotSupported as error:
        raise MilkError("An editor can't be opened here.", "This terminal can't be handed over.") from error
    finally:
        app.refresh(layout=True)


async def turn_of(control: Control, key: Key) -> int:
    """The turn that an entry belongs to. Raises MilkError for one that is no prompt and no answer."""
    from milk_tui.store import legs

    match key:
        case ("turn", int(turn_id)):
            return turn_id
        case ("leg", int(leg_id)) if control.workspace is not None:
            return (await control.workspace.store.read(lambda conn: legs.get(conn, leg_id))).turn_id
    raise MilkError("This is no prompt and no answer.", "Move to one with k and j.")


async def ask_other(control: Control, key: Key) -> None:
    """The prompt of an entry for the agent that did not answer it last; both answers stay. Raises MilkError."""
    from milk_tui.core.records import Role
    from milk_tui.store import legs

    turn_id = await turn_of(control, key)
    if control.workspace is None or control.conductor is None:
        raise MilkError("The session is not open yet.")
    answered = await control.workspace.store.read(lambda conn: legs.of_turn(conn, turn_id))
    meant = next((leg.role for leg in answered if key == ("leg", leg.id)), None)
    last = meant or (answered[-1].role if answered else Role.PRIMARY)
    await control.conductor.retry(turn_id, role=last.other)


async def fork_at(control: Control, key: Key) -> str:
    """Go on with a copy of the session up to the entry's turn; its title. Raises MilkError."""
    turn_id = await turn_of(control, key)
    if control.workspace is None:
        raise MilkError("The session is not open yet.")
    copy = await control.workspace.shelf.fork(control.session_id, last_turn=turn_id)
    await control.open_session(copy.id)
    return copy.title
