"""A session that begins from the perception alone, or from the file alone, has everything that a fresh agent needs."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from milk_tui.core.records import Layer, Role
from milk_tui.store import perception
from tests.engine.conftest import Stage, begin
from tests.engine.test_perception_leg import held, writes

NEEDED = (
    "stack: Python 3.12, PostgreSQL 16",
    "never edit ./vendor",
    "slice: double-charge",
    "A customer is charged twice",
    "retries carry the idempotency key of the first attempt [reason: the provider removes duplicates by it]",
    "the queue is drained by one worker [reason: order matters]",
    "may we ask the provider for the state of a charge? [blocked on their support]",
    "pass the key through the decorator",
    "then remove the second queue entry",
    "notes.txt",
    "ledger.txt",
)
"""Invariants, story, decisions with their reasons, the open question, next steps and touched files."""


async def play(stage: Stage) -> None:
    """A scripted session: what is needed is said early, then much that is not."""
    directory = Path(stage.conductor.session.directory)
    for name in ("notes.txt", "ledger.txt"):
        (directory / name).write_text("a line\n")
    await stage.say(writes("invariant", "- stack: Python 3.12, PostgreSQL 16", "- forbidden: never edit ./vendor"))
    for key in ("stack", "forbidden"):
        await stage.conductor.perception.accept(key)
    await stage.say(
        writes(
            "frame",
            "slice: double-charge",
            "story: A customer is charged twice when the provider times out",
            "decided: retries carry the idempotency key of the first attempt"
            " [reason: the provider removes duplicates by it]",
            "open: may we ask the provider for the state of a charge? [blocked on their support]",
        )
    )
    await stage.say(
        writes("working", "next:", "1. pass the key through the decorator", "2. then remove the second queue entry")
    )
    for name in ("notes.txt", "ledger.txt"):
        await stage.say(f"SCN:tool read_file {json.dumps({'path': name})} SCN:then SCN:say ok")
    await stage.say(writes("frame", "decided: the queue is drained by one worker [reason: order matters]"))
    await stage.say(writes("working", "hypothesis: an old idea that nobody follows"))
    for number in range(13):
        await stage.say(f"SCN:say chatter {number}")


def first_request(stage: Stage, marker: str) -> str:
    for line in stage.record.read_text().splitlines():
        text = "\n".join(str(message.get("content")) for message in json.loads(line)["messages"])
        if marker in text:
            return text
    raise AssertionError(f"no request with {marker}")


async def test_a_fresh_session_is_given_everything_from_the_perception_and_nothing_of_the_thread(stage):
    await play(stage)
    pinned = await stage.conductor.learn("the staging database is read-only", pinned=True)
    conductor = await stage.workspace.open_fresh(stage.conductor)
    fresh = Stage(stage.workspace, conductor, stage.record)
    await fresh.say("SCN:say MARKER")
    request = first_request(fresh, "MARKER")
    assert [text for text in NEEDED if text not in request] == []
    assert pinned.content in request
    assert "chatter" not in request
    assert "an old idea" not in request
    assert conductor.session.id != stage.conductor.session.id


async def test_the_old_session_stays_as_it_is(stage):
    await stage.say(writes("working", "file: a.py", "next: go on"))
    conductor = await stage.workspace.open_fresh(stage.conductor)
    await conductor.perception.remove(Layer.WORKING, "file")
    assert (await held(stage, Layer.WORKING))["file"] == "a.py"


async def test_the_file_alone_fills_the_first_request_of_a_session_with_a_new_database(launch, home):
    stage = await begin(launch, home)
    await play(stage)
    await stage.conductor.perception.write_file()
    await stage.workspace.aclose()
    stage.record.unlink()
    other = await begin(replace(launch, database=home / "new" / "milk.db"), home)
    try:
        await other.conductor.perception.read_file()
        await other.say("SCN:say MARKER")
        request = first_request(other, "MARKER")
        assert [text for text in NEEDED if text not in request] == []
    finally:
        await other.workspace.aclose()


@pytest.mark.slow
async def test_early_decisions_are_in_the_context_after_three_hundred_turns_in_a_small_window(launch, home):
    """Old turns leave the thread of an agent with a window of 4,000 tokens; the perception carries on."""
    config = home / "config.toml"
    config.write_text('[agents.fast]\nmodel = "openai/fast"\nrole = "primary"\nwindow_tokens = 4000\n')
    config.chmod(0o600)
    stage = await begin(replace(launch, primary="fast", escalation=None, config_path=config), home)
    try:
        await stage.conductor.pin_agent(Role.PRIMARY)
        await stage.say(
            writes("frame", "slice: s", "decided: points are integer [reason: legal]", "constraints: not before May")
        )
        await stage.say(f"SCN:say EARLY {'words ' * 40}")
        for number in range(3, 301):
            if number == 150:
                await stage.say(writes("frame", "decided: awards are idempotent [reason: replay]"))
            else:
                await stage.say(f"SCN:say turn {number} {'words ' * 30}")
        last = json.loads(stage.record.read_text().splitlines()[-1])["messages"]
        text = "\n".join(str(message.get("content")) for message in last)
        for early in ("points are integer [reason: legal]", "awards are idempotent [reason: replay]", "not before May"):
            assert early in text
        assert "EARLY" not in text
        assert sum(len(str(message.get("content"))) for message in last if message["role"] != "system") < 4 * 4000
        turns = await stage.read(lambda conn: perception.recent_turns(conn, stage.conductor.session.id))
        assert turns[0] >= 300
    finally:
        await stage.workspace.aclose()
