"""One running agent that speaks the Agent Client Protocol: JSON-RPC, one object a line (``agents.md`` §3)."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from typing import Any

from milk_tui.agents.child import ChildError
from milk_tui.agents.peer import Message, Peer
from milk_tui.core.errors import MilkError
from milk_tui.core.text import clean, one_line

_log = logging.getLogger(__name__)

CANCEL_S = 5.0
"""How long a cancelled turn may take to end; then the program is ended."""
LEAVE_S = 1.0
"""How long the program may take to leave once its input is closed: most agents wait for a signal."""
METHOD_NOT_FOUND = -32601
AUTH_REQUIRED = -32000

Answerer = Callable[[str, Message], Awaitable[Message | None]]
"""``method, params -> result``; ``None`` for a method that we don't have. Cancelled when the turn is."""


class AcpError(MilkError):
    """The agent answered with an error; ``code`` is the protocol's."""

    def __init__(self, what: str, code: int) -> None:
        super().__init__(what)
        self.code = code


class AcpConnection(Peer):
    """``start``, then requests and turns; ``aclose`` at the end."""

    def __init__(self, command: Sequence[str], *, env: Mapping[str, str], cwd: str, answerer: Answerer) -> None:
        super().__init__(command, env=env, cwd=cwd)
        self._answerer = answerer
        self._heard = itertools.count()
        """Numbers the agent's requests: its own ids may be anything, and come twice."""

    async def start(self) -> None:
        """Raises ChildError."""
        await self._launch()

    async def aclose(self, grace_s: float = LEAVE_S) -> None:
        await super().aclose(grace_s)

    async def request(self, method: str, params: Message, within_s: float | None = None) -> Message:
        """The result. Raises AcpError for an error answer, ChildError when the program goes away or is too slow."""
        number = next(self._numbers)
        try:
            async with asyncio.timeout(within_s):
                return await self._ask(number, _request(number, method, params))
        except TimeoutError as error:
            raise ChildError(f"The agent did not answer {method} in {within_s:.0f} s.") from error

    async def turn(self, session: str, prompt: list[Message], silence_s: float) -> AsyncGenerator[Message | None, None]:
        """Send a prompt; yields its updates, and at last ``{"result": …}``. ``None``: nothing came for another
        ``silence_s`` seconds though the agent waited for nothing of ours. Raises as ``request`` does.
        """
        await self.settled()
        queue: asyncio.Queue[Message | None] = asyncio.Queue()
        self._turn = queue
        number = next(self._numbers)
        answer = self._expect(number)
        answer.add_done_callback(lambda _: queue.put_nowait(None))
        ended = False
        try:
            await self._child.send(_request(number, "session/prompt", {"sessionId": session, "prompt": prompt}))
            async with aclosing(self._brought(queue, silence_s)) as updates:
                async for update in updates:
                    yield update
            ended = True
            yield {"result": answer.result()}
        finally:
            if ended or not self.alive:
                self._turn = None
                self._asked.pop(number, None)
            else:
                self._settling = asyncio.create_task(self._cancel(session, number, answer))

    def note(self, update: Message) -> None:
        """Put something among the updates of the turn that runs, in their order."""
        if self._turn is not None:
            self._turn.put_nowait(update)

    async def _cancel(self, session: str, number: int, answer: asyncio.Future[Message]) -> None:
        try:
            with contextlib.suppress(ChildError):
                params = {"sessionId": session}
                await self._child.send({"jsonrpc": "2.0", "method": "session/cancel", "params": params})
            self._withdraw()
            await asyncio.wait({answer}, timeout=CANCEL_S)
            if not answer.done():
                await self._child.aclose(grace_s=0)
        finally:
            self._turn = None
            self._asked.pop(number, None)
            if answer.done() and not answer.cancelled():
                answer.exception()

    def _hear(self, message: Message) -> None:
        method, params = message.get("method"), message.get("params")
        params = params if isinstance(params, dict) else {}
        if isinstance(method, str) and "id" in message:
            number = message["id"]
            self._take_up(next(self._heard), self._answer(number, method, params))
        elif method == "session/update":
            if isinstance(update := params.get("update"), dict):
                self.note(update)
        elif method is None:
            self._answered(message)

    def _answered(self, message: Message) -> None:
        number = message.get("id")
        answer = self._expected(number) if isinstance(number, int) else None
        if answer is None:
            return
        error = message.get("error")
        if isinstance(error, dict):
            answer.set_exception(_error(error))
            answer.exception()
        else:
            result = message.get("result")
            answer.set_result(result if isinstance(result, dict) else {})

    async def _answer(self, number: Any, method: str, params: Message) -> None:
        reply: Message = {"jsonrpc": "2.0", "id": number}
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


def _request(number: int, method: str, params: Message) -> Message:
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


def _error(error: Message) -> AcpError:
    code = error.get("code")
    said = str(error.get("message") or "no reason")
    data = error.get("data")
    if isinstance(data, dict):
        data = data.get("message") or data.get("details") or data.get("error")
    if isinstance(data, str) and data and data not in said:
        said = f"{said}: {data}"
    return AcpError(one_line(clean(said), 400), code if isinstance(code, int) else 0)
