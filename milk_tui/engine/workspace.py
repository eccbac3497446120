"""Everything that one run of the program owns: configuration, database, model host, agents, sessions."""

from __future__ import annotations

import asyncio
import contextlib
import datetime
import logging
import os
import shlex
from collections.abc import Callable, Coroutine
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from milk_tui import config as configuration
from milk_tui import paths
from milk_tui.config import Config
from milk_tui.core.errors import ConfigError, MilkError, StoreError
from milk_tui.core.records import Role, Session, SessionRow
from milk_tui.engine import casting, commit, events, perception_fresh, project
from milk_tui.engine.conductor import Conductor
from milk_tui.engine.consolidation import Consolidations
from milk_tui.engine.helper.service import HelperService
from milk_tui.engine.launch import Launch
from milk_tui.engine.outside_changes import OutsideChanges
from milk_tui.engine.pair_judge import PairJudge
from milk_tui.engine.players import Players
from milk_tui.engine.recalling import Recalling
from milk_tui.engine.roster import Roster
from milk_tui.engine.token_counts import TokenCounter
from milk_tui.store import Store, legs, recovery, sessions, turns
from milk_tui.store.clock import now_ms

if TYPE_CHECKING:
    from sqlite_utils import Database

    from milk_tui.embedded.manager import EmbeddedManager, EmbeddedStatus
    from milk_tui.engine.agent_spec import AgentSpec
    from milk_tui.engine.helper.runtimes import Runtime
    from milk_tui.engine.session_shelf import SessionShelf
    from milk_tui.engine.settings_desk import SettingsDesk
    from milk_tui.modelhost.client import HostState, ModelHost
    from milk_tui.recall import Semantic
    from milk_tui.tools.mcp_tools import McpHub, McpStatus

_log = logging.getLogger(__name__)

HOST_COMMAND_VARIABLE = "MILK_TUI_HOST_COMMAND"
"""Another model host, as a shell-like list of words: for tests, which need one without litellm."""


def host_command() -> list[str] | None:
    words = os.environ.get(HOST_COMMAND_VARIABLE, "")
    return shlex.split(words) or None


class Workspace:
    """One run of the program. ``open`` is cheap and blocks; ``start`` begins the slow things in the background."""

    def __init__(self, launch: Launch, loaded: configuration.Loaded, store: Store) -> None:
        self.launch = launch
        self.config: Config = loaded.config
        self.loaded = loaded
        self.store = store
        self.directory = launch.directory.resolve()
        self.roster = Roster()
        self.host: ModelHost | None = None
        self.tokens = TokenCounter(lambda: self.host)
        self._embedded: EmbeddedManager | None = None
        self._mcp: McpHub | None = None
        self._conductors: dict[str, Conductor] = {}
        self._shelf: SessionShelf | None = None
        ends = launch.new or not launch.one_shot
        self._memory = Consolidations(store, self._conductors, one_shot=launch.one_shot, ends=ends)
        self.judge = PairJudge(store, self._conductors, self.roster, on=self.config.memory.judge)
        self._recall = Recalling(store, self.config.memory, self._tell)
        self.helper = HelperService(store, self.config.helper, self._make_helper, self.semantic)
        """The recall helper: what it says, and the person's hand on its notes."""
        self._outside = OutsideChanges(store, self._conductors)
        self._tasks: set[asyncio.Task[None]] = set()
        self._settings: SettingsDesk | None = None
        self.players = Players(
            *(store, launch, self.roster, self._conductors),
            config=lambda: self.config,
            manager=self._manager,
            status=self._status,
            tell=self._tell,
            background=self._background,
        )
        """Who plays the roles, and the person's hand on that."""
        self._recovered: asyncio.Future[None] | None = None

    @classmethod
    def open(cls, launch: Launch) -> Workspace:
        """Read the configuration and open the database. Raises ConfigError and StoreError."""
        loaded = configuration.load(launch.config_path)
        path = launch.database or paths.database_file()
        paths.private_folder(path.parent)
        return cls(launch, loaded, Store.open(path))

    async def start(self) -> None:
        """Recover what an earlier run left, start the model host and look for the agents, all in the background."""
        self._background(self._look())

    async def open_session(self, which: str | None = None, *, new: bool = False) -> Conductor:
        """The session with that name or id; without one the newest of this directory, made when there is none.

        ``new`` begins one, unless the newest is empty. Raises MilkError when the named one isn't there.
        """
        await self._recover()
        await self._outside.begin()
        return await self._open(await self._choose(which, new), new=new)

    async def open_fresh(self, old: Conductor) -> Conductor:
        """A new session from the perception of ``old`` and its pinned facts alone (``/fresh``)."""
        begin = partial(perception_fresh.begin, old=old.session, now=now_ms())
        return await self._open(await self.store.write(begin), new=True)

    async def _open(self, session: Session, *, new: bool) -> Conductor:
        if session.id in self._conductors:
            return self._conductors[session.id]
        found = await asyncio.to_thread(project.read, Path(session.directory))
        attended = not self.launch.one_shot
        conductor = Conductor(
            self.store, self.config, session, self.roster, found, self.semantic, attended=attended, mcp=self.mcp
        )
        conductor.listen(self._recall.hear)
        self.helper.opened(conductor)
        conductor.listen(self._outside.hear)
        conductor.listen(self.judge.hear)
        self._memory.opened(conductor, in_place_of=tuple(self._conductors) if new else ())
        self._conductors[session.id] = conductor
        await conductor.perception.take_up()
        if self.config.perception.file and not self.store.read_only:
            await conductor.perception.mirror_file(dense=self.config.perception.dense)
            conductor.listen(conductor.perception.hear)
        if self.roster.known:
            await self.players.take_seats(session.id)
            await conductor.agents_found()
        return conductor

    async def _choose(self, which: str | None, new: bool) -> Session:
        directory = str(self.directory)
        if which is not None:
            found = await self.store.read(lambda conn: sessions.by_name(conn, which, directory))
            if found is None:
                raise MilkError(f"There is no session “{which}”.", "Run: milk-tui sessions list")
            return found
        newest = await self.store.read(lambda conn: sessions.newest(conn, directory))
        if newest and not (new and (self.launch.one_shot or await self._used(newest))):
            return newest
        if self.store.read_only:
            raise StoreError("The database is read-only: no session can begin.", "Make its folder writable.")
        return await self.store.write(partial(sessions.create, directory=directory, primary=casting.unknown()))

    async def _used(self, session: Session) -> bool:
        last = await self.store.read(lambda conn: turns.last_id(conn, session.id))
        return bool(last or session.draft)

    async def sessions(self, *, everywhere: bool = False) -> list[SessionRow]:
        """Those of this directory, or all, newest first; the ones that were never used are left out."""
        directory = None if everywhere else str(self.directory)
        rows = await self.store.read(lambda conn: sessions.rows(conn, directory))
        return [row for row in rows if row.turns or row.id in self._conductors]

    @property
    def shelf(self) -> SessionShelf:
        """What the person does with sessions beside the one on the screen."""
        from milk_tui.engine.session_shelf import SessionShelf

        if self._shelf is None:
            self._shelf = SessionShelf(self.store, lambda session_id: session_id in self._conductors)
        return self._shelf

    async def _make_helper(self) -> Runtime:
        """What the recall helper thinks with. Raises MilkError."""
        from milk_tui.engine.helper import making

        return await making.make(self.config, lambda: self.host, self._manager)

    async def decide(self, conductor: Conductor, text: str, *, why: str = "", replaces: tuple[str, ...] = ()) -> str:
        """Record a decision in the session's project; the file's name. The id of a fact, with its ``#``, makes a record
        of it. Raises MilkError."""
        from milk_tui.engine import decisions

        folder = decisions.folder_of(conductor.session.directory, self.config.helper.records)
        fact = text if text.startswith("#") and " " not in text else ""

        def write() -> str:
            decision = decisions.said("" if fact else text, why=why, replaces=replaces)
            decision = decisions.of_fact(self.store, fact, decision) if fact else decision
            return decisions.write(self.store, folder, decision, date=datetime.date.today().isoformat()).name

        return await asyncio.to_thread(write)

    def notices(self) -> list[str]:
        """How the database was opened, as lines for the person."""
        return list(self.store.notices)

    @property
    def semantic(self) -> Semantic | None:
        """Finds facts by meaning; ``None`` when the person doesn't want it. Its state says whether it can."""
        return self._recall.semantic

    async def close_session(self, conductor: Conductor) -> None:
        """The session is left: what runs in it is stopped."""
        self._conductors.pop(conductor.session.id, None)
        await self.helper.closed(conductor.session.id)
        await conductor.aclose()
        await conductor.perception.aclose()
        await self.roster.leave(conductor.session.id)
        self._memory.closed(conductor.session.id)

    async def aclose(self) -> None:
        """Stop everything; nothing is left behind."""
        await self.judge.aclose()
        for conductor in list(self._conductors.values()):
            await self.close_session(conductor)
        for task in tuple(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self.helper.aclose()
        await self.roster.aclose()
        if self._mcp is not None:
            await self._mcp.aclose()
        if self._embedded is not None:
            await self._embedded.aclose()
        if self.host is not None:
            await self.host.aclose()
        await self._memory.aclose()
        await self._recall.aclose()
        await self.store.aclose()

    @property
    def mcp(self) -> McpHub | None:
        """The MCP servers of the config; ``None`` when there is none."""
        if self._mcp is None and self.config.mcp:
            from milk_tui.engine import mcp_setup

            self._mcp = mcp_setup.hub(self.config, self.directory, self._mcp_changed)
        return self._mcp

    def _mcp_changed(self, status: McpStatus) -> None:
        if status.problem:
            self._tell(f"MCP server {status.name}: {status.problem}. /mcp {status.name} tries again.", "warning")

    def cancel_loading(self) -> None:
        """The person stops the fetching or loading of an embedded model."""
        if self._embedded is not None:
            self._embedded.cancel()

    async def _look(self) -> None:
        from milk_tui.modelhost.client import ModelHost

        try:
            await self._recover()
            self.host = ModelHost(
                paths.private_folder(paths.log_dir()) / "modelhost.log",
                command=host_command(),
                on_state=self._host_state,
            )
            await self.players.look(self.host)
        except (MilkError, ConfigError) as error:
            self.roster.advice = {role: str(error) for role in Role}
            for role in Role:
                self._status(role, "missing", self.roster.advice[role])
            self._tell(str(error), "error")
        self.roster.known = True
        for conductor in list(self._conductors.values()):
            with contextlib.suppress(StoreError):
                await conductor.agents_found()
        if not self.roster.agents:
            await self._recall.start()
        if not self.launch.one_shot:
            self._background(self._outside.watch())
        await self._memory.look()
        if not self.launch.one_shot:
            await self.helper.start()

    async def use_agent(self, role: Role, word: str) -> AgentSpec:
        """Give a role to another agent from the next leg on; sessions, bricks and memory stay. ``word`` as on the
        command line. Raises ConfigError when it names none that can be used, MilkError while agents are looked for.
        """
        spec = await self.players.named(role, word)
        await self.players.use(spec)
        return spec

    async def use_config(self, loaded: configuration.Loaded, *, looks: bool, anew: bool) -> None:
        """Go on with another configuration. ``looks``: the agents may be others; ``anew``: they are asked in another
        way. Raises ConfigError."""
        self.loaded, self.config = loaded, loaded.config
        self.judge.on = self.config.memory.judge
        for conductor in self._conductors.values():
            conductor.use_config(self.config)
        if looks or anew:
            await self.players.config_changed(anew=anew)

    @property
    def settings(self) -> SettingsDesk:
        """The person's hand on the settings."""
        from milk_tui.engine.settings_desk import SettingsDesk

        if self._settings is None:
            self._settings = SettingsDesk(self)
        return self._settings

    def _manager(self) -> EmbeddedManager:
        if self._embedded is None:
            from milk_tui.embedded.manager import EmbeddedManager
            from milk_tui.engine.embedding import embedded_settings

            self._embedded = EmbeddedManager(embedded_settings(self.config), self._embedded_status)
        return self._embedded

    def _embedded_status(self, status: EmbeddedStatus) -> None:
        for role, agent in self.roster.agents.items():
            if agent.model == f"embedded:{status.size}":
                state = {"ready": "ready", "failed": "down", "idle": "ready"}.get(status.phase, "loading")
                self._status(role, state, status.text, status.fraction)

    def _host_state(self, state: HostState, detail: str) -> None:
        self._publish(lambda session: events.HostChanged(session_id=session, state=state, detail=detail))
        if state == "ready":
            self._background(self._recall.start())

    def _status(self, role: Role, state: str, text: str, fraction: float | None = None) -> None:
        self._publish(
            lambda session: events.AgentStatus(session_id=session, role=role, state=state, text=text, fraction=fraction)
        )

    def _tell(self, text: str, severity: str) -> None:
        self._publish(lambda session: events.Notice(session_id=session, text=text, severity=severity))

    def _publish(self, make: Callable[[str], events.AnyEvent]) -> None:
        for session_id, conductor in self._conductors.items():
            conductor.publish(make(session_id))

    def _background(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _recover(self) -> None:
        """Once in a run: end what died with an earlier one."""
        if self._recovered is None:
            self._recovered = asyncio.get_running_loop().create_future()
            try:
                if not self.store.read_only and await self.store.read(recovery.needed):
                    await self.store.write(self._recovery)
            finally:
                self._recovered.set_result(None)
        await self._recovered

    def _recovery(self, db: Database) -> None:
        found = recovery.recover(db, self.store.running_folder)
        now = now_ms()
        for leg_id in found.interrupted_legs:
            leg = legs.get(db.conn, leg_id)
            made, _ = commit.settle(db, leg, now=now)
            made += commit.rebuild(db.conn, leg, budget_chars=self.config.context.context_budget_chars, now=now)
            commit.save(db, leg.session_id, made)
