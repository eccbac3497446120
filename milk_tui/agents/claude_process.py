"""One running Claude Code: its lines in both directions, and the requests that either side makes (``agents.md`` §1.3).

The process lives as long as its session is open. Its prompts always go in as lines: given as an argument they would
break every permission request (§1.2).
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing

from milk_tui.agents.child import ChildError
from milk_tui.agents.peer import Message, Peer
from milk_tui.core.text import clean, one_line

_log = logging.getLogger(__name__)

INITIALIZE_S = 60.0
"""How long the program may take to start; about 1 s is usual."""
INTERRUPT_S = 5.0
"""How long an interrupted turn may take to end; 15 ms are usual. Then the program is ended: resuming still works."""
PRE_TOOL = "pre-tool"
"""The name under which the hook before each tool call comes back."""

Answerer = Callable[[Message], Awaitable[Message]]
"""Answers a request of the program, such as a permission; cancelled when it is withdrawn."""


class ClaudeProcess(Peer):
    """``start``, then one ``turn`` after another; ``aclose`` at the end."""

    def __init__(
        self, command: Sequence[str], *, env: Mapping[str, str], cwd: str, answerer: Answerer, remote_id: str
    ) -> None:
        self.remote_id = remote_id
        """The session's id; the program says it again before every turn."""
        self.inside: set[str] = set()
        """Tool calls of sub-agents; known the moment they are heard of, before anything is asked about them."""
        super().__init__(command, env=env, cwd=cwd)
        self._answerer = answerer

    @property
    def complaint(self) -> str:
        return self._child.complaint

    async def start(self) -> None:
        """Start and initialize. Raises ChildError when the program isn't there, ends at once, or does not answer."""
        await self._launch()
        hooks = {"PreToolUse": [{"hookCallbackIds": [PRE_TOOL]}]}
        try:
            async with asyncio.timeout(INITIALIZE_S):
                await self.request({"subtype": "initialize", "hooks": hooks})
        except TimeoutError as error:
            raise ChildError(
                f"Claude Code did not answer in {INITIALIZE_S:.0f} s after its start.", "Update it: `claude update`."
            ) from error

    async def request(self, request: Message) -> Message:
        """Ask the program for something. Raises ChildError for an error answer, or when it goes away."""
        request_id = f"milk-{next(self._numbers)}"
        return await self._ask(request_id, {"type": "control_request", "request_id": request_id, "request": request})

    async def turn(self, content: list[Message], uuid: str, silence_s: float) -> AsyncGenerator[Message | None, None]:
        """Send a prompt and get every line until the caller stops, or the program's output ends. ``None`` says that
        nothing came for another ``silence_s`` seconds, though the program waited for nothing of ours.
        """
        await self.settled()
        queue: asyncio.Queue[Message | None] = asyncio.Queue()
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
            async with aclosing(self._brought(queue, silence_s)) as messages:
                async for message in messages:
                    yield message
        finally:
            self._turn = None

    def abandon(self) -> None:
        """The turn is no longer wanted: interrupt it, and be ready for the next one. Returns at once."""
        self._settling = asyncio.create_task(self._interrupt())

    async def _interrupt(self) -> None:
        queue: asyncio.Queue[Message | None] = asyncio.Queue()
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
            self._withdraw()

    def _hear(self, message: Message) -> None:
        self.inside |= _inside(message)
        match message.get("type"):
            case "control_request":
                request_id, request = str(message.get("request_id")), message.get("request")
                told = request if isinstance(request, dict) else {}
                self._take_up(request_id, self._answer(request_id, told))
            case "control_cancel_request":
                if (task := self._answers.get(str(message.get("request_id")))) is not None:
                    task.cancel()
            case "control_response":
                self._answered(message.get("response"))
            case _ if self._turn is not None:
                self._turn.put_nowait(message)

    async def _answer(self, request_id: str, request: Message) -> None:
        told: Message = {"subtype": "success", "request_id": request_id}
        try:
            told["response"] = await self._answerer(request)
        except asyncio.CancelledError:
            raise
        except Exception as error:
            _log.exception("a request of Claude Code was not answered")
            told |= {"subtype": "error", "error": f"milk: {type(error).__name__}"}
        with contextlib.suppress(ChildError):
            await self._child.send({"type": "control_response", "response": told})

    def _answered(self, response: object) -> None:
        if not isinstance(response, dict):
            return
        answer = self._expected(str(response.get("request_id")))
        if answer is None:
            return
        if response.get("subtype") == "success":
            told = response.get("response")
            answer.set_result(told if isinstance(told, dict) else {})
        else:
            said = one_line(clean(str(response.get("error") or "no reason")), 300)
            answer.set_exception(ChildError(f"Claude Code refused a request of milk: {said}"))


def _inside(message: Message) -> set[str]:
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
