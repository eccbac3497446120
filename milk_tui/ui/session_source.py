"""What entries of the transcript say, read from the store when they come into view."""

from __future__ import annotations

import asyncio
import sqlite3
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, cast

from milk_tui.core.errors import MilkError
from milk_tui.ui.transcript import EntryBody, Key, Outcome, Severity

if TYPE_CHECKING:
    from milk_tui.core.records import Leg, Turn
    from milk_tui.store import Store

CACHED_CHARS = 500_000
"""Characters of bodies that are kept; the transcript keeps what it has drawn itself."""


class SessionBodies:
    """The transcript's ``BodySource`` over one store."""

    def __init__(self, store: Store, loaded: Callable[[Sequence[Key]], None]) -> None:
        """``loaded`` is called on the event loop when bodies that were asked for are there."""
        self._store = store
        self._loaded = loaded
        self._bodies: OrderedDict[Key, EntryBody] = OrderedDict()
        self._chars = 0
        self._asked: set[Key] = set()
        self._tasks: set[asyncio.Task[None]] = set()

    def get(self, key: Key) -> EntryBody | None:
        body = self._bodies.get(key)
        if body is not None:
            self._bodies.move_to_end(key)
        return body

    def request(self, keys: Sequence[Key]) -> None:
        wanted = [key for key in keys if key not in self._asked]
        if not wanted:
            return
        self._asked.update(wanted)
        task = asyncio.get_running_loop().create_task(self._load(wanted))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def forget(self, key: Key) -> None:
        """The store has something newer to say about it."""
        body = self._bodies.pop(key, None)
        if body is not None:
            self._chars -= body.chars

    async def read(self, key: Key) -> EntryBody:
        """The newest body of one entry, kept. Raises MilkError."""
        body = (await self._store.read(lambda conn: bodies_of(conn, [key]))).get(key, EntryBody(()))
        self._keep(key, body)
        return body

    def close(self) -> None:
        """Nothing is read any more."""
        for task in self._tasks:
            task.cancel()

    async def _load(self, keys: Sequence[Key]) -> None:
        try:
            found = await self._store.read(lambda conn: bodies_of(conn, keys))
        except MilkError as error:
            said = Outcome(f"can't be read: {error.what}", Severity.ERROR, error.hint)
            found = {key: EntryBody((said,)) for key in keys}
        for key in keys:
            self._keep(key, found.get(key, EntryBody(())))
            self._asked.discard(key)
        self._loaded(keys)

    def _keep(self, key: Key, body: EntryBody) -> None:
        self.forget(key)
        self._bodies[key] = body
        self._chars += body.chars
        while self._chars > CACHED_CHARS and len(self._bodies) > 1:
            _, oldest = self._bodies.popitem(last=False)
            self._chars -= oldest.chars


def bodies_of(conn: sqlite3.Connection, keys: Sequence[Key]) -> dict[Key, EntryBody]:
    """The bodies of entries in one snapshot; an entry that is gone is left out."""
    from milk_tui.store import attachments, legs, percept_lists, receipts, turns
    from milk_tui.ui import bodies

    named = [cast(tuple[str, int], key) for key in keys if isinstance(key, tuple)]
    leg_ids = [number for kind, number in named if kind == "leg"]
    found = legs.bodies(conn, leg_ids)
    turn_ids = {number for kind, number in named if kind == "turn"}
    turn_ids |= {body.leg.turn_id for body in found.values()}
    prompts = turns.many(conn, turn_ids)
    came_with = attachments.shown(conn, [number for kind, number in named if kind == "turn"])
    captured = percept_lists.many(conn, [id_ for body in found.values() for id_ in body.percept_ids])
    result: dict[Key, EntryBody] = {}
    for kind, number in named:
        if kind == "turn" and number in prompts:
            result[kind, number] = bodies.prompt_body(prompts[number], came_with.get(number, ()))
        elif kind == "leg" and number in found:
            body = found[number]
            turn = prompts.get(body.leg.turn_id)
            result[kind, number] = bodies.leg_body(
                body.leg,
                body.tools,
                [captured[id_] for id_ in body.percept_ids if id_ in captured],
                receipts.get(conn, number) if body.leg.escalated else None,
                turn.route if turn is not None else None,
                broken_off=turn is not None and _is_broken_off(conn, turn, body.leg),
            )
    return result


def _is_broken_off(conn: sqlite3.Connection, turn: Turn, leg: Leg) -> bool:
    """The last leg answered, and the turn was not at its end with that: it was about to hand over."""
    from milk_tui.core.records import LegStatus, TurnStatus
    from milk_tui.store import legs

    if leg.status is not LegStatus.DONE or turn.status not in (TurnStatus.INTERRUPTED, TurnStatus.FAILED):
        return False
    return legs.of_turn(conn, turn.id)[-1].id == leg.id
