"""When facts gain and lose weight: at the end of a session, off the path of every turn (``semantics.md`` §2).

A session ends with the program, when a new one is begun in its place, or when nothing has happened in it for
``IDLE_MS``; the last is noticed at the next start, or at the next prompt, whose turn goes first. A prompt on the
command line ends the session that it began, and none that it goes on with. A session in which another program works
goes on.
"""

from __future__ import annotations

import asyncio
import logging
import sqlite3
from collections.abc import Callable, Coroutine, Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from milk_tui.core.errors import MilkError
from milk_tui.core.records import PerceptScope
from milk_tui.engine.events import AnyEvent, Notice, PerceptChanged, TurnStarted
from milk_tui.store import Store, consolidation, owner, sessions
from milk_tui.store.clock import now_ms
from milk_tui.store.consolidation import Consolidated, Ended

if TYPE_CHECKING:
    from milk_tui.engine.conductor import Conductor

_log = logging.getLogger(__name__)
_Found = TypeVar("_Found")

IDLE_MS = 8 * 3_600_000
AT_ONCE = 200
"""Changes that are published before the event loop gets its turn."""
MOST_AT_START = 200
MOST_AT_END = 10
"""Idle sessions that one run looks after."""


def told(forgotten: int, promoted: int) -> str:
    """What the person is told; empty when nothing changed that they could miss."""
    faded = f"{forgotten} fact{'s' if forgotten != 1 else ''} faded" if forgotten else ""
    if not promoted:
        return faded
    if faded:
        return f"{faded}, {promoted} became global"
    return f"{promoted} fact{'s' if promoted != 1 else ''} became global"


class Consolidations:
    """The consolidations of one run of the program. Their errors are logged: a session ends all the same."""

    def __init__(
        self, store: Store, open_now: Mapping[str, Conductor], *, one_shot: bool = False, ends: bool = True
    ) -> None:
        """``open_now`` are the sessions that are open, by id; it changes. ``one_shot``: a run for one prompt, where
        nobody is told; ``ends``: its session ends with it."""
        self._store = store
        self._open = open_now
        self._one_shot = one_shot
        self._ends = ends
        self._seen: dict[str, None] = {}
        self._ending: set[str] = set()
        self._tasks: set[asyncio.Task[None]] = set()

    def opened(self, conductor: Conductor, *, in_place_of: Iterable[str] = ()) -> None:
        """A session is open from now on; those that it takes the place of end when they are closed."""
        self._seen[conductor.session.id] = None
        self._ending.update(in_place_of)

        def heard(event: AnyEvent) -> None:
            if isinstance(event, TurnStarted):
                self._background(self._after_rest(conductor, event.turn_id))

        conductor.listen(heard)

    def closed(self, session_id: str) -> None:
        """What ran in the session has ended."""
        if session_id in self._ending:
            self._ending.discard(session_id)
            self._background(self._end(session_id))

    async def look(self) -> None:
        """At the start: end the sessions that rest, tell what happened when nobody could be told. Errors of the store
        are logged."""
        if self._one_shot:
            return
        await self._end_resting(MOST_AT_START)
        await self._tell()

    async def aclose(self) -> None:
        """The program ends, and with it the sessions that were open in it. Call it when they are closed."""
        await asyncio.gather(*self._tasks, return_exceptions=True)
        if self._one_shot:
            await self._end_resting(MOST_AT_END)
        if self._ends:
            for session_id in self._seen:
                await self._end(session_id)

    async def _end_resting(self, most: int) -> None:
        look = partial(consolidation.idle, now=now_ms(), idle_ms=IDLE_MS, limit=most)
        for ended in await self._read(look) or []:
            await self._run(ended)

    async def _end(self, session_id: str) -> None:
        ended = await self._read(partial(consolidation.due, session_id=session_id))
        if ended is not None:
            await self._run(ended)

    async def _after_rest(self, conductor: Conductor, turn_id: int) -> None:
        """A turn began: was it after a long rest? Then the period before it is over."""
        look = partial(consolidation.due_before, session_id=conductor.session.id, turn_id=turn_id, idle_ms=IDLE_MS)
        ended = await self._read(look)
        if ended is not None:
            await conductor.wait_idle()
            await self._run(ended)

    async def _read(self, look: Callable[[sqlite3.Connection], _Found]) -> _Found | None:
        try:
            return await self._store.read(look)
        except MilkError:
            _log.exception("the ends of sessions could not be looked up")
            return None

    async def _run(self, ended: Ended) -> None:
        if self._store.read_only:
            return
        try:
            if await self._store.read(partial(self._goes_on, session_id=ended.session_id)):
                return
            done = await self._store.write(partial(consolidation.consolidate, ended=ended))
        except MilkError:
            _log.exception("session %s could not be consolidated", ended.session_id)
            return
        if done is not None:
            await self._publish(done)
            await self._tell()

    def _goes_on(self, conn: sqlite3.Connection, session_id: str) -> bool:
        """True while another program works in the session."""
        others = sessions.owners(conn, session_id) - {self._store.owner_id}
        return any(owner.alive(self._store.running_folder, each) for each in others)

    async def _publish(self, done: Consolidated) -> None:
        """Each open session hears of its own facts and of the global ones."""
        for session_id, conductor in tuple(self._open.items()):
            for number, change in enumerate(done.changes):
                fact = change.percept
                if fact.scope is PerceptScope.GLOBAL or fact.session_id == session_id:
                    conductor.publish(PerceptChanged(session_id=session_id, percept=fact, what=change.what))
                if number % AT_ONCE == AT_ONCE - 1:
                    await asyncio.sleep(0)

    async def _tell(self) -> None:
        """Say what changed to the sessions that are open; without one, the next start does."""
        if self._one_shot or not self._open or self._store.read_only:
            return
        try:
            if not any(await self._store.read(consolidation.untold)):
                return
            text = told(*await self._store.write(consolidation.tell))
        except MilkError:
            _log.exception("the end of a session could not be told")
            return
        for session_id, conductor in tuple(self._open.items()):
            conductor.publish(Notice(session_id=session_id, text=text))

    def _background(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
