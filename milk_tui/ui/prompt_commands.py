"""The slash commands about what is written: ``/route``, ``/run``, ``/attach``, ``/image``."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Protocol

from milk_tui.core.errors import MilkError

if TYPE_CHECKING:
    from milk_tui.core.records import RouteDecision
    from milk_tui.engine.conductor import Conductor
    from milk_tui.tools.mcp_tools import McpStatus
    from milk_tui.ui.control import Control


class Surface(Protocol):
    """What these commands need of the screen."""

    def note(self, text: str, severity: str = "information") -> None: ...

    def put_back(self, text: str) -> None: ...


def prompt_commands(control: Control, surface: Surface) -> Mapping[str, Callable[[str], Awaitable[None]]]:
    """By the id of the action; ``MilkError`` goes through."""

    def conductor() -> Conductor:
        if control.conductor is None:
            raise MilkError("the session is not open yet")
        return control.conductor

    async def route(argument: str) -> None:
        prompt = argument or await control.last_prompt()
        if not prompt:
            raise MilkError("nothing was asked yet", "/route PROMPT says where that prompt would go")
        surface.note(explained(await conductor().explain(prompt), control.agent_name))

    async def run(argument: str) -> None:
        try:
            await conductor().commands.run(argument)
        except MilkError:
            surface.put_back(f"!{argument}")
            raise

    async def attach(argument: str) -> None:
        from milk_tui.core.attachments import as_mention

        surface.put_back(f"{as_mention(argument)} " if argument else "@")

    async def image(argument: str) -> None:
        from milk_tui.core.attachments import as_mention

        path = await control.clipboard_image()
        surface.put_back(f"{as_mention(path)} ")

    async def servers(argument: str) -> None:
        hub = control.workspace.mcp if control.workspace is not None else None
        if hub is None:
            raise MilkError("no MCP server is configured", "add one under [mcp.NAME] in the config")
        if argument:
            surface.note(f"connecting to {argument} …")
            if await hub.reconnect(argument) is None:
                raise MilkError(f"there is no MCP server {argument}")
        surface.note("\n".join(told(status) for status in hub.status()))

    return {
        "explain-route": route,
        "run-command": run,
        "attach": attach,
        "attach-image": image,
        "mcp-servers": servers,
    }


def told(status: McpStatus) -> str:
    """A server in one line."""
    tools = f" · {len(status.tools)} tools: {', '.join(status.tools)}" if status.tools else ""
    problem = f": {status.problem}" if status.problem else ""
    return f"{status.name} · {status.state}{problem}{tools}"


def explained(decision: RouteDecision, name_of: Callable[[str], str]) -> str:
    """A decision in a few lines."""
    from milk_tui.core.routing import signed

    lines = [f"{decision.role} · {name_of(decision.role)} · {decision.rule}: {decision.reason}"]
    if decision.parts:
        parts = " · ".join(
            f"{part.name} {signed(part.value)}" + (f" ({part.detail})" if part.detail else "")
            for part in decision.parts
        )
        lines.append(f"{parts} · sum {signed(round(sum(part.value for part in decision.parts), 2))}")
    return "\n".join(lines)
