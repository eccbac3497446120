"""An MCP server, over the real SDK, of which every word is an item of the collection (``tests/data/hostile``).

``--tools FROM TO``: tools with these items as name, title and description. Each also has the tool ``say``, which
brings the item of a number as a text, an image's type, a resource, a structure or an error.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from mcp import types
from mcp.server import Server
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError

from tests.data.hostile import items

_NUMBER = {"type": "object", "properties": {"number": {"type": "integer"}, "form": {"type": "string"}}}


def sayable(text: str) -> str:
    """What the SDK can write: half a surrogate pair is no text to it."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def words(number: int) -> str:
    return sayable(items()[number].text)


def tools(first: int, last: int) -> list[types.Tool]:
    made = [types.Tool(name="say", description="Say it.", input_schema=_NUMBER)]
    for number in range(first, min(last, len(items()))):
        said = words(number)[:190]
        schema: dict[str, Any] = {"type": "object", "properties": {said: {"type": "string", "description": said}}}
        made.append(types.Tool(name=said or "-", title=said, description=words(number)[:3_000], input_schema=schema))
    return made


def result(number: int, form: str) -> types.CallToolResult:
    said = words(number)
    match form:
        case "image":
            image = types.ImageContent(type="image", data="AAAA", mime_type=said[:2_000])
            return types.CallToolResult(content=[image])
        case "resource":
            inner = types.TextResourceContents(uri="file:///x", text=said, mime_type=said[:200])
            return types.CallToolResult(content=[types.EmbeddedResource(type="resource", resource=inner)])
        case "link":
            link = types.ResourceLink(type="resource_link", uri="file:///x", name=said, description=said)
            return types.CallToolResult(content=[link])
        case "structured":
            return types.CallToolResult(content=[], structured_content={said[:100]: said})
        case "error":
            return types.CallToolResult(content=[types.TextContent(type="text", text=said)], is_error=True)
        case "refused":
            raise MCPError(-32000, said)
        case _:
            return types.CallToolResult(content=[types.TextContent(type="text", text=said)])


async def serve(first: int, last: int) -> None:
    async def listed(_: Any, __: Any) -> types.ListToolsResult:
        return types.ListToolsResult(tools=tools(first, last))

    async def called(_: Any, asked: types.CallToolRequestParams) -> types.CallToolResult:
        given = asked.arguments or {}
        return result(int(given.get("number", first)), str(given.get("form", "text")))

    said = words(first)[:200]
    server: Server[Any] = Server(said, title=said, version=said, on_list_tools=listed, on_call_tool=called)
    for number in range(len(items())):
        print(words(number)[:5_000], file=sys.stderr)
    async with stdio_server() as (reading, writing):
        await server.run(reading, writing, server.create_initialization_options())


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--tools", nargs=2, type=int, default=(0, 0))
    asyncio.run(serve(*parser.parse_args().tools))
