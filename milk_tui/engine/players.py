"""Who plays the two roles: what was found at start, what the config says, what the person chose for a session.

A flag of the command line wins over the session's choice, that over the config, and the config over what was found.
Whoever plays, sessions, bricks and memory stay; a change holds from the next leg on.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Coroutine, Mapping
from functools import partial
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from milk_tui.agents.base import Agent
from milk_tui.config import Config, Provider
from milk_tui.core.errors import ConfigError, MilkError
from milk_tui.core.records import Role
from milk_tui.engine import roster
from milk_tui.engine.agent_spec import AgentSpec
from milk_tui.engine.hello import Hello, say_hello
from milk_tui.engine.launch import Launch
from milk_tui.engine.roster import Roster
from milk_tui.store import Store, session_choices

if TYPE_CHECKING:
    from milk_tui.embedded.manager import EmbeddedManager
    from milk_tui.engine.conductor import Conductor
    from milk_tui.engine.discovery import Discovery
    from milk_tui.engine.model_catalogue import Recent
    from milk_tui.modelhost.client import ModelHost

CHOSEN = "chosen for this session"
SOON = MilkError("The agents are still being looked for.", "Try again in a moment.")


class Players:
    """``status(role, state, text)`` and ``tell(text, severity)`` say what happened; ``background`` runs what nobody
    waits for; ``manager`` makes the embedded models' when it is first needed."""

    def __init__(
        self,
        store: Store,
        launch: Launch,
        seats: Roster,
        conductors: Mapping[str, Conductor],
        *,
        config: Callable[[], Config],
        manager: Callable[[], EmbeddedManager],
        status: Callable[[Role, str, str], None],
        tell: Callable[[str, str], None],
        background: Callable[[Coroutine[None, None, None]], None],
    ) -> None:
        self._store = store
        self._launch = launch
        self._roster = seats
        self._conductors = conductors
        self._config = config
        self._manager = manager
        self._status = status
        self._tell = tell
        self._background = background
        self.host: ModelHost | None = None
        self.found: Discovery | None = None
        """What was looked at, and who plays without a choice of the session's own."""

    async def look(self, host: ModelHost) -> None:
        """Find the agents and give them their roles. Raises ConfigError."""
        from milk_tui.engine.discovery import discover

        self.host = host
        launch = self._launch
        self.found = await discover(self._config(), primary=launch.primary, escalation=launch.escalation)
        await self._seat()
        if self.found.primary is None and self._roster.get(Role.PRIMARY) is None:
            self._tell(self.found.advice(Role.PRIMARY), "warning")
        if self._roster.agents:
            await host.start()

    async def take_seats(self, session_id: str) -> None:
        """A session is opened: its own choices hold now, else what the config says."""
        if not self._roster.known or self.found is None:
            return
        await self._seat(session_id)

    async def use(self, spec: AgentSpec) -> None:
        """Give the role of ``spec`` to it from the next leg on. Raises MilkError while agents are looked for."""
        if self.host is None or not self._roster.known:
            raise SOON
        before = self._play(spec, self.host)
        await self.host.start()
        for conductor in list(self._conductors.values()):
            await conductor.agents_found()
        if before is not None:
            self._background(self._retire(before))

    async def named(self, role: Role, word: str) -> AgentSpec:
        """The agent that ``word`` names as on the command line, or as it is called on the screen, to be given to
        ``use`` or ``choose``.

        Raises ConfigError when it names none that can be used, MilkError while agents are looked for.
        """
        from milk_tui.engine import discovery

        if self.host is None or not self._roster.known:
            raise SOON
        seated, other = tuple(self._roster.specs.values()), self._roster.get(role.other)
        return discovery.named(self._config(), role, word, seated=seated, other=other)

    async def choose(self, session_id: str, spec: AgentSpec) -> AgentSpec:
        """The person gives the role to an agent for this session; it is remembered with it. Raises MilkError."""
        from milk_tui.engine import discovery

        other = self._roster.get(spec.role.other)
        spec = discovery.usable(self._config(), replace(spec, source=CHOSEN), other=other)
        await self.use(spec)
        if not self._store.read_only:
            kept = msgspec.json.encode(spec).decode()
            await self._store.write(partial(session_choices.put, session_id=session_id, role=spec.role, spec=kept))
        return spec

    async def go_with_config(self, session_id: str, role: Role) -> None:
        """The session has no choice of its own any more for the role."""
        if not self._store.read_only:
            await self._store.write(partial(session_choices.remove, session_id=session_id, role=role))
        await self._seat(session_id)

    async def config_changed(self, *, anew: bool = False) -> None:
        """Look again at what the config says; ``anew``: models are asked in another way, so they are made again.

        Raises ConfigError for a config whose agents can't be used.
        """
        from milk_tui.engine.discovery import discover

        if self.host is None or not self._roster.known:
            return
        launch = self._launch
        self.found = await discover(self._config(), primary=launch.primary, escalation=launch.escalation)
        await self._seat(anew=anew)

    async def chosen(self, session_id: str) -> dict[Role, AgentSpec]:
        """The session's own choices; one that can't be read is none."""
        kept = await self._store.read(lambda conn: session_choices.of_session(conn, session_id))
        choices = {}
        for role, text in kept.items():
            with contextlib.suppress(msgspec.MsgspecError):
                choices[role] = msgspec.json.decode(text, type=AgentSpec)
        return choices

    async def recent(self) -> Recent:
        """Which models worked last, for a list of them."""
        return await self._store.read(session_choices.recent_models)

    async def hello(self, spec: AgentSpec, directory: str, progress: Callable[[str], None] = lambda _: None) -> Hello:
        """Ask an agent to say hello, through a runtime of its own that ends with it. Raises nothing but cancelling."""
        from milk_tui.engine import discovery

        if self.host is None:
            return Hello(ok=False, problem=SOON.what, hint=SOON.hint)
        try:
            discovery.usable(self._config(), spec)
            await self.host.start()
            agent = roster.build(spec, self._config(), self.host, self._manager, self._store.path)
        except MilkError as error:
            return Hello(ok=False, problem=error.what, hint=error.hint)
        try:
            return await say_hello(agent, spec.role, directory, progress=progress)
        finally:
            await agent.aclose()

    def cast(self) -> str:
        """Who plays which role, in one line."""
        return " · ".join(
            f"{role}: {agent.name} ({agent.model})" if (agent := self._roster.get(role)) else f"{role}: nobody"
            for role in Role
        )

    def candidates(self) -> list[str]:
        """Words for agents that could have a role: the config's, installed programs, the embedded model."""
        found = self.found.findings if self.found else ()
        programs = [f.what for f in found if f.kind == "program" and f.found]
        return list(dict.fromkeys((*self._config().agents, *programs, "embedded:small")))

    async def _wanted(self, role: Role, session_id: str = "") -> AgentSpec | None:
        """Who should have the role now: in the session named, else in the one that is open."""
        assert self.found is not None
        flag = self._launch.primary if role is Role.PRIMARY else self._launch.escalation
        usual = self.found.agent(role)
        session_id = session_id or next(iter(self._conductors), "")
        if flag or not session_id:
            return usual
        from milk_tui.engine import discovery

        spec = (await self.chosen(session_id)).get(role)
        if spec is None:
            return usual
        try:
            return discovery.usable(self._config(), spec)
        except ConfigError as error:
            self._tell(f"{error.what} It was {CHOSEN}; {usual.name if usual else 'nobody'} has its place.", "warning")
            return usual

    async def _seat(self, session_id: str = "", *, anew: bool = False) -> None:
        """Give each role to whom it should have now, in the session named or in the one that is open; who has his role
        already keeps it. ``anew``: models are made again all the same."""
        assert self.host is not None
        wanted = {role: await self._wanted(role, session_id) for role in Role}
        first, second = wanted[Role.PRIMARY], wanted[Role.ESCALATION]
        if first is not None and second is not None and first.name.lower() == second.name.lower():
            wanted[Role.ESCALATION] = replace(second, name=f"{second.name[:27]}-deep")
        left = [agent for role, spec in wanted.items() if (agent := self._change(role, spec, anew=anew)) is not None]
        if self._roster.known:
            if self._roster.agents:
                await self.host.start()
            for conductor in list(self._conductors.values()):
                await conductor.agents_found()
        for agent in left:
            self._background(self._retire(agent))

    def _change(self, role: Role, spec: AgentSpec | None, *, anew: bool) -> Agent | None:
        """Give the role to the agent, where it has not got it; ``None``: to nobody. Who had it before comes back."""
        assert self.host is not None
        assert self.found is not None
        if spec is None:
            self._roster.advice[role] = self.found.advice(role)
            self._status(role, "missing", self.found.advice(role))
            return self._roster.remove(role)
        if spec != self._roster.specs.get(role) or (anew and spec.provider is Provider.LITELLM):
            return self._play(spec, self.host)
        return None

    def _play(self, spec: AgentSpec, host: ModelHost) -> Agent | None:
        """Give the role of ``spec`` to a new agent; returns the one that had it."""
        made = roster.build(spec, self._config(), host, self._manager, self._store.path)
        before = self._roster.put(spec.role, made)
        self._roster.specs[spec.role] = spec
        if spec.local:
            self._roster.local_models.add(spec.model)
        self._status(spec.role, "ready", f"{spec.name} · {spec.shown} ({spec.source})")
        if spec.embedded_size and (self._roster.known or spec.role is Role.PRIMARY):
            self._background(self._preload(spec.embedded_size))
        return before

    async def _retire(self, agent: Agent) -> None:
        """Close an agent that no role has any more, once nothing runs that may be its own."""
        for conductor in list(self._conductors.values()):
            await conductor.wait_idle()
        await agent.aclose()

    async def _preload(self, size: str) -> None:
        """Load the embedded model while the person types their first prompt."""
        with contextlib.suppress(MilkError):
            await self._manager().ready(size)
