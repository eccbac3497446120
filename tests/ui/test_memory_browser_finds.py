"""The memory browser finds, explains, leads on and cleans up, on the real engine."""

from __future__ import annotations

from milk_tui.core.records import Consumer, PerceptScope, PerceptStatus, Producer
from milk_tui.store import percept_changes, percepts
from milk_tui.ui.dialogs import Picker, Reader
from tests.ui.memory_desk import Browser


async def test_a_filter_finds_as_one_types_with_scores_and_says_what_would_be_given(open_desk) -> None:
    async with open_desk() as desk:
        seen = Browser(desk)
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


async def test_only_the_last_words_of_fast_typing_are_shown(open_desk) -> None:
    async with open_desk() as desk:
        seen = Browser(desk)
        await seen.add("prices are integers")
        await seen.add("parcels wait in the depot")
        await seen.open()
        await desk.press("slash", *"prices", *["backspace"] * 6, *"depot")
        await desk.sees("1 fact for “depot”")
        assert seen.facts.rows[1].percept.content == "parcels wait in the depot"


async def test_why_explains_every_part_of_the_score_and_what_is_left_out(open_desk) -> None:
    async with open_desk((120, 44)) as desk:
        seen = Browser(desk)
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


async def test_details_stand_beside_the_list_and_lead_to_other_facts(open_desk) -> None:
    async with open_desk((120, 44)) as desk:
        seen = Browser(desk)
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


async def test_details_tell_where_a_fact_was_given_last_and_lead_to_the_turn(open_desk) -> None:
    async with open_desk((80, 24)) as desk:
        seen = Browser(desk)
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


async def test_a_fact_of_another_session_leads_into_that_session(open_desk) -> None:
    async with open_desk((80, 24)) as desk:
        seen = Browser(desk)
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


async def test_a_clean_up_marks_candidates_and_one_undo_brings_all_of_them_back(open_desk) -> None:
    async with open_desk() as desk:
        seen = Browser(desk)
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


async def test_facts_whose_time_is_over_and_those_never_given_are_found(open_desk) -> None:
    async with open_desk() as desk:
        seen = Browser(desk)
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


async def test_pinned_facts_that_do_not_fit_are_said(open_desk) -> None:
    async with open_desk() as desk:
        seen = Browser(desk)
        for number in range(4):
            await seen.add(f"{number} " + "long " * 60, Producer.USER, pinned=True)
        await seen.open()
        await desk.sees("of 1,024 bytes · full: 1 is not given", "no room")
        await desk.press("escape")
        await desk.sees("full: 1 is not given")
