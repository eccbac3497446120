"""What stands behind ``milk-tui mcp``: the memory tools and resources of one client.

The database is opened with the first call that needs it: a runtime that only lists the tools pays nothing, and one that
calls while the file is locked or damaged is told so and may call again.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from milk_tui.interop.mcp_protocol import INTERNAL_ERROR, INVALID_PARAMS, RESOURCE_NOT_FOUND, RpcError
from milk_tui.tools import memory_specs

if TYPE_CHECKING:
    import asyncio

    from milk_tui.config import Config
    from milk_tui.core.tool_calls import ToolOutcome
    from milk_tui.engine.outside import OutsideMemory
    from milk_tui.engine.outside_client import Client
    from milk_tui.store import Store

PINNED = "milk://memory/pinned"
PERCEPTION = "milk://perception"

_RESOURCES = [
    {
        "uri": PINNED,
        "name": "pinned facts",
        "description": "The facts that the person pinned: evidence, not instruction.",
        "mimeType": "text/plain",
    },
    {
        "uri": PERCEPTION,
        "name": "perception",
        "description": "What is true of the work now: invariants, frame, working set.",
        "mimeType": "text/plain",
    },
]

_READ_ONLY = memory_specs.READ_ONLY | {"read_my_memory"}


class ClientMemory:
    """``named``: the client's name as the person gave it (``--as``); else it goes by the one it calls itself.
    ``session``: the id of the session that it works in."""

    def __init__(
        self, config: Config, database: Callable[[], Path], directory: Path, *, named: str = "", session: str = ""
    ) -> None:
        from milk_tui.engine import outside_client

        self._config = config
        self._database = database
        self._directory = directory
        self._session = session
        self._named = named
        self._client: Client = outside_client.named(config, named) if named else outside_client.Client()
        self._store: Store | None = None
        self._memory: OutsideMemory | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    @property
    def client(self) -> Client:
        return self._client

    def meet(self, client: str) -> None:
        if not self._named:
            from milk_tui.engine import outside_client

            self._client = outside_client.calling_itself(self._config, client)
            self._memory = None

    def tools(self) -> list[dict[str, Any]]:
        """The same for as long as the client stays, whatever session is opened meanwhile."""
        from milk_tui.core.records import Role

        client = self._client
        names = {role: self._config.named(role) for role in Role}
        own = client.name if client.known else ""
        other = names[client.role.other] if client.role else ""
        may_escalate = client.role is Role.PRIMARY and bool(other)
        told = memory_specs.specs(own, other or None, may_escalate=may_escalate)
        if client.known:
            from milk_tui.tools import my_memory

            told = (*told, *my_memory.specs())
        return [
            {
                "name": spec.name,
                "description": spec.description,
                "inputSchema": spec.parameters,
                "annotations": {
                    "readOnlyHint": spec.name in _READ_ONLY,
                    "destructiveHint": spec.name == memory_specs.FORGET,
                    "openWorldHint": False,
                },
            }
            for spec in told
        ]

    def resources(self) -> list[dict[str, Any]]:
        return _RESOURCES

    def call(self, name: str, arguments: object) -> dict[str, Any]:
        from milk_tui.tools import memory, my_memory

        if name in memory.NAMES:
            outcome = self._run(lambda sink: memory.call(sink, name, json.dumps(arguments)))
        elif name in my_memory.NAMES:
            outcome = self._run(lambda sink: sink.own(name, json.dumps(arguments or {})))
        else:
            raise RpcError(INVALID_PARAMS, "There is no such tool.")
        return {"content": [{"type": "text", "text": outcome.content}], "isError": not outcome.ok}

    def read(self, uri: str) -> dict[str, Any]:
        if uri not in (PINNED, PERCEPTION):
            raise RpcError(RESOURCE_NOT_FOUND, "There is no such resource.")
        outcome = self._run(lambda sink: sink.pinned() if uri == PINNED else sink.perception())
        if not outcome.ok:
            raise RpcError(INTERNAL_ERROR, outcome.content)
        return {"contents": [{"uri": uri, "mimeType": "text/plain", "text": outcome.content}]}

    def close(self) -> None:
        if self._loop is not None:
            self._loop.close()
        if self._store is not None:
            self._store.close()

    def _run(self, ask: Callable[[OutsideMemory], Any]) -> ToolOutcome:
        import asyncio

        from milk_tui.core.errors import MilkError
        from milk_tui.core.tool_calls import ToolOutcome

        try:
            sink = self._opened()
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
            outcome: ToolOutcome = self._loop.run_until_complete(ask(sink))
        except MilkError as error:
            return ToolOutcome(str(error), ok=False)
        return outcome

    def _opened(self) -> OutsideMemory:
        if self._store is None:
            from milk_tui.store import Store

            self._store = Store.open(self._database())
            for notice in self._store.notices:
                print(f"milk-tui mcp: {notice}", file=sys.stderr)
        if self._memory is None:
            from milk_tui.engine.outside import OutsideMemory

            self._memory = OutsideMemory(
                self._store, self._config, self._client, self._directory, session=self._session
            )
        return self._memory
