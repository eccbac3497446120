"""Any ACP agent, against a stand-in that speaks the protocol."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest

from milk_tui.agents import acp_agent, acp_connection
from milk_tui.agents.acp_agent import AcpAgent, AcpSettings
from milk_tui.agents.events import (
    LegEnd,
    Progress,
    RemoteStarted,
    TextDelta,
    ThinkDelta,
    ToolResult,
    ToolStart,
    UsageReported,
)
from milk_tui.core.acp_presets import PRESETS, preset, preset_of
from milk_tui.core.permissions import PermissionRequest, Verdict
from milk_tui.core.records import ErrorKind
from tests.agents.test_child import alive
from tests.support.fake_acp import FAKE_ACP
from tests.support.legs import Desk, end_of, of, plan, text_of
from tests.support.polling import until


class Scene:
    """An agent on the stand-in, and what the stand-in kept."""

    def __init__(self, folder: Path, *arguments: str, **settings: Any) -> None:
        self.home = folder / "acp"
        self.home.mkdir(exist_ok=True)
        command = (sys.executable, FAKE_ACP, "--home", str(self.home), *arguments)
        self.agent = AcpAgent("helper", AcpSettings(command=command, **settings))
        self.desk = Desk(folder)

    @property
    def record(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in (self.home / "acp.jsonl").read_text().splitlines()]

    @property
    def starts(self) -> list[dict[str, Any]]:
        return [entry for entry in self.record if "start" in entry]

    def asked(self, method: str) -> list[dict[str, Any]]:
        messages = [entry["in"] for entry in self.record if "in" in entry]
        return [message["params"] for message in messages if message.get("method") == method]

    def prompts(self) -> list[list[str]]:
        return [[block["text"] for block in asked["prompt"]] for asked in self.asked("session/prompt")]

    async def say(self, prompt: str, **fields: Any) -> list[Any]:
        return await self.desk.say(self.agent, prompt, **fields)


@pytest.fixture
async def scene(tmp_path: Path) -> AsyncIterator[Scene]:
    scene = Scene(tmp_path)
    yield scene
    await scene.agent.aclose()


async def test_text_thought_and_usage_come_as_from_every_agent(scene: Scene) -> None:
    events = await scene.say("SCN:think hm SCN:say one two three")
    assert (text_of(events), of(events, ThinkDelta)) == ("one two three", [ThinkDelta("hm")])
    assert end_of(events) == LegEnd()
    [usage] = of(events, UsageReported)
    assert (usage.usage.input_tokens, usage.usage.cached_tokens, usage.usage.output_tokens) == (100, 90, 7)
    assert scene.agent.caps.window_tokens == 200_000


async def test_static_text_is_the_first_block_of_the_first_prompt(scene: Scene) -> None:
    await scene.say("SCN:say a", plan=plan("[Current need] x", "the protocol"))
    await scene.say("SCN:say b", plan=plan())
    first, second = scene.prompts()
    assert first == ["the protocol", "[Context from milk]\n[Current need] x\n[/Context from milk]", "SCN:say a"]
    assert second == ["SCN:say b"]
    assert scene.agent.caps.static_in_history


async def test_an_agent_that_can_append_gets_static_text_that_way(tmp_path: Path) -> None:
    script = tmp_path / "claude-agent-acp"
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{FAKE_ACP}" --home "{tmp_path / "acp"}"\n')
    script.chmod(0o755)
    scene = Scene(tmp_path)
    scene.agent = AcpAgent("claude-acp", AcpSettings(command=(str(script),)))
    await scene.say("SCN:say a", plan=plan("", "the protocol"))
    await scene.agent.aclose()
    [new] = scene.asked("session/new")
    assert new["_meta"]["systemPrompt"]["append"].startswith("Write <milk:")
    assert scene.prompts() == [["SCN:say a"]] and not scene.agent.caps.static_in_history


async def test_cost_is_the_difference(scene: Scene) -> None:
    first = of(await scene.say("SCN:say a"), UsageReported)[0]
    second = of(await scene.say("SCN:say b"), UsageReported)[0]
    assert (first.usage.cost_usd, second.usage.cost_usd) == (pytest.approx(0.02), pytest.approx(0.02))
    assert second.session_cost_usd == pytest.approx(0.04)


async def test_a_tool_is_shown_asked_for_and_answered(scene: Scene) -> None:
    async def answer(request: PermissionRequest) -> Verdict:
        return Verdict(allowed="good" in request.arguments, reason="no")

    scene.desk.answer = answer
    events = await scene.say(
        'SCN:tool execute {"command":"good"} SCN:tool execute {"command":"bad"} SCN:then SCN:say done'
    )
    assert [(s.name, json.loads(s.arguments)) for s in of(events, ToolStart)] == [
        ("execute", {"command": "good"}),
        ("execute", {"command": "bad"}),
    ]
    assert [(r.ok, r.content) for r in of(events, ToolResult)] == [(True, "did execute"), (False, "refused")]
    assert [request.title for request in scene.desk.asked] == ["run good", "run bad"]
    assert [e["outcome"]["optionId"] for e in scene.record if "outcome" in e] == ["allow_once!", "reject_once!"]


async def test_our_own_tools_are_not_asked_for(scene: Scene) -> None:
    events = await scene.say('SCN:tool mcp__milk__record_memory {"fact":"f"} SCN:then SCN:say done')
    assert not scene.desk.asked
    assert (of(events, ToolStart)[0].name, of(events, ToolResult)[0].ok) == ("record_memory", True)


async def test_a_tool_that_only_calls_itself_ours_is_asked_for(scene: Scene) -> None:
    scene.desk.answer = denied
    events = await scene.say('SCN:tool mcp__milk__run_anything {"command":"rm x"} SCN:then SCN:say done')
    assert [request.arguments for request in scene.desk.asked] == ['{"command":"rm x"}']
    assert not of(events, ToolResult)[0].ok


async def test_a_call_that_became_another_after_it_was_allowed_says_so_in_its_record(scene: Scene) -> None:
    events = await scene.say('SCN:tool execute {"command":"good","then":"rm -rf x"} SCN:then SCN:say done')
    assert [json.loads(request.arguments) for request in scene.desk.asked] == [{"command": "good"}]
    [result] = of(events, ToolResult)
    assert result.content.startswith("[NOT WHAT WAS ASKED FOR:") and "rm -rf x" in result.content


async def denied(request: PermissionRequest) -> Verdict:
    return Verdict(allowed=False)


async def test_an_edit_is_asked_for_with_its_difference(scene: Scene) -> None:
    events = await scene.say('SCN:tool edit {"path":"a.py","old":"x = 1","new":"x = 2"} SCN:then SCN:say done')
    [request] = scene.desk.asked
    assert request.language == "diff" and "-x = 1\n+x = 2" in request.body
    assert "-x = 1\n+x = 2" in of(events, ToolResult)[0].content


async def test_two_requests_at_once_are_answered_each_for_itself(scene: Scene) -> None:
    async def answer(request: PermissionRequest) -> Verdict:
        await until(lambda: len(scene.desk.asked) == 2)
        return Verdict(allowed="rm 2" in request.arguments)

    scene.desk.answer = answer
    await scene.say("FAKE:ask twice SCN:say x")
    [outcomes] = [entry["outcomes"] for entry in scene.record if "outcomes" in entry]
    assert [outcome["optionId"] for outcome in outcomes] == ["reject_once!", "allow_once!"]


async def test_requests_of_one_that_dies_are_open_no_longer(scene: Scene) -> None:
    async def answer(request: PermissionRequest) -> Verdict:
        if len(scene.desk.asked) == 2:
            (scene.home / "go").touch()
        await asyncio.Event().wait()
        raise AssertionError

    scene.desk.answer = answer
    error = end_of(await scene.say("FAKE:ask die SCN:say x")).error
    assert error is not None and error.kind is ErrorKind.HOST_DIED
    await until(lambda: len(scene.desk.ended) == 2)


async def test_what_it_asks_beyond_permissions_is_refused(scene: Scene) -> None:
    await scene.say("FAKE:file SCN:say x")
    [file] = [entry["file"] for entry in scene.record if "file" in entry]
    assert file["error"]["code"] == -32601


async def test_plans_and_sub_agents_are_shown(scene: Scene) -> None:
    events = await scene.say("FAKE:plan FAKE:sub Read SCN:say x")
    assert "plan 1/2: change it" in [event.text for event in of(events, Progress)]
    assert [(s.name, s.sub_agent) for s in of(events, ToolStart)] == [("Read", True)]
    assert of(events, ToolResult)[0].content == "seen"


async def test_two_messages_are_two_paragraphs(scene: Scene) -> None:
    assert text_of(await scene.say("FAKE:two SCN:empty")) == "one\n\ntwo"


async def test_rubbish_and_a_megabyte_on_one_line_do_no_harm(scene: Scene) -> None:
    events = await scene.say("FAKE:rubbish FAKE:megabyte SCN:say fine")
    assert text_of(events) == "fine"
    assert of(events, ToolResult)[0].content.startswith("x" * 1000 + "x")
    assert "more characters" in of(events, ToolResult)[0].content


@pytest.mark.parametrize(("cannot", "method"), [((), "session/resume"), (("resume",), "session/load")])
async def test_after_a_restart_it_goes_on_by_what_the_agent_can(
    cannot: tuple[str, ...], method: str, tmp_path: Path
) -> None:
    scene = Scene(tmp_path, *(word for what in cannot for word in ("--cannot", what)))
    await scene.say("SCN:say a")
    await scene.agent.leave("s1")
    events = await scene.say("SCN:say b")
    await scene.agent.aclose()
    assert text_of(events) == "b"
    assert [asked["sessionId"] for asked in scene.asked(method)] == [scene.desk.remote]


@pytest.mark.parametrize("cannot", [(), ("--cannot", "resume", "--cannot", "load")])
async def test_a_session_that_it_can_not_go_on_with_is_said(cannot: tuple[str, ...], tmp_path: Path) -> None:
    scene = Scene(tmp_path, *cannot)
    error = end_of(await scene.say("SCN:say a", remote_id="gone")).error
    await scene.agent.aclose()
    assert error is not None and error.kind is ErrorKind.REMOTE_GONE


@pytest.mark.parametrize(
    ("prompt", "kind"),
    [
        ("FAKE:die", ErrorKind.HOST_DIED),
        ("FAKE:refuse", ErrorKind.REFUSED),
        ("FAKE:error Please log in first", ErrorKind.AUTH),
        ("FAKE:error prompt is too long", ErrorKind.CONTEXT_TOO_LONG),
        ("FAKE:error network unreachable", ErrorKind.UNREACHABLE),
        ("SCN:err 500", ErrorKind.SERVER),
    ],
)
async def test_a_failed_turn_says_what_and_leaves_the_session_usable(
    scene: Scene, prompt: str, kind: ErrorKind
) -> None:
    await scene.say("SCN:say a")
    error = end_of(await scene.say(prompt)).error
    assert error is not None and (error.kind, bool(error.hint)) == (kind, True)
    assert text_of(await scene.say("SCN:say still here")) == "still here"


@pytest.mark.parametrize(
    ("arguments", "kind", "said"),
    [
        (("--start", "exit"), ErrorKind.HOST_DIED, "no configuration"),
        (("--start", "hang"), ErrorKind.HOST_DIED, "did not answer"),
        (("--version", "2"), ErrorKind.HOST_DIED, "version 2"),
        (("--auth",), ErrorKind.AUTH, "Authentication required"),
    ],
)
async def test_one_that_does_not_start_is_one_clear_error(
    arguments: tuple[str, ...], kind: ErrorKind, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(acp_agent, "START_S", 0.5 if "hang" in arguments else 60.0)
    scene = Scene(tmp_path, *arguments)
    error = end_of(await scene.say("SCN:say a")).error
    assert error is not None and error.kind is kind and said in error.message and error.hint
    assert not alive(scene.starts[0]["pid"])


async def test_a_program_that_is_not_there_is_named(tmp_path: Path) -> None:
    agent = AcpAgent("mine", AcpSettings(command=("no-such-agent",)))
    error = end_of(await Desk(tmp_path).say(agent, "x")).error
    assert error is not None and error.kind is ErrorKind.NO_AGENT and "no-such-agent" in error.message


async def test_the_model_is_chosen_or_said_to_be_missing(tmp_path: Path) -> None:
    scene = Scene(tmp_path, model="big")
    assert text_of(await scene.say("SCN:say a")) == "a"
    assert [asked["modelId"] for asked in scene.asked("session/set_model")] == ["big"]
    await scene.agent.aclose()
    other = Scene(tmp_path, model="no-such")
    error = end_of(await other.say("SCN:say a", remote_id="")).error
    assert error is not None and "no model no-such" in error.message


async def test_stopping_cancels_the_turn_and_the_process_goes_on(scene: Scene) -> None:
    await _stopped(scene, "SCN:say so far SCN:stall")
    assert text_of(await scene.say("SCN:say next")) == "next"
    assert len(scene.asked("session/cancel")) == 1 and len(scene.starts) == 1


async def test_one_that_is_deaf_to_stopping_is_ended_and_resumed(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(acp_connection, "CANCEL_S", 0.1)
    await scene.say("SCN:say a")
    leg = asyncio.create_task(scene.say("FAKE:hang"))
    await until(lambda: len(scene.prompts()) == 2)
    leg.cancel()
    await asyncio.gather(leg, return_exceptions=True)
    assert text_of(await scene.say("SCN:say next")) == "next"
    assert len(scene.starts) == 2 and not alive(scene.starts[0]["pid"])


async def _stopped(scene: Scene, prompt: str) -> None:
    async with aclosing(scene.agent.run(scene.desk.request(prompt))) as stream:
        async for event in stream:
            if isinstance(event, RemoteStarted):
                scene.desk.remote = event.remote_id
            if isinstance(event, TextDelta):
                return


async def test_our_memory_is_handed_over_as_an_mcp_server_of_the_session(tmp_path: Path) -> None:
    scene = Scene(tmp_path, mcp_command=("milk", "mcp", "--as", "helper"), mcp_env={"MILK_TUI_HOME": "/m"})
    await scene.say("SCN:say a")
    await scene.agent.aclose()
    [server] = scene.asked("session/new")[0]["mcpServers"]
    assert (server["command"], server["args"]) == ("milk", ["mcp", "--as", "helper", "--session", "s1"])
    assert server["env"] == [{"name": "MILK_TUI_HOME", "value": "/m"}]
    assert scene.agent.caps.tools


async def test_an_agent_that_sees_no_images_is_told_that_there_were_some(scene: Scene) -> None:
    await scene.say("SCN:say x", images=("data:image/png;base64,AAAA",))
    assert "can't see images" in scene.prompts()[0][0]


async def test_a_session_that_another_program_worked_in_is_resumed_to_know_it(scene: Scene) -> None:
    await scene.say("SCN:say a")
    await scene.say("SCN:say b", remote_leg=99)
    assert len(scene.starts) == 2 and len(scene.asked("session/resume")) == 1


def test_presets_are_found_by_word_and_by_program() -> None:
    assert preset("OpenCode") is preset_of(("/usr/local/bin/opencode", "acp"))
    assert preset("nobody") is None and preset_of(()) is None
    assert len({known.name for known in PRESETS}) == len(PRESETS)
