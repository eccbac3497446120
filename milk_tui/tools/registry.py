"""What tools there are, and the ones that an agent gets for a leg.

Every call goes one way here, whatever tool it is for: arguments read, the call prepared, the person asked, done within
its time. What goes wrong on the way is an answer that the model can correct itself by; nothing is raised.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial

import msgspec

from milk_tui import own_keys
from milk_tui.core.errors import MilkError
from milk_tui.core.permissions import PermissionAsker, PermissionRequest
from milk_tui.core.records import Role
from milk_tui.core.text import one_line
from milk_tui.core.tool_calls import ToolOutcome, ToolSpec
from milk_tui.tools import reading, searching, session, shell, web, writing
from milk_tui.tools.base import Access, Ask, Call, Prepared, Refused, Tool, cut
from milk_tui.tools.site import Site

_log = logging.getLogger(__name__)

BUILT_IN: tuple[Tool, ...] = (
    *reading.TOOLS,
    *searching.TOOLS,
    *writing.TOOLS,
    *shell.TOOLS,
    *web.TOOLS,
    *session.TOOLS,
)
FAMILIES = ("files", "search", "shell", "web", "session", "agents")
"""What ``[tools] families`` may name."""
AT_ONCE = 8
"""Calls of one leg that run at the same time; the others wait for their turn."""


@dataclass(frozen=True, slots=True)
class Caller:
    """Whose calls these are."""

    role: Role
    agent_name: str


def assemble(families: Iterable[str], more: Iterable[Tool] = ()) -> tuple[Tool, ...]:
    """The tools of these families, and ``more``. Of two with one name the first stays."""
    wanted = frozenset(families)
    found: dict[str, Tool] = {}
    for tool in (*BUILT_IN, *more):
        if tool.family in wanted:
            found.setdefault(tool.spec.name, tool)
    return tuple(found.values())


@dataclass(slots=True)
class Toolset:
    """The tools of one agent at one site. ``emit(call_id, text)`` is given what a running call prints."""

    tools: tuple[Tool, ...]
    site: Site
    caller: Caller
    ask: PermissionAsker
    emit: Callable[[str, str], None] = lambda call_id, text: None
    foreign: bool = field(default=False, init=False)
    """True once a call has brought something that is neither the person's nor the project's: from the web, or from a
    file outside the directory (``recall.md``, "Safety")."""
    _by_name: dict[str, Tool] = field(init=False)
    _slots: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(AT_ONCE))

    def __post_init__(self) -> None:
        self._by_name = {tool.spec.name: tool for tool in self.tools}

    def __contains__(self, name: str) -> bool:
        return name in self._by_name

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        """As a model is told about them; the same for every leg, so that the prefix of requests stays."""
        return tuple(tool.spec for tool in self.tools)

    async def run(self, call_id: str, name: str, arguments: str) -> ToolOutcome:
        """Do one call, in its turn: calls that change files wait for those before them, and those behind for them."""
        tool = self._by_name.get(name)
        if tool is None:
            return ToolOutcome(f"There is no tool “{one_line(name, 80)}”. Tools: {', '.join(self._by_name)}.", ok=False)
        outcomes: list[ToolOutcome] = []

        async def work() -> None:
            async with self._slots:
                outcomes.append(await self._run(tool, call_id, arguments))

        await self.site.order.do(work, alone=tool.alone)
        return outcomes[0]

    async def _run(self, tool: Tool, call_id: str, arguments: str) -> ToolOutcome:
        name = tool.spec.name
        try:
            prepared = await tool.prepare(self.site, arguments)
            if prepared.ask is not None:
                request = self._request(tool, prepared.ask, call_id, arguments)
                verdict = await self.ask(request)
                if not verdict.allowed:
                    return ToolOutcome(_denied(verdict.reason, verdict.by), ok=False)
            outcome = await self._timed(tool, prepared, call_id)
            self.foreign |= _is_foreign(tool, prepared)
            return outcome
        except Refused as refused:
            return ToolOutcome(str(refused), ok=False)
        except msgspec.ValidationError as error:
            return ToolOutcome(f"Wrong arguments for {name}: {error}. {_wanted(tool)}", ok=False)
        except (msgspec.DecodeError, RecursionError) as error:
            return ToolOutcome(f"The arguments of {name} are no JSON object: {error}. {_wanted(tool)}", ok=False)
        except MilkError as error:
            return ToolOutcome(f"{name} failed: {error}", ok=False)
        except OSError as error:
            return ToolOutcome(f"{name} failed: {error.strerror or error}.", ok=False)
        except ValueError as error:
            _log.exception("%s failed", name)
            return ToolOutcome(f"{name} failed: {type(error).__name__}: {one_line(str(error), 200)}.", ok=False)

    async def _timed(self, tool: Tool, prepared: Prepared, call_id: str) -> ToolOutcome:
        limit = tool.timeout_s or self.site.limits.tool_s
        try:
            async with asyncio.timeout(limit):
                outcome = await prepared.run(Call(call_id, partial(self.emit, call_id)))
        except TimeoutError:
            return ToolOutcome(f"{tool.spec.name} took longer than {limit:g} s and was stopped.", ok=False)
        return ToolOutcome(own_keys.out(cut(outcome.content, _LONGEST)), outcome.ok)

    def _request(self, tool: Tool, ask: Ask, call_id: str, arguments: str) -> PermissionRequest:
        return PermissionRequest(
            id=secrets.token_hex(8),
            role=self.caller.role,
            agent_name=self.caller.agent_name,
            tool=tool.spec.name,
            arguments=arguments,
            title=ask.title,
            body=ask.body,
            language=ask.language,
            directory=ask.directory or str(self.site.directory),
            pattern=ask.pattern,
            scopes=ask.scopes,
            call_id=call_id,
        )


_LONGEST = 40_000


def _is_foreign(tool: Tool, prepared: Prepared) -> bool:
    """Inside the directory nothing is asked before something is read."""
    return tool.access is Access.NETWORK or (tool.access is Access.READ and prepared.ask is not None)


def _denied(reason: str, by: str) -> str:
    if by == "person":
        return f"The person denied this{': ' + reason if reason else ''}. Do not try it again in another way; ask."
    return f"Denied: {reason or 'nobody allowed it'}. Say in your answer what you could not do."


def _wanted(tool: Tool) -> str:
    """What the arguments are, for a model that got them wrong."""
    fields = tool.spec.parameters["properties"]
    needed = tool.spec.parameters.get("required", [])
    words = [name if name in needed else f"[{name}]" for name in fields]
    return f"It takes: {', '.join(words) or 'nothing'}."
