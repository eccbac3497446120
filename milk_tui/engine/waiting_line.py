"""The prompts of a session that wait for their turn: shown, taken back, put in another order."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

from milk_tui.core.records import Turn
from milk_tui.engine import events
from milk_tui.engine.turn import Asked
from milk_tui.store import Store, turns

BEHIND = "waits for the turn before it"
NO_MODEL = "waits until a model is found"


@dataclass(frozen=True, slots=True)
class Waiting:
    turn: Turn
    asked: Asked


class WaitingLine:
    """In the order in which they will be worked on, which is that of their turns in the store."""

    def __init__(self, store: Store, session_id: str, publish: Callable[[events.AnyEvent], None]) -> None:
        self._store = store
        self._session_id = session_id
        self._publish = publish
        self._line: deque[Waiting] = deque()

    def __len__(self) -> int:
        return len(self._line)

    @property
    def turns(self) -> tuple[Turn, ...]:
        return tuple(waiting.turn for waiting in self._line)

    def add(self, waiting: Waiting, why: str) -> None:
        """At the end; ``why`` it waits is told when it does."""
        self._line.append(waiting)
        if why:
            self._tell(waiting.turn, why)

    def next(self) -> Waiting:
        return self._line.popleft()

    def clear(self) -> None:
        self._line.clear()

    async def drop(self, turn_id: int) -> str | None:
        """Take a prompt out; its text, or ``None`` when it is too late."""
        waiting = next((w for w in self._line if w.turn.id == turn_id), None)
        if waiting is None:
            return None
        self._line.remove(waiting)
        if await self._store.write(partial(turns.drop, turn_id=turn_id)) is None:
            return None
        self._publish(events.TurnDropped(session_id=self._session_id, turn_id=turn_id, prompt=waiting.turn.prompt))
        return waiting.turn.prompt

    async def move(self, turn_id: int, step: int) -> int | None:
        """Exchange a prompt with the one before it (-1) or after it (1): the turns keep their places, what they say is
        exchanged. The turn that says it now; ``None`` when there is no such neighbour, or it is too late.

        Both are out of the line meanwhile, so that work on neither begins.
        """
        at = next((i for i, w in enumerate(self._line) if w.turn.id == turn_id), -1)
        if at < 0 or not 0 <= at + step < len(self._line):
            return None
        first, second = sorted((self._line[at], self._line[at + step]), key=lambda w: w.turn.id)
        self._line.remove(first)
        self._line.remove(second)
        swap = partial(turns.exchange, one_id=first.turn.id, other_id=second.turn.id)
        moved = None
        try:
            moved = await self._store.write(swap)
        finally:
            if moved is not None:
                first, second = replace(second, turn=moved[0]), replace(first, turn=moved[1])
            self._line = deque(sorted((*self._line, first, second), key=lambda w: w.turn.id))
        if moved is None:
            return None
        for waiting in (first, second):
            self._tell(waiting.turn, BEHIND)
        return first.turn.id if step < 0 else second.turn.id

    def _tell(self, turn: Turn, why: str) -> None:
        self._publish(
            events.TurnQueued(
                session_id=self._session_id,
                turn_id=turn.id,
                prompt=turn.prompt,
                created_ms=turn.created_ms,
                why=why,
            )
        )
