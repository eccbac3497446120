"""What programs print is data: any line, in any order, harms nothing."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from milk_tui.agents import mcp_tools
from milk_tui.agents.acp_turn import AcpTurn
from milk_tui.agents.base import ToolOutcome
from milk_tui.agents.child import lines
from milk_tui.agents.claude_turn import ClaudeTurn, cost_since, failure
from milk_tui.agents.events import BlockReplaced, BlockStarted, TextDelta, ToolResult
from milk_tui.core.records import ErrorKind
from tests.support.legs import TOOL

WORDS = st.sampled_from(
    ["stream_event", "assistant", "user", "system", "result", "command_lifecycle", "init", "api_retry", "text",
     "tool_use", "tool_result", "message_start", "content_block_start", "content_block_delta", "message_stop",
     "text_delta", "thinking_delta", "compact_boundary", "agent_message_chunk", "tool_call", "tool_call_update",
     "plan", "usage_update", "diff", "content", "completed", "m1", "t1", "\x1b[31m"]
)  # fmt: skip
KEYS = st.sampled_from(
    ["type", "subtype", "event", "message", "content", "id", "delta", "text", "index", "content_block", "name",
     "input", "usage", "is_error", "result", "parent_tool_use_id", "abandoned_blocks", "from_block_index", "model",
     "sessionUpdate", "toolCallId", "title", "kind", "status", "rawInput", "rawOutput", "entries", "cost", "amount",
     "tool_use_id", "total_cost_usd", "session_id", "oldText", "newText", "path", "_meta", "claudeCode", "toolName"]
)  # fmt: skip
LEAVES = st.one_of(
    st.none(), st.booleans(), st.integers(-3, 10**9), st.floats(allow_nan=False), WORDS, st.text(max_size=8)
)
JSON = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=6), max_leaves=12
)
LINES = st.lists(st.dictionaries(KEYS, JSON, max_size=8), max_size=8)


@given(LINES)
def test_any_lines_of_claude_are_read_without_harm(messages: list[dict[str, Any]]) -> None:
    turn = ClaudeTurn("u")
    shown, kept = "", ""
    for message in messages:
        for event in turn.feed(message):
            match event:
                case TextDelta(text):
                    shown += text
                case BlockStarted() | ToolResult():
                    kept = shown
                case BlockReplaced():
                    shown = kept
    assert shown == turn.text


@given(LINES)
def test_any_updates_of_an_acp_agent_are_read_without_harm(updates: list[dict[str, Any]]) -> None:
    turn = AcpTurn()
    for update in updates:
        turn.feed(update)
    turn.finish({})


@given(st.binary(max_size=400), st.lists(st.integers(1, 50), max_size=20))
def test_lines_are_the_same_however_they_are_cut(data: bytes, cuts: list[int]) -> None:
    async def read(pieces: list[bytes]) -> list[bytes]:
        class Pieces:
            async def read(self, size: int) -> bytes:
                return pieces.pop(0) if pieces else b""

        return [line async for line in lines(Pieces(), most=60)]  # type: ignore[arg-type]

    pieces, at = [], 0
    for cut in cuts:
        pieces.append(data[at : at + cut])
        at += cut
    pieces = [piece for piece in (*pieces, data[at:]) if piece]
    whole = asyncio.run(read([data] if data else []))
    assert asyncio.run(read(pieces)) == whole


@pytest.mark.parametrize(
    ("before", "total", "cost"),
    [(None, 0.5, 0.5), (0.5, 0.7, 0.2), (0.5, 0.1, 0.1), (0.5, 0.5, 0.0), (0.5, None, None)],
)
def test_a_cost_is_a_difference_and_a_smaller_total_a_new_count(
    before: float | None, total: float | None, cost: float | None
) -> None:
    assert cost_since(before, total) == (None if cost is None else pytest.approx(cost))


@pytest.mark.parametrize(
    ("status", "said", "kind"),
    [
        (None, "Not logged in · Please run /login", ErrorKind.AUTH),
        (None, "API Error: Connection error.", ErrorKind.UNREACHABLE),
        (None, "Request timed out.", ErrorKind.TIMEOUT),
        (None, "You've hit your session limit · resets 3pm", ErrorKind.RATE_LIMIT),
        (403, "no", ErrorKind.AUTH),
        (400, "prompt is too long: 210000 tokens", ErrorKind.CONTEXT_TOO_LONG),
        (529, "Overloaded", ErrorKind.SERVER),
        (None, "", ErrorKind.SERVER),
    ],
)
def test_a_failure_is_named_by_status_and_words(status: int | None, said: str, kind: ErrorKind) -> None:
    error = failure(status, said)
    assert error.kind is kind and error.message and error.hint


async def test_the_server_in_the_program_speaks_json_rpc_and_outlives_mistakes() -> None:
    async def run(call_id: str, name: str, arguments: str) -> ToolOutcome:
        if "boom" in arguments:
            raise ValueError
        return ToolOutcome(f"{call_id} {arguments}")

    async def ask(method: str, **params: Any) -> Any:
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        return await mcp_tools.answer(message, (TOOL,), run)

    assert (await ask("initialize", protocolVersion="2025-11-25"))["result"]["protocolVersion"] == "2025-11-25"
    assert [tool["name"] for tool in (await ask("tools/list"))["result"]["tools"]] == ["record_memory"]
    meta = {"claudecode/toolUseId": "t1"}
    called = await ask("tools/call", name="record_memory", arguments={"fact": "f"}, _meta=meta)
    assert called["result"] == {"content": [{"type": "text", "text": 't1 {"fact":"f"}'}], "isError": False}
    assert (await ask("tools/call", name="record_memory", arguments={"fact": "boom"}))["result"]["isError"]
    assert (await ask("tools/call", name="nothing"))["error"]["code"] == mcp_tools.INVALID_PARAMS
    assert (await ask("server/discover"))["error"]["code"] == mcp_tools.METHOD_NOT_FOUND
    assert await mcp_tools.answer({"method": "notifications/initialized"}, (), run) == {"jsonrpc": "2.0", "result": {}}
