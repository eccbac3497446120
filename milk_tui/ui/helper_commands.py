"""The slash commands about the memory helper and about decisions."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING

from milk_tui.core.errors import MilkError

if TYPE_CHECKING:
    from milk_tui.engine.conductor import Conductor
    from milk_tui.engine.workspace import Workspace
    from milk_tui.ui.control import Control

_CLAUSE = re.compile(r"(?i)(?:^|\s)(why|because|replaces):\s*")


def helper_commands(control: Control, note: Callable[[str], None]) -> Mapping[str, Callable[[str], Awaitable[None]]]:
    """By the id of the action. ``note`` says what was done; ``MilkError`` goes through to the caller."""

    def opened() -> tuple[Workspace, Conductor]:
        if control.workspace is None or control.conductor is None:
            raise MilkError("the session is not open yet")
        return control.workspace, control.conductor

    async def waiting() -> int:
        from milk_tui.store import notes

        workspace, conductor = opened()
        session = conductor.session.id
        found = await workspace.store.read(lambda conn: notes.pending(conn, session))
        if not found:
            raise MilkError("no note waits")
        return found[-1].id

    async def drop(argument: str) -> None:
        workspace, _ = opened()
        done = await workspace.helper.drop(await waiting())
        note("the note is dropped" if done else "it is too late: the note was handed over")

    async def send(argument: str) -> None:
        workspace, conductor = opened()
        done = await workspace.helper.send_now(conductor, await waiting())
        note("the note goes out" if done else "the note waits no more")

    async def keep(argument: str) -> None:
        from milk_tui.store import notes

        workspace, conductor = opened()
        session = conductor.session
        found = await workspace.store.read(lambda conn: notes.of_session(conn, session.id, limit=1))
        if not found:
            raise MilkError("there is no note to keep")
        change = await workspace.helper.keep(session, found[0].id)
        note(f"kept as {change.percept.short_id}" if change else "the note is gone")

    async def decide(argument: str) -> None:
        workspace, conductor = opened()
        text, why, replaces = parts(argument)
        written = await workspace.decide(conductor, text, why=why, replaces=replaces)
        note(f"recorded in {written}")

    return {"drop-note": drop, "send-note": send, "keep-note": keep, "decide": decide}


def parts(argument: str) -> tuple[str, str, tuple[str, ...]]:
    """What was decided, why, and what it replaces, from ``TEXT [why: TEXT] [replaces: FILE, FILE]`` in any order."""
    text, *clauses = _CLAUSE.split(argument)
    said = {"why": "", "replaces": ""}
    for name, value in zip(clauses[::2], clauses[1::2], strict=True):
        key = "replaces" if name.lower() == "replaces" else "why"
        said[key] = f"{said[key]} {value}".strip()
    return text.strip(), said["why"], tuple(part.strip() for part in said["replaces"].split(",") if part.strip())
