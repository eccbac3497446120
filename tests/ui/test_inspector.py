"""The brick inspector at the keyboard, over a real session."""

from __future__ import annotations

import pytest

from milk_tui.core.records import BrickKind
from milk_tui.store import bricks, receipt_lists
from milk_tui.ui.inspector import InspectorScreen
from tests.ui.conftest import Desk, configure

FACT = "SCN:tag need water the garden SCN:tag percept tea is hot SCN:say It is dry."


async def talk(desk: Desk, *prompts: str) -> None:
    for prompt in prompts:
        await desk.say(prompt)
        await desk.idle()


async def inspect(desk: Desk) -> InspectorScreen:
    await desk.press("f3")
    await desk.until(lambda: isinstance(desk.app.screen, InspectorScreen), "the inspector")
    screen = desk.app.screen
    assert isinstance(screen, InspectorScreen)
    await desk.until(lambda: screen.bricks.rows, "bricks")
    return screen


async def pane(desk: Desk, widget) -> None:
    """Move to a pane with the keyboard."""
    for _ in range(4):
        if widget.has_focus:
            return
        await desk.press("f6")
        await desk.pilot.pause()
    raise AssertionError(f"{widget} can't be reached")


async def test_it_shows_bricks_what_would_be_sent_what_was_sent_and_how_large_it_was(open_desk) -> None:
    async with open_desk() as desk:
        await talk(desk, FACT)
        await inspect(desk)
        await desk.sees("if I escalated now · first: everything", "water the garden", "primary's summary")
        await desk.sees("■ identity", "who the agent is", "□ frame", "receipts", "1 leg", "● qwen", "turn 1")
        await desk.sees("context over the turns", "cached")


async def test_a_segment_unfolds_to_its_text_and_folds_again(open_desk) -> None:
    async with open_desk() as desk:
        await talk(desk, FACT)
        screen = await inspect(desk)
        await pane(desk, screen.plan)
        await desk.sees("▰▰▰▰▰")
        await desk.press("home", "enter")
        await desk.sees("▾ identity", "You are claude")
        await desk.press("enter")
        await desk.gone("You are claude")


async def test_a_receipt_opens_with_what_was_reported(open_desk) -> None:
    async with open_desk() as desk:
        await talk(desk, FACT)
        screen = await inspect(desk)
        await pane(desk, screen.sent)
        await desk.press("enter")
        await desk.sees("sent to qwen, turn 1 · first: everything", "■ identity", "scripted/fast", "tokens in")
        await desk.press("a")
        await desk.sees("▾ identity", "You are qwen")
        await desk.press("escape", "escape")
        await desk.sees("Ask, or / for commands")


async def test_without_an_escalation_agent_it_says_how_to_get_one(open_desk, home) -> None:
    configure(home, '[session]\nprimary = "qwen"\n[agents.qwen]\nmodel = "scripted/fast"\n')
    async with open_desk() as desk:
        await inspect(desk)
        await desk.sees("if I escalated now", "--escalation", "nothing was sent yet", "no turn yet")


async def test_a_receipt_in_the_conversation_opens_here(open_desk) -> None:
    async with open_desk() as desk:
        desk.app.main.prompt.set_text("deep SCN:say done")
        await desk.press("ctrl+g")
        await desk.sees("[F3]")
        await desk.idle()
        row = next(y for y, line in enumerate(desk.text.split("\n")) if "[F3]" in line)
        await desk.pilot.click("#transcript", offset=(8, row - 2))
        await desk.sees("sent to claude, turn 1", "■ identity")


async def test_a_brick_is_written_by_hand_and_the_plan_has_it_at_once(open_desk) -> None:
    async with open_desk() as desk:
        await talk(desk, FACT)
        await inspect(desk)
        await desk.press("down", "down", "e")
        await desk.sees("primary's summary", "What the escalation agent is given", "enter keeps")
        await desk.press("ctrl+a", "ctrl+shift+k")
        desk.app.screen.words.text = "It rained.\nNot dry."
        await desk.press("enter")
        await desk.sees("primary's summary is kept", "version 2 by user", "It rained.")
        plan = await desk.app.control.conductor.plan_escalation()
        assert "It rained.\nNot dry." in plan.segment("primary_summary").text


async def test_what_is_refused_stays_to_be_changed(open_desk) -> None:
    async with open_desk() as desk:
        await desk.say("/need ship it")
        await inspect(desk)
        await desk.press("e")
        await desk.sees("What the session is about")
        desk.app.screen.words.text = "  "
        await desk.press("enter")
        await desk.sees("The need is blank.")
        await desk.press("escape")
        await desk.gone("What the session is about")
        assert desk.app.state.bricks["current_need"].text == "ship it"


async def test_keys_typed_right_after_e_are_meant_for_the_text(open_desk) -> None:
    async with open_desk() as desk:
        await desk.say("/need ship it")
        await inspect(desk)
        for key in ["e", *" fre", "enter"]:
            desk.app.screen.focused.post_message(_key(key))
        await desk.sees("ship it fre")
        assert desk.app.state.bricks["current_need"].text == "ship it fre"


def _key(name: str):
    from textual.events import Key

    return Key("space" if name == " " else name, name if len(name) == 1 else None)


async def test_a_brick_is_rebuilt_and_the_need_is_done(open_desk) -> None:
    async with open_desk() as desk:
        await talk(desk, FACT)
        await desk.app.control.conductor.bricks.edit(BrickKind.PRIMARY_SUMMARY, "by hand")
        await inspect(desk)
        await desk.press("down", "down", "r")
        await desk.sees("primary's summary is version 3 now", "It is dry.")
        await desk.press("r")
        await desk.sees("is as it would be built")
        await desk.press("home", "f")
        await desk.sees("the need is done", "fulfilled")


async def test_versions_are_compared_and_one_is_taken_back(open_desk) -> None:
    async with open_desk() as desk:
        for need in ("ship it on Monday", "ship it on Friday"):
            await desk.say(f"/need {need}")
            await desk.sees(need)
        await inspect(desk)
        await desk.press("enter")
        await desk.sees("version 2 by user", "version 1 by user")
        await desk.press("d")
        await desk.sees("current need: difference", "- ship it on Monday", "+ ship it on Friday")
        await desk.press("escape", "end", "u")
        await desk.sees("version 3 by user")
        await desk.until(lambda: desk.app.state.bricks["current_need"].text == "ship it on Monday")


async def test_any_two_receipts_are_compared(open_desk) -> None:
    async with open_desk() as desk:
        await talk(desk, FACT, "more SCN:say And a rose.", "again SCN:say And a tree.")
        screen = await inspect(desk)
        await pane(desk, screen.sent)
        await desk.press("d")
        await desk.sees("difference of two receipts", "qwen, turn 2", "qwen, turn 3", "= identity")
        await desk.press("escape")
        await desk.press("home", "space", "down", "space")
        await desk.sees("①", "②", "2 marked")
        await desk.press("d")
        await desk.sees("qwen, turn 1", "qwen, turn 3")
        await desk.press("escape", "escape")
        await desk.gone("2 marked")
        assert isinstance(desk.app.screen, InspectorScreen)


async def test_a_wide_terminal_shows_the_difference_side_by_side_and_a_narrow_one_in_one_column(open_desk) -> None:
    async with open_desk((140, 40)) as desk:
        for need in ("ship it on Monday", "ship it on Friday"):
            await desk.say(f"/need {need}")
            await desk.sees(need)
        await inspect(desk)
        await desk.press("enter", "d")
        await desk.sees("1 - ship it on Monday")
        assert any("Monday" in line and "Friday" in line for line in desk.text.split("\n"))
        await desk.press("s")
        await desk.until(
            lambda: not any("- ship it on Monday" in x and "Friday" in x for x in desk.text.split("\n")), "one column"
        )
        await desk.press("s")
        await desk.pilot.resize_terminal(100, 30)
        await desk.sees("ship it on Monday")


async def test_the_chart_goes_from_turn_to_turn_and_opens_the_receipt(open_desk) -> None:
    async with open_desk() as desk:
        await talk(desk, "one SCN:say 1", "two SCN:say 2")
        screen = await inspect(desk)
        await pane(desk, screen.chart)
        await desk.sees("▲ turn 2", "turn 2 qwen")
        await desk.press("left")
        await desk.sees("▲ turn 1", "turn 1 qwen")
        await desk.press("enter")
        await desk.sees("sent to qwen, turn 1")


async def test_commands_do_the_same(open_desk) -> None:
    async with open_desk() as desk:
        await talk(desk, FACT, "more SCN:say And a rose.")
        await desk.say("/brick primary It rained.")
        await desk.sees("the primary is kept")
        await desk.say("/rebuild prim")
        await desk.sees("rebuilt, as version")
        await desk.say("/done")
        await desk.sees("the need is done")
        await desk.say("/brick wall x")
        await desk.sees("there is no brick “wall”")
        await desk.press("ctrl+c")
        await desk.say("/compare")
        await desk.sees("difference of two receipts", "qwen, turn 1", "qwen, turn 2")


@pytest.mark.parametrize("size", [(60, 20), (40, 12)])
async def test_a_small_terminal_shows_one_pane_at_a_time(open_desk, size) -> None:
    async with open_desk(size) as desk:
        await talk(desk, FACT)
        screen = await inspect(desk)
        await desk.sees("need", "water the garden")
        await pane(desk, screen.plan)
        await desk.sees("■ identity")
        await pane(desk, screen.chart)
        await desk.sees("cached")
        await pane(desk, screen.sent)
        await desk.sees("● qwen")
        assert all(len(line) <= size[0] for line in desk.text.split("\n"))
        await desk.press("d")
        await desk.sees("there are no two receipts")


async def test_the_mouse_moves_marks_and_opens(open_desk) -> None:
    async with open_desk() as desk:
        await talk(desk, FACT)
        screen = await inspect(desk)
        await desk.sees("■ identity")
        row = next(i for i, r in enumerate(screen.plan.rows) if r.key == "segment:0")
        await desk.pilot.click(screen.plan, offset=(5, screen.plan._top(row)), times=2)
        await desk.sees("▾ identity")
        await desk.pilot.click(screen.sent, offset=(5, 1), times=2)
        await desk.sees("sent to qwen, turn 1")
        await desk.press("escape")
        footer = desk.text.split("\n")[-1]
        await desk.pilot.click("#footer", offset=(footer.index("d difference"), 0))
        await desk.sees("there are no two receipts")


async def test_hostile_text_in_bricks_is_shown_as_text(open_desk) -> None:
    hostile = "\x1b[31mred\x1b]52;c;aGk=\x07 [bold]not bold[/bold] \u202eevil " + "x" * 20_000
    async with open_desk() as desk:
        store, session_id = desk.app.control.workspace.store, desk.app.control.session_id
        from tests.ui.samples import brick

        made = [brick(BrickKind.NEED, hostile, version=n) for n in (1, 2)]
        await store.write(lambda db: [bricks.save(db, session_id, each) for each in made])
        desk.app.state.bricks["current_need"] = made[-1]
        await inspect(desk)
        await desk.sees("red [bold]not bold[/bold] evil")
        await desk.press("enter")
        await desk.sees("version 1 by milk")
        await desk.press("enter", "escape", "e")
        await desk.sees("enter keeps")
        assert "\x1b" not in desk.app.screen.words.text


async def test_a_long_session_is_listed_a_page_at_a_time(open_desk, monkeypatch) -> None:
    monkeypatch.setattr(receipt_lists.page, "__kwdefaults__", {"before_leg": None, "limit": 4})
    async with open_desk() as desk:
        await talk(desk, *(f"number {n} SCN:say {n}" for n in range(9)))
        screen = await inspect(desk)
        await desk.until(lambda: len(screen.sent.sent) >= 4, "a page")
        await pane(desk, screen.sent)
        for _ in range(9):
            await desk.press("end")
        await desk.until(lambda: len(screen.sent.sent) == 9, "all pages")
        assert [each.turn_id for each in screen.sent.sent] == list(range(9, 0, -1))
