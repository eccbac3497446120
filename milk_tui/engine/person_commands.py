"""Shell commands of the person, run into the conversation (``ux.md``, ``!``).

Each is asked about like an agent's, shown while it runs, kept as an entry of the session, and given to the agents with
the next prompt.
"""

from __future__ import annotations

import asyncio
import json
import secrets
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from milk_tui.core.attachments import COMMAND_CHARS, Attachment, Kind
from milk_tui.core.errors import MilkError
from milk_tui.core.permissions import PermissionRequest
from milk_tui.core.records import Role, RouteDecision, Session, Turn, TurnStatus
from milk_tui.core.text import clean, one_line
from milk_tui.core.visible import visible
from milk_tui.engine.events import AnyEvent, CommandEnded, CommandPrinted, CommandStarted
from milk_tui.store import Store, attachments, turns
from milk_tui.store.clock import now_ms
from milk_tui.tools.base import Refused
from milk_tui.tools.command_words import pattern_of, waits_for_person
from milk_tui.tools.shell import LONGEST_COMMAND, Ran, execute

if TYPE_CHECKING:
    from sqlite_utils import Database

    from milk_tui.engine.permissions import PermissionDesk
    from milk_tui.tools.site import Site

YOU = "your command"
"""Who asks, in requests for permission and in grants."""
RULE = "command"
"""The rule of a turn that is a command: no agent works on it."""


class PersonCommands:
    """Runs the person's commands in the session's directory, one at a time."""

    def __init__(
        self,
        store: Store,
        session: Callable[[], Session],
        publish: Callable[[AnyEvent], None],
        permissions: PermissionDesk,
        site: Callable[[], Site | None],
    ) -> None:
        self._store = store
        self._session = session
        self._publish = publish
        self._permissions = permissions
        self._site = site
        self._running: asyncio.Task[Ran] | None = None
        self._whole: asyncio.Task[None] | None = None
        self._printed = ""
        self._asking = False

    @property
    def running(self) -> bool:
        return self._running is not None

    async def run(self, command: str) -> int:
        """Ask, run, keep; the id of its turn. Raises MilkError for a command that is not run."""
        command = command.strip()
        if not command:
            raise MilkError("There is nothing to run.", "Write a command behind the !.")
        if "\0" in command or len(command) > LONGEST_COMMAND:
            raise MilkError("This is no command that can be run.", "Write it into a script file.")
        if why := waits_for_person(command):
            raise MilkError(f"Not run: {why}", "Use another terminal for it.")
        if self._running is not None or self._asking:
            raise MilkError("A command runs already.", "Wait for its end, or stop it with escape.")
        self._asking = True
        try:
            await self._ask(command)
            turn = await self._store.write(partial(self._begin, command=command))
        finally:
            self._asking = False
        self._publish(
            CommandStarted(session_id=turn.session_id, turn_id=turn.id, command=command, created_ms=turn.created_ms)
        )
        self._whole = asyncio.create_task(self._carry_out(turn, command))
        await asyncio.shield(self._whole)
        return turn.id

    async def stop(self) -> bool:
        """End the command that runs, and wait until its end is kept; False when none does."""
        if self._running is None or self._whole is None:
            return False
        self._running.cancel()
        await asyncio.gather(self._whole, return_exceptions=True)
        return True

    async def _ask(self, command: str) -> None:
        verdict = await self._permissions.ask(
            PermissionRequest(
                id=secrets.token_hex(8),
                role=Role.PRIMARY,
                agent_name=YOU,
                tool="run_command",
                arguments=json.dumps({"command": command}),
                title=f"run {one_line(visible(command), 300)}",
                body=command,
                language="bash",
                directory=self._session().directory,
                pattern=pattern_of(command),
            )
        )
        if not verdict.allowed:
            raise MilkError("Not run: it was not allowed.", verdict.reason)

    def _begin(self, db: Database, *, command: str) -> Turn:
        session = self._session()
        route = RouteDecision(role=Role.PRIMARY, rule=RULE, reason="a command of yours: no agent works on it")
        turn = turns.add(db, session.id, f"!{clean(command)}", owner=self._store.owner_id, route=route, now=now_ms())
        turns.start(db, turn.id, route, owner=self._store.owner_id)
        return turn

    async def _carry_out(self, turn: Turn, command: str) -> None:
        self._printed = ""
        site = self._site()
        limits = site.limits if site else None
        self._running = asyncio.create_task(
            execute(
                command,
                directory=Path(self._session().directory),
                timeout_s=limits.longest_command_s if limits else 600.0,
                show=partial(self._print, turn.id),
                environment=site.environment if site else (),
            )
        )
        status = TurnStatus.FAILED
        try:
            await asyncio.wait({self._running})
            if self._running.cancelled():
                text, ok, status = f"{self._printed.rstrip()}\n[stopped]".strip(), False, TurnStatus.CANCELLED
            elif (problem := self._running.exception()) is not None:
                if not isinstance(problem, Refused):
                    raise problem
                text, ok = str(problem), False
            else:
                ran = self._running.result()
                text, ok, status = ran.text, ran.ok, TurnStatus.DONE
        finally:
            self._running = None
        await self._keep(turn, command, text, ok, status)
        if site is not None:
            site.changed()

    async def _keep(self, turn: Turn, command: str, text: str, ok: bool, status: TurnStatus) -> None:
        output = Attachment(kind=Kind.COMMAND, name=one_line(clean(command), 1_000), text=text, ok=ok)

        def write(db: Database) -> None:
            attachments.add(db, turn.session_id, output, turn_id=None, shown_turn_id=turn.id)
            turns.finish(db, turn.id, status)

        await self._store.write(write)
        self._publish(CommandEnded(session_id=turn.session_id, turn_id=turn.id, ok=ok, text=text))

    def _print(self, turn_id: int, text: str) -> None:
        self._printed = (self._printed + text)[-COMMAND_CHARS:]
        self._publish(CommandPrinted(session_id=self._session().id, turn_id=turn_id, text=text))
