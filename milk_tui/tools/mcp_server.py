"""One MCP server: connected when it is first needed, its tools listed, its failures said, connected again when it ends.

The ``mcp`` package (extra ``mcp``) is imported here, inside functions, beside the event loop: it takes a second. A
connection belongs to one task from its begin to its end. What a server says is data: names, descriptions and results
are cleaned and bounded, its hints about what a tool does are not believed.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Callable
from enum import StrEnum
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from msgspec import Struct, field, json

from milk_tui.core import wild_json
from milk_tui.core.text import clean, one_line
from milk_tui.core.tool_calls import ToolOutcome, ToolSpec
from milk_tui.tools import processes, server_log
from milk_tui.tools.base import OUTPUT_CHARS, cut

_log = logging.getLogger(__name__)

INSTALL = 'pip install "milk-tui[mcp]"'
IMPORT_S = 15.0
"""Seconds that the package itself may take, the first time."""
MOST_TOOLS, MOST_PAGES = 128, 20
DESCRIPTION_CHARS, SCHEMA_CHARS = 1_000, 16_000


class McpState(StrEnum):
    OFF = "not connected"
    CONNECTING = "connecting"
    READY = "ready"
    FAILED = "failed"


class McpSettings(Struct, frozen=True, kw_only=True):
    """How a server is reached: a program, or the address of one that runs. Times are seconds."""

    name: str
    command: tuple[str, ...] = ()
    environment: dict[str, str] = field(default_factory=dict)
    """Variables of the program, beside the few that every program needs."""
    url: str = ""
    headers: dict[str, str] = field(default_factory=dict)
    directory: str = ""
    start_s: float = 20.0
    call_s: float = 60.0
    problem: str = ""
    """Why it can't be used as it is configured; it is not tried then."""


class McpServer:
    """The connection to one server. Nothing here raises for what a server does."""

    def __init__(self, settings: McpSettings, log: Path, changed: Callable[[], None] = lambda: None) -> None:
        self.settings = settings
        self.state = McpState.OFF
        self.problem = ""
        """Why it failed, in one line."""
        self.tools: tuple[ToolSpec, ...] = ()
        """As the server names them."""
        self._log = log
        self._changed = changed
        self._client: Any = None
        self._task: asyncio.Task[None] | None = None
        self._settled = asyncio.Event()
        self._leave = asyncio.Event()

    @property
    def name(self) -> str:
        return self.settings.name

    async def connected(self) -> bool:
        """Connect, or wait until that is done; False when it failed, ``problem`` says why."""
        if self.settings.problem:
            self._fail(self.settings.problem)
            return False
        if self._task is None or self._task.done():
            self._settled = asyncio.Event()
            self._leave = asyncio.Event()
            self._say(McpState.CONNECTING)
            self._task = asyncio.create_task(self._live())
        settled = asyncio.create_task(self._settled.wait())
        done, _ = await asyncio.wait({settled}, timeout=self.settings.start_s + IMPORT_S)
        settled.cancel()
        return bool(done) and self.state is McpState.READY

    async def reconnect(self) -> bool:
        """End the connection and make a new one."""
        await self.aclose()
        return await self.connected()

    async def call(self, tool: str, arguments: dict[str, Any]) -> ToolOutcome:
        """Call a tool of the server; it is connected again when it has ended."""
        if self.state is not McpState.READY and not await self.connected():
            return ToolOutcome(f"The MCP server {self.name} is not there: {self.problem}.", ok=False)
        try:
            async with asyncio.timeout(self.settings.call_s):
                result = await self._client.call_tool(tool, arguments)
        except TimeoutError:
            return ToolOutcome(f"{tool} of {self.name} took longer than {self.settings.call_s:g} s.", ok=False)
        except Exception as error:
            said = _said(error)
            if self._ended(said):
                await self._drop(f"it ended during a call ({said})")
                return ToolOutcome(
                    f"The MCP server {self.name} ended during the call; it is unknown whether {tool} was done. "
                    "The next call starts it again.",
                    ok=False,
                )
            return ToolOutcome(f"{tool} of {self.name} failed: {said}.", ok=False)
        return outcome_of(result)

    async def aclose(self) -> None:
        """End the connection; a program that was started is ended with it."""
        task, self._task = self._task, None
        if task is None:
            return
        self._leave.set()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(5):
                await asyncio.wait({task})
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        self._client = None
        self._say(McpState.OFF)

    async def _live(self) -> None:
        """The whole life of one connection."""
        try:
            if find_spec("mcp") is None:
                raise ImportError(f"the extra is not installed: {INSTALL}")
            await asyncio.to_thread(import_module, "mcp")
            async with contextlib.AsyncExitStack() as stack:
                try:
                    async with asyncio.timeout(self.settings.start_s):
                        self._client = await stack.enter_async_context(self._connection())
                        self.tools = await self._listed()
                except TimeoutError:
                    self._fail(f"it did not answer within {self.settings.start_s:g} s")
                    self._settled.set()
                    return
                self._say(McpState.READY)
                self._settled.set()
                await self._leave.wait()
        except asyncio.CancelledError:
            raise
        except BaseExceptionGroup as group:
            self._fail(_said(_first(group)))
        except Exception as error:
            self._fail(_said(error))
        finally:
            self._client = None
            self._settled.set()

    @contextlib.asynccontextmanager
    async def _connection(self) -> AsyncIterator[Any]:
        from mcp import Client, StdioServerParameters, stdio_client

        settings = self.settings
        if settings.url:
            from httpx2 import AsyncClient, Timeout
            from mcp.client.streamable_http import streamable_http_client

            waits = Timeout(settings.start_s, read=settings.call_s + settings.start_s)
            async with AsyncClient(headers=settings.headers, timeout=waits) as http:
                transport = streamable_http_client(settings.url, http_client=http)
                async with Client(transport, read_timeout_seconds=settings.call_s) as client:
                    yield client
            return
        command = processes.kept(settings.command, settings.environment, settings.directory)
        program = StdioServerParameters(
            command=command[0],
            args=list(command[1:]),
            env=settings.environment,
            cwd=settings.directory or None,
        )
        with server_log.cleaned(self._log) as errors:
            async with Client(stdio_client(program, errlog=errors), read_timeout_seconds=settings.call_s) as client:
                yield client

    async def _listed(self) -> tuple[ToolSpec, ...]:
        found: list[ToolSpec] = []
        cursor: str | None = None
        for _ in range(MOST_PAGES):
            page = await self._client.list_tools(cursor=cursor)
            found += [spec for tool in page.tools if (spec := _spec(tool)) is not None]
            cursor = page.next_cursor
            if not cursor or len(found) >= MOST_TOOLS:
                break
        return tuple(found[:MOST_TOOLS])

    def _ended(self, said: str) -> bool:
        gone = self._task is None or self._task.done()
        return gone or "closed" in said.lower() or "broken" in said.lower()

    async def _drop(self, why: str) -> None:
        await self.aclose()
        self._fail(why)

    def _fail(self, why: str) -> None:
        self.problem = one_line(clean(why), 300).rstrip(".")
        self._say(McpState.FAILED)

    def _say(self, state: McpState) -> None:
        if state is not McpState.FAILED:
            self.problem = ""
        if state is not self.state:
            self.state = state
            self._changed()


def _first(group: BaseExceptionGroup[BaseException]) -> BaseException:
    inner = group.exceptions[0]
    return _first(inner) if isinstance(inner, BaseExceptionGroup) else inner


def _said(error: BaseException) -> str:
    text = one_line(clean(str(error)), 300).rstrip(".")
    return text or type(error).__name__


def _spec(tool: Any) -> ToolSpec | None:
    """A tool as the server describes it, within bounds; ``None`` for one that can't be given to a model."""
    schema = tool.input_schema if isinstance(tool.input_schema, dict) else {}
    written = wild_json.encode({"type": "object", "properties": {}, **schema})
    name = str(tool.name)
    if not name.strip() or len(name) > 200 or len(written) > SCHEMA_CHARS:
        return None
    schema = json.decode(written)
    return ToolSpec(name, one_line(clean(tool.description or tool.title or name), DESCRIPTION_CHARS), schema)


def outcome_of(result: Any) -> ToolOutcome:
    """What a call brought, as text: what a model can't read is named and left out."""
    parts: list[str] = []
    for item in getattr(result, "content", None) or ():
        match item.type:
            case "text":
                parts.append(clean(item.text))
            case "image" | "audio":
                parts.append(f"[{item.type}: {one_line(clean(item.mime_type), 80)}, {len(item.data) * 3 // 4:,} bytes]")
            case "resource" if getattr(item.resource, "text", None) is not None:
                parts.append(clean(item.resource.text))
            case _:
                parts.append(f"[{one_line(item.type, 40)}]")
    if not parts and getattr(result, "structured_content", None) is not None:
        parts.append(clean(wild_json.encode(result.structured_content)))
    text = cut("\n".join(parts), OUTPUT_CHARS)
    return ToolOutcome(text or "(nothing)", ok=not getattr(result, "is_error", False))
