"""Each item as another program says it: hooks, MCP servers and clients, helpers, child agents."""

from __future__ import annotations

import io
import json
from types import SimpleNamespace

import msgspec
import pytest

from milk_tui.agents import acp_connection, asking, claude_turn
from milk_tui.agents.acp_turn import AcpTurn
from milk_tui.agents.claude_turn import ClaudeTurn
from milk_tui.agents.events import (
    LegEnd,
    Progress,
    RemoteStarted,
    Retrying,
    TextDelta,
    ThinkDelta,
    ToolResult,
    ToolStart,
)
from milk_tui.core import cuts, wild_json
from milk_tui.core.helper_answer import BadAnswerError, Given, check
from milk_tui.interop import mcp_protocol
from milk_tui.interop.hook_payload import read
from milk_tui.interop.mcp_server import Server
from milk_tui.tools import mcp_server, mcp_tools
from tests.data.hostile import Item, items
from tests.hostile.watch import in_words
from tests.interop.hooked import Claude, Project, claude, project
from tests.store.conftest import empty_database

__all__ = ["claude", "empty_database", "project"]

each = pytest.mark.parametrize("item", items(), ids=lambda item: item.id)
GIVEN = {"rec1": Given("rec1", "2026-04-14")}


def line(text: str) -> bool:
    return len(text.splitlines()) <= 1 and not in_words(text)


def test_what_a_hook_is_told_is_never_given_back(project: Project, claude: Claude) -> None:
    pinned = project.learn("Never touch production", pinned=True)
    for item in items():
        said = json.dumps({"session_id": item.text[:300], "cwd": item.text[:300], "hook_event_name": item.text})
        assert claude.raw(said.encode()) == {}
        assert claude.raw(item.data) == {}
        claude.session = item.id
        given = claude.prompt(item.text)
        assert pinned.short_id in given
        assert len(cuts._label.findall(given)) <= 2
        assert not in_words(given.replace("\n", ""))
        claude.tool(item.text, {"command": item.text, item.text[:50]: item.text})
        boundary = read(claude.payload("PreToolUse", tool_name=item.text, tool_input=item.text), {})
        assert boundary is None or len(boundary.query) <= 2_000
    live = project.store.read_sync(lambda conn: conn.execute("select content from percepts").fetchall())
    assert [content for (content,) in live] == ["Never touch production"]


class Nobody:
    """What stands behind our server, and repeats nothing."""

    def meet(self, client: str) -> None: ...

    def tools(self) -> list[dict[str, object]]:
        return []

    def resources(self) -> list[dict[str, object]]:
        return []

    def call(self, name: str, arguments: object) -> dict[str, object]:
        raise mcp_protocol.RpcError(mcp_protocol.INVALID_PARAMS, "There is no such tool.")

    def read(self, uri: str) -> dict[str, object]:
        raise mcp_protocol.RpcError(mcp_protocol.RESOURCE_NOT_FOUND, "There is no such resource.")

    def close(self) -> None: ...


def test_what_a_client_asks_is_answered_in_lines_of_ascii() -> None:
    asked = []
    for item in items():
        asked += [item.data.replace(b"\n", b" ")]
        for method, params in (
            (item.text, {}),
            ("initialize", {"clientInfo": {"name": item.text}, "protocolVersion": item.text}),
            ("tools/call", {"name": item.text, "arguments": {item.text: item.text}}),
            ("resources/read", {"uri": item.text}),
        ):
            asked.append(json.dumps({"jsonrpc": "2.0", "id": item.text, "method": method, "params": params}).encode())
    out = io.BytesIO()
    Server(Nobody(), io.BytesIO(b"\n".join(asked) + b"\n"), out).run()
    replies = out.getvalue().split(b"\n")
    assert replies.pop() == b""
    assert len(replies) >= 4 * len(items())
    for reply in replies:
        assert reply.isascii()
        assert b"\x1b" not in reply
        assert json.loads(reply)


@each
def test_a_tool_of_a_server_is_a_plain_name_and_one_line(item: Item) -> None:
    told = SimpleNamespace(name=item.text, description=item.text, title=item.text, input_schema={item.text: item.text})
    spec = mcp_server._spec(told)
    if spec is not None:
        name = mcp_tools.public_name("srv", spec.name)
        assert name.isascii()
        assert len(name) <= mcp_tools.LONGEST_NAME
        assert set(name) <= set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")
        assert line(spec.description)
        msgspec.json.encode(spec.parameters)


@each
def test_a_result_of_a_server_is_text(item: Item) -> None:
    text = SimpleNamespace(type="text", text=item.text)
    image = SimpleNamespace(type="image", mime_type=item.text, data=item.text)
    other = SimpleNamespace(type=item.text)
    for result in (
        SimpleNamespace(content=[text, image, other]),
        SimpleNamespace(content=[], structured_content={item.text: item.text}),
    ):
        assert not in_words(mcp_server.outcome_of(result).content.replace("\n", ""))
    assert line(mcp_server._said(ValueError(item.text)))


@each
def test_an_answer_of_a_helper_is_one_message_or_none(item: Item) -> None:
    said = f"On 2026-04-14 rec1 says this: {item.text}"
    for raw in (
        item.text,
        json.dumps({"action": "send_message", "message": said, "citations": ["rec1"]}),
        json.dumps({"action": "send_message", "message": f"It was so. {said}", "citations": ["rec1"]}),
        json.dumps({"action": "send_message", "message": said, "citations": [item.text]}),
        json.dumps({item.text: item.text}),
    ):
        try:
            answer = check(raw, GIVEN, may_send=True, max_bytes=8_000)
        except BadAnswerError as error:
            assert len(str(error)) < 400
            assert line(str(error)), str(error)
        else:
            assert line(answer.text)
            assert not cuts._label.search(answer.text)


def wild(value: object):
    """As it comes from a child."""
    return wild_json.decode(json.dumps(value).encode())


def check_events(made: list[object]) -> None:
    for event in made:
        match event:
            case ToolStart():
                assert line(event.name)
                json.loads(event.arguments)
            case Progress():
                assert line(event.text)
            case Retrying():
                assert line(event.reason)
            case RemoteStarted():
                assert line(event.model)
            case LegEnd(error=error) if error is not None:
                assert line(error.message)
            case TextDelta() | ThinkDelta() | ToolResult():
                pass


@each
def test_what_an_acp_agent_says_is_named_in_one_line(item: Item) -> None:
    text = item.text[:50_000]
    turn = AcpTurn()
    call = {"toolCallId": text, "title": text, "kind": text, "_meta": {"claudeCode": {"toolName": text}}}
    for update in (
        {"sessionUpdate": text, "content": text},
        {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}, "messageId": text},
        {"sessionUpdate": "tool_call", **call, "rawInput": {text: text}, "status": text},
        {"sessionUpdate": "tool_call_update", **call, "rawOutput": {text: text}, "status": "completed"},
        {"sessionUpdate": "plan", "entries": [{"content": text, "status": "in_progress"}]},
        {"sessionUpdate": "plan", "entries": text},
        {"sessionUpdate": "plan", "entries": 5},
        {"sessionUpdate": "usage_update", "size": text, "cost": text},
    ):
        check_events(turn.feed(wild(update)))
    check_events(turn.finish(wild({"stopReason": text, "usage": text})))
    assert line(str(acp_connection._error(wild({"code": text, "message": text, "data": {"message": text}}))))


@each
def test_what_claude_code_says_is_named_in_one_line(item: Item) -> None:
    text = item.text[:50_000]
    turn = ClaudeTurn("u")
    use = {"type": "tool_use", "id": text, "name": text, "input": {text: text}}
    result = {"type": "tool_result", "tool_use_id": text, "content": [{"type": text}, {"type": "text", "text": text}]}
    for message in (
        {"type": text},
        {"type": "system", "subtype": "init", "session_id": text, "model": text, "claude_code_version": text},
        {"type": "system", "subtype": "api_retry", "error": text, "error_status": text, "attempt": text},
        {"type": "stream_event", "event": {"type": "content_block_start", "index": text, "content_block": use}},
        {"type": "assistant", "message": {"id": text, "model": text, "content": [use, {"type": "text", "text": text}]}},
        {"type": "user", "message": {"content": [result]}},
        {"type": "rate_limit_event", "rate_limit_info": text},
        {"type": "result", "is_error": True, "subtype": text, "result": text, "errors": [text], "usage": text},
    ):
        check_events(turn.feed(wild(message)))
    assert turn.end is not None
    assert line(claude_turn.failure(None, text).message)


@each
def test_what_a_child_asks_for_is_shown_as_text(item: Item, tmp_path) -> None:
    text = item.text[:20_000]
    for arguments in (
        {"command": text},
        {"file_path": text, "content": text},
        {"file_path": "a.py", "old_string": text, "new_string": text},
        {"plan": text},
        {"url": text},
        {text: text},
    ):
        for tool in ("Write", "Edit", "ExitPlanMode", "WebFetch", text):
            told = wild({"tool": tool, **{"arguments": arguments}})
            says, body, _ = asking._shown(told["tool"], told["arguments"], str(tmp_path))
            assert isinstance(says, str)
            assert isinstance(body, str)
            assert asking._beyond(told["arguments"], str(tmp_path)) in (True, False)
    questions = asking.questions_of(
        wild({"questions": [{"question": text, "header": text, "options": [{"label": text}]}]})
    )
    for question in questions:
        assert line(question.header)
        assert not in_words((question.text + "".join(question.choices)).replace("\n", ""))
    for shape in (5, text, [text], {text: text}):
        assert asking.questions_of({"questions": shape}) == ()
