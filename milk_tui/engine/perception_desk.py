"""The person's hand on the perception of a session: read it as of any turn, correct it, take that back."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from milk_tui.core.errors import MilkError
from milk_tui.core.perception import key_of, normal
from milk_tui.core.perception_file import NAME
from milk_tui.core.perception_view import PERSON, SLICE, PerceptionView, Version
from milk_tui.core.records import Layer, PerceptionEntry, Session
from milk_tui.core.secret_scan import secret_kind
from milk_tui.engine import events, perception_file, perception_reading, perception_writing
from milk_tui.engine.perception_file import Taken
from milk_tui.store import Store, perception, perception_disputes, perception_slices
from milk_tui.store.clock import now_ms

if TYPE_CHECKING:
    import sqlite3

    from sqlite_utils import Database

    from milk_tui.engine.perception_mirror import Mirror

VALUE_CHARS = 4_000
"""The longest value that a person may write."""
_DEEDS = 100


class Deed(Struct, frozen=True, kw_only=True):
    """Something that the person did, and what it takes to undo it."""

    title: str
    entries: tuple[PerceptionEntry, ...] = ()
    """As they were; an empty value: it was not there."""
    slice: str | None = None
    """The slice that was open, when another one was opened."""
    named: str = ""
    """The name that the open slice was given; it had none."""
    working: tuple[PerceptionEntry, ...] = ()
    """What the other slice emptied."""
    dispute: PerceptionEntry | None = None
    """What was kept for a swap and no longer is."""


class PerceptionDesk:
    """Every function is called on the event loop and returns when its change is stored and told
    (``PerceptionChanged``). ``MilkError`` says what can't be done."""

    def __init__(
        self, store: Store, session: Callable[[], Session], publish: Callable[[events.AnyEvent], None]
    ) -> None:
        self._store = store
        self._session = session
        self._publish = publish
        self._deeds: list[Deed] = []
        self.mirror: Mirror | None = None
        """The file beside the code, where it is kept."""

    @property
    def last_deed(self) -> str:
        """What ``undo`` would take back; empty when there is nothing."""
        return self._deeds[-1].title if self._deeds else ""

    async def layers(self, at_turn: int | None = None) -> PerceptionView:
        """What the agents believe now, or believed by the end of a turn."""
        session_id = self._session().id
        return await self._store.read(lambda conn: perception_reading.view(conn, session_id, at_turn))

    async def versions(self) -> tuple[Version, ...]:
        """The turns that changed something, oldest first: the stops of a time slider."""
        session_id = self._session().id
        return tuple(await self._store.read(lambda conn: perception.versions(conn, session_id)))

    async def history(self, layer: Layer, key: str) -> tuple[PerceptionEntry, ...]:
        """Every version of one entry, newest first, removals included."""
        session_id = self._session().id
        return tuple(await self._store.read(lambda conn: perception.history(conn, session_id, layer, key)))

    async def edit(self, layer: Layer, key: str, value: str, reason: str = "", blocker: str = "") -> PerceptionEntry:
        """Write an entry; an invariant holds at once, and its proposal is settled. ``slice`` in the frame opens one."""
        if secret := secret_kind(f"{value}\n{reason}"):
            raise MilkError(f"Not kept: it looks like it holds a secret ({secret}).", "Write it without.")
        if len(value) > VALUE_CHARS:
            raise MilkError(
                f"The entry has {len(value):,} characters, at most {VALUE_CHARS:,} are kept.", "Shorten it."
            )
        entry = normal(
            PerceptionEntry(layer=layer, key=key, value=value, reason=reason, blocker=blocker, writer=PERSON)
        )
        if not entry.value:
            raise MilkError("The entry is blank.", "Remove it instead.")
        await self._do(f"edited {entry.key}", [entry])
        return entry

    async def remove(self, layer: Layer, key: str) -> None:
        """The entry no longer holds; its versions are kept. Raises MilkError when it isn't there."""
        there = await self._find(layer, key_of(key))
        await self._do(f"removed {there.key}", [replace(there, value="", writer=PERSON)])

    async def accept(self, key: str) -> None:
        """An invariant that an agent proposed holds from now on. Raises MilkError when none is proposed."""
        proposal = await self._find(Layer.INVARIANT, key_of(key), proposed=True)
        holds = replace(proposal, proposed=False)
        await self._do(f"accepted {proposal.key}", [replace(proposal, value=""), holds])

    async def reject(self, key: str) -> None:
        """A proposed invariant goes. Raises MilkError when none is proposed."""
        proposal = await self._find(Layer.INVARIANT, key_of(key), proposed=True)
        await self._do(f"rejected {proposal.key}", [replace(proposal, value="")])

    async def swap(self, layer: Layer, key: str) -> None:
        """What the file overruled holds again, and the file's value is kept for the next swap."""
        session_id = self._session().id
        key = key_of(key)

        def write(db: Database) -> list[PerceptionEntry]:
            at = perception_slices.of_session(db.conn, session_id)
            kept = perception_disputes.waiting(db.conn, session_id, slice_name=at).get((layer, key))
            if kept is None:
                raise MilkError(f"Nothing is in dispute about {key}.")
            now = now_ms()
            there = _holding(db, session_id, layer, key) or replace(kept.entry, value="")
            told = perception_writing.write(db, session_id, [replace(kept.entry, updated_ms=now)], now=now)
            perception_disputes.settle(db, session_id, layer, key, slice_name=at)
            if there.value:
                perception_disputes.add(db, session_id, there, slice_name=at, now=now)
            deeds.append(Deed(title=f"swapped {key}", entries=(there,), dispute=kept.entry))
            return told

        deeds: list[Deed] = []
        self._tell(await self._store.write(write))
        self._keep(deeds[-1])

    async def keep(self, layer: Layer, key: str) -> None:
        """The file's value is right: what it overruled is no longer kept for a swap."""
        session_id = self._session().id
        key = key_of(key)

        def write(db: Database) -> PerceptionEntry | None:
            at = perception_slices.of_session(db.conn, session_id)
            perception_disputes.settle(db, session_id, layer, key, slice_name=at)
            return _holding(db, session_id, layer, key)

        there = await self._store.write(write)
        self._tell([there] if there else [])

    async def open_slice(self, name: str) -> None:
        """Begin a slice, or take up an archived one: its frame is back, the working set is empty."""
        if not name.strip():
            raise MilkError("The slice has no name.", "Say which slice to open.")
        await self.edit(Layer.FRAME, SLICE, name)

    async def take_up(self) -> None:
        """A session that has not begun goes on with the slice that is open in its directory, and stays at it whatever
        other sessions open later."""
        session_id = self._session().id

        def behind(conn: sqlite3.Connection) -> bool:
            if perception.last_turn(conn, session_id):
                return False
            newest = perception_slices.newest(conn, session_id)
            stands = perception_slices.stands(conn, session_id)
            return bool(newest) and not (stands and perception_slices.of_session(conn, session_id) == newest)

        def write(db: Database) -> None:
            name = perception_slices.newest(db.conn, session_id)
            perception_slices.open_one(db, session_id, name, as_of=0)

        if not self._store.read_only and await self._store.read(behind):
            await self._store.write(write)

    async def greeting(self) -> str:
        """What a session that has not begun is told: which slice it goes on with. Empty when there is none."""
        session_id = self._session().id

        def read(conn: sqlite3.Connection) -> tuple[str, int]:
            if perception.last_turn(conn, session_id):
                return "", 0
            name = perception_slices.of_session(conn, session_id)
            return name, len(perception.current(conn, session_id, Layer.FRAME, slice_name=name))

        name, entries = await self._store.read(read)
        if not entries:
            return ""
        which = f"the slice {name}" if name else "the open slice"
        return f"This session goes on with {which}: its frame has {entries} entr{'y' if entries == 1 else 'ies'} (F4)."

    async def greet(self) -> None:
        """Tell the listeners what a session begins with."""
        for text in (await self.greeting(), await self.file_notice()):
            if text:
                self._publish(events.Notice(session_id=self._session().id, text=text))

    async def file_notice(self) -> str:
        """The offer to have git leave the mirrored file alone; empty where that isn't needed."""
        if self.mirror is None or await asyncio.to_thread(perception_file.git_ignored, self.mirror.path) is not False:
            return ""
        return f"{NAME} is kept beside the code and git sees it: /perception ignore leaves it out."

    async def mirror_file(self, *, dense: bool = False) -> None:
        """Keep ``perception.md`` beside the code from now on (``engine/perception_mirror.py``)."""
        from milk_tui.engine.perception_mirror import Mirror

        self.mirror = Mirror(self._store, self._session, self._publish, dense=dense)
        await self.mirror.start()

    def hear(self, event: events.AnyEvent) -> None:
        """Something was published in the session: the file follows."""
        if self.mirror is not None:
            self.mirror.hear(event)

    async def write_file(self, *, dense: bool = False) -> Path:
        """Write ``perception.md`` into the directory once; what was changed in it is taken over first."""
        path = Path(self._session().directory) / NAME
        await self.read_file(missing=True)
        session_id = self._session().id
        there = await asyncio.to_thread(perception_file.read_text, path)
        text = await self._store.read(lambda conn: perception_file.text_of(conn, session_id, base=there, dense=dense))
        await asyncio.to_thread(perception_file.write_text, path, text)
        await self._store.write(partial(perception_file.written, session_id=session_id, text=text, now=now_ms()))
        return path

    async def read_file(self, *, missing: bool = False) -> Taken:
        """Take over ``perception.md`` of the directory. Raises MilkError when it isn't there, unless it may be
        ``missing``."""
        path = Path(self._session().directory) / NAME
        text = await asyncio.to_thread(perception_file.read_text, path)
        if text is None:
            if missing:
                return Taken()
            raise MilkError(f"There is no {path}.", "Write it with /perception write.")
        taken = await self._store.write(
            partial(perception_file.take, session_id=self._session().id, text=text, now=now_ms())
        )
        self._tell(taken.entries)
        return taken

    async def ignore_file(self) -> Path:
        """Have git leave ``perception.md`` alone; the list that says so. Raises MilkError outside a repository."""
        return await asyncio.to_thread(perception_file.git_ignore, Path(self._session().directory) / NAME)

    async def aclose(self) -> None:
        """The session is left."""
        if self.mirror is not None:
            await self.mirror.aclose()
            self.mirror = None

    async def undo(self) -> str:
        """Take back what was done last; what it was. Empty when there is nothing left to take back."""
        if not self._deeds:
            return ""
        deed = self._deeds.pop()
        session_id = self._session().id

        def write(db: Database) -> list[PerceptionEntry]:
            now = now_ms()
            told: list[PerceptionEntry] = []
            if deed.named:
                perception_slices.take_name(db, session_id, deed.named)
                back = PerceptionEntry(layer=Layer.FRAME, key=SLICE, value="", writer=PERSON, updated_ms=now)
                perception.append(db, session_id, [back], as_of=_at(db, session_id), now=now)
                told.append(back)
            elif deed.slice is not None:
                back = PerceptionEntry(layer=Layer.FRAME, key=SLICE, value=deed.slice, writer=PERSON)
                told += perception_writing.open_slice(db, session_id, back, now=now, as_of=_at(db, session_id))
            again = [replace(entry, updated_ms=now) for entry in (*deed.entries, *deed.working)]
            told += perception_writing.write(db, session_id, again, now=now)
            if deed.dispute is not None:
                at = perception_slices.of_session(db.conn, session_id)
                perception_disputes.add(db, session_id, deed.dispute, slice_name=at, now=now)
            return told

        self._tell(await self._store.write(write))
        return deed.title

    async def _find(self, layer: Layer, key: str, *, proposed: bool = False) -> PerceptionEntry:
        session_id = self._session().id
        entries = await self._store.read(lambda conn: perception.current(conn, session_id, layer))
        found = next((each for each in entries if each.key == key and each.proposed is proposed), None)
        if found is None:
            what = f"No invariant {key} is proposed." if proposed else f"There is no {key} in the {layer} layer."
            raise MilkError(what, "Run /perception to see what is there.")
        return found

    async def _do(self, title: str, entries: Sequence[PerceptionEntry]) -> None:
        session_id = self._session().id
        deeds: list[Deed] = []

        def write(db: Database) -> list[PerceptionEntry]:
            now, at = now_ms(), _at(db, session_id)
            slice_name = perception_slices.of_session(db.conn, session_id)
            frame = perception.current(db.conn, session_id, Layer.FRAME)
            working = perception.current(db.conn, session_id, Layer.WORKING)
            before = [
                _holding(db, session_id, each.layer, each.key, proposed=each.proposed) or replace(each, value="")
                for each in entries
            ]
            fresh = [replace(each, turn_id=at or None, updated_ms=now) for each in entries]
            told = perception_writing.write(db, session_id, fresh, now=now)
            for each in entries:
                perception_disputes.settle(db, session_id, each.layer, each.key, slice_name=slice_name)
            now_at = perception_slices.of_session(db.conn, session_id)
            if now_at == slice_name:
                deeds.append(Deed(title=title, entries=tuple(reversed(before))))
            elif frame and not perception.current(db.conn, session_id, Layer.FRAME, slice_name=slice_name):
                deeds.append(Deed(title=title, named=now_at))
            else:
                deeds.append(Deed(title=title, slice=slice_name, working=tuple(working)))
            return told

        told = await self._store.write(write)
        self._keep(deeds[-1])
        self._tell(told)

    def _keep(self, deed: Deed) -> None:
        self._deeds.append(deed)
        del self._deeds[:-_DEEDS]

    def _tell(self, entries: Sequence[PerceptionEntry]) -> None:
        if entries:
            self._publish(events.PerceptionChanged(session_id=self._session().id, entries=tuple(entries)))


def _at(db: Database, session_id: str) -> int:
    return perception.last_turn(db.conn, session_id)


def _holding(
    db: Database, session_id: str, layer: Layer, key: str, *, proposed: bool = False
) -> PerceptionEntry | None:
    entries = perception.current(db.conn, session_id, layer)
    return next((each for each in entries if each.key == key and each.proposed is proposed), None)
