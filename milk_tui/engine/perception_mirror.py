"""The live mirror of the perception beside the code: ``perception.md`` is written when something changes here, and
watched, so that what is changed there is taken over within a second (``semantics.md`` §5).

It is off by default (``perception.file``). The file that somebody deletes is written again with the next change.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from functools import partial
from importlib import import_module
from pathlib import Path

from milk_tui.core.errors import MilkError
from milk_tui.core.perception_file import NAME
from milk_tui.core.records import Session
from milk_tui.engine import events, perception_file
from milk_tui.store import Store
from milk_tui.store.clock import now_ms

STEP_MS = 80
"""How long a file is left alone before it is read: editors write in several steps."""
SETTLED_MS = 400
"""After so long it is read although it still changes."""


class Mirror:
    """The file of one session's directory."""

    def __init__(
        self,
        store: Store,
        session: Callable[[], Session],
        publish: Callable[[events.AnyEvent], None],
        *,
        dense: bool = False,
    ) -> None:
        self._store = store
        self._session = session
        self._publish = publish
        self._dense = dense
        self.path = Path(session().directory) / NAME
        self._changed = asyncio.Event()
        self._ended = asyncio.Event()
        self._watches = asyncio.Event()
        self._busy = asyncio.Lock()
        self._tasks: list[asyncio.Task[None]] = []
        self._written: str | None = None

    async def start(self) -> None:
        """Take over what the file says and write it; it is watched from now on. What can't be done is told, not
        raised."""
        await self.take()
        await self._guarded(self._write)
        self._tasks = [asyncio.create_task(self._watch()), asyncio.create_task(self._write_changes())]

    async def watching(self) -> None:
        """Returns when the folder is watched."""
        await self._watches.wait()

    def hear(self, event: events.AnyEvent) -> None:
        """Something was published in the session."""
        if isinstance(event, events.PerceptionChanged):
            self._changed.set()

    async def take(self) -> None:
        """Read the file; what was changed in it is taken over and told."""
        await self._guarded(self._take)

    async def aclose(self) -> None:
        """Write what is not written yet, and watch no more."""
        self._ended.set()
        if self._changed.is_set():
            await self._guarded(self._write)
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _watch(self) -> None:
        await asyncio.to_thread(import_module, "watchfiles")
        from watchfiles import awatch

        try:
            changes = awatch(
                self.path.parent,
                watch_filter=lambda _, path: Path(path).name == NAME,
                debounce=SETTLED_MS,
                step=STEP_MS,
                stop_event=self._ended,
                recursive=False,
            )
            found = asyncio.ensure_future(anext(changes))
            await asyncio.sleep(0)
            self._watches.set()
            await self.take()
            while True:
                await found
                await self.take()
                found = asyncio.ensure_future(anext(changes))
        except StopAsyncIteration:
            return
        except (OSError, RuntimeError) as error:
            self._tell(f"{self.path} can't be watched: {error}", "warning")
        finally:
            self._watches.set()

    async def _write_changes(self) -> None:
        while True:
            await self._changed.wait()
            self._changed.clear()
            await self._guarded(self._write)

    async def _guarded(self, work: Callable[[], Awaitable[None]]) -> None:
        async with self._busy:
            try:
                await work()
            except MilkError as error:
                self._tell(str(error), "warning")

    async def _take(self) -> None:
        text = await asyncio.to_thread(perception_file.read_text, self.path)
        if text is None or text == self._written:
            return
        self._written = text
        taken = await self._store.write(
            partial(perception_file.take, session_id=self._session().id, text=text, now=now_ms())
        )
        if taken.entries:
            self._publish(events.PerceptionChanged(session_id=self._session().id, entries=taken.entries))
        if taken.words:
            self._tell(taken.words, "warning" if taken.disputes or taken.refused else "information")

    async def _write(self) -> None:
        """Bring the file up to date, unless somebody changed it meanwhile: that is taken over first."""
        there = await asyncio.to_thread(perception_file.read_text, self.path)
        if there is not None and there != self._written:
            await self._take()
        session_id = self._session().id
        base = self._written
        text = await self._store.read(
            lambda conn: perception_file.text_of(conn, session_id, base=base, dense=self._dense)
        )
        if text != there:
            self._written = text
            await asyncio.to_thread(perception_file.write_text, self.path, text)
        await self._store.write(partial(perception_file.written, session_id=session_id, text=text, now=now_ms()))

    def _tell(self, text: str, severity: str = "information") -> None:
        with contextlib.suppress(Exception):
            self._publish(events.Notice(session_id=self._session().id, text=text, severity=severity))
