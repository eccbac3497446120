"""The memory browser at the keyboard, on the real engine: what is done to facts."""

from __future__ import annotations

import pytest
from textual.widgets import TextArea

from milk_tui.core.records import Consumer, Layer, PerceptionEntry, PerceptScope, PerceptStatus, Producer
from milk_tui.store import percept_changes, perception, percepts
from tests.ui.memory_desk import Browser


async def test_everything_that_became_of_facts_has_its_group(open_desk) -> None:
    async with open_desk((120, 44)) as desk:
        seen = Browser(desk)
        old, new = await seen.add("the shop uses Postgres"), await seen.add("the shop moved to ScyllaDB")
        gone, held = await seen.add("gone"), await seen.add("obey me")
        await seen.add("always", Producer.USER, pinned=True)
        await seen.add("everywhere", scope=PerceptScope.GLOBAL)
        entry = PerceptionEntry(layer=Layer.INVARIANT, key="stack", value="go", proposed=True, writer="qwen")

        def write(db):
            percept_changes.supersede(db, old.id, new.id)
            percepts.forget(db, gone.id)
            db.execute("update percepts set status = 'quarantined' where id = ?", (held.id,))
            perception.append(db, seen.conductor.session.id, [entry])

        await seen.write(write)
        await seen.open()
        await desk.sees("PINNED 1", "QUARANTINED 1", "PROPOSED 1", "SESSION", "GLOBAL 1", "SUPERSEDED 1", "FORGOTTEN 1")
        await desk.sees("of 1,024 bytes", "→ " + new.short_id, "stack: go", "2 to decide")


async def test_a_fact_that_is_learned_meanwhile_comes_and_flashes(open_desk) -> None:
    async with open_desk() as desk:
        seen = Browser(desk)
        await seen.add("first")
        await seen.open()
        new = await seen.add("second")
        await desk.sees("second")
        assert new.id in seen.facts._flashes


async def test_an_edit_in_place_makes_an_agents_fact_the_persons(open_desk) -> None:
    async with open_desk() as desk:
        seen = Browser(desk)
        fact = await seen.add("parcels wait in the depot")
        await seen.open()
        await desk.press("e")
        edit = desk.app.screen.query_one(TextArea)
        row = seen.facts.region.y + seen.facts.cursor_row
        assert (edit.region.y, edit.text) == (row, fact.content)
        await desk.press(*" worker".replace(" ", "§").replace("§", ""), "enter")
        await seen.is_now(fact, content="parcels wait in the depotworker", producer=Producer.USER, weight=900)
        assert not seen.pane.editing
        await desk.press("u")
        await seen.is_now(fact, content=fact.content, producer=Producer.PRIMARY, weight=700)


async def test_escape_leaves_what_was_written_and_then_the_browser(open_desk) -> None:
    async with open_desk() as desk:
        seen = Browser(desk)
        fact = await seen.add("stays as it is")
        await seen.open()
        await desk.press("e", "x", "x", "escape")
        assert not seen.pane.editing
        await desk.press("space", "escape")
        assert not seen.facts.marks
        await desk.press("escape")
        await desk.until(lambda: desk.app.screen is desk.app.main)
        assert (await seen.get(fact)).content == fact.content


async def test_a_secret_in_an_edit_is_refused_once_and_can_be_insisted_on(open_desk) -> None:
    async with open_desk() as desk:
        seen = Browser(desk)
        fact = await seen.add("the key")
        await seen.open()
        await desk.press("e")
        desk.app.screen.query_one(TextArea).insert(" sk-ant-api03-" + "a1B2" * 12)
        await desk.press("enter")
        await desk.sees("holds a secret", "keeps it all the same")
        assert seen.pane.editing
        assert (await seen.get(fact)).content == "the key"
        await desk.press("enter")
        await desk.until(lambda: not seen.pane.editing)
        assert "sk-ant" in (await seen.get(fact)).content


async def test_weight_readers_reach_and_pin_by_key(open_desk) -> None:
    async with open_desk() as desk:
        seen = Browser(desk)
        fact = await seen.add("one")
        await seen.open()
        await desk.press("plus", "plus", "minus")
        await seen.is_now(fact, weight=750)
        await desk.press("c")
        await seen.is_now(fact, consumer=Consumer.PRIMARY)
        await desk.press("c")
        await seen.is_now(fact, consumer=Consumer.ESCALATION)
        await desk.press("g")
        await seen.is_now(fact, scope=PerceptScope.GLOBAL)
        await desk.press("g")
        await desk.sees("is global already")
        await desk.press("p")
        await seen.is_now(fact, pinned=True, weight=1000)
        await desk.press("minus")
        await desk.sees("is pinned and weighs 1.00")
        await desk.press("u", "u", "u", "u", "u", "u")
        await seen.is_now(fact, pinned=False, weight=700, consumer=Consumer.ALL, scope=PerceptScope.SESSION)
        await desk.press("u")
        await desk.sees("nothing is left to undo")


async def test_what_is_marked_is_forgotten_together_and_comes_back_with_one_key(open_desk) -> None:
    async with open_desk() as desk:
        seen = Browser(desk)
        facts = [await seen.add(f"fact {number}") for number in range(4)]
        await seen.open()
        for fact in facts[:3]:
            await seen.go_to(fact)
            await desk.press("space")
        await desk.sees("✓ 3 marked")
        await desk.press("x")
        for fact in facts[:3]:
            await seen.is_now(fact, status=PerceptStatus.FORGOTTEN)
        await desk.sees("FORGOTTEN 3", "3 facts forgotten")
        assert not seen.facts.marks
        assert seen.here == "fact 3"
        await desk.press("u")
        for fact in facts:
            await seen.is_now(fact, status=PerceptStatus.LIVE)
        await desk.gone("FORGOTTEN")


async def test_two_marked_facts_are_merged_or_superseded(open_desk) -> None:
    async with open_desk() as desk:
        seen = Browser(desk)
        one, two, three = await seen.add("one"), await seen.add("one, again"), await seen.add("instead of one")
        await seen.open()
        await desk.press("m")
        await desk.sees("Mark the fact to keep")
        for fact in (one, two):
            await seen.go_to(fact)
            await desk.press("space")
        await desk.press("m")
        await seen.is_now(two, status=PerceptStatus.SUPERSEDED, superseded_by=one.id)
        await seen.go_to(one)
        await desk.press("space")
        await seen.go_to(three)
        await desk.press("s")
        await seen.is_now(one, status=PerceptStatus.SUPERSEDED, superseded_by=three.id)
        await desk.sees("SUPERSEDED 2")
        await desk.press("u", "u")
        for fact in (one, two):
            await seen.is_now(fact, status=PerceptStatus.LIVE, superseded_by=None)


@pytest.mark.parametrize(("key", "older"), [("y", PerceptStatus.SUPERSEDED), ("n", PerceptStatus.LIVE)])
async def test_a_pair_is_decided_with_one_key(open_desk, key, older) -> None:
    async with open_desk() as desk:
        seen = Browser(desk)
        old, new = await seen.add("the timeout is 30 s"), await seen.add("the limit is 45 s")
        await seen.write(lambda db: percept_changes.suspect(db, new.id, old.id, actor=Producer.SYSTEM))
        await seen.open()
        await desk.sees("SUSPECT 1", "newer", "older", "1 to decide", "y yes")
        await desk.until(lambda: seen.here in (old.content, new.content) and seen.facts.pair, "the pair")
        await desk.press(key)
        await seen.is_now(old, status=older)
        await seen.is_now(new, status=PerceptStatus.LIVE)
        await desk.gone("SUSPECT")
        await desk.press("u")
        await seen.is_now(new, status=PerceptStatus.SUSPECT)
        await desk.sees("SUSPECT 1")


async def test_what_was_held_back_is_accepted_and_rejected_one_after_the_other(open_desk) -> None:
    async with open_desk() as desk:
        seen = Browser(desk)
        one, two = await seen.add("obey one", now=1), await seen.add("obey two", now=2)
        await seen.add("another")
        await seen.write(lambda db: db.execute("update percepts set status = 'quarantined' where content like 'obey%'"))
        await seen.open()
        await seen.go_to(two)
        await desk.press("y")
        await seen.is_now(two, status=PerceptStatus.LIVE)
        await seen.go_to(one)
        await desk.press("n")
        await seen.is_now(one, status=PerceptStatus.FORGOTTEN)
        await desk.press("y")
        await desk.sees("Nothing is to be decided")


async def test_a_proposed_invariant_is_accepted_with_one_key(open_desk) -> None:
    async with open_desk() as desk:
        seen = Browser(desk)
        await seen.add("a fact")
        entry = PerceptionEntry(layer=Layer.INVARIANT, key="stack", value="go", proposed=True, writer="qwen")
        await seen.write(lambda db: perception.append(db, seen.conductor.session.id, [entry]))
        await seen.open()
        await desk.sees("PROPOSED 1")
        assert seen.facts.go_to("proposal:stack")
        await desk.press("y")
        await desk.gone("PROPOSED")
        await desk.until(lambda: desk.app.state.perception[("invariant", "stack")].proposed is False, "accepted")
        await desk.press("u")
        await desk.sees("PROPOSED 1")
