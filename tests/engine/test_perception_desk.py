"""The person's hand on the perception: read as of any turn, corrected, accepted, swapped, and undone."""

from __future__ import annotations

import pytest

from milk_tui.core.errors import MilkError
from milk_tui.core.perception_view import PerceptionView
from milk_tui.core.records import Layer, PerceptionEntry
from milk_tui.engine import events as e
from milk_tui.engine import perception_writing
from milk_tui.store import perception_disputes
from tests.engine.conftest import Stage


@pytest.fixture
def desk(stage: Stage):
    return stage.conductor.perception


async def wrote(stage: Stage, layer: Layer, **entries: str) -> None:
    session_id = stage.conductor.session.id
    made = [
        PerceptionEntry(layer=layer, key=key, value=value, writer="fast", proposed=layer is Layer.INVARIANT)
        for key, value in entries.items()
    ]
    await stage.conductor.store.write(lambda db: perception_writing.write(db, session_id, made, now=1))


def held(view: PerceptionView, layer: Layer) -> dict[str, str]:
    return {each.entry.key: each.entry.value for each in view.layer(layer).entries}


async def test_an_edit_is_the_persons_and_told_and_undone(stage, desk):
    await wrote(stage, Layer.FRAME, story="points")
    await desk.edit(Layer.FRAME, "story", "points for lessons", reason="the ticket")
    entry = (await desk.layers()).layer(Layer.FRAME).entries[0].entry
    assert (entry.value, entry.reason, entry.writer) == ("points for lessons", "the ticket", "user")
    assert stage.of(e.PerceptionChanged)[-1].entries == (entry,)
    assert await desk.undo() == "edited story"
    entry = (await desk.layers()).layer(Layer.FRAME).entries[0].entry
    assert (entry.value, entry.writer) == ("points", "fast")
    assert await desk.undo() == ""


async def test_a_slice_that_was_given_its_first_name_has_none_again_and_keeps_its_frame(stage, desk):
    await wrote(stage, Layer.FRAME, story="points")
    await desk.open_slice("023-points")
    assert await desk.undo() == "edited slice"
    view = await desk.layers()
    assert (view.slice, held(view, Layer.FRAME)) == ("", {"story": "points"})
    await desk.open_slice("023-points")
    assert held(await desk.layers(), Layer.FRAME) == {"story": "points", "slice": "023-points"}


async def test_what_is_removed_is_gone_and_comes_back_with_undo(stage, desk):
    await desk.edit(Layer.WORKING, "next", "1. test\n2. code")
    await desk.remove(Layer.WORKING, "next")
    assert held(await desk.layers(), Layer.WORKING) == {}
    assert [version.value for version in await desk.history(Layer.WORKING, "next")] == ["", "test\ncode"]
    await desk.undo()
    assert held(await desk.layers(), Layer.WORKING) == {"next": "test\ncode"}
    with pytest.raises(MilkError, match="no file"):
        await desk.remove(Layer.WORKING, "file")


async def test_a_proposed_invariant_holds_when_the_person_accepts_it(stage, desk):
    await wrote(stage, Layer.INVARIANT, stack="python", style="black")
    view = (await desk.layers()).layer(Layer.INVARIANT)
    assert (view.entries, len(view.proposals)) == ((), 2)
    await desk.accept("stack")
    await desk.reject("style")
    view = (await desk.layers()).layer(Layer.INVARIANT)
    assert ([each.entry.value for each in view.entries], view.proposals) == (["python"], ())
    await desk.undo()
    await desk.undo()
    view = (await desk.layers()).layer(Layer.INVARIANT)
    assert (view.entries, {each.entry.key for each in view.proposals}) == ((), {"stack", "style"})
    with pytest.raises(MilkError, match="proposed"):
        await desk.accept("nothing")


async def test_another_slice_archives_the_frame_and_empties_the_working_set(stage, desk):
    await desk.edit(Layer.FRAME, "story", "points")
    await desk.open_slice("023-points")
    assert held(await desk.layers(), Layer.FRAME) == {"story": "points", "slice": "023-points"}
    await desk.edit(Layer.WORKING, "file", "a.py")
    await desk.open_slice("024-badges")
    view = await desk.layers()
    assert (view.slice, held(view, Layer.FRAME), held(view, Layer.WORKING)) == (
        "024-badges",
        {"slice": "024-badges"},
        {},
    )
    assert {each.name: each.open for each in view.slices} == {"024-badges": True, "023-points": False}
    await desk.undo()
    view = await desk.layers()
    assert held(view, Layer.FRAME) == {"story": "points", "slice": "023-points"}
    assert held(view, Layer.WORKING) == {"file": "a.py"}


async def test_an_archived_slice_is_opened_again_by_its_name(stage, desk):
    for name in ("one", "two", "one"):
        await desk.open_slice(name)
        if name == "two":
            await desk.edit(Layer.FRAME, "story", "of two")
    assert held(await desk.layers(), Layer.FRAME) == {"slice": "one"}
    await desk.open_slice("two")
    assert held(await desk.layers(), Layer.FRAME) == {"slice": "two", "story": "of two"}


async def test_the_belief_as_of_every_turn_can_be_read(stage, desk):
    for number in (1, 2, 3):
        await stage.say(f"SCN:tool update_perception {working(f'file: {number}.py')} SCN:then SCN:say ok")
    turns = [version.turn_id for version in await desk.versions()]
    assert len(turns) == 3
    assert [held(await desk.layers(turn), Layer.WORKING)["file"] for turn in turns] == ["1.py", "2.py", "3.py"]
    assert held(await desk.layers(turns[0] - 1), Layer.WORKING) == {}


def working(lines: str) -> str:
    return '{"layer":"working","entries":"' + lines + '"}'


async def test_what_the_file_overruled_is_swapped_with_one_call_and_back(stage, desk):
    session_id = stage.conductor.session.id
    await desk.edit(Layer.FRAME, "story", "theirs")
    ours = PerceptionEntry(layer=Layer.FRAME, key="story", value="ours", writer="fast")
    await stage.conductor.store.write(lambda db: perception_disputes.add(db, session_id, ours, slice_name="", now=1))
    assert [each.entry.value for each in (await desk.layers()).disputes] == ["ours"]
    await desk.swap(Layer.FRAME, "story")
    view = await desk.layers()
    assert (held(view, Layer.FRAME)["story"], view.disputes[0].entry.value) == ("ours", "theirs")
    await desk.undo()
    view = await desk.layers()
    assert (held(view, Layer.FRAME)["story"], view.disputes[0].entry.value) == ("theirs", "ours")
    await desk.keep(Layer.FRAME, "story")
    assert (await desk.layers()).disputes == ()
    with pytest.raises(MilkError, match="dispute"):
        await desk.swap(Layer.FRAME, "story")


async def test_a_secret_and_a_blank_entry_are_refused(stage, desk):
    with pytest.raises(MilkError, match="secret"):
        await desk.edit(Layer.INVARIANT, "key", "sk-ant-api03-" + "a1B2" * 12)
    with pytest.raises(MilkError, match="blank"):
        await desk.edit(Layer.INVARIANT, "key", "  ")
    assert await desk.undo() == ""
