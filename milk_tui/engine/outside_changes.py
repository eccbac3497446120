"""What other programs do to the memory while this one runs: told to the listeners as if it had been done here.

The database's log is watched, nothing is asked while it does not change. What this program did itself is told already
and recognised by that.
"""

from __future__ import annotations

import asyncio
import importlib
import logging
from collections import OrderedDict
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from milk_tui.core.errors import StoreError
from milk_tui.core.records import Brick, Percept, PerceptionEntry, PerceptScope
from milk_tui.engine.events import AnyEvent, BrickChanged, PerceptChanged, PerceptionChanged
from milk_tui.store import Store, outside_changes
from milk_tui.store.outside_changes import Changed, Marks

if TYPE_CHECKING:
    from milk_tui.engine.conductor import Conductor

_log = logging.getLogger(__name__)

STEP_MS = 300
"""How long changes are gathered: seldom enough to cost nothing, soon enough to be seen at once."""
AT_ONCE = 100
"""Changes that are told before the event loop gets its turn."""
KEPT = 4_000
"""Of what was told here, so much is remembered."""
_KINDS = {"added": "live"}


class _Told(Struct):
    """The newest that was told here: facts and bricks by id, entries of the perception as they are."""

    facts: OrderedDict[str, Percept]
    bricks: dict[str, Brick]
    entries: OrderedDict[tuple[str, str, str, int, bool], None]
    newest: dict[tuple[str, str], int]
    """When each entry changed last: what was read before that is no news."""
    since: set[str | tuple[str, str]]
    """Facts and entries that were told since the last read began: only for these does it matter when what was read was
    written. For all others the read is the newer, whatever the machine's clock did in between."""


class OutsideChanges:
    """Watches for the sessions in ``conductors``. ``begin`` before the first of them is read, ``watch`` when there is
    time for it: what happens between the two is not missed."""

    def __init__(self, store: Store, conductors: Mapping[str, Conductor]) -> None:
        self._store = store
        self._conductors = conductors
        self._told = _Told(OrderedDict(), {}, OrderedDict(), {}, set())
        self._marks: Marks | None = None

    def hear(self, event: AnyEvent) -> None:
        """A listener of the sessions: what happens here."""
        match event:
            case PerceptChanged():
                self._told.facts[event.percept.id] = event.percept
                self._told.facts.move_to_end(event.percept.id)
                self._told.since.add(event.percept.id)
                if len(self._told.facts) > KEPT:
                    self._told.facts.popitem(last=False)
            case BrickChanged():
                self._told.bricks[f"{event.session_id}:{event.brick.kind}"] = event.brick
            case PerceptionChanged():
                for entry in event.entries:
                    self._told.entries[_key(entry)] = None
                    self._told.newest[entry.layer.value, entry.key] = entry.updated_ms
                    self._told.since.add((entry.layer.value, entry.key))
                while len(self._told.entries) > KEPT:
                    self._told.entries.popitem(last=False)

    async def begin(self) -> None:
        """From now on changes count."""
        if self._marks is None:
            self._marks = await self._store.read(outside_changes.marks)

    async def watch(self) -> None:
        """Until it is cancelled. Where a folder can't be watched, changes of others are seen with the next start."""
        try:
            await self.begin()
            await asyncio.to_thread(importlib.import_module, "watchfiles")
            await self._follow()
        except (OSError, StoreError, RuntimeError) as error:
            _log.warning("changes of other programs are not seen: %s", error)

    async def _follow(self) -> None:
        from watchfiles import awatch

        path = self._store.path
        wanted = {path.name, f"{path.name}-wal"}
        changes = awatch(
            path.parent,
            watch_filter=lambda _, changed: Path(changed).name in wanted,
            step=STEP_MS,
            debounce=STEP_MS,
            rust_timeout=60_000,
            recursive=False,
        )
        await self._look()
        async for _ in changes:
            await self._look()

    async def _look(self) -> None:
        """Tell what is new."""
        self._told.since.clear()
        now = await self._store.read(outside_changes.marks)
        if self._marks is None or now == self._marks:
            return
        changed = await self._store.read(partial(outside_changes.since, before=self._marks, upto=now))
        self._marks = now
        for session_id, conductor in list(self._conductors.items()):
            found = self._events(changed, session_id, conductor.session.directory)
            for number, event in enumerate(found, start=1):
                conductor.publish(event)
                if number % AT_ONCE == 0:
                    await asyncio.sleep(0)

    def _events(self, changed: Changed, session_id: str, directory: str) -> list[AnyEvent]:
        found: list[AnyEvent] = []
        for fact, kind in changed.facts:
            near = fact.scope is PerceptScope.GLOBAL or fact.session_id == session_id
            told = self._told.facts.get(fact.id)
            known = told is not None and (
                told == fact or (fact.id in self._told.since and told.updated_ms > fact.updated_ms)
            )
            if near and not known:
                found.append(PerceptChanged(session_id=session_id, percept=fact, what=_KINDS.get(kind, kind)))
        for owner, brick in changed.bricks:
            if owner == session_id and self._is_newer(session_id, brick):
                found.append(BrickChanged(session_id=session_id, brick=brick))
        near_by = [
            entry
            for owner, place, entry in changed.entries
            if owner == session_id or (place == directory and entry.layer != "working")
        ]
        entries = tuple(entry for at, entry in enumerate(near_by) if not self._is_known(entry, near_by[at + 1 :]))
        if entries:
            found.append(PerceptionChanged(session_id=session_id, entries=entries))
        return found

    def _is_known(self, entry: PerceptionEntry, later: list[PerceptionEntry]) -> bool:
        """Whether the entry was told, or a newer version of it."""
        if any(_key(each) in self._told.entries for each in (entry, *later) if _place(each) == _place(entry)):
            return True
        place = entry.layer.value, entry.key
        return place in self._told.since and entry.updated_ms < self._told.newest[place]

    def _is_newer(self, session_id: str, brick: Brick) -> bool:
        told = self._told.bricks.get(f"{session_id}:{brick.kind}")
        return told is None or told.version < brick.version


def _key(entry: PerceptionEntry) -> tuple[str, str, str, int, bool]:
    return entry.layer.value, entry.key, entry.value, entry.updated_ms, entry.proposed


def _place(entry: PerceptionEntry) -> tuple[str, str, bool]:
    return entry.layer.value, entry.key, entry.proposed
