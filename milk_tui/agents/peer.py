"""One running program that is spoken with in lines of JSON: what either side asks of the other, one turn after another,
and what becomes of all that when a turn is cancelled or the program ends (``agents.md`` §1.3, §3)."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncGenerator, Coroutine, Hashable, Mapping, Sequence
from typing import Any

from milk_tui.agents.child import CLOSE_S, ChildError, JsonChild

Message = dict[str, Any]


class Peer:
    """Subclasses hear messages, and know how a request, a prompt and a cancellation are written."""

    def __init__(self, command: Sequence[str], *, env: Mapping[str, str], cwd: str) -> None:
        self._child = JsonChild(command, env=env, cwd=cwd)
        self._numbers = itertools.count(1)
        self._asked: dict[Hashable, asyncio.Future[Message]] = {}
        """What we wait for, by the id of the request."""
        self._answers: dict[Hashable, asyncio.Task[None]] = {}
        """What the program waits for, by the id of its request."""
        self._turn: asyncio.Queue[Message | None] | None = None
        """What the turn that runs has brought; ``None`` is its end."""
        self._reader: asyncio.Task[None] | None = None
        self._settling: asyncio.Task[None] | None = None

    @property
    def alive(self) -> bool:
        return self._child.alive

    def ending(self) -> str:
        return self._child.ending()

    async def settled(self) -> None:
        """Returns when a cancelled turn has ended."""
        if self._settling is not None:
            await asyncio.shield(self._settling)

    async def aclose(self, grace_s: float = CLOSE_S) -> None:
        """End the program; what it has stored of the session stays."""
        if self._settling is not None:
            await asyncio.gather(self._settling, return_exceptions=True)
        self._withdraw()
        await self._child.aclose(grace_s=grace_s)
        if self._reader is not None:
            self._reader.cancel()
            await asyncio.gather(self._reader, return_exceptions=True)

    async def _launch(self) -> None:
        """Raises ChildError."""
        await self._child.start()
        self._reader = asyncio.create_task(self._read())

    def _expect(self, key: Hashable) -> asyncio.Future[Message]:
        answer: asyncio.Future[Message] = asyncio.get_running_loop().create_future()
        self._asked[key] = answer
        return answer

    def _expected(self, key: Hashable) -> asyncio.Future[Message] | None:
        """What waits for an answer with this id; ``None`` when nothing does any more."""
        answer = self._asked.get(key)
        return None if answer is None or answer.done() else answer

    async def _ask(self, key: Hashable, line: Message) -> Message:
        """Send a request and wait. Raises ChildError when the program goes away."""
        answer = self._expect(key)
        try:
            await self._child.send(line)
            return await answer
        finally:
            self._asked.pop(key, None)

    def _take_up(self, key: Hashable, answering: Coroutine[Any, Any, None]) -> None:
        """Answer a request of the program beside everything else."""

        def done(task: asyncio.Task[None]) -> None:
            if self._answers.get(key) is task:
                del self._answers[key]

        task = self._answers[key] = asyncio.create_task(answering)
        task.add_done_callback(done)

    def _withdraw(self) -> None:
        """Nothing that the program has asked is answered any more."""
        for task in tuple(self._answers.values()):
            task.cancel()

    async def _brought(
        self, queue: asyncio.Queue[Message | None], silence_s: float
    ) -> AsyncGenerator[Message | None, None]:
        """What a turn brings until its end. ``None`` says that nothing came for another ``silence_s`` seconds, though
        the program waited for nothing of ours."""
        while True:
            try:
                async with asyncio.timeout(silence_s):
                    message = await queue.get()
            except TimeoutError:
                if not self._answers:
                    yield None
                continue
            if message is None:
                return
            yield message

    async def _read(self) -> None:
        try:
            async for message in self._child.messages():
                self._hear(message)
            await self._child.finished()
        finally:
            self._withdraw()
            for answer in self._asked.values():
                if not answer.done():
                    answer.set_exception(ChildError(f"{self.ending()}."))
            if self._turn is not None:
                self._turn.put_nowait(None)

    def _hear(self, message: Message) -> None:
        raise NotImplementedError
