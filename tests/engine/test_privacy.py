"""No path gives one agent what is in the other's envelope (``semantics.md`` §7): a matrix of ways in and ways out."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from milk_tui import config_file
from milk_tui.core.exchanges import ExchangeKind, Happened, Section
from milk_tui.core.records import Role
from milk_tui.engine.launch import Launch
from milk_tui.store import exchanges, tool_calls
from milk_tui.tools import my_memory
from milk_tui.tools.my_memory import MyMemory
from tests.engine.conftest import Stage, begin

NEWS, SECTION = "zanzibar-news", "zanzibar-section"


def told(stage: Stage) -> None:
    """Something that happened between deep and a third agent in another session."""
    event = Happened(
        event_id="elsewhere",
        ts_ms=1,
        kind=ExchangeKind.HANDBACK,
        session_id="elsewhere",
        label="elsewhere",
        speaker="deep",
        listener="third",
        takeaway=NEWS,
    )
    stage.workspace.store.write_sync(lambda db: exchanges.append(db, event))


async def deep_learns_its_secrets(stage: Stage) -> None:
    """By every way in: written by tool, read by tool, read from the digest."""
    save = json.dumps({"section": "daily", "content": SECTION}).replace("zanzibar", r"zanzi\u0062ar")
    await stage.say(f"keep it SCN:tool save_my_memory {save} SCN:then SCN:say kept", escalate=True)
    for section in ("daily", "system_exchanges"):
        arguments = json.dumps({"section": section})
        await stage.say(f"look SCN:tool read_my_memory {arguments} SCN:then SCN:say seen", escalate=True)


def requests(stage: Stage, model: str) -> str:
    lines = [json.loads(line) for line in stage.record.read_text().splitlines()]
    return json.dumps([line["messages"] for line in lines if line["model"].endswith(model)], ensure_ascii=False)


async def fast_looks_everywhere(stage: Stage) -> None:
    calls = [("read_my_memory", {"section": section.value}) for section in Section]
    calls += [("recall", {"query": "zanzibar"}), ("list_memory", {}), ("get_memory", {"id": "#zanzib"})]
    calls += [("get_session_context", {}), ("get_session_context", {"turns": "1-9"}), ("export_session", {})]
    said = " ".join(f"SCN:tool {name} {json.dumps(arguments)}" for name, arguments in calls)
    await stage.say(f"where is zanzi-bar {said} SCN:then SCN:say looked")


@pytest.mark.parametrize("digest", ["cue", "inline"])
async def test_no_request_of_the_other_agent_holds_it(home: Path, digest: str) -> None:
    config = home / "home" / "config" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text(f'[memory]\ndigest = "{digest}"\n')
    config.chmod(0o600)
    (home / "project").mkdir()
    stage = await begin(Launch(directory=home / "project", primary="openai/fast", escalation="openai/deep"), home)
    try:
        told(stage)
        await deep_learns_its_secrets(stage)
        assert SECTION in requests(stage, "deep") and NEWS in requests(stage, "deep")
        await stage.conductor.hand_back()
        await fast_looks_everywhere(stage)
        await stage.say("and once more SCN:say yes")
        assert NEWS not in requests(stage, "fast")
        assert SECTION not in requests(stage, "fast")
    finally:
        await stage.workspace.aclose()


async def test_an_agent_that_takes_over_a_role_does_not_take_over_its_memory(launch: Launch, home: Path) -> None:
    before = await begin(launch, home)
    told(before)
    await deep_learns_its_secrets(before)
    session = before.conductor.session.id
    await before.workspace.aclose()
    changed = Launch(directory=home / "project", primary="openai/fast", escalation="openai/other")
    later = await begin(changed, home, session)
    try:
        await later.say("go on SCN:say yes", escalate=True)
        assert "keep it" in requests(later, "other")
        assert NEWS not in requests(later, "other")
        assert SECTION not in requests(later, "other")
    finally:
        await later.workspace.aclose()


async def test_the_agent_itself_keeps_what_it_read_in_its_thread(stage: Stage) -> None:
    told(stage)
    await deep_learns_its_secrets(stage)
    await stage.say("and now SCN:say yes", escalate=True)
    last = json.loads(stage.record.read_text().splitlines()[-1])
    assert SECTION in json.dumps(last["messages"]) and NEWS in json.dumps(last["messages"])


async def test_what_the_screen_and_lists_get_of_such_a_call_is_a_placeholder(stage: Stage) -> None:
    told(stage)
    await deep_learns_its_secrets(stage)
    shown = repr([event for event in stage.events if type(event).__name__ in ("ToolStarted", "ToolFinished")])
    assert NEWS not in shown and SECTION not in shown and "for this agent alone" in shown
    legs = [event.leg_id for event in stage.events if type(event).__name__ == "LegFinished"]
    stored = repr(await stage.read(lambda conn: tool_calls.of_legs(conn, legs)))
    assert NEWS not in stored and SECTION not in stored


@pytest.mark.parametrize(
    "command",
    [
        ["sessions", "show", "--json"],
        ["sessions", "show"],
        ["sessions", "export", "--format", "json", "--to", "-"],
        ["sessions", "export", "--format", "md", "--to", "-"],
        ["sessions", "export", "--format", "html", "--to", "-"],
        ["bricks", "show", "--json"],
        ["perception", "show", "--json"],
        ["memory", "list", "--json"],
        ["memory", "export", "-"],
    ],
    ids=" ".join,
)
async def test_no_listing_or_export_holds_it(stage: Stage, launch: Launch, home: Path, command: list[str]) -> None:
    told(stage)
    await deep_learns_its_secrets(stage)
    words = [sys.executable, "-m", "milk_tui", *command]
    run = partial(subprocess.run, words, cwd=launch.directory, capture_output=True, text=True, timeout=60)
    done = await asyncio.to_thread(run)
    assert "zanzibar" not in done.stdout + done.stderr
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("reader", ["fast", "third-party", ""])
@pytest.mark.parametrize("section", list(Section))
async def test_the_tool_opens_only_its_own_agents_envelope(stage: Stage, reader: str, section: Section) -> None:
    told(stage)
    deep = MyMemory(stage.workspace.store, "deep")
    await deep.save("daily", SECTION)
    session = stage.conductor.session
    other = MyMemory(stage.workspace.store, reader, session_id=session.id)
    for arguments in ({"section": section}, {"section": section, "agent": "deep", "agent_name": "deep"}):
        outcome = await other.call(my_memory.READ, json.dumps(arguments))
        assert "zanzibar" not in outcome.content


@pytest.mark.parametrize("section", ["system_exchanges", "cycles", "daily_", "", "../daily", "SYSTEM_EXCHANGES"])
async def test_no_agent_writes_what_is_not_its_to_write(stage: Stage, section: str) -> None:
    outcome = await MyMemory(stage.workspace.store, "deep").save(section, "x")
    assert not outcome.ok and outcome.content.startswith("section_is_read_only")


async def test_a_section_takes_no_secret_and_no_flood(stage: Stage) -> None:
    memory = MyMemory(stage.workspace.store, "deep")
    refused = await memory.save("daily", "the key is AKIA" + "ABCDEFGHIJKLMNOP")
    assert not refused.ok and "secret" in refused.content
    assert not (await memory.save("daily", "x" * 20_001)).ok
    assert (await memory.save("daily", "one")).ok and (await memory.save("daily", "two", append=True)).ok
    assert (await memory.read("daily")).content == "one\ntwo"
    assert stage.conductor.session.agent(Role.PRIMARY) is not None


async def test_the_memory_server_opens_only_the_envelope_of_the_agent_that_it_serves(stage: Stage) -> None:
    told(stage)
    await MyMemory(stage.workspace.store, "deep").save("daily", SECTION)
    names = '[agents.fast]\nmodel = "openai/fast"\n[agents.deep]\nmodel = "openai/deep"\n'
    config_file.replace_private(stage.workspace.loaded.file, names)
    seen = {name: await asyncio.to_thread(_served, name, stage.workspace.directory) for name in ("fast", "deep")}
    assert SECTION in seen["deep"] and NEWS in seen["deep"]
    assert "zanzibar" not in seen["fast"]


def _served(name: str, directory: Path) -> str:
    """Everything that the server answers to one agent that asks for all of its memory."""
    calls = [("read_my_memory", {"section": section.value, "agent": "deep"}) for section in Section]
    lines = [{"method": "initialize", "id": 0, "params": {"protocolVersion": "2025-06-18"}}]
    lines += [
        {"method": "tools/call", "id": number, "params": {"name": tool, "arguments": arguments}}
        for number, (tool, arguments) in enumerate(calls, start=1)
    ]
    asked = "".join(json.dumps({"jsonrpc": "2.0", **line}) + "\n" for line in lines)
    words = [sys.executable, "-m", "milk_tui", "mcp", "--as", name]
    done = subprocess.run(words, cwd=directory, input=asked, capture_output=True, text=True, timeout=60)
    return done.stdout
