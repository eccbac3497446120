"""Any agent that speaks the Agent Client Protocol, one process for each session (``agents.md`` §3)."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import Any

import milk_tui
from milk_tui.agents.acp_connection import AUTH_REQUIRED, AcpConnection, AcpError
from milk_tui.agents.acp_turn import AcpTurn
from milk_tui.agents.asking import ask, request_for
from milk_tui.agents.base import Caps, LegRequest
from milk_tui.agents.child import ChildError, environment
from milk_tui.agents.claude_turn import failure
from milk_tui.agents.events import AgentEvent, LegEnd, Progress, RemoteStarted
from milk_tui.agents.images import NOT_SEEN, parted
from milk_tui.core import context
from milk_tui.core.acp_presets import preset_of
from milk_tui.core.records import ContextPlan, ErrorKind, LegError
from milk_tui.core.text import one_line

PROTOCOL = 1
START_S = 120.0
"""How long an agent may take to start, and to begin or resume a session; 8 s were seen on a loaded machine."""
SILENT_S = 60.0


class GoneError(ChildError):
    """The agent can't go on with a session of its own."""


@dataclass(frozen=True, slots=True)
class AcpSettings:
    """``command``: the program and its arguments. ``servers``: MCP servers that the agent is to use, by session."""

    command: tuple[str, ...]
    model: str = ""
    environ: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    mcp_command: tuple[str, ...] = ()
    """Our own MCP server; the session's id is put behind it. Empty: the agent has no tools of ours."""
    mcp_env: Mapping[str, str] = field(default_factory=dict)
    """What our server must be told by its environment."""

    def servers(self, session_id: str) -> list[dict[str, Any]]:
        if not self.mcp_command:
            return []
        program, *arguments = self.mcp_command
        env = [{"name": name, "value": value} for name, value in self.mcp_env.items()]
        return [{"name": "milk", "command": program, "args": [*arguments, "--session", session_id], "env": env}]


@dataclass(slots=True)
class _Open:
    """A session's process, its session there, and the leg that it works on."""

    connection: AcpConnection
    remote_id: str = ""
    leg: LegRequest | None = None
    turn: AcpTurn | None = None
    spent: float | None = None
    last_leg: int = 0
    images: bool = False


class AcpAgent:
    """See ``Agent``. What it can do beyond prompts is what it says itself when it starts."""

    def __init__(self, name: str, settings: AcpSettings) -> None:
        self.name = name
        self.settings = settings
        known = preset_of(settings.command)
        self._appends = known is not None and known.appends
        self.model = settings.model or "default"
        self.caps = Caps(
            stateless=False,
            tools=bool(settings.mcp_command),
            images=None,
            cost=True,
            resume=True,
            own_tools=True,
            static_in_history=not self._appends,
            reads=known.reads if known else (),
        )
        self._open: dict[str, _Open] = {}

    async def run(self, request: LegRequest) -> AsyncGenerator[AgentEvent, None]:
        try:
            async with aclosing(self._leg(request)) as events:
                async for event in events:
                    yield event
        except (ChildError, AcpError) as error:
            yield LegEnd("error", self._problem(error))
        except Exception as error:
            what = f"Driving {self.name} failed: {type(error).__name__}."
            yield LegEnd("error", LegError(kind=ErrorKind.INTERNAL, message=what, hint="Send the prompt again."))

    async def warm(self, plan: ContextPlan) -> None:
        """Nothing: the agent keeps its own cache."""

    async def leave(self, session_id: str) -> None:
        found = self._open.pop(session_id, None)
        if found is not None:
            await found.connection.aclose()

    async def aclose(self) -> None:
        await asyncio.gather(*(self.leave(session) for session in tuple(self._open)))

    async def _leg(self, request: LegRequest) -> AsyncGenerator[AgentEvent, None]:
        found = self._open.get(request.session_id)
        if found is not None:
            await found.connection.settled()
        if found is None or not _fits(found, request):
            yield Progress(f"starting {self.name}")
            found = await self._begin(request)
        yield RemoteStarted(found.remote_id, model=self.settings.model)
        turn = found.turn = AcpTurn(spent=found.spent)
        found.leg = request
        prompt = self._prompt(request, images=found.images)
        try:
            async with aclosing(found.connection.turn(found.remote_id, prompt, SILENT_S)) as updates:
                silent = 0
                async for update in updates:
                    silent = 0 if update else silent + 1
                    if update is None:
                        yield Progress(f"nothing from {self.name} for {silent * SILENT_S:.0f} s; esc stops it")
                    elif "result" in update and "sessionUpdate" not in update:
                        for event in turn.finish(update["result"]):
                            yield event
                        return
                    else:
                        for event in turn.feed(update):
                            yield event
        finally:
            found.leg = None
            found.spent = turn.spent
            found.last_leg = request.leg_id
            if turn.window and turn.window != self.caps.window_tokens:
                self.caps = replace(self.caps, window_tokens=turn.window)

    async def _begin(self, request: LegRequest) -> _Open:
        """Start the program, and begin or go on with a session there. Raises ChildError, AcpError, GoneError."""
        await self.leave(request.session_id)
        connection = AcpConnection(
            self.settings.command,
            env=environment(self.settings.environ, {}),
            cwd=request.directory or ".",
            answerer=lambda method, params: self._answer(request.session_id, method, params),
        )
        found = _Open(connection, spent=request.session_cost_usd if request.remote_id else None)
        self._open[request.session_id] = found
        try:
            await connection.start()
            await self._opened(found, request)
        except BaseException:
            self._open.pop(request.session_id, None)
            await connection.aclose()
            raise
        return found

    async def _opened(self, found: _Open, request: LegRequest) -> None:
        ask_for = found.connection.request
        told = await ask_for(
            "initialize",
            {
                "protocolVersion": PROTOCOL,
                "clientCapabilities": {"fs": {"readTextFile": False, "writeTextFile": False}, "terminal": False},
                "clientInfo": {"name": "milk-tui", "title": "milk-tui", "version": milk_tui.__version__},
            },
            START_S,
        )
        if told.get("protocolVersion") not in (PROTOCOL, None):
            raise ChildError(
                f"{self.name} speaks version {told.get('protocolVersion')} of the protocol, not {PROTOCOL}.",
                "Update milk-tui, or install another version of the agent.",
            )
        can = _dict(told.get("agentCapabilities"))
        found.images = bool(_dict(can.get("promptCapabilities")).get("image"))
        params: dict[str, Any] = {"cwd": request.directory, "mcpServers": self.settings.servers(request.session_id)}
        if self._appends and request.static:
            params["_meta"] = {"systemPrompt": {"append": request.static}}
        if request.remote_id:
            await self._go_on(ask_for, can, request.remote_id, params)
            found.remote_id = request.remote_id
            return
        session = await ask_for("session/new", params, START_S)
        found.remote_id = str(session.get("sessionId") or "")
        if not found.remote_id:
            raise ChildError(f"{self.name} began no session.", "Update it.")
        if self.settings.model:
            await self._choose_model(ask_for, found.remote_id, session)

    async def _go_on(self, ask_for: Any, can: dict[str, Any], remote_id: str, params: dict[str, Any]) -> None:
        """Resume the session, or load it, by what the agent can. What it replays is not heard: no turn is under way."""
        if isinstance(_dict(can.get("sessionCapabilities")).get("resume"), dict):
            method = "session/resume"
        elif can.get("loadSession"):
            method = "session/load"
        else:
            raise GoneError(f"{self.name} can't go on with an earlier session.")
        try:
            await ask_for(method, {**params, "sessionId": remote_id}, START_S)
        except AcpError as error:
            if error.code == AUTH_REQUIRED:
                raise
            raise GoneError(f"{self.name} no longer has its session: {error.what}") from error

    async def _choose_model(self, ask_for: Any, remote_id: str, session: dict[str, Any]) -> None:
        """Choose the configured model, in the way that the agent offers. Raises ChildError when it doesn't."""
        model = self.settings.model
        try:
            if isinstance(session.get("models"), dict):
                await ask_for("session/set_model", {"sessionId": remote_id, "modelId": model}, START_S)
                return
            for option in map(_dict, session.get("configOptions") or ()):
                if option.get("category") == "model" or option.get("id") == "model":
                    chosen = {"sessionId": remote_id, "configId": option.get("id"), "value": model}
                    await ask_for("session/set_config_option", chosen, START_S)
                    return
        except AcpError as error:
            raise ChildError(
                f"{self.name} has no model {one_line(model, 60)}: {error.what}", "Correct its model in the config."
            ) from error

    def _prompt(self, request: LegRequest, *, images: bool) -> list[dict[str, Any]]:
        """Static text where it is due and can't be appended, what changed, then the person's words."""
        static = "" if self._appends else context.stable_text(request.plan)
        unseen = NOT_SEEN if request.images and not images else ""
        texts = (static, context.volatile_text(request.plan), unseen, request.prompt)
        pictures = [{"type": "image", "mimeType": mime, "data": data} for mime, data in parted(request.images)]
        return [*(pictures if images else []), *({"type": "text", "text": text} for text in texts if text)]

    async def _answer(self, session_id: str, method: str, params: dict[str, Any]) -> dict[str, Any] | None:
        if method != "session/request_permission":
            return None
        found = self._open.get(session_id)
        leg = found.leg if found is not None else None
        if found is None or leg is None or found.turn is None:
            return {"outcome": {"outcome": "cancelled"}}
        told = _dict(params.get("toolCall"))
        call_id = str(told.get("toolCallId") or "")
        call = found.turn.told(call_id, told)
        found.connection.note({"sessionUpdate": "tool_call_update", **told})
        if call.ours and any(call.name == spec.name for spec in leg.tools):
            return {"outcome": _chosen(params.get("options"), allowed=True)}
        request = request_for(leg, self.name, call.name, call.shown, call_id=call_id, title=call.title, diff=call.diff)
        verdict = await ask(leg.ask_permission, request)
        return {"outcome": _chosen(params.get("options"), allowed=verdict.allowed)}

    def _problem(self, error: Exception) -> LegError:
        """What the person is told when the turn could not be driven to its end."""
        if isinstance(error, GoneError):
            return LegError(kind=ErrorKind.REMOTE_GONE, message=error.what, hint="It is begun anew.")
        if isinstance(error, AcpError):
            if error.code == AUTH_REQUIRED:
                hint = f"Log in with {one_line(self.settings.command[0], 60)} in a terminal."
                return LegError(kind=ErrorKind.AUTH, message=error.what, hint=hint)
            known = failure(None, error.what)
            if known.kind is ErrorKind.AUTH:
                return LegError(kind=known.kind, message=known.message, hint=f"Log in with {self.name} in a terminal.")
            return known
        assert isinstance(error, ChildError)
        kind = ErrorKind.NO_AGENT if "no program" in error.what else ErrorKind.HOST_DIED
        return LegError(kind=kind, message=one_line(error.what, 400), hint=error.hint or "Send the prompt again.")


def _fits(found: _Open, request: LegRequest) -> bool:
    same = bool(request.remote_id) and found.remote_id == request.remote_id
    return same and found.last_leg == request.remote_leg and found.connection.alive


def _chosen(options: Any, *, allowed: bool) -> dict[str, Any]:
    """The agent's own option that says what the person said; never one that lasts longer: grants are ours to keep."""
    wanted = ("allow_once",) if allowed else ("reject_once", "reject_always")
    offered = [_dict(option) for option in options] if isinstance(options, list) else []
    for kind in wanted:
        for option in offered:
            if option.get("kind") == kind and option.get("optionId") is not None:
                return {"outcome": "selected", "optionId": option["optionId"]}
    return {"outcome": "cancelled"}


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
