"""Claude Code as an agent: the person's own program, one long-lived process for each session (``agents.md`` §1).

What never changes goes into the one appended system prompt file, everything else into the prompt's turn.
"""

from __future__ import annotations

import asyncio
import re
import uuid
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from milk_tui.agents import mcp_tools
from milk_tui.agents.asking import ask, questions_of, refusal, request_for
from milk_tui.agents.base import Caps, LegRequest
from milk_tui.agents.child import ChildError
from milk_tui.agents.claude_process import PRE_TOOL, ClaudeProcess
from milk_tui.agents.claude_settings import ClaudeSettings, write_static
from milk_tui.agents.claude_turn import ClaudeTurn, failure
from milk_tui.agents.events import AgentEvent, LegEnd, Progress, RemoteStarted
from milk_tui.agents.images import parted
from milk_tui.core import context
from milk_tui.core.permissions import PermissionRequest
from milk_tui.core.records import ContextPlan, ErrorKind, LegError
from milk_tui.core.text import one_line

HOOK_CHARS = 9_000
"""Of what a hook may add; above about 10,000 the program shows the model a preview only (``agents.md`` §1.4)."""
HOOK_S = 2.0
SILENT_S = 60.0
"""Silence after which the person is told; they may stop the turn then."""
OLDEST = (2, 1, 0)

_GONE = re.compile(r"(?i)no conversation found|session .{0,80}not found")
_SUB_AGENT = "A sub-agent keeps nothing in milk's memory; say it in your report instead."


@dataclass(slots=True)
class _Open:
    """A session's process and the leg that it works on."""

    process: ClaudeProcess
    static: str
    leg: LegRequest | None = None
    spent: float | None = None
    last_leg: int = 0
    warned: bool = False


class ClaudeAgent:
    """See ``Agent``. ``model`` is the configured one until the program says which it uses."""

    def __init__(self, name: str, settings: ClaudeSettings) -> None:
        self.name = name
        self.model = settings.model or "default"
        self.settings = settings
        self.caps = Caps(
            stateless=False,
            cost=True,
            hooks=True,
            resume=True,
            fork=True,
            images=True,
            own_tools=True,
            reads=("CLAUDE.md",),
        )
        self._open: dict[str, _Open] = {}
        self._written: set[Path] = set()

    async def run(self, request: LegRequest) -> AsyncGenerator[AgentEvent, None]:
        try:
            async with aclosing(self._leg(request)) as events:
                async for event in events:
                    yield event
        except (ChildError, OSError) as error:
            yield LegEnd("error", self._problem(request, error))
        except Exception as error:
            what = f"Driving {self.name} failed: {type(error).__name__}."
            yield LegEnd("error", LegError(kind=ErrorKind.INTERNAL, message=what, hint="Send the prompt again."))

    async def warm(self, plan: ContextPlan) -> None:
        """Nothing: the program keeps its own cache."""

    async def leave(self, session_id: str) -> None:
        """The session is closed: its process ends; it can be resumed."""
        found = self._open.pop(session_id, None)
        if found is not None:
            await found.process.aclose()

    async def aclose(self) -> None:
        await asyncio.gather(*(self.leave(session) for session in tuple(self._open)))
        for file in self._written:
            file.unlink(missing_ok=True)

    async def _leg(self, request: LegRequest) -> AsyncGenerator[AgentEvent, None]:
        if not self._ready(request):
            yield Progress(f"starting {self.name}")
        found = await self._process(request)
        turn = ClaudeTurn(str(uuid.uuid4()), spent=found.spent)
        found.leg = request
        try:
            async with aclosing(found.process.turn(_content(request), turn.uuid, SILENT_S)) as lines:
                silent = 0
                async for message in lines:
                    silent = 0 if message else silent + 1
                    if message is None:
                        yield Progress(f"nothing from {self.name} for {silent * SILENT_S:.0f} s; esc stops it")
                        continue
                    for event in turn.feed(message):
                        if isinstance(event, RemoteStarted):
                            self._started(found, turn, event)
                            if (old := self._old(found, turn)) is not None:
                                yield old
                        yield event
                    if turn.end is not None:
                        return
            await self.leave(request.session_id)
            raise ChildError(f"{found.process.ending()}.", "Send the prompt again: the conversation is resumed.")
        finally:
            found.spent = turn.spent
            found.leg = None
            found.last_leg = request.leg_id
            if turn.end is None and found.process.alive:
                found.process.abandon()

    def _ready(self, request: LegRequest) -> bool:
        found = self._open.get(request.session_id)
        return found is not None and found.process.alive and _fits(found, request)

    async def _process(self, request: LegRequest) -> _Open:
        """The session's process, started or resumed when it does not run. Raises ChildError."""
        found = self._open.get(request.session_id)
        if found is not None:
            await found.process.settled()
            if found.process.alive and _fits(found, request):
                return found
            await self.leave(request.session_id)
        resume = bool(request.remote_id)
        session = request.remote_id or str(uuid.uuid4())
        static = await asyncio.to_thread(write_static, self.settings.folder, request.static) if request.static else None
        if static is not None:
            self._written.add(static)
        command = self.settings.arguments(
            session=session,
            resume=resume,
            model=self.settings.model or request.remote_model,
            static=static,
            tools=bool(request.tools),
        )
        process = ClaudeProcess(
            command,
            env=self.settings.env(),
            cwd=request.directory or ".",
            answerer=lambda asked: self._answer(request.session_id, asked),
            remote_id=session,
        )
        found = _Open(process, request.static, spent=request.session_cost_usd if resume else None)
        found.leg = request
        self._open[request.session_id] = found
        try:
            await process.start()
        except BaseException:
            self._open.pop(request.session_id, None)
            await process.aclose(grace_s=0)
            raise
        return found

    def _started(self, found: _Open, turn: ClaudeTurn, event: RemoteStarted) -> None:
        found.process.remote_id = event.remote_id
        self.model = self.settings.model or event.model or self.model

    def _old(self, found: _Open, turn: ClaudeTurn) -> Progress | None:
        """A word, once, about a program older than any that was tried."""
        numbers = tuple(int(part) for part in re.findall(r"\d+", turn.version)[:3])
        if found.warned or not numbers or numbers >= OLDEST:
            return None
        found.warned = True
        return Progress(f"Claude Code {one_line(turn.version, 20)} is old and may misbehave; run `claude update`")

    def _problem(self, request: LegRequest, error: Exception) -> LegError:
        """What the person is told when the program could not be driven to the end of the turn."""
        said = error.what if isinstance(error, ChildError) else str(error)
        hint = error.hint if isinstance(error, ChildError) else ""
        if request.remote_id and _GONE.search(said):
            what = f"{self.name} no longer has this conversation."
            return LegError(kind=ErrorKind.REMOTE_GONE, message=what, hint="It is begun anew.")
        known = failure(None, said)
        if known.kind in (ErrorKind.AUTH, ErrorKind.CONTEXT_TOO_LONG):
            return known
        kind = ErrorKind.NO_AGENT if "no program" in said else ErrorKind.HOST_DIED
        return LegError(kind=kind, message=one_line(said, 400), hint=hint or "Send the prompt again.")

    async def _answer(self, session_id: str, asked: dict[str, Any]) -> dict[str, Any]:
        """A request of the program: a permission, a question, a hook, a call of one of our tools."""
        found = self._open.get(session_id)
        leg = found.leg if found is not None else None
        match asked.get("subtype"):
            case "can_use_tool":
                return await self._permission(found, leg, asked)
            case "hook_callback" if asked.get("callback_id") == PRE_TOOL:
                return await self._boundary(found, leg, asked)
            case "mcp_message" if isinstance(asked.get("message"), dict):
                message = asked["message"]
                inside = found is not None and _call_of(message) in found.process.inside
                refused = _SUB_AGENT if inside else "" if leg else "No turn is under way."
                tools = leg.tools if leg else ()
                reply = await mcp_tools.answer(message, tools, leg.run_tool if leg else None, refused=refused)
                return {"mcp_response": reply}
            case _:
                return {}

    async def _permission(self, found: _Open | None, leg: LegRequest | None, asked: dict[str, Any]) -> dict[str, Any]:
        given = asked.get("input")
        arguments: dict[str, Any] = given if isinstance(given, dict) else {}
        tool = str(asked.get("tool_name") or "a tool")
        if leg is None:
            return {"behavior": "deny", "message": "No turn is under way in milk."}
        call_id = str(asked.get("tool_use_id") or "")
        request = request_for(
            leg,
            self.name,
            tool,
            arguments,
            call_id=call_id,
            outside=asked.get("decision_reason_type") == "workingDir",
        )
        if found is not None and call_id in found.process.inside:
            request = replace(request, title=f"{request.title} (asked by a sub-agent)")
        if tool == "AskUserQuestion":
            return await self._question(leg, request, arguments)
        verdict = await ask(leg.ask_permission, request)
        if verdict.allowed:
            return {"behavior": "allow", "updatedInput": arguments}
        return {"behavior": "deny", "message": refusal(verdict)}

    async def _question(self, leg: LegRequest, request: PermissionRequest, arguments: dict[str, Any]) -> dict[str, Any]:
        questions = questions_of(arguments)
        if not questions:
            return {"behavior": "deny", "message": "The question can't be shown."}
        title = one_line(questions[0].text, 200)
        verdict = await ask(
            leg.ask_permission, replace(request, title=title, body="", language="", questions=questions)
        )
        if not verdict.allowed:
            return {"behavior": "deny", "message": refusal(verdict)}
        return {"behavior": "allow", "updatedInput": {**arguments, "answers": dict(verdict.answers)}}

    async def _boundary(self, found: _Open | None, leg: LegRequest | None, asked: dict[str, Any]) -> dict[str, Any]:
        """What is to be known before a tool call; inside a sub-agent there is no boundary (``semantics.md`` §6)."""
        told = asked.get("input")
        told = told if isinstance(told, dict) else {}
        call_id = str(asked.get("tool_use_id") or told.get("tool_use_id") or "")
        if found is None or leg is None or leg.boundary is None or call_id in found.process.inside:
            return {}
        try:
            text = await asyncio.wait_for(leg.boundary(str(told.get("tool_name") or "")), HOOK_S)
        except TimeoutError:
            return {}
        if not text:
            return {}
        added = text if len(text) <= HOOK_CHARS else text[: HOOK_CHARS - 2] + " …"
        return {"hookSpecificOutput": {"hookEventName": "PreToolUse", "additionalContext": added}}


def _fits(found: _Open, request: LegRequest) -> bool:
    """Whether the running process is the one that the leg goes on with: its session, and nobody else worked in it."""
    return (
        bool(request.remote_id)
        and found.process.remote_id == request.remote_id
        and found.last_leg == request.remote_leg
    )


def _call_of(message: dict[str, Any]) -> str:
    params = message.get("params")
    return mcp_tools.call_of(params) if isinstance(params, dict) else ""


def _content(request: LegRequest) -> list[dict[str, Any]]:
    """The prompt's turn: what changed, then the person's words. A leading ``/`` would run a command of the program's
    own in older versions; a space before it prevents that.
    """
    before = context.volatile_text(request.plan)
    prompt = f" {request.prompt}" if request.prompt.startswith("/") else request.prompt
    images = [_image(mime, data) for mime, data in parted(request.images)]
    texts = [text for text in (before, prompt) if text]
    return [*images, *({"type": "text", "text": text} for text in texts)]


def _image(mime: str, data: str) -> dict[str, Any]:
    return {"type": "image", "source": {"type": "base64", "media_type": mime, "data": data}}
