"""One running Claude Code: its lines in both directions, and the requests that either side makes (``agents.md`` §1.3).

The process lives as long as its session is open. Its prompts always go in as lines: given as an argument they would
break every permission request (§1.2).
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from typing import Any

from milk_tui.agents.child import CLOSE_S, ChildError, JsonChild
from milk_tui.core.text import clean, one_line

_log = logging.getLogger(__name__)

INITIALIZE_S = 60.0
"""How long the program may take to start; about 1 s is usual."""
INTERRUPT_S = 5.0
"""How long an interrupted turn may take to end; 15 ms are usual. Then the program is ended: resuming still works."""
PRE_TOOL = "pre-tool"
"""The name under which the hook before each tool call comes back."""

Answerer = Callable[[dict[str, Any]], Awaitable[dict[str, Any]]]
"""Answers a request of the program, such as a permission; cancelled when it is withdrawn."""


class ClaudeProcess:
    """``start``, then one ``turn`` after another; ``aclose`` at the end."""

    def __init__(
        self, command: Sequence[str], *, env: Mapping[str, str], cwd: str, answerer: Answerer, remote_id: str
    ) -> None:
        self.remote_id = remote_id
        """The session's id; the program says it again before every turn."""
        self.inside: set[str] = set()
        """Tool calls of sub-agents; known the moment they are heard of, before anything is asked about them."""
        self._child = JsonChild(command, env=env, cwd=cwd)
        self._answerer = answerer
        self._reader: asyncio.Task[None] | None = None
        self._turn: asyncio.Queue[dict[str, Any] | None] | None = None
        self._answers: dict[str, asyncio.Task[None]] = {}
        self._asked: dict[str, asyncio.Future[dict[str, Any]]] = {}
        self._numbers = itertools.count(1)
        self._settling: asyncio.Task[None] | None = None

    @property
    def alive(self) -> bool:
        return self._child.alive

    @property
    def complaint(self) -> str:
        return self._child.complaint

    def ending(self) -> str:
        return self._child.ending()

    async def start(self) -> None:
        """Start and initialize. Raises ChildError when the program isn't there, ends at once, or does not answer."""
        await self._child.start()
        self._reader = asyncio.create_task(self._read())
        hooks = {"PreToolUse": [{"hookCallbackIds": [PRE_TOOL]}]}
        try:
            async with asyncio.timeout(INITIALIZE_S):
                await self.request({"subtype": "initialize", "hooks": hooks})
        except TimeoutError as error:
            raise ChildError(
                f"Claude Code did not answer in {INITIALIZE_S:.0f} s after its start.", "Update it: `claude update`."
            ) from error

    async def request(self, request: dict[str, Any]) -> dict[str, Any]:
        """Ask the program for something. Raises ChildError for an error answer, or when it goes away."""
        request_id = f"milk-{next(self._numbers)}"
        answer: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        self._asked[request_id] = answer
        try:
            await self._child.send({"type": "control_request", "request_id": request_id, "request": request})
            return await answer
        finally:
            self._asked.pop(request_id, None)

    async def turn(
        self, content: list[dict[str, Any]], uuid: str, silence_s: float
    ) -> AsyncGenerator[dict[str, Any] | None, None]:
        """Send a prompt and get every line until the caller stops, or the program's output ends. ``None`` says that
        nothing came for another ``silence_s`` seconds, though the program waited for nothing of ours.
        """
        await self.settled()
        queue: asyncio.Queue[dict[str, Any] | None] = asyncio.Queue()
        self._turn = queue
        try:
            await self._child.send(
                {
                    "type": "user",
                    "message": {"role": "user", "content": content},
                    "parent_tool_use_id": None,
                    "session_id": self.remote_id or "default",
                    "uuid": uuid,
                    "client_composed": True,
                }
            )
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
        finally:
            self._turn = None

    def abandon(self) -> None:
        """The turn is no longer wanted: interrupt it, and be ready for the next one. Returns at once."""
        self._settling = asyncio.create_task(self._interrupt())

    async def settled(self) -> None:
        """Returns when an interrupted turn has ended."""
        if self._settling is not None:
            await asyncio.shield(self._settling)

    async def _interrupt(self) -> None:
        queue: asyncio.Queue[dict[str, Any] | None] = asyncio.Queue()
        self._turn = queue
        try:
            async with asyncio.timeout(INTERRUPT_S):
                await self.request({"subtype": "interrupt"})
                while (message := await queue.get()) is not None and message.get("type") != "result":
                    pass
        except (ChildError, TimeoutError):
            await self._child.aclose(grace_s=0)
        finally:
            if self._turn is queue:
                self._turn = None
            self._withdraw_all()

    async def aclose(self, *, at_once: bool = False) -> None:
        """End the program; what it has stored of the session stays. ``at_once``: without waiting."""
        if self._settling is not None:
            await asyncio.gather(self._settling, return_exceptions=True)
        self._withdraw_all()
        await self._child.aclose(grace_s=0 if at_once else CLOSE_S)
        if self._reader is not None:
            self._reader.cancel()
            await asyncio.gather(self._reader, return_exceptions=True)

    async def _read(self) -> None:
        try:
            async for message in self._child.messages():
                self._hear(message)
            await self._child.finished()
        finally:
            self._withdraw_all()
            for answer in self._asked.values():
                if not answer.done():
                    answer.set_exception(ChildError(self.ending()))
            if self._turn is not None:
                self._turn.put_nowait(None)

    def _hear(self, message: dict[str, Any]) -> None:
        self.inside |= _inside(message)
        match message.get("type"):
            case "control_request":
                request_id, request = str(message.get("request_id")), message.get("request")
                told = request if isinstance(request, dict) else {}
                self._answers[request_id] = asyncio.create_task(self._answer(request_id, told))
            case "control_cancel_request":
                task = self._answers.pop(str(message.get("request_id")), None)
                if task is not None:
                    task.cancel()
            case "control_response":
                self._answered(message.get("response"))
            case _ if self._turn is not None:
                self._turn.put_nowait(message)

    async def _answer(self, request_id: str, request: dict[str, Any]) -> None:
        told: dict[str, Any] = {"subtype": "success", "request_id": request_id}
        try:
            told["response"] = await self._answerer(request)
        except asyncio.CancelledError:
            raise
        except Exception as error:
            _log.exception("a request of Claude Code was not answered")
            told |= {"subtype": "error", "error": f"milk: {type(error).__name__}"}
        self._answers.pop(request_id, None)
        with contextlib.suppress(ChildError):
            await self._child.send({"type": "control_response", "response": told})

    def _answered(self, response: object) -> None:
        if not isinstance(response, dict):
            return
        answer = self._asked.get(str(response.get("request_id")))
        if answer is None or answer.done():
            return
        if response.get("subtype") == "success":
            told = response.get("response")
            answer.set_result(told if isinstance(told, dict) else {})
        else:
            said = one_line(clean(str(response.get("error") or "no reason")), 300)
            answer.set_exception(ChildError(f"Claude Code refused a request of milk: {said}"))

    def _withdraw_all(self) -> None:
        for task in self._answers.values():
            task.cancel()
        self._answers.clear()


def _inside(message: dict[str, Any]) -> set[str]:
    """The calls that a line says are a sub-agent's."""
    match message:
        case {"type": "assistant", "parent_tool_use_id": str(), "message": {"content": list(blocks)}}:
            return {str(block.get("id")) for block in blocks if isinstance(block, dict) and block.get("id")}
        case {"request": {"agent_id": str(), "tool_use_id": str(call_id)}}:
            return {call_id}
        case {"request": {"tool_use_id": str(call_id), "input": {"agent_id": str()}}}:
            return {call_id}
        case _:
            return set()
