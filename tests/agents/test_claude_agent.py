"""Claude Code as an agent, against a stand-in that speaks both generations of its protocol."""

from __future__ import annotations

import asyncio
import json
import os
import stat
import sys
from collections.abc import AsyncIterator
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest

from milk_tui.agents import claude_agent, claude_process
from milk_tui.agents.claude_agent import HOOK_CHARS, ClaudeAgent
from milk_tui.agents.claude_settings import ENVIRONMENT, ClaudeSettings
from milk_tui.agents.events import (
    BlockReplaced,
    Compacted,
    LegEnd,
    Progress,
    RemoteStarted,
    Retrying,
    TextDelta,
    ThinkDelta,
    ToolResult,
    ToolStart,
    UsageReported,
)
from milk_tui.core.permissions import PermissionRequest, Scope, Verdict
from milk_tui.core.records import ErrorKind
from tests.agents.test_child import alive
from tests.support.fake_claude import FAKE_CLAUDE
from tests.support.legs import STATIC, Desk, end_of, of, plan, text_of
from tests.support.polling import until

Record = list[dict[str, Any]]


class Scene:
    """An agent on the stand-in, and what the stand-in kept."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        self.home = folder / "claude"
        self.home.mkdir(exist_ok=True)
        work = folder / "work"
        work.mkdir(exist_ok=True)
        command = (sys.executable, FAKE_CLAUDE, "--home", str(self.home), *arguments)
        self.agent = ClaudeAgent("claude", ClaudeSettings(folder=folder / "static", command=command, model="pinned"))
        self.desk = Desk(work)

    @property
    def record(self) -> Record:
        return [json.loads(line) for line in (self.home / "record.jsonl").read_text().splitlines()]

    @property
    def starts(self) -> Record:
        return [entry for entry in self.record if "start" in entry]

    def sent(self, kind: str) -> Record:
        return [entry["in"] for entry in self.record if entry.get("in", {}).get("type") == kind]

    async def say(self, prompt: str, **fields: Any) -> list[Any]:
        return await self.desk.say(self.agent, prompt, **fields)


def contents(file: Path) -> tuple[str, int]:
    """What is in the file, and its mode."""
    return file.read_text(), stat.S_IMODE(file.stat().st_mode)


@pytest.fixture(params=["old", "new"])
async def scene(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Scene]:
    scene = Scene(tmp_path, "--fake", request.param)
    yield scene
    await scene.agent.aclose()


@pytest.fixture
async def new(tmp_path: Path) -> AsyncIterator[Scene]:
    scene = Scene(tmp_path, "--fake", "new")
    yield scene
    await scene.agent.aclose()


async def test_the_text_is_streamed_once_though_it_comes_three_times(scene: Scene) -> None:
    events = await scene.say("SCN:think hm hm SCN:say one two three")
    assert text_of(events) == "one two three"
    assert "".join(event.text for event in of(events, ThinkDelta)) == "hm hm"
    assert end_of(events) == LegEnd()
    [usage] = of(events, UsageReported)
    assert (usage.usage.input_tokens, usage.usage.cached_tokens, usage.usage.output_tokens) == (115, 100, 7)


async def test_one_process_serves_all_turns_and_says_its_session(new: Scene) -> None:
    first = await new.say("SCN:say a")
    second = await new.say("SCN:say b", plan=plan("[Current need] x"))
    assert len(new.starts) == 1
    assert {e.remote_id for e in of([*first, *second], RemoteStarted)} == {new.desk.remote}
    [one, two] = new.sent("user")
    assert [block["text"] for block in one["message"]["content"]] == ["SCN:say a"]
    assert [block["text"] for block in two["message"]["content"]] == [
        "[Context from milk]\n[Current need] x\n[/Context from milk]",
        "SCN:say b",
    ]


async def test_the_command_pins_model_session_and_static_text(scene: Scene) -> None:
    await scene.say("SCN:say a")
    command = scene.starts[0]["start"]
    file = Path(command[command.index("--append-system-prompt-file") + 1])
    assert contents(file) == (STATIC, 0o600)
    assert command[command.index("--model") + 1] == "pinned"
    assert command[command.index("--session-id") + 1] == scene.desk.remote
    assert "SCN:say a" not in command
    assert set(ENVIRONMENT) <= set(scene.starts[0]["env"])


async def test_the_same_file_and_model_are_given_when_it_is_resumed(scene: Scene) -> None:
    await scene.say("SCN:say a")
    await scene.agent.leave("s1")
    events = await scene.say("SCN:say b")
    assert text_of(events) == "b"
    [first, second] = (entry["start"] for entry in scene.starts)
    assert second[second.index("--resume") + 1] == scene.desk.remote

    def kept(command: list[str]) -> list[str]:
        return [word for word in command if word not in ("--session-id", "--resume", scene.desk.remote)]

    assert kept(first) == kept(second)


async def test_a_session_that_is_gone_is_said_and_nothing_else(scene: Scene) -> None:
    events = await scene.say("SCN:say a", remote_id="11111111-2222-4333-8444-555555555555")
    error = end_of(events).error
    assert error is not None and error.kind is ErrorKind.REMOTE_GONE
    assert not of(events, TextDelta)


async def test_a_fresh_start_is_another_process_with_another_session(new: Scene) -> None:
    await new.say("SCN:say a")
    before = new.desk.remote
    await new.say("SCN:say b", remote_id="")
    assert new.desk.remote != before
    assert not alive(new.starts[0]["pid"])


async def test_cost_is_the_difference_also_after_a_restart(scene: Scene) -> None:
    await scene.say("SCN:say a")
    [second] = of(await scene.say("SCN:say b"), UsageReported)
    assert second.usage.cost_usd == pytest.approx(0.01)
    await scene.agent.leave("s1")
    [third] = of(await scene.say("SCN:say c", session_cost_usd=second.session_cost_usd), UsageReported)
    assert third.usage.cost_usd == pytest.approx(0.01)


async def test_tools_are_shown_with_arguments_and_results(new: Scene) -> None:
    events = await new.say('SCN:say before SCN:tool Bash {"command":"make"} SCN:then SCN:say after')
    [start], [result] = of(events, ToolStart), of(events, ToolResult)
    assert (start.name, json.loads(start.arguments)) == ("Bash", {"command": "make"})
    assert (result.call_id, result.ok, result.content) == (start.call_id, True, "ran make")
    assert text_of(events) == "beforeafter"


async def test_a_tool_is_asked_for_with_command_place_and_call(new: Scene) -> None:
    await new.say('SCN:tool Bash {"command":"make\\nmake test"} SCN:then SCN:say x')
    [asked] = new.desk.asked
    assert (asked.tool, asked.title, asked.body, asked.language) == (
        "Bash",
        "run make make test",
        "make\nmake test",
        "bash",
    )
    assert asked.directory == str(new.desk.directory) and asked.scopes == tuple(Scope)
    assert asked.agent_name == "claude" and asked.call_id == "toolu_1_0"
    assert json.loads(asked.arguments) == {"command": "make\nmake test"}


async def test_yes_sends_the_input_and_no_sends_the_reason(scene: Scene) -> None:
    async def answer(request: PermissionRequest) -> Verdict:
        return Verdict(allowed="good" in request.arguments, reason="not that one")

    scene.desk.answer = answer
    events = await scene.say('SCN:tool Bash {"command":"good"} SCN:tool Bash {"command":"bad"} SCN:then SCN:say x')
    assert [(r.ok, r.content) for r in of(events, ToolResult)] == [(True, "ran good"), (False, "not that one")]


async def test_with_nobody_to_ask_everything_is_denied(new: Scene) -> None:
    events = await new.say('SCN:tool Bash {"command":"x"} SCN:then SCN:say x', ask_permission=None)
    [result] = of(events, ToolResult)
    assert not result.ok and "Nobody is there" in result.content


async def test_a_write_is_asked_for_with_the_difference_and_beyond_the_folder_each_time(new: Scene) -> None:
    (new.desk.directory / "a.txt").write_text("one\ntwo\n")
    inside = json.dumps({"file_path": "a.txt", "content": "one\n2\n"})
    outside = json.dumps({"file_path": "../b.txt", "content": "x"})
    edit = json.dumps({"file_path": "a.txt", "old_string": "two", "new_string": "2"})
    await new.say(f"SCN:tool Write {inside} SCN:tool Write {outside} SCN:tool Edit {edit} SCN:then SCN:say x")
    write, beyond, change = new.desk.asked
    assert write.language == "diff" and "-two\n+2" in write.body and write.scopes == tuple(Scope)
    assert beyond.scopes == (Scope.ONCE,)
    assert change.title == "edit a.txt" and "-two\n+2" in change.body


async def test_questions_are_answered_in_the_same_place(scene: Scene) -> None:
    async def answer(request: PermissionRequest) -> Verdict:
        return Verdict(allowed=True, answers={request.questions[0].text: "B"})

    scene.desk.answer = answer
    asked = {"questions": [{"question": "Which?", "header": "H", "options": [{"label": "A"}, {"label": "B"}]}]}
    events = await scene.say(f"SCN:tool AskUserQuestion {json.dumps(asked)} SCN:then SCN:say x")
    assert scene.desk.asked[0].questions[0].choices == ("A", "B")
    assert of(events, ToolResult)[0].content == "answered: {'Which?': 'B'}"


async def test_two_requests_at_once_are_answered_each_for_itself(new: Scene) -> None:
    async def answer(request: PermissionRequest) -> Verdict:
        if "rm -r x" in request.arguments:
            await until(lambda: len(new.desk.asked) == 2)
        return Verdict(allowed="rm -r y" in request.arguments, reason="no")

    new.desk.answer = answer
    await new.say("FAKE:ask twice SCN:say x")
    [verdicts] = [entry["verdicts"] for entry in new.record if "verdicts" in entry]
    assert [v["behavior"] for v in verdicts] == ["deny", "allow"]


@pytest.mark.parametrize("how", ["withdraw", "die"])
async def test_a_request_that_is_withdrawn_or_whose_asker_dies_is_open_no_longer(scene: Scene, how: str) -> None:
    async def answer(request: PermissionRequest) -> Verdict:
        (scene.home / "go").touch()
        await asyncio.Event().wait()
        raise AssertionError

    scene.desk.answer = answer
    events = await scene.say(f"FAKE:ask {how} SCN:say x")
    assert len(scene.desk.asked) == len(scene.desk.ended) == 1
    if how == "die":
        error = end_of(events).error
        assert error is not None and error.kind is ErrorKind.HOST_DIED
    else:
        assert end_of(events) == LegEnd()


async def test_our_tools_are_called_over_the_control_channel_under_their_own_names(scene: Scene) -> None:
    events = await scene.say('SCN:tool mcp__milk__record_memory {"fact":"f"} SCN:then SCN:say x')
    assert scene.desk.called == [("record_memory", '{"fact":"f"}')]
    assert of(events, ToolStart)[0].name == "record_memory"
    assert of(events, ToolResult)[0].content == "kept"
    assert not scene.desk.asked
    assert [e["tools"] for e in scene.record if "tools" in e] == [["record_memory"]]
    again = await scene.say("SCN:tool mcp__milk__nothing {} SCN:then SCN:say x")
    assert not of(again, ToolResult)[0].ok


async def test_a_sub_agent_is_marked_and_reaches_neither_text_nor_memory_nor_boundary(scene: Scene) -> None:
    boundaries: list[str] = []

    async def boundary(tool: str) -> str:
        boundaries.append(tool)
        return "a note"

    events = await scene.say('FAKE:task mcp__milk__record_memory {"fact":"f"} SCN:say done', boundary=boundary)
    assert text_of(events) == "done"
    assert [(s.name, s.sub_agent) for s in of(events, ToolStart)] == [("Task", False), ("record_memory", True)]
    assert scene.desk.called == []
    assert not of(events, ToolResult)[0].ok
    assert boundaries == ["Agent"]


async def test_what_a_sub_agent_asks_says_so(new: Scene) -> None:
    await new.say("FAKE:task Bash {} SCN:say done")
    assert [request.title for request in new.desk.asked] == ["run x (asked by a sub-agent)"]


async def test_what_a_hook_adds_stays_below_the_size_that_is_cut(new: Scene) -> None:
    async def boundary(tool: str) -> str:
        return "n" * 20_000

    await new.say('SCN:tool Bash {"command":"x"} SCN:then SCN:say x', boundary=boundary)
    [hook] = [entry["hook"] for entry in new.record if "hook" in entry]
    assert len(hook["hookSpecificOutput"]["additionalContext"]) == HOOK_CHARS == 9_000


async def test_a_hook_that_hangs_holds_nothing_up(new: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(claude_agent, "HOOK_S", 0.01)

    async def boundary(tool: str) -> str:
        await asyncio.Event().wait()
        return ""

    events = await new.say('SCN:tool Bash {"command":"x"} SCN:then SCN:say x', boundary=boundary)
    assert end_of(events) == LegEnd()
    assert [entry["hook"] for entry in new.record if "hook" in entry] == [{}]


async def test_a_broken_stream_shows_the_right_text_once(scene: Scene) -> None:
    events = await scene.say("SCN:say partial words SCN:fail the whole answer")
    assert of(events, BlockReplaced)
    assert text_of(events) == "the whole answer"
    assert end_of(events) == LegEnd()


async def test_blocks_that_came_whole_stay_when_a_later_one_breaks(new: Scene) -> None:
    events = await new.say("SCN:say first SCN:think hm SCN:say second SCN:fail the rest")
    assert text_of(events) == "first\n\nthe rest"


async def test_retries_and_compaction_are_told(scene: Scene) -> None:
    events = await scene.say("FAKE:retry 2 401 FAKE:compact SCN:say x")
    assert [(r.attempt, "401" in r.reason) for r in of(events, Retrying)] == [(1, True), (2, True)]
    assert of(events, Compacted) == [Compacted(150_000, 9_000)]
    assert any("compacting" in p.text for p in of(events, Progress))


@pytest.mark.parametrize(
    ("prompt", "kind"),
    [
        ("FAKE:login", ErrorKind.AUTH),
        ("SCN:err 401 SCN:message Invalid API key", ErrorKind.AUTH),
        ("SCN:err 404", ErrorKind.NOT_FOUND),
        ("SCN:err 429", ErrorKind.RATE_LIMIT),
        ("SCN:err 529", ErrorKind.SERVER),
        ("SCN:err 400 SCN:message API Error: prompt is too long", ErrorKind.CONTEXT_TOO_LONG),
        ("FAKE:die", ErrorKind.HOST_DIED),
    ],
)
async def test_a_failed_turn_says_what_and_leaves_the_session_usable(new: Scene, prompt: str, kind: ErrorKind) -> None:
    await new.say("SCN:say a")
    events = await new.say(prompt)
    error = end_of(events).error
    assert error is not None and (error.kind, bool(error.hint)) == (kind, True)
    assert "\x1b" not in error.message and text_of(events) == ""
    assert text_of(await new.say("SCN:say still here")) == "still here"


async def test_the_last_words_of_a_dead_program_are_in_the_error(new: Scene) -> None:
    error = end_of(await new.say("FAKE:die")).error
    assert error is not None and "out of cheese" in error.message and "status 3" in error.message


@pytest.mark.parametrize("how", ["exit", "hang", "rubbish"])
async def test_a_program_that_does_not_start_is_one_clear_error(
    how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(claude_process, "INITIALIZE_S", 1.0 if how == "hang" else 60.0)
    scene = Scene(tmp_path, "--start", how)
    error = end_of(await scene.say("SCN:say a")).error
    assert error is not None and error.kind is ErrorKind.HOST_DIED
    expected = {"exit": "unknown option", "hang": "did not answer", "rubbish": "Welcome!"}[how]
    assert expected in error.message
    assert not alive(scene.starts[0]["pid"])


async def test_a_program_that_is_not_there_is_named(tmp_path: Path) -> None:
    agent = ClaudeAgent("claude", ClaudeSettings(folder=tmp_path, command=("no-such-claude",)))
    error = end_of(await Desk(tmp_path).say(agent, "x")).error
    assert error is not None and error.kind is ErrorKind.NO_AGENT and "no-such-claude" in error.message


async def test_an_old_version_is_said_once(tmp_path: Path) -> None:
    scene = Scene(tmp_path, "--fake", "old", "--fake-version", "1.0.3")
    first, second = await scene.say("SCN:say a"), await scene.say("SCN:say b")
    await scene.agent.aclose()
    assert [("1.0.3" in e.text) for e in of([*first, *second], Progress) if "old" in e.text] == [True]


async def test_rubbish_and_a_megabyte_on_one_line_do_no_harm(new: Scene) -> None:
    events = await new.say("FAKE:rubbish FAKE:megabyte SCN:say fine")
    assert text_of(events) == "fine"
    assert len(of(events, ToolResult)[0].content) == 1 << 20


async def _stopped(scene: Scene, prompt: str) -> list[Any]:
    """A leg that the person stops when the first text has come."""
    events: list[Any] = []
    async with aclosing(scene.agent.run(scene.desk.request(prompt))) as stream:
        async for event in stream:
            events.append(event)
            if isinstance(event, RemoteStarted):
                scene.desk.remote = event.remote_id
            if isinstance(event, TextDelta):
                break
    return events


async def test_stopping_interrupts_the_turn_and_the_process_goes_on(scene: Scene) -> None:
    await _stopped(scene, "SCN:say so far SCN:stall")
    assert text_of(await scene.say("SCN:say next")) == "next"
    assert [m["request"]["subtype"] for m in scene.sent("control_request")] == ["initialize", "interrupt"]
    assert len(scene.starts) == 1


async def test_a_program_that_is_deaf_to_stopping_is_ended_and_resumed(
    new: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(claude_process, "INTERRUPT_S", 0.1)
    await new.say("SCN:say a")
    leg = asyncio.create_task(new.say("FAKE:hang"))
    await until(lambda: len(new.sent("user")) == 2)
    leg.cancel()
    await asyncio.gather(leg, return_exceptions=True)
    assert text_of(await new.say("SCN:say next")) == "next"
    first, second = new.starts
    assert "--resume" in second["start"] and not alive(first["pid"])


async def test_silence_is_told_but_not_while_the_person_is_asked(new: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(claude_agent, "SILENT_S", 0.05)
    seen: list[str] = []
    async with aclosing(new.agent.run(new.desk.request("FAKE:silent"))) as stream:
        async for event in stream:
            if isinstance(event, Progress) and "nothing from" in event.text:
                seen.append(event.text)
                if len(seen) == 2:
                    break
    assert "esc stops it" in seen[0]

    events: list[Any] = []
    told: list[int] = []

    async def slowly(request: PermissionRequest) -> Verdict:
        told.append(len(of(events, Progress)))
        await asyncio.sleep(0.3)
        told.append(len(of(events, Progress)))
        return Verdict(allowed=True)

    new.desk.answer = slowly
    async with aclosing(new.agent.run(new.desk.request('SCN:tool Bash {"command":"x"} SCN:then SCN:say x'))) as stream:
        async for event in stream:
            events.append(event)
    assert told[0] == told[1]


async def test_a_turn_of_the_programs_own_is_not_taken_for_the_answer(new: Scene) -> None:
    events = await new.say("FAKE:own SCN:say mine")
    assert text_of(events) == "mine"


async def test_a_slash_is_a_word_and_not_a_command_of_the_program(scene: Scene) -> None:
    assert "nosuch" in text_of(await scene.say("/nosuch SCN:say nosuch is a word"))


async def test_what_a_command_of_the_program_prints_is_shown(new: Scene) -> None:
    assert text_of(await new.say("FAKE:slash")) == "Compacted nothing."


async def test_closing_leaves_no_process_and_no_static_text(new: Scene) -> None:
    await new.say("SCN:say a")
    pid = new.starts[0]["pid"]
    assert alive(pid)
    await new.agent.aclose()
    assert not alive(pid)
    assert list(new.agent.settings.folder.iterdir()) == []


async def test_sessions_have_processes_of_their_own(new: Scene) -> None:
    await new.say("SCN:say a")
    other = Desk(new.desk.directory)
    events = await other.say(new.agent, "SCN:say b", session_id="s2")
    assert text_of(events) == "b" and other.remote != new.desk.remote
    await new.agent.leave("s2")
    assert text_of(await new.say("SCN:say c")) == "c"


async def test_no_variable_of_milk_or_of_an_outer_agent_reaches_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("CLAUDECODE", "IS_SANDBOX", "CLAUDE_CODE_ENTRYPOINT", "MILK_TUI_HOST_COMMAND"):
        monkeypatch.setenv(name, "1")
    scene = Scene(tmp_path)
    await scene.say("SCN:say a")
    await scene.agent.aclose()
    assert not {"CLAUDECODE", "IS_SANDBOX", "MILK_TUI_HOST_COMMAND"} & set(scene.starts[0]["env"])
    assert "PATH" in scene.starts[0]["env"] and os.environ["CLAUDECODE"] == "1"


async def test_a_session_that_another_program_worked_in_is_resumed_to_know_it(new: Scene) -> None:
    await new.say("SCN:say a")
    await new.say("SCN:say b", remote_leg=99)
    first, second = new.starts
    assert "--resume" in second["start"] and not alive(first["pid"])


async def test_images_go_with_the_prompt(new: Scene) -> None:
    await new.say("SCN:say seen", images=("data:image/png;base64,AAAA", "https://elsewhere/x.png"))
    [message] = new.sent("user")
    image, text = message["message"]["content"]
    assert image["source"] == {"type": "base64", "media_type": "image/png", "data": "AAAA"}
    assert text["text"] == "SCN:say seen"
