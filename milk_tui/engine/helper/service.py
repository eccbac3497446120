"""The recall helper in one run of the program: from what happens in sessions to runs (``semantics.md`` §6).

Signals come from the sessions' events. One settles for half a second; the first profile, in the configuration's order,
that waits for it runs, one run a session at a time; a signal during a run waits in one slot, in place of an older one.
Of what happens before the program is up the helper learns when it is; an earlier run of the program left no signal, and
nothing that the helper does itself is one.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from milk_tui.core.errors import MilkError, StoreError
from milk_tui.core.helper_signals import IDLE_MS, Signal
from milk_tui.core.records import Producer, Session, ToolStatus
from milk_tui.engine import events
from milk_tui.engine.decisions import Refreshed, Watching, folder_of
from milk_tui.engine.helper import delivery
from milk_tui.engine.leg_speech import SUB_AGENT
from milk_tui.store import Store, helper_runs, notes, owner, percepts
from milk_tui.store.clock import now_ms

if TYPE_CHECKING:
    from sqlite_utils import Database

    from milk_tui.config import HelperConfig
    from milk_tui.core.helper_profile import Profile
    from milk_tui.engine.conductor import Conductor
    from milk_tui.engine.helper.runner import Ended
    from milk_tui.engine.helper.runtimes import Runtime
    from milk_tui.recall import Semantic

_log = logging.getLogger(__name__)

SEND_PROMPT = "The memory helper has a note for you, above. Say in a sentence or two whether it changes your work."
"""The prompt of a turn that the person starts for a note alone."""
_ASK = "ask_"


@dataclass(slots=True)
class _Watched:
    """A session that is open."""

    conductor: Conductor
    leave: Callable[[], None]
    records: Watching
    known: Refreshed = field(default_factory=Refreshed)
    ready: bool = False
    last_ms: int = 0
    tools: dict[int, str] = field(default_factory=dict)
    settling: dict[str, Signal] = field(default_factory=dict)
    task: asyncio.Task[None] | None = None


class HelperService:
    """``make_runtime`` is asked for when the first run needs it and may raise MilkError; ``semantic`` finds facts by
    meaning. What a run needs is imported with the first one: most of the time nothing runs."""

    def __init__(
        self,
        store: Store,
        config: HelperConfig,
        make_runtime: Callable[[], Awaitable[Runtime]],
        semantic: Semantic | None = None,
    ) -> None:
        self._store = store
        self._config = config
        self._make_runtime = make_runtime
        self._semantic = semantic
        self._runtime: Runtime | None = None
        self._sessions: dict[str, _Watched] = {}
        self._profiles: dict[str, dict[str, Profile]] = {}
        self._started = False
        self._expiry: asyncio.TimerHandle | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def wanted(self) -> bool:
        return self._config.enabled is not False and not self._store.read_only

    def opened(self, conductor: Conductor) -> None:
        """Listen to a session from now on."""
        session = conductor.session
        if not self.wanted or session.id in self._sessions:
            return
        records = Watching(
            self._store, folder_of(session.directory, self._config.records), partial(self._records_changed, session.id)
        )
        watched = _Watched(conductor, conductor.listen(partial(self._hear, session.id)), records)
        self._sessions[session.id] = watched
        if self._started:
            self._begin(watched)

    async def start(self) -> None:
        """The agents are found and the program is up: look at the records, and run from now on."""
        self._started = True
        if not self.wanted:
            return
        with contextlib.suppress(StoreError):
            await self._store.write(self._tidy)
        for watched in list(self._sessions.values()):
            self._begin(watched)

    def _tidy(self, db: Database) -> None:
        helper_runs.clear(db, alive=partial(owner.alive, self._store.running_folder), now=now_ms())
        notes.expire(db.conn, now_ms())

    def _begin(self, watched: _Watched) -> None:
        watched.records.start()
        watched.ready = True
        self._signal(watched, "session.started")
        self._later(self._pending_again(watched))

    async def _pending_again(self, watched: _Watched) -> None:
        """Notes that wait since an earlier run of the program are shown; a signal that waited then is forgotten."""
        session = watched.conductor.session

        def forget(db: Database) -> None:
            if not helper_runs.leased(db.conn, session.id):
                helper_runs.take_waiting(db, session.id)

        await self._store.write(forget)
        waiting = await self._store.read(lambda conn: notes.pending(conn, session.id))
        delivery.told(session.id, waiting, watched.conductor.publish)
        if waiting:
            self._expire_later()

    async def closed(self, session_id: str) -> None:
        """The session is left; a run for it is stopped, and says so in the log."""
        watched = self._sessions.pop(session_id, None)
        if watched is None:
            return
        watched.leave()
        await watched.records.aclose()
        if watched.task is not None:
            watched.task.cancel()
            await asyncio.gather(watched.task, return_exceptions=True)

    async def aclose(self) -> None:
        if self._expiry is not None:
            self._expiry.cancel()
        for session_id in list(self._sessions):
            await self.closed(session_id)
        for task in tuple(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def drop(self, note_id: int) -> bool:
        """The person takes a note back that waits; False when it is too late."""
        done = await self._store.write(lambda db: notes.drop(db.conn, note_id, "you dropped it", now=now_ms()))
        await self._tell(note_id)
        return done

    async def send_now(self, conductor: Conductor, note_id: int) -> bool:
        """Deliver a note at the next boundary of any kind; when nothing runs, begin a turn for it. False when it waits
        no more."""
        if not await self._store.write(lambda db: notes.hasten(db.conn, note_id)):
            return False
        if not conductor.busy:
            await conductor.submit(SEND_PROMPT)
        return True

    async def keep(self, session: Session, note_id: int) -> percepts.Change | None:
        """Make a fact of a note, because the person wants it; ``None`` when there is no such note."""
        note = await self._store.read(lambda conn: notes.get(conn, note_id))
        if note is None:
            return None
        add = partial(percepts.add, content=note.text, producer=Producer.HELPER, session_id=session.id)
        change = await self._store.write(add)
        if watched := self._sessions.get(session.id):
            watched.conductor.publish(
                events.PerceptChanged(session_id=session.id, percept=change.percept, what=change.what)
            )
        return change

    async def refresh(self, session_id: str) -> Refreshed:
        """Read the records of the session's project again, now."""
        watched = self._sessions.get(session_id)
        return await watched.records.refresh() if watched else Refreshed()

    def _hear(self, session_id: str, event: events.AnyEvent) -> None:
        """On the event loop, for every event of a session: costs next to nothing."""
        watched = self._sessions.get(session_id)
        if watched is None:
            return
        match event:
            case events.TurnStarted():
                if watched.last_ms and now_ms() - watched.last_ms > IDLE_MS:
                    self._signal(watched, "session.active", event.turn_id, event.prompt)
                self._signal(watched, "session.turn-started", event.turn_id, event.prompt)
            case events.TurnFinished():
                watched.tools.clear()
                self._signal(watched, "session.turn-ended", event.turn_id)
            case events.ToolStarted():
                watched.tools[event.tool_id] = event.name
            case events.ToolFinished():
                name = watched.tools.pop(event.tool_id, "")
                if name.startswith(SUB_AGENT):
                    return
                self._signal(watched, "session.tool-completed")
                if name.startswith(_ASK):
                    self._signal(watched, _TASK_ENDS.get(event.status, "task.failed"))
            case events.PermissionAsked():
                self._signal(watched, "approval.pending")
            case events.NoteChanged():
                self._note_changed(watched, event)
            case _:
                return
        watched.last_ms = now_ms()

    def _signal(self, watched: _Watched, name: str, turn_id: int | None = None, prompt: str = "") -> None:
        session = watched.conductor.session
        if not self._in_scope(session.directory):
            return
        before = watched.settling.get(name)
        watched.settling[name] = Signal(
            name=name,
            session_id=session.id,
            directory=session.directory,
            turn_id=turn_id or (before.turn_id if before else None),
            at_ms=now_ms(),
            prompt=prompt or (before.prompt if before else ""),
        )
        if watched.ready and (watched.task is None or watched.task.done()):
            watched.task = asyncio.create_task(self._work(watched))

    def _in_scope(self, directory: str) -> bool:
        scope = self._config.directories
        here = Path(directory)
        return not scope or any(here.is_relative_to(Path(each).expanduser()) for each in scope)

    async def _work(self, watched: _Watched) -> None:
        """Everything that waits for one session, one run after another, until nothing waits."""
        session_id = watched.conductor.session.id
        try:
            while True:
                if watched.settling:
                    await asyncio.sleep(self._config.settle)
                    await watched.records.looked.wait()
                    signals, watched.settling = list(watched.settling.values()), {}
                else:
                    if not await self._store.read(lambda conn: helper_runs.waits(conn, session_id)):
                        return
                    waiting = await self._store.write(lambda db: helper_runs.take_waiting(db, session_id))
                    signals = [waiting] if waiting else []
                chosen = await self._choose(watched, signals)
                ended = await self._run(watched, *chosen) if chosen is not None else ""
                if ended == "waiting":
                    return
                if ended == "busy":
                    await asyncio.sleep(_BUSY_S)
        except StoreError as error:
            self._say(watched, "failed", str(error))
        except Exception:
            _log.exception("the helper of session %s failed", session_id)
            self._say(watched, "failed", "the memory helper failed; the log has the details")

    async def _choose(self, watched: _Watched, signals: list[Signal]) -> tuple[Signal, Profile] | None:
        """The profile of the highest priority that one of the signals starts; the newest such signal."""
        if not signals or not self._on(watched):
            return None
        available = await self._available(watched.conductor.session.directory)
        for name in self._config.profiles:
            profile = available.get(name)
            for signal in sorted(signals, key=lambda s: -s.at_ms):
                if profile is not None and profile.event == signal.name:
                    return signal, profile
        return None

    def _on(self, watched: _Watched) -> bool:
        """``enabled = "auto"``: where the project has records."""
        return self._config.enabled is True or watched.known.records > 0

    async def _available(self, directory: str) -> dict[str, Profile]:
        profiles = await asyncio.to_thread(import_module, "milk_tui.engine.helper.profiles")
        loaded = await asyncio.to_thread(profiles.load, self._store, Path(directory))
        for problem in loaded.problems:
            _log.warning("%s", problem)
        found: dict[str, Profile] = loaded.profiles
        return found

    async def _run(self, watched: _Watched, signal: Signal, profile: Profile) -> str:
        self._say(watched, "searching", f"{profile.name}: searching …")
        from milk_tui.engine.helper.runner import Ended, Runner

        try:
            if self._runtime is None:
                self._runtime = await self._make_runtime()
            runner = Runner(
                self._store,
                self._runtime,
                lambda directory: str(folder_of(directory, self._config.records)),
                carriers=self._config.carrier_kinds,
                semantic=self._semantic,
                patient=True,
            )
            ended = await runner.run(signal, profile)
        except MilkError as error:
            ended = Ended(status="failed", reason=str(error))
        await self._told(watched, ended)
        return ended.status

    async def _told(self, watched: _Watched, ended: Ended) -> None:
        if ended.note_id is not None:
            await delivery.changed(self._store, ended.note_id, watched.conductor.publish)
            self._expire_later()
        failed = ended.status in ("failed", "refused")
        self._say(watched, "failed" if failed else "idle", ended.reason if failed else "")

    def _say(self, watched: _Watched, state: str, text: str = "") -> None:
        session = watched.conductor.session.id
        watched.conductor.publish(events.HelperStatus(session_id=session, state=state, text=text))

    def _records_changed(self, session_id: str, found: Refreshed) -> None:
        watched = self._sessions.get(session_id)
        if watched is None:
            return
        watched.known = found
        state = "idle" if self._on(watched) else "off"
        self._say(watched, state, "" if state == "idle" else "no decision records here")
        if found.left_out:
            _log.warning("%s: %d files are too many to be read as records", watched.records.folder, found.left_out)

    def _note_changed(self, watched: _Watched, event: events.NoteChanged) -> None:
        if event.status == "pending":
            self._expire_later()

    def _expire_later(self) -> None:
        if self._expiry is None:
            loop = asyncio.get_running_loop()
            self._expiry = loop.call_later(_EXPIRY_S, lambda: self._later(self._expire()))

    async def _expire(self) -> None:
        """End what waited too long, and go on while something waits."""
        self._expiry = None
        waiting: list[int] = []
        for session_id in self._sessions:
            found = await self._store.read(partial(notes.pending, session_id=session_id))
            waiting += [note.id for note in found]
        if not waiting:
            return
        if await self._store.write(lambda db: notes.expire(db.conn, now_ms())):
            for note_id in waiting:
                await self._tell(note_id)
        self._expire_later()

    async def _tell(self, note_id: int) -> None:
        note = await self._store.read(lambda conn: notes.get(conn, note_id))
        watched = self._sessions.get(note.session_id) if note else None
        if note is not None and watched is not None:
            delivery.told(note.session_id, [note], watched.conductor.publish)

    def _later(self, work: Awaitable[None]) -> None:
        async def quietly() -> None:
            with contextlib.suppress(StoreError):
                await work

        task = asyncio.create_task(quietly())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


_EXPIRY_S = 20.0
_BUSY_S = 1.0
_TASK_ENDS = {ToolStatus.OK: "task.completed", ToolStatus.CANCELLED: "task.interrupted"}
