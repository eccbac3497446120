from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from milk_tui.core.errors import MilkError
from milk_tui.core.records import ToolStatus
from milk_tui.engine import events
from milk_tui.engine.decisions import Refreshed, Watching
from milk_tui.engine.helper.profiles import BUILT_IN
from milk_tui.engine.launch import Launch
from milk_tui.engine.workspace import Workspace
from milk_tui.store import helper_runs, notes
from tests.engine.conftest import Stage, begin
from tests.support.polling import until

RECORD = """# Payment retries live in the queue worker

Date: 2026-04-14

Retries for card charges moved out of the web request handler and into the payments queue worker, after a retry loop in
the handler charged some customers twice during a gateway timeout. Do not retry charges inside a request; enqueue a
retry job with the same idempotency key instead.
"""
NAME = "2026-04-14-payment-retries.md"
RUNS_INTO_IT = "Add a retry loop with exponential backoff around the gateway charge call in payments/handler.py."


def configure(home: Path, text: str) -> None:
    file = home / "home" / "config" / "config.toml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    file.chmod(0o600)


@pytest.fixture
async def stage(launch: Launch, home: Path) -> AsyncIterator[Stage]:
    memory = launch.directory / "memory"
    memory.mkdir()
    (memory / NAME).write_text(RECORD)
    configure(home, "[helper]\nsettle = 0.0\n")
    stage = await begin(launch, home)
    await helper_is(stage, "idle")
    yield stage
    await stage.workspace.aclose()


async def helper_is(stage: Stage, state: str) -> None:
    await until(lambda: any(e.state == state for e in stage.of(events.HelperStatus)), what=f"helper {state}")


async def runs(stage: Stage) -> list[helper_runs.Run]:
    return [run for run in await stage.read(helper_runs.log) if run.status != "running"]


async def ran(stage: Stage, count: int) -> list[helper_runs.Run]:
    """The log, newest first, once it has so many runs that have ended."""
    for _ in range(2_000):
        found = await runs(stage)
        if len(found) >= count:
            return found
        await asyncio.sleep(0.01)
    raise AssertionError(f"not {count} runs: {found}")


def last_request(stage: Stage) -> str:
    return json.dumps(json.loads(stage.record.read_text().splitlines()[-1])["messages"], ensure_ascii=False)


async def test_a_prompt_that_runs_into_a_decision_gets_a_note_with_the_next_prompt(stage: Stage) -> None:
    await stage.say(f"{RUNS_INTO_IT} SCN:say I added the loop.")
    [run] = await ran(stage, 1)
    assert (run.status, run.runtime, run.signal) == ("note", "lexical", "session.turn-started")
    assert NAME not in last_request(stage)
    await stage.say("Now add a unit test for the retry. SCN:say There is a decision against it.")
    sent = last_request(stage)
    assert NAME in sent and "2026-04-14" in sent and "no instruction" in sent
    assert [(e.status, e.receiver) for e in stage.of(events.NoteChanged)] == [("pending", ""), ("delivered", "fast")]
    await stage.say("Rename the function charge to charge_order SCN:say Renamed.")
    found = await ran(stage, 3)
    assert [run.status for run in found] == ["quiet", "quiet", "note"]
    assert len(await stage.read(lambda conn: notes.of_session(conn, stage.conductor.session.id))) == 1


async def test_the_same_decision_is_not_told_twice(stage: Stage) -> None:
    await stage.say(f"{RUNS_INTO_IT} SCN:say done")
    await ran(stage, 1)
    await stage.say(f"{RUNS_INTO_IT} Really! SCN:say done")
    newest = (await ran(stage, 2))[0]
    assert (newest.status, newest.reason) == ("quiet", "the session was told that already")


async def test_a_note_is_handed_over_at_a_tool_call_of_the_same_turn(stage: Stage, home: Path) -> None:
    go = home / "go"
    turn = await stage.conductor.submit(
        f"{RUNS_INTO_IT} SCN:until {go} SCN:tool list_memory {{}} SCN:then SCN:say I stop here."
    )
    await ran(stage, 1)
    go.touch()
    await stage.conductor.wait_idle()
    assert NAME in last_request(stage)
    [note] = await stage.read(lambda conn: notes.of_session(conn, stage.conductor.session.id))
    assert (note.status, note.carrier, turn > 0) == ("delivered", "tool.started", True)


async def test_a_delivered_note_stays_in_the_thread(stage: Stage) -> None:
    await stage.say(f"{RUNS_INTO_IT} SCN:say done")
    await ran(stage, 1)
    await stage.say("next SCN:say yes")
    await stage.say("and then SCN:say yes")
    assert last_request(stage).count("From a memory helper") == 1


async def test_the_person_drops_a_note_that_waits(stage: Stage) -> None:
    await stage.say(f"{RUNS_INTO_IT} SCN:say done")
    await ran(stage, 1)
    [note] = await stage.read(lambda conn: notes.pending(conn, stage.conductor.session.id))
    assert await stage.workspace.helper.drop(note.id)
    assert not await stage.workspace.helper.drop(note.id)
    await stage.say("next SCN:say yes")
    assert NAME not in last_request(stage)
    assert stage.of(events.NoteChanged)[-1].reason == "you dropped it"


async def test_the_person_sends_a_note_at_once(stage: Stage) -> None:
    await stage.say(f"{RUNS_INTO_IT} SCN:say done")
    await ran(stage, 1)
    [note] = await stage.read(lambda conn: notes.pending(conn, stage.conductor.session.id))
    assert await stage.workspace.helper.send_now(stage.conductor, note.id)
    await stage.conductor.wait_idle()
    assert NAME in last_request(stage)


async def test_the_person_keeps_a_note_as_a_fact_of_the_helpers_weight(stage: Stage) -> None:
    await stage.say(f"{RUNS_INTO_IT} SCN:say done")
    await ran(stage, 1)
    [note] = await stage.read(lambda conn: notes.pending(conn, stage.conductor.session.id))
    change = await stage.workspace.helper.keep(stage.conductor.session, note.id)
    assert change is not None
    assert (change.percept.producer, change.percept.weight, change.percept.content) == ("helper", 600, note.text)


async def test_a_superseded_decision_drops_the_note_that_waits(stage: Stage, launch: Launch) -> None:
    await stage.say(f"{RUNS_INTO_IT} SCN:say done")
    await ran(stage, 1)
    newer = f"# Payment retries are gone\n\nDate: 2026-08-01\nReplaces: {NAME}\n\nThe provider retries by itself.\n"
    (launch.directory / "memory" / "2026-08-01-no-retries.md").write_text(newer)
    await stage.workspace.helper.refresh(stage.conductor.session.id)
    await stage.say("next SCN:say yes")
    assert NAME not in last_request(stage)
    assert "superseded by 2026-08-01-no-retries.md" in stage.of(events.NoteChanged)[-1].reason


async def test_a_new_record_is_known_without_a_restart(stage: Stage, launch: Launch) -> None:
    text = "# Amounts are cents\n\nDate: 2026-02-03\n\nPrices are whole cents; a float lost a cent in invoices.\n"
    (launch.directory / "memory" / "2026-02-03-cents.md").write_text(text)
    await until(lambda: len([e for e in stage.of(events.HelperStatus) if e.state == "idle"]) > 1, what="watched")
    await stage.say("Store prices as a float instead of cents SCN:say done")
    [run] = await ran(stage, 1)
    assert run.status == "note"


async def test_without_records_nothing_runs(launch: Launch, home: Path) -> None:
    configure(home, "[helper]\nsettle = 0.0\n")
    stage = await begin(launch, home)
    try:
        await helper_is(stage, "off")
        await stage.say(f"{RUNS_INTO_IT} SCN:say done")
        assert await stage.read(helper_runs.log) == []
    finally:
        await stage.workspace.aclose()


async def test_what_happened_before_the_program_started_is_no_signal(stage: Stage, launch: Launch, home: Path) -> None:
    await stage.say(f"{RUNS_INTO_IT} SCN:say done")
    await ran(stage, 1)
    session = stage.conductor.session.id
    later = await begin(launch, home, session)
    try:
        await helper_is(later, "idle")
        assert len(await later.read(helper_runs.log)) == 1
    finally:
        await later.workspace.aclose()


@pytest.mark.parametrize("late", [False, True], ids=["records at once", "records late"])
async def test_a_prompt_that_is_sent_before_the_helper_is_up_gets_its_note(
    launch: Launch, home: Path, late: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first turn may begin while the program still starts, and before the records were looked at."""
    memory = launch.directory / "memory"
    memory.mkdir()
    (memory / NAME).write_text(RECORD)
    configure(home, "[helper]\nsettle = 0.0\n")
    if late:
        look = Watching.refresh

        async def slow(self: Watching) -> Refreshed:
            await asyncio.sleep(0.5)
            return await look(self)

        monkeypatch.setattr(Watching, "refresh", slow)
    workspace = Workspace.open(launch)
    conductor = await workspace.open_session(None)
    stage = Stage(workspace, conductor, home / "requests.jsonl")
    try:
        await conductor.submit(f"{RUNS_INTO_IT} SCN:say done")
        await workspace.start()
        [run] = await ran(stage, 1)
        assert (run.status, run.signal) == ("note", "session.turn-started")
    finally:
        await workspace.aclose()


async def _with(launch: Launch, home: Path, config: str) -> Stage:
    memory = launch.directory / "memory"
    memory.mkdir(exist_ok=True)
    (memory / NAME).write_text(RECORD)
    configure(home, f"[helper]\nsettle = 0.0\n{config}")
    return await begin(launch, home)


async def test_the_first_profile_of_the_configuration_acts_and_no_other(launch: Launch, home: Path) -> None:
    folder = home / "home" / "config" / "helpers"
    folder.mkdir(parents=True)
    built = (BUILT_IN / "recall.md").read_text()
    (folder / "eager.md").write_text(built.replace("id: recall", "id: eager"))
    stage = await _with(launch, home, 'profiles = ["eager", "recall"]\n')
    try:
        await helper_is(stage, "idle")
        await stage.say(f"{RUNS_INTO_IT} SCN:say done")
        await stage.say("next SCN:say yes")
        assert {run.profile_id for run in await ran(stage, 2)} == {"eager"}
    finally:
        await stage.workspace.aclose()


async def test_the_profile_for_tools_runs_after_a_tool(launch: Launch, home: Path) -> None:
    stage = await _with(launch, home, 'profiles = ["recall-after-tools"]\n')
    try:
        await helper_is(stage, "idle")
        await stage.say("hello SCN:say hi")
        await stage.say(f"{RUNS_INTO_IT} SCN:tool list_memory {{}} SCN:then SCN:say done")
        [run] = await ran(stage, 1)
        assert (run.signal, run.profile_id) == ("session.tool-completed", "recall-after-tools")
    finally:
        await stage.workspace.aclose()


async def test_a_session_out_of_scope_is_left_alone(launch: Launch, home: Path) -> None:
    stage = await _with(launch, home, f'directories = ["{home / "elsewhere"}"]\n')
    try:
        await helper_is(stage, "idle")
        await stage.say(f"{RUNS_INTO_IT} SCN:say done")
        assert await stage.read(helper_runs.log) == []
    finally:
        await stage.workspace.aclose()


async def test_a_note_waits_for_the_kind_of_boundary_that_is_configured(launch: Launch, home: Path) -> None:
    stage = await _with(launch, home, 'carrier_kinds = ["tool.started"]\n')
    try:
        await helper_is(stage, "idle")
        await stage.say(f"{RUNS_INTO_IT} SCN:say done")
        await ran(stage, 1)
        await stage.say("next SCN:say yes")
        assert NAME not in last_request(stage)
        await stage.say("now SCN:tool list_memory {} SCN:then SCN:say yes")
        assert NAME in last_request(stage)
    finally:
        await stage.workspace.aclose()


async def test_signals_that_come_together_are_one_run(launch: Launch, home: Path) -> None:
    stage = await _with(launch, home, 'profiles = ["recall-after-tools"]\n')
    try:
        await helper_is(stage, "idle")
        await stage.say(f"{RUNS_INTO_IT} SCN:say done")
        session = stage.conductor.session.id
        for number in range(3):
            ended = events.ToolFinished(
                session_id=session, leg_id=1, tool_id=number, status=ToolStatus.OK, result="done"
            )
            stage.conductor.publish(ended)
        await ran(stage, 1)
        await stage.workspace.close_session(stage.conductor)
        assert len(await runs(stage)) == 1
    finally:
        await stage.workspace.aclose()


async def test_a_model_that_is_not_there_fails_visibly_and_no_turn_with_it(launch: Launch, home: Path) -> None:
    stage = await _with(launch, home, 'runtime = "litellm"\n')
    try:
        await helper_is(stage, "idle")
        await stage.say(f"{RUNS_INTO_IT} SCN:say done")
        await helper_is(stage, "failed")
        assert "helper.model: missing" in next(e for e in stage.of(events.HelperStatus) if e.state == "failed").text
        await stage.say("next SCN:say yes")
    finally:
        await stage.workspace.aclose()


async def test_what_happens_inside_a_sub_agent_is_no_signal(launch: Launch, home: Path) -> None:
    stage = await _with(launch, home, 'profiles = ["recall-after-tools"]\n')
    try:
        await helper_is(stage, "idle")
        await stage.say(f"{RUNS_INTO_IT} SCN:say done")
        session = stage.conductor.session.id
        for number, name in enumerate(("↳ Read", "Read")):
            began = events.ToolStarted(session_id=session, leg_id=1, tool_id=number, name=name, arguments="{}")
            ended = events.ToolFinished(session_id=session, leg_id=1, tool_id=number, status=ToolStatus.OK, result="")
            stage.conductor.publish(began)
            stage.conductor.publish(ended)
            if not number:
                await stage.say("next SCN:say yes")
                assert await stage.read(helper_runs.log) == []
        await ran(stage, 1)
    finally:
        await stage.workspace.aclose()


async def test_the_person_records_a_decision_or_a_fact_as_one(stage: Stage, launch: Launch) -> None:
    name = await stage.workspace.decide(
        stage.conductor, "Use cents. Floats lost one.", why="invoices", replaces=(NAME,)
    )
    text = (launch.directory / "memory" / name).read_text()
    assert "# Use cents" in text and "Floats lost one." in text and f"Replaces: {NAME}" in text
    fact = await stage.conductor.learn("Deploys happen on Tuesdays.")
    name = await stage.workspace.decide(stage.conductor, fact.short_id)
    assert "# Deploys happen on Tuesdays" in (launch.directory / "memory" / name).read_text()
    with pytest.raises(MilkError, match="There is no fact"):
        await stage.workspace.decide(stage.conductor, "#ffffff")
