"""Our tools as an MCP server inside the program: one JSON-RPC message in, one out (``agents.md`` §4)."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import msgspec

import milk_tui
from milk_tui.agents.base import ToolRunner, ToolSpec
from milk_tui.core.text import one_line

SERVER = "milk"
OWN_TOOLS = f"mcp__{SERVER}__"
"""How a runtime calls the tools that milk gives it; people see them by their own names."""
PROTOCOL = "2025-11-25"
CALL_S = 60.0
"""How long one of our tools may take before the runtime is told that it failed."""

METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602


async def answer(
    message: dict[str, Any], tools: Sequence[ToolSpec], run_tool: ToolRunner | None, *, refused: str = ""
) -> dict[str, Any]:
    """The reply to one message; a notification's is empty but well-formed. ``refused``: why no tool may be called now.

    Unknown methods get an error, so that clients which try newer protocols fall back.
    """
    if "id" not in message:
        return {"jsonrpc": "2.0", "result": {}}
    reply: dict[str, Any] = {"jsonrpc": "2.0", "id": message["id"]}
    params = message.get("params") if isinstance(message.get("params"), dict) else {}
    match message.get("method"):
        case "initialize":
            version = str((params or {}).get("protocolVersion") or PROTOCOL)
            info = {"name": SERVER, "version": milk_tui.__version__}
            return reply | {"result": {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info}}
        case "ping":
            return reply | {"result": {}}
        case "tools/list":
            return reply | {"result": {"tools": [_described(tool) for tool in tools]}}
        case "tools/call":
            name = str((params or {}).get("name") or "")
            if name not in {tool.name for tool in tools}:
                what = f"There is no tool {one_line(name, 80)}."
                return reply | {"error": {"code": INVALID_PARAMS, "message": what}}
            return reply | {"result": await _called(name, params or {}, run_tool, refused)}
        case method:
            what = f"Method not found: {one_line(str(method), 80)}"
            return reply | {"error": {"code": METHOD_NOT_FOUND, "message": what}}


def _described(tool: ToolSpec) -> dict[str, Any]:
    return {"name": tool.name, "description": tool.description, "inputSchema": tool.parameters}


async def _called(name: str, params: dict[str, Any], run_tool: ToolRunner | None, refused: str) -> dict[str, Any]:
    if run_tool is None or refused:
        return _content(refused or "Nothing can be done with it now.", ok=False)
    arguments = msgspec.json.encode(params.get("arguments") or {}).decode()
    try:
        outcome = await asyncio.wait_for(run_tool(call_of(params), name, arguments), CALL_S)
    except TimeoutError:
        return _content(f"{name} did not answer in {CALL_S:.0f} s.", ok=False)
    except Exception as error:
        return _content(f"{name} failed: {type(error).__name__}.", ok=False)
    return _content(outcome.content, ok=outcome.ok)


def call_of(params: dict[str, Any]) -> str:
    """The id of the runtime's tool call, where it says so."""
    meta = params.get("_meta")
    return str(meta.get("claudecode/toolUseId") or "") if isinstance(meta, dict) else ""


def _content(text: str, *, ok: bool) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": text}], "isError": not ok}
