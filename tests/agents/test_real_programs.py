"""The real Claude Code and a real ACP agent, against the loopback Anthropic server: run by hand.

``MILK_TEST_CLAUDE=/path/to/claude`` and ``MILK_TEST_ACP="/path/to/agent words"`` name them; nothing else is reached.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import shlex
import sys
from collections.abc import AsyncIterator
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest

from milk_tui.agents.acp_agent import AcpAgent, AcpSettings
from milk_tui.agents.claude_agent import ClaudeAgent
from milk_tui.agents.claude_settings import ClaudeSettings
from milk_tui.agents.events import LegEnd, RemoteStarted, TextDelta, ToolResult, ToolStart, UsageReported
from milk_tui.core.permissions import PermissionRequest, Verdict
from milk_tui.core.records import ErrorKind
from tests.support.anthropic_server import AnthropicServer
from tests.support.legs import Desk, end_of, of, plan, text_of

pytestmark = pytest.mark.contract

CLAUDE = os.environ.get("MILK_TEST_CLAUDE", "")
ACP = shlex.split(os.environ.get("MILK_TEST_ACP", ""))
needs_claude = pytest.mark.skipif(not CLAUDE, reason="MILK_TEST_CLAUDE names no program")
needs_acp = pytest.mark.skipif(not ACP, reason="MILK_TEST_ACP names no program")
BASH, WRITE, PATH = ("bash", "write", "filePath") if "opencode" in str(ACP) else ("Bash", "Write", "file_path")


class Real:
    """A real program, the server that it asks, and who answers its questions."""

    def __init__(self, server: AnthropicServer, folder: Path) -> None:
        self.server = server
        self.folder = folder
        self.desk = Desk(folder / "work", self._answer)
        (folder / "work").mkdir()
        self.agent: Any = None

    async def _answer(self, request: PermissionRequest) -> Verdict:
        answers = {question.text: question.choices[-1] for question in request.questions}
        return Verdict(allowed="deny" not in request.arguments, reason="not that one", answers=answers)

    def environ(self) -> dict[str, str]:
        options = {"baseURL": f"{self.server.url}/v1", "apiKey": "of-no-worth"}
        opencode = {
            "provider": {"anthropic": {"options": options}},
            "model": "anthropic/claude-sonnet-4-5",
            "small_model": "anthropic/claude-sonnet-4-5",
            "permission": {"bash": "ask", "edit": "ask"},
            "autoupdate": False,
            "share": "disabled",
        }
        return {
            **os.environ,
            "HOME": str(self.folder),
            "CLAUDE_CONFIG_DIR": str(self.folder / "claude"),
            "ANTHROPIC_BASE_URL": self.server.url,
            "ANTHROPIC_API_KEY": "of-no-worth",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "CLAUDE_CODE_MAX_RETRIES": "1",
            "OPENCODE_CONFIG_CONTENT": json.dumps(opencode),
            "OPENCODE_DISABLE_AUTOUPDATE": "1",
            "OPENCODE_DISABLE_MODELS_FETCH": "1",
        }

    async def say(self, prompt: str, **fields: Any) -> list[Any]:
        return await self.desk.say(self.agent, prompt, **fields)

    async def stopped(self, prompt: str) -> str:
        """A leg that is stopped after some text; what had come."""
        shown = ""
        async with aclosing(self.agent.run(self.desk.request(prompt))) as stream:
            async for event in stream:
                if isinstance(event, RemoteStarted):
                    self.desk.remote = event.remote_id
                if isinstance(event, TextDelta):
                    shown += event.text
                    if len(shown) > 8:
                        break
        return shown

    def mains(self) -> list[dict[str, Any]]:
        """Requests of the conversation itself, not for titles and the like."""
        return [r.body for r in self.server.requests if len(r.body.get("tools") or ()) > 5]


@pytest.fixture
async def real(tmp_path: Path) -> AsyncIterator[Real]:
    async with AnthropicServer() as server:
        yield Real(server, tmp_path)


@pytest.fixture
async def claude(real: Real) -> AsyncIterator[Real]:
    settings = ClaudeSettings(
        folder=real.folder / "static", command=(CLAUDE,), model="claude-sonnet-5", environ=real.environ()
    )
    real.agent = ClaudeAgent("claude", settings)
    yield real
    await real.agent.aclose()


@pytest.fixture
async def acp(real: Real) -> AsyncIterator[Real]:
    memory = (sys.executable, "-m", "milk_tui", "mcp", "--as", "helper")
    env = {"MILK_TUI_HOME": str(real.folder / "milk"), "PYTHONPATH": str(Path(__file__).parents[2])}
    settings = AcpSettings(command=tuple(ACP), environ=real.environ(), mcp_command=memory, mcp_env=env)
    real.agent = AcpAgent("helper", settings)
    yield real
    await real.agent.aclose()


@needs_claude
async def test_claude_prompt_tags_and_static_text(claude: Real) -> None:
    events = await claude.say("SCN:think hm SCN:say hello SCN:tag percept a fact", plan=plan("[Current need] x"))
    assert text_of(events) == "hello<milk:percept:abc123>a fact</milk:percept:abc123>"
    assert end_of(events) == LegEnd()
    body = claude.mains()[0]
    assert "<milk:KIND:abc123>" in json.dumps(body["system"])
    assert "[Current need] x" in json.dumps(body["messages"])


@needs_claude
async def test_claude_asks_and_does_what_is_answered(claude: Real) -> None:
    events = await claude.say(
        'SCN:tool Bash {"command":"touch yes.txt"} SCN:tool Bash {"command":"touch deny.txt"} SCN:then SCN:say x'
    )
    assert (claude.desk.directory / "yes.txt").exists() and not (claude.desk.directory / "deny.txt").exists()
    assert sorted(r.ok for r in of(events, ToolResult)) == [False, True]
    asked = {"questions": [{"question": "Which?", "header": "H", "multiSelect": False, "options": []}]}
    asked["questions"][0]["options"] = [{"label": "A", "description": "a"}, {"label": "B", "description": "b"}]  # type: ignore[index]
    events = await claude.say(f"SCN:tool AskUserQuestion {json.dumps(asked)} SCN:then SCN:say x")
    assert '"Which?"="B"' in of(events, ToolResult)[0].content


@needs_claude
async def test_claude_calls_our_tools_in_process_and_gets_notes_at_tool_calls(claude: Real) -> None:
    async def boundary(tool: str) -> str:
        return f"a note for {tool}"

    events = await claude.say('SCN:tool mcp__milk__record_memory {"fact":"f"} SCN:then SCN:say x', boundary=boundary)
    assert claude.desk.called == [("record_memory", '{"fact":"f"}')]
    assert of(events, ToolStart)[0].name == "record_memory"
    assert "a note for mcp__milk__record_memory" in json.dumps(claude.mains()[-1]["messages"])


@needs_claude
async def test_claude_keeps_its_prefix_over_turns_and_over_a_restart(claude: Real) -> None:
    for number in range(3):
        await claude.say(f"SCN:say answer {number}", plan=plan(f"[Current need] {number}"))
    await claude.agent.leave("s1")
    events = await claude.say("SCN:say resumed")
    assert text_of(events) == "resumed"
    bodies = claude.mains()
    assert len({json.dumps([_bare(b["tools"]), _bare(b["system"])]) for b in bodies}) == 1
    for before, after in itertools.pairwise(bodies):
        assert _bare(after["messages"])[: len(before["messages"])] == _bare(before["messages"])


@needs_claude
async def test_claude_is_interrupted_and_goes_on(claude: Real) -> None:
    assert "n1 n2" in await claude.stopped("SCN:delay 0.05 SCN:count 200 n")
    assert text_of(await claude.say("SCN:say next")) == "next"


@needs_claude
async def test_claude_says_what_went_wrong(claude: Real) -> None:
    error = end_of(await claude.say("SCN:err 404")).error
    assert error is not None and error.kind is ErrorKind.NOT_FOUND
    gone = end_of(await claude.say("SCN:say x", remote_id="11111111-2222-4333-8444-555555555555")).error
    assert gone is not None and gone.kind is ErrorKind.REMOTE_GONE


@needs_claude
async def test_claude_shows_the_right_text_once_when_the_stream_breaks(claude: Real) -> None:
    assert text_of(await claude.say("SCN:say partial SCN:fail boom")) == "partial"


@needs_claude
async def test_claude_costs_are_differences(claude: Real) -> None:
    costs = [of(await claude.say("SCN:say x"), UsageReported)[0] for _ in range(2)]
    assert all((c.usage.cost_usd or 0) > 0 for c in costs)
    assert costs[1].session_cost_usd == pytest.approx(sum(c.usage.cost_usd or 0 for c in costs))


@needs_acp
async def test_acp_prompt_tools_and_answers(acp: Real) -> None:
    events = await acp.say("SCN:say hello", plan=plan("[Current need] x", "the protocol"))
    assert text_of(events) == "hello"
    allowed = await acp.say(f'SCN:tool {BASH} {{"command":"touch yes.txt","description":"d"}} SCN:then SCN:say x')
    write = json.dumps({PATH: str(acp.desk.directory / "deny.txt"), "content": "x"})
    denied = await acp.say(f"SCN:tool {WRITE} {write} SCN:then SCN:say x")
    assert (acp.desk.directory / "yes.txt").exists() and not (acp.desk.directory / "deny.txt").exists()
    assert {request.language for request in acp.desk.asked} == {"bash", "diff"}
    assert [r.ok for r in of([*allowed, *denied], ToolResult)] == [True, False]


@needs_acp
async def test_acp_is_cancelled_goes_on_and_is_resumed(acp: Real) -> None:
    assert "n1 n2" in await acp.stopped("SCN:delay 0.05 SCN:count 200 n")
    assert text_of(await acp.say("SCN:say next")) == "next"
    await acp.agent.leave("s1")
    assert text_of(await acp.say("SCN:say resumed")) == "resumed"


@needs_acp
async def test_acp_gets_our_memory_as_tools(acp: Real) -> None:
    await acp.say("SCN:say a")
    for _ in range(20):
        names = [tool["name"] for tool in acp.mains()[-1]["tools"]]
        if any("record_memory" in name for name in names):
            break
        await asyncio.sleep(0.5)
        await acp.say("SCN:say b")
    assert any("record_memory" in name for name in names)


def _bare(content: Any) -> Any:
    """The request without its cache marks, which move with the conversation's end, and with text in one form."""
    if isinstance(content, dict) and isinstance(content.get("content"), str) and "role" in content:
        content = {**content, "content": [{"type": "text", "text": content["content"]}]}
    if isinstance(content, dict):
        return {key: _bare(value) for key, value in content.items() if key != "cache_control"}
    if isinstance(content, list):
        return [_bare(value) for value in content]
    return content
