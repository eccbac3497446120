"""The memory browser at the keyboard, on the real engine: find, explain, change, decide, undo, clean up."""

from __future__ import annotations

import contextlib

import pytest
from textual.widgets import TextArea

from milk_tui.core.records import (
    Consumer,
    Layer,
    Percept,
    PerceptionEntry,
    PerceptScope,
    PerceptStatus,
    Producer,
)
from milk_tui.engine.conductor import Conductor
from milk_tui.store import percept_changes, percept_lists, perception, percepts
from milk_tui.ui.actions import ACTIONS
from milk_tui.ui.dialogs import Picker, Reader
from milk_tui.ui.fact_list import FactList
from milk_tui.ui.fact_pane import FactPane
from milk_tui.ui.memory import MemoryScreen
from tests.support.polling import until
from tests.ui.conftest import Desk

DAY_MS = 86_400_000


class Browser:
    """The browser over the facts of a session."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk

    @property
    def conductor(self) -> Conductor:
        conductor = self.desk.app.control.conductor
        assert conductor is not None
        return conductor

    @property
    def screen(self) -> MemoryScreen:
        return next(screen for screen in self.desk.app.screen_stack if isinstance(screen, MemoryScreen))

    @property
    def pane(self) -> FactPane:
        return self.screen.pane

    @property
    def facts(self) -> FactList:
        return self.pane.facts

    @property
    def here(self) -> str:
        return self.facts.percept.content if self.facts.percept is not None else ""

    async def add(self, content: str, producer: Producer = Producer.PRIMARY, **more: object) -> Percept:
        """Store a fact and tell the screen, as a leg does."""
        from milk_tui.engine.events import PerceptChanged

        session_id = self.conductor.session.id
        change = await self.conductor.store.write(
            lambda db: percepts.add(db, content=content, session_id=session_id, producer=producer, **more)  # type: ignore[arg-type]
        )
        self.conductor.publish(PerceptChanged(session_id=session_id, percept=change.percept, what=change.what))
        return change.percept

    async def write(self, do) -> None:
        await self.conductor.store.write(do)

    async def get(self, percept: Percept) -> Percept:
        found = await self.conductor.store.read(lambda conn: percept_lists.get(conn, percept.id))
        assert found is not None
        return found

    async def open(self) -> None:
        await self.desk.until(lambda: self.desk.app.state.percepts, "facts")
        await self.desk.press("f2")
        await self.desk.until(lambda: isinstance(self.desk.app.screen, MemoryScreen) and self.facts.rows, "the browser")
        await self.desk.until(lambda: self.facts.has_focus, "focus")

    async def go_to(self, percept: Percept) -> None:
        await self.desk.until(lambda: self.facts.go_to(percept.id), f"{percept.content} in the list")

    async def is_now(self, percept: Percept, **values: object) -> None:
        """Wait until the browser shows the fact with these values, which are those of the store."""

        def shows() -> bool:
            shown = self.facts.book.percepts.get(percept.id)
            return shown is not None and all(getattr(shown, name) == value for name, value in values.items())

        await self.desk.until(shows, f"{percept.content}: {values}")
        stored = await self.get(percept)
        assert {name: getattr(stored, name) for name in values} == values


@pytest.fixture
def browser():
    return Browser


async def test_everything_that_became_of_facts_has_its_group(open_desk, browser) -> None:
    async with open_desk((120, 44)) as desk:
        seen = browser(desk)
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


async def test_a_fact_that_is_learned_meanwhile_comes_and_flashes(open_desk, browser) -> None:
    async with open_desk() as desk:
        seen = browser(desk)
        await seen.add("first")
        await seen.open()
        new = await seen.add("second")
        await desk.sees("second")
        assert new.id in seen.facts._flashes


async def test_an_edit_in_place_makes_an_agents_fact_the_persons(open_desk, browser) -> None:
    async with open_desk() as desk:
        seen = browser(desk)
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


async def test_escape_leaves_what_was_written_and_then_the_browser(open_desk, browser) -> None:
    async with open_desk() as desk:
        seen = browser(desk)
        fact = await seen.add("stays as it is")
        await seen.open()
        await desk.press("e", "x", "x", "escape")
        assert not seen.pane.editing
        await desk.press("space", "escape")
        assert not seen.facts.marks
        await desk.press("escape")
        await desk.until(lambda: desk.app.screen is desk.app.main)
        assert (await seen.get(fact)).content == fact.content


async def test_a_secret_in_an_edit_is_refused_once_and_can_be_insisted_on(open_desk, browser) -> None:
    async with open_desk() as desk:
        seen = browser(desk)
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


async def test_weight_readers_reach_and_pin_by_key(open_desk, browser) -> None:
    async with open_desk() as desk:
        seen = browser(desk)
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


async def test_what_is_marked_is_forgotten_together_and_comes_back_with_one_key(open_desk, browser) -> None:
    async with open_desk() as desk:
        seen = browser(desk)
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


async def test_two_marked_facts_are_merged_or_superseded(open_desk, browser) -> None:
    async with open_desk() as desk:
        seen = browser(desk)
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
async def test_a_pair_is_decided_with_one_key(open_desk, browser, key, older) -> None:
    async with open_desk() as desk:
        seen = browser(desk)
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


async def test_what_was_held_back_is_accepted_and_rejected_one_after_the_other(open_desk, browser) -> None:
    async with open_desk() as desk:
        seen = browser(desk)
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


async def test_a_proposed_invariant_is_accepted_with_one_key(open_desk, browser) -> None:
    async with open_desk() as desk:
        seen = browser(desk)
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


async def test_a_filter_finds_as_one_types_with_scores_and_says_what_would_be_given(open_desk, browser) -> None:
    async with open_desk() as desk:
        seen = browser(desk)
        await seen.add("prices are integers of cents")
        only = await seen.add("prices come from the ledger", consumer=Consumer.ESCALATION)
        await seen.add("parcels wait in the depot")
        await seen.open()
        await desk.press("slash", *"prices")
        await desk.sees("2 facts for “prices”", "qwen would be given ▸ 1")
        assert set(seen.facts._seen_now().scores) == {fact.percept.id for fact in seen.facts.rows[1:]}
        await desk.press("enter")
        await desk.until(lambda: seen.facts.has_focus)
        await desk.press("a")
        await desk.sees("claude would be given ▸ 2")
        await seen.go_to(only)
        await desk.press("x")
        await seen.is_now(only, status=PerceptStatus.FORGOTTEN)
        await desk.press("escape")
        await desk.gone("for “prices”")
        await desk.sees("SESSION 2")


async def test_only_the_last_words_of_fast_typing_are_shown(open_desk, browser) -> None:
    async with open_desk() as desk:
        seen = browser(desk)
        await seen.add("prices are integers")
        await seen.add("parcels wait in the depot")
        await seen.open()
        await desk.press("slash", *"prices", *["backspace"] * 6, *"depot")
        await desk.sees("1 fact for “depot”")
        assert seen.facts.rows[1].percept.content == "parcels wait in the depot"


async def test_why_explains_every_part_of_the_score_and_what_is_left_out(open_desk, browser) -> None:
    async with open_desk((120, 44)) as desk:
        seen = browser(desk)
        fact = await seen.add("prices are integers of cents", consumer=Consumer.ESCALATION)
        await seen.open()
        await desk.press("question_mark")
        await desk.sees("There is no prompt to explain.")
        await desk.press("slash", *"prices", "enter")
        await desk.sees("1 fact for “prices”")
        await desk.press("question_mark")
        await desk.sees(f"why {fact.short_id}", "kept for the other agent", "given as number 1", "score", "words")
        assert isinstance(desk.app.screen, Reader)
        await desk.press("escape")


async def test_details_stand_beside_the_list_and_lead_to_other_facts(open_desk, browser) -> None:
    async with open_desk((120, 44)) as desk:
        seen = browser(desk)
        old, new = await seen.add("the shop uses Postgres"), await seen.add("the shop moved to ScyllaDB")
        await seen.write(lambda db: percept_changes.supersede(db, old.id, new.id))
        await seen.open()
        await seen.go_to(new)
        await desk.sees(f"fact {new.short_id}", "WHERE IT IS FROM", "replaces " + old.short_id, "WEIGHT OVER TIME")
        await desk.press("enter")
        await desk.until(lambda: seen.screen.card.has_focus)
        await desk.press("enter")
        await desk.until(lambda: seen.here == old.content and seen.facts.has_focus)
        await desk.sees("replaced by " + new.short_id)


async def test_details_tell_where_a_fact_was_given_last_and_lead_to_the_turn(open_desk, browser) -> None:
    async with open_desk((80, 24)) as desk:
        seen = browser(desk)
        await desk.say("SCN:tag percept parcels wait in the depot SCN:say ok")
        await desk.sees("remembered")
        await desk.idle()
        await desk.say("where do parcels wait? SCN:say in the depot")
        await desk.idle()
        for number in range(6):
            await desk.say(rf"filler {number} SCN:repeat 8 line\n\n")
            await desk.idle()
        await seen.open()
        await desk.press("enter")
        await desk.until(lambda: isinstance(desk.app.screen, Reader), "details")
        await desk.sees("stated by qwen (primary)", "↩ in turn 1", "LAST GIVEN", "↩ to qwen in turn")
        await desk.press("enter")
        await desk.sees("▌ SCN:tag percept parcels")
        assert desk.app.screen is desk.app.main


async def test_a_fact_of_another_session_leads_into_that_session(open_desk, browser) -> None:
    async with open_desk((80, 24)) as desk:
        seen = browser(desk)
        await desk.say("SCN:tag percept parcels wait in the depot SCN:say ok")
        await desk.sees("remembered")
        await desk.idle()
        first = seen.conductor.session.id
        fact = next(iter(desk.app.state.percepts.values()))
        await seen.write(lambda db: percepts.share(db, fact.id, scope=PerceptScope.GLOBAL))
        await desk.press("ctrl+n")
        await desk.until(lambda: seen.conductor.session.id != first and desk.app.state.ready, "a new session")
        await seen.open()
        await desk.press("enter")
        await desk.sees("in turn 1 of “")
        await desk.press("enter")
        await desk.until(lambda: desk.app.control.session_id == first, "the first session")
        await desk.sees("▌ SCN:tag percept parcels")


async def test_a_clean_up_marks_candidates_and_one_undo_brings_all_of_them_back(open_desk, browser) -> None:
    async with open_desk() as desk:
        seen = browser(desk)
        copies = [
            await seen.add(text) for text in ("prices are integers", "The prices are integers!", "Prices: integers")
        ]
        await seen.add("parcels wait in the depot")
        await seen.open()
        await desk.press("b")
        await desk.sees("clean up memory", "look-alikes", "3 facts, 2 marked", "never recalled", "conflicts", "expired")
        assert isinstance(desk.app.screen, Picker)
        await desk.press(*"look", "enter")
        await desk.sees("LOOK-ALIKES 3 facts", "✓ 2 marked")
        await desk.press("x")
        await desk.sees("2 facts forgotten")
        assert sorted([(await seen.get(fact)).status for fact in copies]) == ["forgotten", "forgotten", "live"]
        await desk.press("u")
        for fact in copies:
            await seen.is_now(fact, status=PerceptStatus.LIVE)
        await desk.press("escape")
        await desk.sees("SESSION 4")


async def test_facts_whose_time_is_over_and_those_never_given_are_found(open_desk, browser) -> None:
    async with open_desk() as desk:
        seen = browser(desk)
        over, unused = await seen.add("the sale runs"), await seen.add("nobody asked")
        await seen.write(lambda db: db.execute("update percepts set valid_to_ms = 2 where id = ?", (over.id,)))
        await seen.write(lambda db: db.execute("update percepts set created_ms = 1 where id = ?", (unused.id,)))
        await seen.open()
        await desk.press("b")
        await desk.sees("clean up memory")
        await desk.press(*"exp", "enter")
        await desk.sees("EXPIRED 1 fact", "the sale runs", "✓ 1 marked")
        await desk.press("escape", "b")
        await desk.sees("clean up memory")
        await desk.press("enter")
        await desk.sees("NEVER RECALLED 1 fact", "nobody asked")


async def test_pinned_facts_that_do_not_fit_are_said(open_desk, browser) -> None:
    async with open_desk() as desk:
        seen = browser(desk)
        for number in range(4):
            await seen.add(f"{number} " + "long " * 60, Producer.USER, pinned=True)
        await seen.open()
        await desk.sees("of 1,024 bytes · full: 1 is not given", "no room")
        await desk.press("escape")
        await desk.sees("full: 1 is not given")


async def test_commands_do_the_same_from_the_prompt(open_desk, browser) -> None:
    async with open_desk() as desk:
        seen = browser(desk)
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


async def test_a_clean_memory_has_nothing_to_choose(open_desk, browser) -> None:
    async with open_desk() as desk:
        seen = browser(desk)
        await seen.add("prices are integers")
        await seen.open()
        await desk.press("b")
        await desk.sees("clean up memory", "nothing to clean up · esc closes")


@pytest.mark.parametrize("size", [(120, 40), (80, 24), (60, 20), (40, 12)])
async def test_it_works_at_every_size(open_desk, browser, size) -> None:
    async with open_desk(size) as desk:
        seen = browser(desk)
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
async def test_all_that_is_known_of_a_fact_can_be_read_in_the_smallest_terminal(open_desk, browser, key) -> None:
    async with open_desk((40, 12)) as desk:
        words = [f"w{number}" for number in range(60)]
        await desk.say(f"SCN:tag percept {' '.join(words)} SCN:say ok")
        await desk.idle()
        await browser(desk).open()
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
async def test_no_key_of_the_browser_is_silent(open_desk, browser, here) -> None:
    async with open_desk() as desk:
        seen = browser(desk)
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


async def test_the_mouse_marks_opens_and_uses_the_footer(open_desk, browser) -> None:
    async with open_desk() as desk:
        seen = browser(desk)
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


async def test_words_typed_in_one_burst_after_the_filters_key_do_nothing_to_facts(open_desk, browser) -> None:
    async with open_desk() as desk:
        seen = browser(desk)
        fact = await seen.add("the exploit expires next spring")
        await seen.open()
        typed(desk, "slash", *"exploit")
        await desk.sees("for “exploit”")
        await seen.is_now(fact, status=PerceptStatus.LIVE, pinned=False, weight=700)
        assert desk.app.screen is seen.screen


async def test_an_edit_typed_in_one_burst_is_kept_whole(open_desk, browser) -> None:
    async with open_desk() as desk:
        seen = browser(desk)
        fact = await seen.add("prices are integers")
        await seen.open()
        typed(desk, "e", *"xyz", "enter")
        await seen.is_now(fact, content="prices are integersxyz", status=PerceptStatus.LIVE)


@pytest.mark.parametrize("key", ["enter", "b", "question_mark"])
async def test_keys_typed_ahead_of_a_dialog_do_nothing_to_facts(open_desk, browser, key) -> None:
    async with open_desk((80, 24)) as desk:
        seen = browser(desk)
        await desk.say("prices SCN:say ok")
        await desk.idle()
        fact = await seen.add("prices are integers")
        await seen.open()
        typed(desk, key, "x", "p")
        await desk.until(lambda: desk.app.screen is not seen.screen, "a dialog")
        await seen.is_now(fact, status=PerceptStatus.LIVE, pinned=False)


async def test_several_keys_in_one_burst_are_done_in_their_order(open_desk, browser) -> None:
    async with open_desk() as desk:
        seen = browser(desk)
        facts = [await seen.add(f"fact {number}") for number in range(3)]
        await seen.open()
        typed(desk, "home", "space", "space", "x", "u", "end", "p")
        await desk.until(lambda: any((p := seen.facts.book.percepts.get(fact.id)) and p.pinned for fact in facts))
        assert [(await seen.get(fact)).status for fact in facts] == [PerceptStatus.LIVE] * 3
        assert sum([(await seen.get(fact)).pinned for fact in facts]) == 1


async def test_the_command_typed_in_one_burst_is_the_one_that_is_run(open_desk, browser) -> None:
    async with open_desk() as desk:
        seen = browser(desk)
        await seen.add("prices are integers")
        typed(desk, "slash", *"memory", "enter")
        await desk.until(lambda: isinstance(desk.app.screen, MemoryScreen), "the browser")
