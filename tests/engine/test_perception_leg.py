"""What a leg does to the perception, and what the next one is given of it."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

from milk_tui.core.permissions import Verdict
from milk_tui.core.records import Layer
from milk_tui.engine import events as e
from milk_tui.store import receipts
from tests.engine.conftest import Stage

GONE = '{"path":"gone.py"}'


def writes(layer: str, *lines: str) -> str:
    """The agent writes entries by its tool, then says ok."""
    return f"{writing(layer, *lines)} SCN:then SCN:say ok"


def writing(layer: str, *lines: str) -> str:
    return f"SCN:tool update_perception {json.dumps({'layer': layer, 'entries': chr(10).join(lines)})}"


async def held(stage: Stage, layer: Layer) -> dict[str, str]:
    view = await stage.conductor.perception.layers()
    return {each.entry.key: each.entry.value for each in view.layer(layer).entries}


async def given(stage: Stage, name: str) -> str:
    """The segment of the newest leg's receipt."""
    newest = await stage.read(lambda conn: receipts.get(conn, conn.execute("select max(id) from legs").fetchone()[0]))
    assert newest is not None
    return next((s.text for s in newest.segments if s.name == name and s.included), "")


def requests(stage: Stage) -> list[dict]:
    return [json.loads(line) for line in stage.record.read_text().splitlines()]


async def test_a_failing_tool_marks_the_hypothesis_and_the_agent_is_told_at_once_and_again(stage):
    await stage.say(writes("working", "hypothesis: the cache is stale"))
    await stage.say('SCN:tool read_file {"path":"gone.py"} SCN:then SCN:say ok')
    view = (await stage.conductor.perception.layers()).layer(Layer.WORKING)
    [entry] = [each.entry for each in view.entries if each.entry.key == "hypothesis"]
    assert (entry.value, entry.writer) == ("the cache is stale", "fast")
    assert "gone.py" in entry.stale
    assert "is now in doubt" in stage.record.read_text()
    await stage.say("SCN:say ok")
    assert "hypothesis: the cache is stale [stale? " in await given(stage, "working")


async def test_a_hypothesis_that_is_written_again_after_the_failure_is_not_in_doubt(stage):
    await stage.say(
        f"{writing('working', 'hypothesis: one')} SCN:then SCN:tool read_file {GONE} SCN:then"
        f" {writing('working', 'hypothesis: two')} SCN:then SCN:say ok"
    )
    view = (await stage.conductor.perception.layers()).layer(Layer.WORKING)
    assert [(e.entry.value, e.entry.stale) for e in view.entries if e.entry.key == "hypothesis"] == [("two", "")]


async def test_the_program_notes_recent_results_and_the_agent_is_given_them(stage):
    await stage.say('SCN:tool read_file {"path":"gone.py"} SCN:then SCN:say ok')
    lines = (await held(stage, Layer.WORKING))["recent-tool-results"]
    assert lines.startswith("read_file gone.py → failed: ")
    await stage.say("SCN:say ok")
    assert "recent-tool-results: read_file gone.py" in await given(stage, "working")


async def test_a_working_entry_that_nobody_touches_leaves_the_prompt_after_twelve_turns_and_stays_in_history(stage):
    await stage.say(writes("working", "file: old.py"))
    for number in range(12):
        await stage.say(f"SCN:say {number}")
        assert "old.py" in await given(stage, "working")
    await stage.say("SCN:say more")
    assert "old.py" not in await given(stage, "working")
    view = (await stage.conductor.perception.layers()).layer(Layer.WORKING)
    assert [(each.entry.value, each.expired) for each in view.entries] == [("old.py", True)]


async def test_an_agents_change_of_slice_archives_the_frame_and_empties_the_working_set(stage):
    await stage.say(writes("frame", "slice: 023", "story: points"))
    await stage.say(writes("working", "file: a.py"))
    await stage.say(writes("frame", "slice: 024", "story: badges"))
    assert await held(stage, Layer.FRAME) == {"slice": "024", "story": "badges"}
    assert "file" not in await held(stage, Layer.WORKING)
    view = await stage.conductor.perception.layers()
    assert {each.name for each in view.slices} == {"023", "024"}


async def test_agents_only_propose_invariants_and_both_agents_get_the_accepted_ones(stage):
    await stage.say(writes("invariant", "stack: python 3.12"))
    await stage.say("SCN:say ok", escalate=True)
    assert await given(stage, "invariants") == ""
    await stage.conductor.perception.accept("stack")
    await stage.say("SCN:say ok", escalate=True, fresh=True)
    assert "stack: python 3.12" in await given(stage, "invariants")


async def test_a_new_session_goes_on_with_the_open_slice_and_says_so(stage):
    await stage.say(writes("frame", "slice: 023", "story: points"))
    conductor = await stage.workspace.open_session(new=True)
    other = Stage(stage.workspace, conductor, stage.record)
    assert "goes on with the slice 023" in await conductor.perception.greeting()
    await other.say("SCN:say hello")
    assert "story: points" in await given(other, "frame")
    assert "file" not in await held(other, Layer.WORKING)


async def test_a_budget_that_is_full_is_shown_and_the_agent_is_asked_to_tidy(stage):
    await stage.say(writes("working", *(f"key {n}: {'x' * 100}" for n in range(20))))
    view = (await stage.conductor.perception.layers()).layer(Layer.WORKING)
    assert view.over > 0
    await stage.say("SCN:say ok")
    assert "please tidy" in await given(stage, "working")


async def test_a_second_decision_does_not_push_out_the_first_one_and_a_list_replaces_them(stage):
    await stage.say(writes("frame", "decided: points are integer [reason: legal]"))
    await stage.say(writes("frame", "decided: awards are idempotent [reason: replay]"))
    assert (await held(stage, Layer.FRAME))["decided"].splitlines() == [
        "points are integer [reason: legal]",
        "awards are idempotent [reason: replay]",
    ]
    await stage.say(writes("frame", "decided:", "- only this [reason: simple]", "- and that [reason: plain]"))
    assert len((await held(stage, Layer.FRAME))["decided"].splitlines()) == 2
    assert "points" not in (await held(stage, Layer.FRAME))["decided"]


async def test_an_invariant_that_a_result_contradicts_is_marked_and_the_agent_is_told_without_touching_its_prefix(
    stage,
):
    directory = Path(stage.conductor.session.directory)
    (directory / "versions.txt").write_text("python 3.9\n")
    await stage.conductor.perception.edit(Layer.INVARIANT, "stack", "Python 3.12")
    await stage.say("SCN:say first")
    before = await given(stage, "invariants")
    await stage.say('SCN:tool read_file {"path":"versions.txt"} SCN:then SCN:say ok')
    view = (await stage.conductor.perception.layers()).layer(Layer.INVARIANT)
    assert "python 3.9" in view.entries[0].entry.stale
    await stage.say("SCN:say ok")
    assert await given(stage, "invariants") == before
    assert "invariant in doubt: stack" in await given(stage, "changes")
    await stage.conductor.perception.edit(Layer.INVARIANT, "stack", "Python 3.9")
    view = (await stage.conductor.perception.layers()).layer(Layer.INVARIANT)
    assert view.entries[0].entry.stale == ""


async def test_a_first_name_goes_to_what_the_session_wrote_and_not_to_an_older_sessions_work(stage):
    await stage.say(writes("frame", "story: of yesterday"))
    other = Stage(stage.workspace, await stage.workspace.open_session(new=True), stage.record)
    await other.say(writes("frame", "slice: 024", "story: badges"))
    assert await held(other, Layer.FRAME) == {"slice": "024", "story": "badges"}
    view = await other.conductor.perception.layers()
    assert {each.name: each.entries for each in view.slices} == {"024": 2, "": 1}
    assert (await held(stage, Layer.FRAME))["story"] == "of yesterday"


async def test_a_call_that_the_person_denied_speaks_against_nothing(stage):
    await stage.say(writes("working", "hypothesis: the cache is stale"))
    turn = asyncio.create_task(stage.say('SCN:tool run_command {"command":"make"} SCN:then SCN:say ok'))
    await stage.seen(e.PermissionAsked)
    [asked] = stage.of(e.PermissionAsked)
    stage.conductor.permissions.answer(asked.request.id, Verdict(allowed=False, by="person"))
    await turn
    view = (await stage.conductor.perception.layers()).layer(Layer.WORKING)
    assert [each.entry.stale for each in view.entries if each.entry.key == "hypothesis"] == [""]
    assert "is now in doubt" not in stage.record.read_text()
