"""One session: prompts in, events out. Turns run one after another; each is stored before anything else happens."""

from __future__ import annotations

import asyncio
import dataclasses
import logging
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from milk_tui.core import context, routing, secret_scan
from milk_tui.core.errors import MilkError
from milk_tui.core.records import (
    BrickKind,
    ContextPlan,
    Percept,
    Role,
    RouteDecision,
    Session,
    Turn,
    TurnStatus,
)
from milk_tui.core.routing import Explicit
from milk_tui.core.text import clean, one_line
from milk_tui.engine import attaching, casting, events, exchanges, way
from milk_tui.engine.brick_desk import BrickDesk
from milk_tui.engine.bus import Bus, Listener
from milk_tui.engine.changes_desk import ChangesDesk
from milk_tui.engine.file_index import FileIndex
from milk_tui.engine.gather import LegView, Project, gather
from milk_tui.engine.memory import MemoryDesk
from milk_tui.engine.order import Desk
from milk_tui.engine.perception_desk import PerceptionDesk
from milk_tui.engine.permissions import PermissionDesk
from milk_tui.engine.person_commands import PersonCommands
from milk_tui.engine.receipt import masked
from milk_tui.engine.roster import Roster
from milk_tui.engine.spend_guard import SpendGuard, limits_of
from milk_tui.engine.turn import Asked, TurnRun
from milk_tui.engine.waiting_line import BEHIND, NO_MODEL, Waiting, WaitingLine
from milk_tui.engine.work_tools import site_of, tool_limits
from milk_tui.store import Store, recovery, sessions, turns
from milk_tui.store.clock import now_ms

if TYPE_CHECKING:
    from sqlite_utils import Database

    from milk_tui.config import Config
    from milk_tui.recall import Semantic
    from milk_tui.tools.mcp_tools import McpHub

_log = logging.getLogger(__name__)

TITLE_CHARS = 48
TITLE_FROM = 2_000
"""Characters of a prompt that a title is made from."""
END_WITHIN_S = 5.0
"""How long a stopped turn may take to store its end."""
_NO_TURN_YET = 2**62
"""As a turn id: later than all there are, for a plan that is only looked at."""


class Conductor:
    """One session while the program works on it.

    Its functions are called on the event loop. What they change is in the store when they return, and told to the
    listeners. ``MilkError`` says what can't be done and what to do instead.
    """

    def __init__(
        self,
        store: Store,
        config: Config,
        session: Session,
        roster: Roster,
        project: Project,
        semantic: Semantic | None = None,
        *,
        attended: bool = False,
        mcp: McpHub | None = None,
    ) -> None:
        """``attended``: a person is there to answer what the agents ask; ``mcp``: more tools for them."""
        self.session = session
        self.store = store
        self._config = config
        self._roster = roster
        self._bus = Bus()
        self.memory = MemoryDesk(store, lambda: self.session, self.publish)
        """The person's hand on the facts."""
        self.perception = PerceptionDesk(store, lambda: self.session, self.publish)
        """The person's hand on what the agents believe."""
        self.bricks = BrickDesk(store, lambda: self.session, self.publish, config.context.context_budget_chars)
        """The person's hand on the bricks."""
        self.permissions = PermissionDesk(store, lambda: self.session, self.publish, attended=attended)
        """What the agents ask, and the person's answers."""
        self._guard = SpendGuard(store, limits_of(config), self.permissions, roster.local_models)
        self.site = site_of(store, config, session)
        """Where the session's tools work."""
        self.changes = ChangesDesk(store, lambda: self.session, self.site)
        """What they changed in files."""
        self._desk = Desk(
            store, config, project, self.publish, semantic, self.permissions, site=self.site, guard=self._guard, mcp=mcp
        )
        self.files = FileIndex(Path(session.directory))
        """The files that a prompt may name."""
        self.site.changed = self.files.changed
        self.commands = PersonCommands(store, lambda: self.session, self.publish, self.permissions, lambda: self.site)
        """Shell commands of the person."""
        self._line = WaitingLine(store, session.id, self.publish)
        self._current: TurnRun | None = None
        self._worker: asyncio.Task[None] | None = None
        self._agents_known = asyncio.Event()
        if roster.known:
            self._agents_known.set()

    def use_config(self, config: Config) -> None:
        """Settings were changed: they hold from the next prompt on."""
        self._config = config
        self._desk = dataclasses.replace(self._desk, config=config)
        self._guard.limits = limits_of(config)
        self.bricks.budget_chars = config.context.context_budget_chars
        self.site.environment, self.site.limits = config.tools.environment, tool_limits(config)

    def listen(self, listener: Listener) -> Callable[[], None]:
        """Hear every event from now on; returns the function that stops it."""
        return self._bus.listen(listener)

    @property
    def running(self) -> int | None:
        """The leg that runs now."""
        return self._current.leg_id if self._current else None

    @property
    def ready(self) -> bool:
        """True once it is known who plays the roles; prompts before that wait."""
        return self._agents_known.is_set()

    @property
    def busy(self) -> bool:
        return self._worker is not None and not self._worker.done()

    @property
    def queued(self) -> tuple[Turn, ...]:
        """Prompts that wait for their turn, in order."""
        return self._line.turns

    async def submit(self, prompt: str, *, escalate: bool = False, reason: str = "", fresh: bool = False) -> int:
        """Store a prompt and work on it, now or after those before it. Returns the turn's id.

        ``escalate`` sends this one turn to the escalation agent; ``reason`` is the person's brief for it, ``fresh``
        has it start anew. Raises MilkError for a blank prompt, and when nobody could work on it.
        """
        role = Role.ESCALATION if escalate else None
        return await self._submit(prompt, Asked(role=role, reason=reason, fresh=fresh))

    async def retry(self, turn_id: int, *, role: Role | None = None) -> int:
        """The prompt of a turn once more, by ``role`` if that is given."""
        turn = await self.store.read(lambda conn: turns.get(conn, turn_id))
        return await self._submit(turn.prompt, Asked(role=role, again=True))

    async def resume_waiting(self) -> tuple[Turn, ...]:
        """Put prompts that an earlier run never began to the line again; those of another living one are left to it."""
        if self.store.read_only:
            return ()
        adopt = partial(
            recovery.adopt_waiting,
            running_folder=self.store.running_folder,
            session_id=self.session.id,
            owner_id=self.store.owner_id,
        )
        again = tuple(await self.store.write(adopt))
        for turn in again:
            said = routing.asked_before(turn.route)
            self._enqueue(Waiting(turn, Asked(role=said.role, reason=said.reason) if said else Asked()))
        return again

    async def _submit(self, prompt: str, asked: Asked) -> int:
        text = clean(prompt).strip()
        if not text:
            raise MilkError("There is nothing to send.", "Type a prompt first.")
        self._refuse_nobody(asked)
        attached, problems = await attaching.of_prompt(self.session.directory, text)
        for problem in problems:
            self.publish(events.Notice(session_id=self.session.id, text=problem, severity="warning"))
        now = now_ms()
        queued = self.busy or not self.ready
        turn = await self.store.write(
            partial(
                attaching.add_turn,
                session_id=self.session.id,
                prompt=text,
                owner=self.store.owner_id,
                queued=queued,
                route=routing.asked(Explicit(role=asked.role, reason=asked.reason)) if asked.role else None,
                attached=attached,
                now=now,
            )
        )
        if text.startswith(self.session.draft.strip()):
            self.session = replace(self.session, draft="")
        if not self.session.title:
            await self.rename(one_line(secret_scan.masked(text[:TITLE_FROM]), TITLE_CHARS))
        self._enqueue(Waiting(turn, asked))
        return turn.id

    def _refuse_nobody(self, asked: Asked) -> None:
        if not self._roster.known:
            return
        if asked.role is Role.ESCALATION and self._roster.get(Role.ESCALATION) is None:
            raise MilkError(self._roster.advice[Role.ESCALATION])
        if not self._roster.agents:
            raise MilkError(self._roster.advice[Role.PRIMARY])

    def _enqueue(self, waiting: Waiting) -> None:
        self._line.add(waiting, BEHIND if self.busy else "" if self.ready else NO_MODEL)
        self._go_on()

    def _go_on(self) -> None:
        """Work on what waits, if nobody does."""
        if len(self._line) and not self.busy:
            self._worker = asyncio.create_task(self._work())

    async def _work(self) -> None:
        await self._agents_known.wait()
        while len(self._line):
            waiting = self._line.next()
            self._current = TurnRun(self._desk, self._roster, self.session, waiting.turn, waiting.asked, self._adopt)
            try:
                await self._current.run()
            except Exception as error:
                _log.exception("turn %s failed", waiting.turn.id)
                await self._give_up(waiting.turn, error)
            finally:
                self._current = None

    async def _give_up(self, turn: Turn, error: Exception) -> None:
        """The store or milk itself failed: say so, keep the prompt, go on with the session."""
        text = str(error) if isinstance(error, MilkError) else f"This turn failed: {type(error).__name__}: {error}"
        self.publish(events.Notice(session_id=self.session.id, text=one_line(clean(text), 300), severity="error"))
        try:
            await self.store.write(partial(recovery.give_up, turn_id=turn.id))
        except MilkError:
            _log.exception("turn %s could not be marked as failed", turn.id)
        self.publish(events.TurnFinished(session_id=self.session.id, turn_id=turn.id, status=TurnStatus.FAILED))

    def _adopt(self, session: Session) -> None:
        """The session changed in the store. ``session`` comes right from a write: writes are done one after another,
        so that what is adopted last is the newest; a read at the same time could bring back an older state."""
        changed = replace(session, draft="") != replace(self.session, draft="")
        self.session = session
        if changed:
            self.publish(events.SessionChanged(session_id=session.id, session=session))

    def publish(self, event: events.AnyEvent) -> None:
        """Tell the listeners; used by the workspace for what concerns every session."""
        self._bus.publish(event)

    async def agents_found(self) -> None:
        """Discovery is done: take the roster's agents into the session and begin with what waits."""
        self._adopt(await self.store.write(self._take_agents))
        self._agents_known.set()

    def _take_agents(self, db: Database) -> Session:
        casting.cast(db, self.session, self._roster)
        return sessions.get(db.conn, self.session.id)

    async def stop(self) -> bool:
        """Stop the running leg, its text so far is kept and marked, else the person's command. False: nothing runs."""
        if self._current is None:
            return await self.commands.stop()
        await self._current.stop()
        return True

    async def drop_queued(self, turn_id: int) -> str | None:
        """Take back a prompt that still waits; its text, or ``None`` when it is too late."""
        return await self._line.drop(turn_id)

    async def move_queued(self, turn_id: int, step: int) -> int | None:
        """Let a waiting prompt change places with the one before it (-1) or after it (1); the turn that it is now, or
        ``None`` when there is none to change with, or it is too late."""
        moved = await self._line.move(turn_id, step)
        self._go_on()
        return moved

    async def pin_agent(self, role: Role | None) -> None:
        """Send every turn to one agent until the pin is taken back. Raises MilkError when there is none."""
        if role is Role.ESCALATION and self._roster.known and self._roster.get(role) is None:
            raise MilkError(self._roster.advice[Role.ESCALATION])
        await self._set_state(pinned_agent=role)

    async def hand_back(self) -> None:
        """Return to the primary: no pin, nothing sticky, nobody waits. It gets the escalation's summary (§3).

        An escalation leg that runs goes on to its end, and keeps nothing of the session for its agent.
        """
        if self._current is not None:
            self._current.hand_back()
        after = routing.handed_back(self.session)
        returns = after != self.session or self._escalation_works

        def write(db: Database) -> Session:
            if returns:
                exchanges.handed_back(db, self.session, now=now_ms())
            return sessions.set_state(
                db, self.session.id, pinned_agent=after.pinned_agent, sticky=after.sticky, waiting=after.waiting
            )

        self._adopt(await self.store.write(write))

    @property
    def _escalation_works(self) -> bool:
        return self._current is not None and self._current.role is Role.ESCALATION

    async def _set_state(self, **state: Role | str | None) -> None:
        self._adopt(await self.store.write(lambda db: sessions.set_state(db, self.session.id, **state)))  # type: ignore[arg-type]

    async def set_need(self, text: str) -> None:
        """The person says what they are trying to accomplish. Raises MilkError for a blank text."""
        await self.bricks.edit(BrickKind.NEED, text)

    async def finish_need(self) -> None:
        """The need is fulfilled (``/done``). Raises MilkError when there is none."""
        await self.bricks.finish_need()

    async def learn(self, text: str, *, pinned: bool = False, override_secret: bool = False) -> Percept:
        """The person states a fact (``MemoryDesk.learn``)."""
        return await self.memory.learn(text, pinned=pinned, override_secret=override_secret)

    async def pin(self, percept_id: str, pinned: bool) -> None:
        await self.memory.pin([percept_id], pinned)

    async def forget(self, percept_id: str) -> None:
        """Nobody is given it any more; it can be restored."""
        await self.memory.forget([percept_id])

    async def restore(self, percept_id: str) -> None:
        await self.memory.restore([percept_id])

    async def plan_escalation(self, prompt: str = "") -> ContextPlan:
        """What the escalation agent would be given now (nonces masked). Raises MilkError when there is none."""
        return await self.plan_next(Role.ESCALATION, prompt)

    async def plan_next(self, role: Role, prompt: str = "") -> ContextPlan:
        """What the agent in that role would be given now (nonces masked). Raises MilkError when there is none."""
        agent = self._roster.get(role)
        if agent is None:
            raise MilkError(self._roster.advice[role] or f"Looking for an agent for the role {role} …")
        view = LegView(
            session=self.session,
            role=role,
            caps=agent.caps,
            config=self._config,
            project=self._desk.project,
            turn_id=_NO_TURN_YET,
            prompt=prompt,
            may_escalate=role is Role.PRIMARY and self._roster.get(Role.ESCALATION) is not None,
            semantic=self._desk.semantic,
        )
        state = await self.store.read(lambda conn: gather(conn, view))
        return masked(context.plan(state), self.session.nonces)

    async def explain(self, prompt: str, *, escalate: bool = False) -> RouteDecision:
        """Where a prompt would go, and why; nothing is sent, the classifier is not asked."""
        explicit = Explicit(role=Role.ESCALATION) if escalate else None
        repeated = self._config.routing.repeated and await self.store.read(
            lambda conn: way.repeats(conn, self.session.id, prompt)
        )
        return routing.decide(
            way.of_session(self._config, self._roster, self.session, prompt, explicit, repeated=repeated)
        )

    async def save_draft(self, text: str) -> None:
        """Keep what is typed and not sent; told to nobody."""
        if text != self.session.draft:
            self._adopt(await self.store.write(lambda db: sessions.set_state(db, self.session.id, draft=text)))

    async def rename(self, title: str) -> None:
        """Raises MilkError for a blank title."""
        name = one_line(clean(title), 80)
        if not name:
            raise MilkError("The name is blank.", "Type a name.")

        def write(db: Database) -> Session:
            sessions.rename(db, self.session.id, name)
            return sessions.get(db.conn, self.session.id)

        self._adopt(await self.store.write(write))

    async def wait_idle(self) -> None:
        """Returns when nothing runs and nothing waits."""
        while self._worker is not None and not self._worker.done():
            await asyncio.shield(self._worker)

    async def aclose(self) -> None:
        """Stop what runs, keep what waits in the store for the next time; the end of what ran is stored then."""
        self._line.clear()
        await self.stop()
        await self.commands.stop()
        await self.files.aclose()
        if self._worker is None:
            return
        if self.ready:
            await asyncio.wait({self._worker}, timeout=END_WITHIN_S)
        self._worker.cancel()
        await asyncio.gather(self._worker, return_exceptions=True)
