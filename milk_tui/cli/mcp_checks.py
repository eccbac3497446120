"""What the doctor says about the MCP servers of the config: each is connected, its tools counted, and left again."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from milk_tui.cli.check import Check, check
from milk_tui.config import Config

if TYPE_CHECKING:
    from milk_tui.tools.mcp_tools import McpStatus


def mcp(config: Config) -> Iterator[Check]:
    if not config.mcp:
        return
    from importlib.util import find_spec

    from milk_tui.tools.mcp_server import INSTALL, McpState

    if find_spec("mcp") is None:
        yield check("MCP servers", "package", "error", "the extra mcp is not installed", INSTALL)
        return
    for name, server in config.mcp.items():
        if not server.enabled:
            yield check("MCP servers", name, "ok", "switched off (enabled = false)")
    for status in asyncio.run(_looked_at(config)):
        if status.state is McpState.READY:
            yield check("MCP servers", status.name, "ok", f"{len(status.tools)} tools · {status.where}")
        else:
            hint = f"Correct it under [mcp.{status.name}], or set enabled = false."
            yield check("MCP servers", status.name, "error", status.problem or status.state.value, hint)


async def _looked_at(config: Config) -> tuple[McpStatus, ...]:
    from milk_tui.engine import mcp_setup

    hub = mcp_setup.hub(config, Path.cwd())
    try:
        await hub.tools()
        return hub.status()
    finally:
        await hub.aclose()
