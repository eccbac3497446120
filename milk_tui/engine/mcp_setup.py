"""From ``[mcp.NAME]`` in the config to the servers that the agents' tools come from."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path

from milk_tui import paths
from milk_tui.agents.base import Caps
from milk_tui.config import Config, McpConfig
from milk_tui.core.errors import ConfigError
from milk_tui.engine.hosted import is_local
from milk_tui.tools.base import Tool
from milk_tui.tools.mcp_server import McpSettings, McpState
from milk_tui.tools.mcp_tools import PREFIX, McpHub, McpStatus
from milk_tui.tools.processes import environment

LOG = "mcp.log"


def hub(config: Config, directory: Path, changed: Callable[[McpStatus], None] = lambda _: None) -> McpHub:
    """The servers that are switched on; none is connected yet. One that may not be used as it is configured says why
    where it would be connected."""
    settings: list[McpSettings] = []
    for name, server in config.mcp.items():
        if not server.enabled:
            continue
        try:
            settings.append(settings_of(name, server, directory, local_only=config.privacy.local_only))
        except ConfigError as error:
            where = McpSettings(name=name, command=server.command, url=server.url, problem=str(error))
            settings.append(where)
    return McpHub(settings, paths.private_folder(paths.log_dir()) / LOG, changed)


def settings_of(
    name: str,
    server: McpConfig,
    directory: Path,
    *,
    local_only: bool = False,
    environ: Mapping[str, str] | None = None,
) -> McpSettings:
    """One server. Raises ConfigError when a variable that it names is not set, or it is outside with ``local_only``."""
    known = os.environ if environ is None else environ
    if local_only and server.url and not is_local("", server.url):
        raise ConfigError(
            f"mcp.{name}.url: {server.url} is not on this machine.", "privacy.local_only forbids it; switch it off."
        )
    for variable in (*server.env, *server.headers.values()):
        if variable not in known:
            raise ConfigError(
                f"mcp.{name}: the environment variable {variable} is not set.", "Set it before the start."
            )
    return McpSettings(
        name=name,
        command=server.command,
        environment={**environment(server.env, known), "PWD": str(directory)},
        url=server.url,
        headers={header: known[variable] for header, variable in server.headers.items()},
        directory=str(directory),
        start_s=server.start_timeout,
        call_s=server.timeout,
    )


async def server_tools(servers: McpHub | None, caps: Caps, say: Callable[[str], None]) -> tuple[Tool, ...]:
    """The servers' tools for an agent that can use them; they are connected when the first such agent works."""
    if servers is None or not servers.any or not caps.tools or caps.own_tools:
        return ()
    if any(status.state is McpState.OFF for status in servers.status()):
        say("connecting to the MCP servers")
    return await servers.tools()


def from_server(name: str) -> bool:
    """True for a tool of an MCP server: what it brings is from outside."""
    return name.startswith(PREFIX)
