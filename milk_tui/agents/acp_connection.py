"""One running agent that speaks the Agent Client Protocol: JSON-RPC, one object a line (``agents.md`` §3)."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from typing import Any

from milk_tui.agents.child import ChildError, JsonChild
from milk_tui.core.errors import MilkError
from milk_tui.core.text import clean, one_line

_log = logging.getLogger(__name__)

CANCEL_S = 5.0
"""How long a cancelled turn may take to end; then the program is ended."""
METHOD_NOT_FOUND = -32601
AUTH_REQUIRED = -32000

Answerer = Callable[[str, dict[str, Any]], Awaitable[dict[str, Any] | None]]
"""``method, params -> result``; ``None`` for a method that we don't have. Cancelled when the turn is."""


class AcpError(MilkError):
    """The agent answered with an error; ``code`` is the protocol's."""

    def __init__(self, what: str, code: int) -> None:
        super().__init__(what)
        self.code = code


class AcpConnection:
    """``start``, then requests and turns; ``aclose`` at the end."""

    def __init__(self, command: Sequence[str], *, env: Mapping[str, str], cwd: str, answerer: Answerer) -> None:
        self._child = JsonChild(command, env=env, cwd=cwd)
        self._answerer = answerer
        self._reader: asyncio.Task[None] | None = None
        self._asked: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._answers: set[asyncio.Task[None]] = set()
        self._updates: asyncio.Queue[dict[str, Any] | None] | None = None
        self._numbers = itertools.count(1)
        self._settling: asyncio.Task[None] | None = None

    @property
    def alive(self) -> bool:
        return self._child.alive

    def ending(self) -> str:
        return self._child.ending()

    async def start(self) -> None:
        """Raises ChildError."""
        await self._child.start()
        self._reader = asyncio.create_task(self._read())

    async def request(self, method: str, params: dict[str, Any], within_s: float | None = None) -> dict[str, Any]:
        """The result. Raises AcpError for an error answer, ChildError when the program goes away or is too slow."""
        number, answer = self._ask()
        try:
            await self._child.send({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
            async with asyncio.timeout(within_s):
                return await answer
        except TimeoutError as error:
            raise ChildError(f"The agent did not answer {method} in {within_s:.0f} s.") from error
        finally:
            self._asked.pop(number, None)

    async def turn(
        self, session: str, prompt: list[dict[str, Any]], silence_s: float
    ) -> AsyncGenerator[dict[str, Any] | None, None]:
        """Send a prompt; yields its updates, and at last ``{"result": …}``. ``None``: nothing came for another
        ``silence_s`` seconds though the agent waited for nothing of ours. Raises as ``request`` does.
        """
        await self.settled()
        queue: asyncio.Queue[dict[str, Any] | None] = asyncio.Queue()
        self._updates = queue
        number, answer = self._ask()
        answer.add_done_callback(lambda _: queue.put_nowait(None))
        ended = False
        try:
            params = {"sessionId": session, "prompt": prompt}
            await self._child.send({"jsonrpc": "2.0", "id": number, "method": "session/prompt", "params": params})
            while True:
                try:
                    async with asyncio.timeout(silence_s):
                        update = await queue.get()
                except TimeoutError:
                    if not self._answers:
                        yield None
                    continue
                if update is None:
                    ended = True
                    yield {"result": answer.result()}
                    return
                yield update
        finally:
            if ended or not self.alive:
                self._updates = None
                self._asked.pop(number, None)
            else:
                self._settling = asyncio.create_task(self._cancel(session, number, answer))

    def note(self, update: dict[str, Any]) -> None:
        """Put something among the updates of the turn that runs, in their order."""
        if self._updates is not None:
            self._updates.put_nowait(update)

    async def settled(self) -> None:
        """Returns when a cancelled turn has ended."""
        if self._settling is not None:
            await asyncio.shield(self._settling)

    async def aclose(self) -> None:
        if self._settling is not None:
            await asyncio.gather(self._settling, return_exceptions=True)
        self._withdraw()
        await self._child.aclose(grace_s=1.0)
        if self._reader is not None:
            self._reader.cancel()
            await asyncio.gather(self._reader, return_exceptions=True)

    def _ask(self) -> tuple[int, asyncio.Future[dict[str, Any]]]:
        number = next(self._numbers)
        answer: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        self._asked[number] = answer
        return number, answer

    async def _cancel(self, session: str, number: int, answer: asyncio.Future[dict[str, Any]]) -> None:
        try:
            with contextlib.suppress(ChildError):
                params = {"sessionId": session}
                await self._child.send({"jsonrpc": "2.0", "method": "session/cancel", "params": params})
            self._withdraw()
            await asyncio.wait({answer}, timeout=CANCEL_S)
            if not answer.done():
                await self._child.aclose(grace_s=0)
        finally:
            self._updates = None
            self._asked.pop(number, None)
            if answer.done() and not answer.cancelled():
                answer.exception()

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

    def _hear(self, message: dict[str, Any]) -> None:
        method, params = message.get("method"), message.get("params")
        params = params if isinstance(params, dict) else {}
        if isinstance(method, str) and "id" in message:
            task = asyncio.create_task(self._answer(message["id"], method, params))
            self._answers.add(task)
            task.add_done_callback(self._answers.discard)
        elif method == "session/update":
            if isinstance(update := params.get("update"), dict):
                self.note(update)
        elif method is None:
            self._answered(message)

    def _answered(self, message: dict[str, Any]) -> None:
        number = message.get("id")
        answer = self._asked.get(number) if isinstance(number, int) else None
        if answer is None or answer.done():
            return
        error = message.get("error")
        if isinstance(error, dict):
            answer.set_exception(_error(error))
            answer.exception()
        else:
            result = message.get("result")
            answer.set_result(result if isinstance(result, dict) else {})

    async def _answer(self, number: Any, method: str, params: dict[str, Any]) -> None:
        reply: dict[str, Any] = {"jsonrpc": "2.0", "id": number}
        try:
            result = await self._answerer(method, params)
            if result is None:
                reply["error"] = {"code": METHOD_NOT_FOUND, "message": f"Method not found: {one_line(method, 80)}"}
            else:
                reply["result"] = result
        except asyncio.CancelledError:
            reply["result"] = {"outcome": {"outcome": "cancelled"}}
        except Exception as error:
            _log.exception("a request of an agent was not answered")
            reply["error"] = {"code": -32603, "message": f"milk: {type(error).__name__}"}
        with contextlib.suppress(ChildError):
            await self._child.send(reply)

    def _withdraw(self) -> None:
        for task in tuple(self._answers):
            task.cancel()


def _error(error: dict[str, Any]) -> AcpError:
    code = error.get("code")
    said = str(error.get("message") or "no reason")
    data = error.get("data")
    if isinstance(data, dict):
        data = data.get("message") or data.get("details") or data.get("error")
    if isinstance(data, str) and data and data not in said:
        said = f"{said}: {data}"
    return AcpError(one_line(clean(said), 400), code if isinstance(code, int) else 0)
