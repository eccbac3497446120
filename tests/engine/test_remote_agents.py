"""Agents whose runtime keeps its own history, in both roles: real workspace, real store, a stand-in for the program."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest

from milk_tui.core.permissions import Verdict
from milk_tui.core.records import BrickKind, ContextMode, LegStatus, PerceptStatus, Role, ToolStatus, TurnStatus
from milk_tui.engine import events, remote_legs
from milk_tui.engine.launch import Launch
from milk_tui.engine.remote_legs import TakenError
from milk_tui.store import bricks, legs, percept_lists, receipts, remotes, sessions, turns
from tests.agents.test_child import alive
from tests.engine.conftest import Stage, begin
from tests.support.fake_acp import FAKE_ACP
from tests.support.fake_claude import FAKE_CLAUDE
from tests.support.polling import until

ROOT = Path(__file__).resolve().parents[2]


def configure(home: Path, *arguments: str) -> Path:
    """A config in which ``claude`` is the stand-in; returns the folder where that keeps its sessions."""
    kept = home / "claude"
    kept.mkdir(exist_ok=True)
    command = [sys.executable, FAKE_CLAUDE, "--home", str(kept), *arguments]
    folder = home / "home" / "config"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.toml").touch(0o600)
    (folder / "config.toml").write_text(f'[agents.claude]\nprovider = "claude-cli"\ncommand = {json.dumps(command)}\n')
    return kept


def record(home: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (home / "claude" / "record.jsonl").read_text().splitlines()]


def starts(home: Path) -> list[list[str]]:
    return [entry["start"] for entry in record(home) if "start" in entry]


def prompts(home: Path) -> list[list[str]]:
    """What came into the runtime, turn by turn: the texts of each."""
    sent = [entry["in"] for entry in record(home) if entry.get("in", {}).get("type") == "user"]
    return [[block["text"] for block in message["message"]["content"]] for message in sent]


def contents(file: str) -> str:
    return Path(file).read_text()


async def leg_of(stage: Stage, turn_id: int) -> Any:
    return (await stage.read(lambda conn: legs.of_turn(conn, turn_id)))[-1]


async def deep(stage: Stage, prompt: str, **asked: object) -> Any:
    """A turn of the escalation agent; its leg."""
    return await leg_of(stage, await stage.say(prompt, escalate=True, **asked))


@pytest.fixture
async def stage(launch: Launch, home: Path) -> AsyncIterator[Stage]:
    configure(home)
    stage = await begin(replace(launch, escalation="claude"), home)
    yield stage
    await stage.workspace.aclose()


async def test_an_escalation_is_a_leg_like_any_other(stage: Stage, home: Path) -> None:
    leg = await deep(stage, "SCN:think hm SCN:say fine work")
    assert (leg.status, leg.text, leg.thinking.strip()) == (LegStatus.DONE, "fine work", "hm")
    assert leg.usage.input_tokens == 115 and leg.usage.cost_usd == pytest.approx(0.01)
    remote = await stage.read(lambda conn: remotes.current(conn, leg.session_id, "claude", stand_in=False))
    assert leg.remote_session == remote.remote_id
    receipt = await stage.read(lambda conn: receipts.get(conn, leg.id))
    static = [segment for segment in receipt.segments if segment.included and segment.stable]
    assert "instructions" in [segment.name for segment in static]
    assert stage.conductor.session.escalation is not None
    assert stage.conductor.session.escalation.nonce not in "".join(s.text for s in receipt.segments)


async def test_static_text_is_in_one_file_and_what_changed_in_the_turn(stage: Stage, home: Path) -> None:
    await stage.conductor.learn("The cache has 512 entries.")
    await stage.conductor.set_need("make the cache faster")
    await deep(stage, "look at the cache SCN:say looked?")
    await deep(stage, "the cache again SCN:say well?")
    [command] = starts(home)
    static = contents(command[command.index("--append-system-prompt-file") + 1])
    assert "milk's memory" in static and "512 entries" not in static
    first, second = prompts(home)
    assert "512 entries" in first[0] and "make the cache faster" in first[0]
    assert second == ["the cache again SCN:say well?"]
    leg = await leg_of(stage, (await stage.read(lambda conn: turns.last_id(conn, stage.conductor.session.id))))
    assert leg.mode is ContextMode.RESUME


async def test_returning_it_gets_what_the_other_one_did_since_and_facts_it_does_not_have(
    stage: Stage, home: Path
) -> None:
    await stage.conductor.learn("The cache has 512 entries.")
    await deep(stage, "the cache SCN:say " + "one " * 60)
    await stage.say("use the cache SCN:say the primary did something new")
    await stage.conductor.learn("The cache lives in redis.")
    leg = await deep(stage, "the cache SCN:say two")
    assert leg.mode is ContextMode.RETURNING
    assert "the primary did something new" in prompts(home)[-1][0]
    assert "redis" in prompts(home)[-1][0] and "512 entries" not in prompts(home)[-1][0]
    receipt = await stage.read(lambda conn: receipts.get(conn, leg.id))
    why = {segment.name: segment.why for segment in receipt.segments if not segment.included}
    assert why["instructions"] == "its remote session has it"


async def test_a_fact_that_no_longer_holds_is_said_once(stage: Stage, home: Path) -> None:
    old = await stage.conductor.learn("The cache has 512 entries.")
    await deep(stage, "the cache SCN:say seen")
    await stage.conductor.memory.edit(old.id, "The cache has 1024 entries.")
    await deep(stage, "entries of the cache SCN:say seen")
    assert f"{old.short_id} no longer holds (now The cache has 1024 entries.)" in prompts(home)[-1][0]
    await stage.conductor.forget(old.id)
    await deep(stage, "entries of the cache SCN:say seen")
    assert f"{old.short_id} no longer holds" in prompts(home)[-1][0]
    await deep(stage, "entries of the cache SCN:say seen")
    assert prompts(home)[-1] == ["entries of the cache SCN:say seen"]


async def test_what_it_said_itself_is_not_told_to_it_again(stage: Stage, home: Path) -> None:
    await deep(
        stage,
        "the cache SCN:tag percept The cache has 512 entries. SCN:tag need make the cache fast "
        "SCN:tag working file: cache.py SCN:say well?",
    )
    leg = await deep(stage, "the cache SCN:say well?")
    assert prompts(home)[-1] == ["the cache SCN:say well?"]
    assert leg.mode is ContextMode.RESUME


async def test_markers_change_only_when_the_leg_succeeded(stage: Stage, home: Path) -> None:
    await stage.conductor.learn("The cache has 512 entries.")
    await deep(stage, "the cache FAKE:login")
    await deep(stage, "the cache SCN:say ok")
    assert "512 entries" in prompts(home)[-1][0]


async def test_after_a_compaction_what_was_told_comes_again(stage: Stage, home: Path) -> None:
    await stage.conductor.learn("The cache has 512 entries.")
    await stage.conductor.set_need("make the cache faster")
    await deep(stage, "the cache SCN:say seen")
    await deep(stage, "the cache FAKE:compact SCN:say seen")
    assert prompts(home)[-1] == ["the cache FAKE:compact SCN:say seen"]
    assert any("shortened its conversation" in event.text for event in stage.of(events.LegNotice))
    await deep(stage, "the cache SCN:say seen")
    assert "512 entries" in prompts(home)[-1][0] and "make the cache faster" in prompts(home)[-1][0]


async def test_after_a_restart_of_the_program_the_conversation_is_resumed(launch: Launch, home: Path) -> None:
    configure(home)
    launch = replace(launch, escalation="claude")
    stage = await begin(launch, home)
    before = await deep(stage, "SCN:say one")
    await stage.workspace.aclose()
    stage = await begin(launch, home)
    after = await deep(stage, "SCN:say two")
    await stage.workspace.aclose()
    first, second = starts(home)
    assert before.remote_session == after.remote_session == second[second.index("--resume") + 1]
    static = [command[command.index("--append-system-prompt-file") + 1] for command in (first, second)]
    assert static[0] == static[1]
    assert after.usage.cost_usd == pytest.approx(0.01)


async def test_a_lost_conversation_is_said_and_begun_anew_with_everything(launch: Launch, home: Path) -> None:
    kept = configure(home)
    launch = replace(launch, escalation="claude")
    stage = await begin(launch, home)
    await stage.conductor.learn("The cache has 512 entries.")
    before = await deep(stage, "the cache SCN:say " + "looked " * 40)
    await stage.workspace.aclose()
    (kept / f"{before.remote_session}.json").unlink()
    stage = await begin(launch, home)
    turn = await stage.say("the cache SCN:say anew", escalate=True)
    failed, fresh = await stage.read(lambda conn: legs.of_turn(conn, turn))
    assert (failed.status, fresh.status, fresh.text) == (LegStatus.FAILED, LegStatus.DONE, "anew")
    assert fresh.mode is ContextMode.FIRST and fresh.remote_session != before.remote_session
    assert any("begun anew" in event.text for event in stage.of(events.Notice))
    assert "512 entries" in prompts(home)[-1][0] and "looked looked" in prompts(home)[-1][0]
    gone = await stage.read(lambda conn: remotes.current(conn, before.session_id, "claude", stand_in=False))
    assert gone.remote_id == fresh.remote_session
    await stage.workspace.aclose()


async def test_a_fresh_start_leaves_the_conversation_behind_and_gives_its_summary(stage: Stage, home: Path) -> None:
    before = await deep(stage, "SCN:say " + "design " * 60)
    after = await deep(stage, "SCN:say anew", fresh=True)
    assert after.mode is ContextMode.FIRST and after.remote_session != before.remote_session
    assert "design design" in prompts(home)[-1][0]


async def test_two_sessions_with_one_conversation_are_refused(stage: Stage) -> None:
    leg = await deep(stage, "SCN:say one")
    other = await stage.conductor.store.write(
        lambda db: sessions.create(db, directory="/elsewhere", primary=stage.conductor.session.primary)
    )
    stolen = msgspec.structs.replace(leg, session_id=other.id)
    with pytest.raises(TakenError, match="belongs to another session"):
        await remote_legs.adopt(stage.conductor.store, stolen, leg.remote_session)


async def test_a_tag_in_its_answer_is_one_fact_also_when_the_stream_breaks(stage: Stage) -> None:
    leg = await deep(stage, "SCN:say Noted. SCN:tag percept The shop uses PostgreSQL 16.")
    [fact] = await stage.read(lambda conn: percept_lists.of_leg(conn, leg.id))
    assert (fact.content, fact.status, leg.text) == ("The shop uses PostgreSQL 16.", PerceptStatus.LIVE, "Noted.")
    broken = await deep(stage, "SCN:say Half. SCN:tag percept Never said. SCN:fail The whole answer.")
    assert broken.text == "The whole answer."
    assert not await stage.read(lambda conn: percept_lists.of_leg(conn, broken.id))


async def test_what_its_sub_agents_say_is_no_fact_and_their_calls_are_marked(stage: Stage) -> None:
    leg = await deep(stage, "FAKE:task Read SCN:say done")
    assert leg.text == "done" and not await stage.read(lambda conn: percept_lists.of_leg(conn, leg.id))
    assert [event.name for event in stage.of(events.ToolStarted)] == ["Task", "↳ Read"]


async def test_its_memory_tools_are_those_of_every_agent(stage: Stage) -> None:
    leg = await deep(stage, 'SCN:tool mcp__milk__record_memory {"fact":"The API port is 8412."} SCN:then SCN:say ok')
    [fact] = await stage.read(lambda conn: percept_lists.of_leg(conn, leg.id))
    assert (fact.content, fact.agent_name) == ("The API port is 8412.", "claude")
    assert [event.name for event in stage.of(events.ToolStarted)] == ["record_memory"]


async def test_the_person_allows_and_denies_what_it_wants_to_do(launch: Launch, home: Path) -> None:
    configure(home)
    stage = await begin(replace(launch, escalation="claude"), home)
    desk = stage.conductor.permissions
    desk.attended = True
    turn = await stage.conductor.submit('SCN:tool Bash {"command":"make"} SCN:then SCN:say ok', escalate=True)
    await stage.seen(events.PermissionAsked)
    [request] = desk.pending
    assert (request.title, request.agent_name, request.role) == ("run make", "claude", Role.ESCALATION)
    assert desk.answer(request.id, Verdict(allowed=False, reason="not now"))
    await stage.conductor.wait_idle()
    leg = await leg_of(stage, turn)
    body = (await stage.read(lambda conn: legs.bodies(conn, [leg.id])))[leg.id]
    assert (body.tools[0].status, body.tools[0].result) == (ToolStatus.DENIED, "not now")
    await stage.workspace.aclose()


async def test_without_a_person_nothing_is_done_and_it_is_told_so(stage: Stage) -> None:
    stage.conductor.permissions.attended = False
    leg = await deep(stage, 'SCN:tool Bash {"command":"make"} SCN:then SCN:say ok')
    body = (await stage.read(lambda conn: legs.bodies(conn, [leg.id])))[leg.id]
    assert body.tools[0].status is ToolStatus.DENIED and leg.status is LegStatus.DONE


async def test_stopping_keeps_the_partial_answer_and_the_conversation(stage: Stage, home: Path) -> None:
    turn = await stage.conductor.submit("SCN:say so far so good. SCN:stall", escalate=True)
    await stage.seen(events.LegText, lambda event: "good" in event.text)
    await stage.conductor.stop()
    await stage.conductor.wait_idle()
    leg = await leg_of(stage, turn)
    assert (leg.status, leg.text) == (LegStatus.CANCELLED, "so far so good.")
    after = await deep(stage, "SCN:say next")
    assert after.remote_session == leg.remote_session and len(starts(home)) == 1


@pytest.mark.parametrize("how", ["FAKE:die", "FAKE:login", "SCN:err 529"])
async def test_when_it_breaks_down_the_other_agent_answers_and_the_prompt_is_kept(stage: Stage, how: str) -> None:
    turn = await stage.say(f"{how} SCN:say from the other one", escalate=True)
    first, second = await stage.read(lambda conn: legs.of_turn(conn, turn))
    assert (first.status, first.role) == (LegStatus.FAILED, Role.ESCALATION)
    assert first.error is not None and first.error.message
    assert second.role is Role.PRIMARY and "failed" in second.reason


async def test_as_primary_it_hands_over_by_tool(launch: Launch, home: Path) -> None:
    configure(home)
    stage = await begin(replace(launch, primary="claude", escalation="openai/deep"), home)
    turn = await stage.say('SCN:tool mcp__milk__escalate {"reason":"too hard for me"} SCN:then SCN:say handing over')
    mine, theirs = await stage.read(lambda conn: legs.of_turn(conn, turn))
    assert (mine.agent_name, theirs.agent_name) == ("claude", "deep")
    assert theirs.reason == "too hard for me"
    assert stage.of(events.TurnFinished)[-1].status is TurnStatus.DONE
    await stage.workspace.aclose()


async def test_a_role_changes_hands_in_a_running_session(launch: Launch, home: Path) -> None:
    configure(home)
    stage = await begin(launch, home)
    nonce = stage.conductor.session.primary.nonce
    await stage.conductor.learn("The cache has 512 entries.")
    await stage.say("the cache SCN:say " + "groundwork " * 30)
    await stage.workspace.use_agent(Role.PRIMARY, "claude")
    primary = stage.conductor.session.primary
    assert (primary.name, primary.nonce) == ("claude", nonce)
    turn = await stage.say("the cache SCN:say mine now")
    leg = await leg_of(stage, turn)
    assert (leg.agent_name, leg.mode, leg.text) == ("claude", ContextMode.FIRST, "mine now")
    assert "groundwork groundwork" in prompts(home)[-1][0] and "512 entries" in prompts(home)[-1][0]
    brick = await stage.read(lambda conn: bricks.newest(conn, stage.conductor.session.id, BrickKind.PRIMARY_SUMMARY))
    assert "groundwork" in brick.text and "mine now" in brick.text
    await stage.workspace.use_agent(Role.PRIMARY, "openai/other")
    back = await leg_of(stage, await stage.say("and back SCN:say here"))
    assert (back.agent_name, back.text) == ("other", "here")
    pid = next(entry["pid"] for entry in record(home) if "start" in entry)
    await until(lambda: not alive(pid), what="the agent that was replaced is gone")
    await stage.workspace.aclose()


async def test_leaving_a_session_ends_its_process_and_no_other(stage: Stage, home: Path) -> None:
    await deep(stage, "SCN:say one")
    pid = next(entry["pid"] for entry in record(home) if "start" in entry)
    await stage.workspace.close_session(stage.conductor)
    assert not alive(pid)


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="looks at processes by /proc")
async def test_after_kill_9_of_the_program_no_agent_is_left(home: Path) -> None:
    configure(home)
    command = [sys.executable, "-m", "milk_tui", "--primary", "openai/fast", "--escalation", "claude"]
    (home / "project").mkdir(exist_ok=True)
    running = await asyncio.create_subprocess_exec(
        *command,
        *("--escalate", "-p", "SCN:say x SCN:stall"),
        cwd=ROOT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        await until(lambda: (home / "claude" / "record.jsonl").exists() and prompts(home), timeout_s=60)
        pid = next(entry["pid"] for entry in record(home) if "start" in entry)
        assert alive(pid)
        os.kill(running.pid, signal.SIGKILL)
        await until(lambda: not alive(pid), what="the agent is gone")
    finally:
        if running.returncode is None:
            with suppress(ProcessLookupError):
                running.kill()
        await running.wait()


def configure_acp(home: Path, context: str = "") -> Path:
    """A config in which ``helper`` is the ACP stand-in."""
    kept = home / "acp"
    kept.mkdir(exist_ok=True)
    command = [sys.executable, FAKE_ACP, "--home", str(kept)]
    file = home / "home" / "config" / "config.toml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.touch(0o600)
    file.write_text(f'[agents.helper]\nprovider = "acp"\ncommand = {json.dumps(command)}\n{context}')
    return kept


def acp_prompts(home: Path) -> list[list[str]]:
    entries = [json.loads(line) for line in (home / "acp" / "acp.jsonl").read_text().splitlines()]
    asked = [entry["in"] for entry in entries if entry.get("in", {}).get("method") == "session/prompt"]
    return [[block["text"] for block in message["params"]["prompt"]] for message in asked]


async def test_an_acp_agent_gets_static_text_first_and_again_after_so_many_turns(launch: Launch, home: Path) -> None:
    configure_acp(home, "[context]\nreinjection_turns = 2\n")
    stage = await begin(replace(launch, escalation="helper"), home)
    await stage.conductor.learn("The cache has 512 entries.")
    for number in range(3):
        await deep(stage, f"the cache {number} SCN:say answer")
    first, second, third = acp_prompts(home)
    assert "milk's memory" in first[0] and "512 entries" in first[1]
    assert second == ["the cache 1 SCN:say answer"]
    assert "milk's memory" in third[0] and "512 entries" in third[1]
    await stage.workspace.aclose()


async def test_static_text_comes_again_after_so_many_bytes_of_answers(launch: Launch, home: Path) -> None:
    configure_acp(home, "[context]\nreinjection_bytes = 1000\n")
    stage = await begin(replace(launch, escalation="helper"), home)
    await deep(stage, "SCN:repeat 300 word ")
    await deep(stage, "SCN:say short")
    await deep(stage, "SCN:say short")
    texts = ["\n".join(blocks) for blocks in acp_prompts(home)]
    assert ["milk's memory" in text for text in texts] == [True, True, False]
    await stage.workspace.aclose()


async def test_an_acp_agent_works_as_primary_with_tags_permissions_and_escalation(launch: Launch, home: Path) -> None:
    configure_acp(home)
    stage = await begin(replace(launch, primary="helper", escalation="openai/deep"), home)
    stage.conductor.permissions.attended = False
    turn = await stage.say('SCN:tool execute {"command":"make"} SCN:then SCN:tag percept Port 8412. SCN:say done')
    leg = await leg_of(stage, turn)
    body = (await stage.read(lambda conn: legs.bodies(conn, [leg.id])))[leg.id]
    assert (body.tools[0].name, body.tools[0].status, leg.text) == ("execute", ToolStatus.DENIED, "done")
    [fact] = await stage.read(lambda conn: percept_lists.of_leg(conn, leg.id))
    assert fact.content == "Port 8412."
    turn = await stage.say("SCN:tag escalate too hard for me")
    assert [leg.agent_name for leg in await stage.read(lambda conn: legs.of_turn(conn, turn))] == ["helper", "deep"]
    await stage.workspace.aclose()


async def test_an_acp_session_that_is_lost_is_begun_anew(launch: Launch, home: Path) -> None:
    kept = configure_acp(home)
    launch = replace(launch, escalation="helper")
    stage = await begin(launch, home)
    before = await deep(stage, "SCN:say " + "looked " * 40)
    await stage.workspace.aclose()
    (kept / f"{before.remote_session}.session").unlink()
    stage = await begin(launch, home)
    after = await deep(stage, "SCN:say anew")
    assert after.text == "anew" and after.remote_session != before.remote_session
    assert "milk's memory" in acp_prompts(home)[-1][0] and "looked looked" in acp_prompts(home)[-1][1]
    await stage.workspace.aclose()
