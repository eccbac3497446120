"""The perception screen at the keyboard, over a real session."""

from __future__ import annotations

import pytest

from milk_tui.core.perception_view import Dispute
from milk_tui.core.records import Layer, PerceptionEntry
from milk_tui.store import perception, perception_disputes
from milk_tui.ui.perception import PerceptionScreen
from tests.ui.conftest import Desk

BEGIN = (
    "SCN:tag frame slice: garden\\x0astory: water the roses\\x0adecided: use a can [reason: no hose] "
    "SCN:tag working file: garden.py\\x0ahypothesis: it is dry SCN:tag invariant soil: clay SCN:say ok"
)
LATER = "SCN:tag working file: roses.py SCN:say ok"


async def talk(desk: Desk, *prompts: str) -> None:
    for prompt in prompts:
        await desk.say(prompt)
        await desk.idle()


async def write(desk: Desk, layer: Layer, key: str, value: str, **more: object) -> None:
    entry = PerceptionEntry(layer=layer, key=key, value=value, **more)  # type: ignore[arg-type]
    session_id = desk.app.control.session_id
    await desk.app.control.conductor.store.write(lambda db: perception.append(db, session_id, [entry]))


async def open_it(desk: Desk) -> PerceptionScreen:
    await desk.press("f4")
    await desk.until(lambda: isinstance(desk.app.screen, PerceptionScreen), "the perception")
    screen = desk.app.screen
    assert isinstance(screen, PerceptionScreen)
    await desk.until(lambda: screen._seen is not None, "the layers")
    await desk.pilot.pause()
    return screen


async def pane(desk: Desk, screen: PerceptionScreen, layer: Layer) -> None:
    for _ in range(3):
        if screen.lists[layer].has_focus:
            return
        await desk.press("f6")
        await desk.pilot.pause()
    raise AssertionError(f"{layer} can't be reached")


async def go_to(desk: Desk, screen: PerceptionScreen, layer: Layer, key: str) -> None:
    await pane(desk, screen, layer)
    assert screen.lists[layer].go_to(key), [row.key for row in screen.lists[layer].rows]
    await desk.pilot.pause()


async def test_three_layers_say_what_is_believed_by_whom_and_what_it_costs(open_desk) -> None:
    async with open_desk() as desk:
        await desk.app.control.conductor.perception.edit(Layer.FRAME, "slice", "garden")
        await desk.app.control.conductor.perception.edit(Layer.FRAME, "decided", "use a can", reason="no hose")
        await desk.app.control.conductor.perception.edit(Layer.FRAME, "decided also", "use tap water")
        await write(desk, Layer.WORKING, "hypothesis", "it is dry", stale="it rained", writer="qwen")
        await open_it(desk)
        await desk.sees("slice garden", "use a can", "because no hose", "1 decision without a reason", "user")
        await desk.sees("hypothesis", "stale?", "? it rained", "qwen", "no project truths yet", "/3.0k chars", "tok")


async def test_empty_layers_say_what_will_come_and_how(open_desk) -> None:
    async with open_desk() as desk:
        await open_it(desk)
        await desk.sees("no slice is open yet", "nothing in hand yet", "no project truths yet", "becomes a stop here")


async def test_an_entry_is_edited_in_its_place_and_undone(open_desk) -> None:
    async with open_desk() as desk:
        await desk.app.control.conductor.perception.edit(Layer.FRAME, "decided", "use a can", reason="no hose")
        screen = await open_it(desk)
        await go_to(desk, screen, Layer.FRAME, "entry:decided")
        await desk.press("e")
        await desk.sees("enter keeps it", "use a can [reason: no hose]")
        screen._edit.text = "use a hose [reason: it came]"
        await desk.press("enter")
        await desk.sees("decided is kept", "use a hose", "because it came")
        await desk.press("u")
        await desk.sees("undone: edited decided", "use a can", "because no hose")


async def test_escape_leaves_an_entry_as_it_was(open_desk) -> None:
    async with open_desk() as desk:
        await desk.app.control.conductor.perception.edit(Layer.FRAME, "decided", "use a can")
        screen = await open_it(desk)
        await go_to(desk, screen, Layer.FRAME, "entry:decided")
        await desk.press("e", "x", "y", "escape")
        await desk.until(lambda: screen._edit is None and screen.lists[Layer.FRAME].has_focus, "the list")
        view = await desk.app.control.conductor.perception.layers()
        assert view.layer(Layer.FRAME).entries[0].entry.value == "use a can"
        assert desk.app.screen is screen


async def test_what_is_refused_stays_to_be_changed(open_desk) -> None:
    async with open_desk() as desk:
        await desk.app.control.conductor.perception.edit(Layer.FRAME, "decided", "use a can")
        screen = await open_it(desk)
        await go_to(desk, screen, Layer.FRAME, "entry:decided")
        await desk.press("e")
        screen._edit.text = " "
        await desk.press("enter")
        await desk.sees("The entry is blank.")
        assert screen._edit is not None


async def test_entries_are_added_and_removed(open_desk) -> None:
    async with open_desk() as desk:
        screen = await open_it(desk)
        await pane(desk, screen, Layer.INVARIANT)
        await desk.press("a")
        await desk.sees("new in the invariants", "key: value, one a line")
        desk.app.screen.words.text = "stack: python\nforbidden: globals"
        await desk.press("enter")
        await desk.sees("stack", "forbidden", "globals")
        await go_to(desk, screen, Layer.INVARIANT, "entry:stack")
        await desk.press("x")
        await desk.sees("stack is gone")
        await desk.press("u")
        await desk.sees("undone: removed stack", "python")


async def test_a_proposed_invariant_is_accepted_or_not_with_one_key(open_desk) -> None:
    async with open_desk() as desk:
        for key, value in (("soil", "clay"), ("water", "hard")):
            await write(desk, Layer.INVARIANT, key, value, proposed=True, writer="qwen")
        screen = await open_it(desk)
        await desk.sees("PROPOSED", "2 to decide", "clay", "hard")
        await go_to(desk, screen, Layer.INVARIANT, "proposed:soil")
        await desk.press("y")
        await desk.sees("soil holds from now on", "1 to decide")
        await go_to(desk, screen, Layer.INVARIANT, "proposed:water")
        await desk.press("n")
        await desk.sees("water was not taken")
        await desk.gone("PROPOSED")
        view = await desk.app.control.conductor.perception.layers()
        assert [each.entry.key for each in view.layer(Layer.INVARIANT).entries] == ["soil"]


async def test_a_conflict_with_the_file_is_swapped_with_one_key(open_desk) -> None:
    async with open_desk() as desk:
        await write(desk, Layer.FRAME, "story", "from the file", writer="file")
        ours = PerceptionEntry(layer=Layer.FRAME, key="story", value="ours", writer="qwen")
        session_id = desk.app.control.session_id
        await desk.app.control.conductor.store.write(
            lambda db: perception_disputes.add(db, session_id, ours, slice_name="", now=5)
        )
        screen = await open_it(desk)
        await desk.sees("conflict", "the file overruled: ours")
        await go_to(desk, screen, Layer.FRAME, "entry:story")
        await desk.press("s")
        await desk.sees("story is swapped", "the file overruled: from the")
        assert isinstance(screen.lists[Layer.FRAME].entry.dispute, Dispute)
        await desk.press("y")
        await desk.sees("story stays as it is")
        await desk.gone("the file overruled")


async def test_an_archived_slice_is_opened_again(open_desk) -> None:
    async with open_desk() as desk:
        perceived = desk.app.control.conductor.perception
        await perceived.edit(Layer.FRAME, "slice", "garden")
        await perceived.edit(Layer.FRAME, "story", "water the roses")
        await perceived.edit(Layer.FRAME, "slice", "kitchen")
        screen = await open_it(desk)
        await desk.sees("slice kitchen", "OTHER SLICES", "garden")
        await go_to(desk, screen, Layer.FRAME, "slice:garden")
        await desk.press("o")
        await desk.sees("slice garden", "water the roses")


async def test_time_goes_back_turn_by_turn_and_says_what_changed(open_desk) -> None:
    async with open_desk() as desk:
        await talk(desk, BEGIN.replace("\\x0a", " "), "nothing SCN:say new", LATER)
        screen = await open_it(desk)
        await desk.sees("last change: turn 3", "roses.py")
        await desk.press("[")
        await desk.sees("as it was after turn 3", "±")
        await desk.press("left")
        await desk.sees("as it was after turn 1")
        await desk.gone("roses.py")
        await desk.press("e")
        await desk.sees("this is the past")
        await desk.press("right", "]")
        await desk.sees("last change: turn 3")
        await desk.press("[", "escape")
        await desk.gone("as it was after")
        assert desk.app.screen is screen
        row = desk.text.split("\n")[1]
        await desk.pilot.click("#slider", offset=(row.index("●"), 0))
        await desk.sees("as it was after turn 1")


async def test_the_difference_to_the_turn_before_is_one_key_away(open_desk) -> None:
    async with open_desk() as desk:
        await talk(desk, "SCN:tag working file: garden.py SCN:say ok", LATER)
        await open_it(desk)
        await desk.press("d")
        await desk.sees("what changed in the perception", "- file: garden.py", "+ file: roses.py")
        await desk.press("escape", "[", "[", "d")
        await desk.sees("before the first change", "+ working set", "file: garden.py")


async def test_every_version_of_an_entry_is_there(open_desk) -> None:
    async with open_desk() as desk:
        for value in ("use a can", "use a hose"):
            await desk.app.control.conductor.perception.edit(Layer.FRAME, "decided", value)
        screen = await open_it(desk)
        await go_to(desk, screen, Layer.FRAME, "entry:decided")
        await desk.press("enter")
        await desk.sees("frame · decided", "use a can", "use a hose")
        await desk.press("d")
        await desk.sees("difference of two versions", "- use a can", "+ use a hose")


async def test_commands_do_the_same(open_desk) -> None:
    async with open_desk() as desk:
        await desk.say("/slice garden")
        await desk.sees("the slice is open")
        for value in ("use a can [reason: no hose]", "use a hose"):
            await desk.say(f"/believe frame decided: {value}")
            await desk.sees("decided is kept")
            await desk.idle()
        await desk.until(lambda: desk.app.control.conductor.perception.last_deed == "edited decided", "both")
        await desk.say("/unbelieve")
        await desk.sees("undone: edited decided")
        await desk.say("/believe cellar decided: x")
        await desk.sees("there is no layer “cellar”")
        await desk.press("ctrl+c")
        view = await desk.app.control.conductor.perception.layers()
        decided = next(each.entry for each in view.layer(Layer.FRAME).entries if each.entry.key == "decided")
        assert (view.slice, decided.value, decided.reason) == ("garden", "use a can", "no hose")


@pytest.mark.parametrize("size", [(100, 30), (60, 24), (40, 12)])
async def test_every_size_shows_every_layer(open_desk, size) -> None:
    async with open_desk(size) as desk:
        perceived = desk.app.control.conductor.perception
        await perceived.edit(Layer.FRAME, "story", "roses")
        await perceived.edit(Layer.WORKING, "file", "garden.py")
        await perceived.edit(Layer.INVARIANT, "soil", "clay")
        screen = await open_it(desk)
        for layer, text in ((Layer.FRAME, "roses"), (Layer.WORKING, "garden.py"), (Layer.INVARIANT, "clay")):
            await pane(desk, screen, layer)
            await desk.sees(text)
            assert all(len(line) <= size[0] for line in desk.text.split("\n"))
        await desk.press("e")
        await desk.sees("enter keeps it")
        await desk.press("escape", "escape")
        await desk.until(lambda: desk.app.screen is desk.app.main, "back")


async def test_hostile_text_is_shown_as_text(open_desk) -> None:
    hostile = "\x1b[31mred\x1b]52;c;aGk=\x07 [bold]not bold[/bold] \u202eevil " + "x" * 20_000
    async with open_desk() as desk:
        await write(desk, Layer.FRAME, "story\x1b[0m", hostile, reason=hostile, writer="\x1b[5mqwen")
        screen = await open_it(desk)
        await desk.sees("red [bold]not bold[/bold] evil", "because red [bold]")
        await desk.press("enter")
        await desk.sees("space mark")
        await desk.press("escape")
        assert screen.lists[Layer.FRAME].rows


async def test_what_an_agent_writes_meanwhile_appears(open_desk) -> None:
    async with open_desk() as desk:
        await open_it(desk)
        await desk.app.control.conductor.submit("SCN:tag working file: garden.py SCN:say ok")
        await desk.sees("garden.py", "last change: turn 1")


async def test_a_slice_that_can_not_be_opened_here_or_now_is_said(open_desk) -> None:
    async with open_desk() as desk:
        await talk(desk, BEGIN, LATER)
        await open_it(desk)
        await desk.press("o")
        await desk.sees("no slice is under the cursor", "/slice NAME begins one")
        await desk.press("left_square_bracket", "o")
        await desk.sees("this is the past")
