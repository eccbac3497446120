"""The memory browser by commands, mouse, at every size, and with keys typed faster than it follows."""

from __future__ import annotations

import contextlib

import pytest

from milk_tui.core.records import Layer, PerceptionEntry, PerceptStatus, Producer
from milk_tui.store import perception
from milk_tui.ui.actions import ACTIONS
from milk_tui.ui.memory import MemoryScreen
from tests.support.polling import until
from tests.ui.conftest import Desk
from tests.ui.memory_desk import Browser


async def test_commands_do_the_same_from_the_prompt(open_desk) -> None:
    async with open_desk() as desk:
        seen = Browser(desk)
        old, new = await seen.add("the shop uses Postgres"), await seen.add("the shop moved to ScyllaDB")
        await desk.until(lambda: len(desk.app.state.percepts) == 2)
        await desk.say(f"/supersede {old.short_id} {new.short_id}")
        await desk.sees(f"{new.short_id} holds instead of {old.short_id}")
        await desk.say("/undo")
        await desk.sees("undone: superseded a fact")
        await desk.say(f"/edit {old.short_id} the shop uses SQLite")
        await desk.until(lambda: desk.app.state.percepts[old.id].content == "the shop uses SQLite")
        await desk.say(f"/heavier {new.short_id}")
        await desk.until(lambda: desk.app.state.percepts[new.id].weight == 750)
        await desk.say(f"/merge {new.short_id}")
        await desk.sees("this needs the ids of 2 facts")
        desk.app.main.prompt.set_text("")
        await desk.say("/memory ScyllaDB")
        await desk.sees("1 fact for “ScyllaDB”")
        await desk.press("escape", "escape")
        await desk.say("/why which database does the shop use")
        await desk.sees("what an agent would be given", "● qwen would be given")
        await desk.press("escape")
        await desk.say("/cleanup")
        await desk.sees("clean up memory")


async def test_a_clean_memory_has_nothing_to_choose(open_desk) -> None:
    async with open_desk() as desk:
        seen = Browser(desk)
        await seen.add("prices are integers")
        await seen.open()
        await desk.press("b")
        await desk.sees("clean up memory", "nothing to clean up · esc closes")


@pytest.mark.parametrize("size", [(120, 40), (80, 24), (60, 20), (40, 12)])
async def test_it_works_at_every_size(open_desk, size) -> None:
    async with open_desk(size) as desk:
        seen = Browser(desk)
        facts = [await seen.add(f"fact {number} " + "with many words " * number) for number in range(6)]
        await seen.open()
        for key in ("down", "space", "end", "e", "escape", "slash", "escape", "right_square_bracket", "home"):
            await desk.press(key)
        assert all(len(line) <= size[0] for line in desk.text.split("\n"))
        await seen.go_to(facts[0])
        await desk.press("enter")
        await desk.sees("fact 0")
        await desk.sees("WHERE IT IS FROM")


@pytest.mark.parametrize("key", ["down", "pagedown"])
async def test_all_that_is_known_of_a_fact_can_be_read_in_the_smallest_terminal(open_desk, key) -> None:
    async with open_desk((40, 12)) as desk:
        words = [f"w{number}" for number in range(60)]
        await desk.say(f"SCN:tag percept {' '.join(words)} SCN:say ok")
        await desk.idle()
        await Browser(desk).open()
        await desk.press("enter")
        await desk.sees("fact #")
        seen: set[str] = set()
        for _ in range(30):
            assert "─ fact #" in desk.text
            seen |= {word.strip("▁▂▃▄▅▆▇█") for word in desk.text.split()}
            await desk.press(key)
        told = "holds WHERE IT IS FROM ↩ LAST GIVEN WEIGHT OVER TIME captured live primary 0.00 0.70"
        assert {*words, *told.split()} - seen == set()


@pytest.mark.parametrize("here", ["nothing", "a fact", "a proposal"])
async def test_no_key_of_the_browser_is_silent(open_desk, here) -> None:
    async with open_desk() as desk:
        seen = Browser(desk)
        if here == "a fact":
            await seen.add("one", Producer.USER)
        elif here == "a proposal":
            entry = PerceptionEntry(layer=Layer.INVARIANT, key="stack", value="go", proposed=True, writer="qwen")
            session_id = seen.conductor.session.id
            await seen.write(lambda db: perception.append(db, session_id, [entry], now=1))
        await desk.press("f2")
        await desk.until(lambda: isinstance(desk.app.screen, MemoryScreen) and seen.facts.has_focus, "the browser")
        screen, silent = seen.screen, []
        await desk.until(lambda: here == "nothing" or seen.facts.current is not None, here)
        undone = {"filter-facts", *(("fact-details", "edit-fact") if here == "a fact" else ())}
        for action in (each for each in ACTIONS if each.where in MemoryScreen.WHERE and each.id not in undone):
            screen.say("")
            seen.facts.clear_marks()
            before = desk.text
            await desk.press(action.keys[0])
            with contextlib.suppress(AssertionError):
                await until(lambda before=before: desk.text != before, timeout_s=2)
            if desk.text == before:
                silent.append(action.id)
            while desk.app.screen is not screen:
                await desk.press("escape")
        assert silent == []


async def test_the_mouse_marks_opens_and_uses_the_footer(open_desk) -> None:
    async with open_desk() as desk:
        seen = Browser(desk)
        fact = await seen.add("one")
        await seen.open()
        await desk.pilot.click("#all-facts", offset=(0, 1))
        assert fact.id in seen.facts.marks
        column = desk.text.split("\n")[-1].index("x forget")
        await desk.pilot.click("#footer", offset=(column, 0))
        await seen.is_now(fact, status=PerceptStatus.FORGOTTEN)


def typed(desk: Desk, *keys: str) -> None:
    """Keys in one burst, as over a slow line: none waits for what the one before it did."""
    from textual import events

    for key in keys:
        desk.app.post_message(events.Key(key, {"slash": "/"}.get(key, key if len(key) == 1 else None)))


async def test_words_typed_in_one_burst_after_the_filters_key_do_nothing_to_facts(open_desk) -> None:
    async with open_desk() as desk:
        seen = Browser(desk)
        fact = await seen.add("the exploit expires next spring")
        await seen.open()
        typed(desk, "slash", *"exploit")
        await desk.sees("for “exploit”")
        await seen.is_now(fact, status=PerceptStatus.LIVE, pinned=False, weight=700)
        assert desk.app.screen is seen.screen


async def test_an_edit_typed_in_one_burst_is_kept_whole(open_desk) -> None:
    async with open_desk() as desk:
        seen = Browser(desk)
        fact = await seen.add("prices are integers")
        await seen.open()
        typed(desk, "e", *"xyz", "enter")
        await seen.is_now(fact, content="prices are integersxyz", status=PerceptStatus.LIVE)


@pytest.mark.parametrize("key", ["enter", "b", "question_mark"])
async def test_keys_typed_ahead_of_a_dialog_do_nothing_to_facts(open_desk, key) -> None:
    async with open_desk((80, 24)) as desk:
        seen = Browser(desk)
        await desk.say("prices SCN:say ok")
        await desk.idle()
        fact = await seen.add("prices are integers")
        await seen.open()
        typed(desk, key, "x", "p")
        await desk.until(lambda: desk.app.screen is not seen.screen, "a dialog")
        await seen.is_now(fact, status=PerceptStatus.LIVE, pinned=False)


async def test_several_keys_in_one_burst_are_done_in_their_order(open_desk) -> None:
    async with open_desk() as desk:
        seen = Browser(desk)
        facts = [await seen.add(f"fact {number}") for number in range(3)]
        await seen.open()
        typed(desk, "home", "space", "space", "x", "u", "end", "p")
        await desk.until(lambda: any((p := seen.facts.book.percepts.get(fact.id)) and p.pinned for fact in facts))
        assert [(await seen.get(fact)).status for fact in facts] == [PerceptStatus.LIVE] * 3
        assert sum([(await seen.get(fact)).pinned for fact in facts]) == 1


async def test_the_command_typed_in_one_burst_is_the_one_that_is_run(open_desk) -> None:
    async with open_desk() as desk:
        seen = Browser(desk)
        await seen.add("prices are integers")
        typed(desk, "slash", *"memory", "enter")
        await desk.until(lambda: isinstance(desk.app.screen, MemoryScreen), "the browser")
