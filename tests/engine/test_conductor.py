from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from milk_tui.core.errors import MilkError
from milk_tui.core.records import (
    BrickKind,
    ContextMode,
    ErrorKind,
    LegStatus,
    PerceptStatus,
    Role,
    TurnStatus,
)
from milk_tui.engine import events
from milk_tui.engine.workspace import Launch
from milk_tui.store import Store, bricks, integrity, legs, percept_lists, perception, receipts, sessions, turns
from tests.engine.conftest import Stage, begin
from tests.support.polling import until


def requests(stage: Stage) -> list[dict]:
    return [json.loads(line) for line in stage.record.read_text().splitlines()]


def sent(request: dict) -> str:
    """Everything of a request as text."""
    return json.dumps(request["messages"], ensure_ascii=False)


async def test_a_prompt_is_stored_before_anything_is_sent(stage: Stage) -> None:
    turn_id = await stage.conductor.submit("hello SCN:slow 0.3 SCN:say hi")
    turn = await stage.read(lambda conn: turns.get(conn, turn_id))
    assert turn.prompt.startswith("hello")
    assert not stage.of(events.LegFinished)
    await stage.conductor.wait_idle()


async def test_a_turn_streams_and_ends_with_its_text_in_the_store(stage: Stage) -> None:
    turn_id = await stage.say("hello SCN:say one two three four five")
    [leg] = await stage.read(lambda conn: legs.of_turn(conn, turn_id))
    assert (leg.status, leg.text, leg.agent_name) == (LegStatus.DONE, "one two three four five", "fast")
    assert leg.usage.input_tokens is not None
    assert "".join(e.text for e in stage.of(events.LegText)) == leg.text
    assert len(stage.of(events.LegText)) > 1
    assert [e.status for e in stage.of(events.TurnFinished)] == [TurnStatus.DONE]
    turn = await stage.read(lambda conn: turns.get(conn, turn_id))
    assert turn.route is not None and turn.route.rule == "primary"


async def test_thinking_is_kept_apart_from_the_text(stage: Stage) -> None:
    turn_id = await stage.say("hello SCN:think let me see SCN:say done")
    [leg] = await stage.read(lambda conn: legs.of_turn(conn, turn_id))
    assert (leg.text, leg.thinking.strip()) == ("done", "let me see")


async def test_a_tagged_fact_becomes_a_percept_and_is_not_shown(stage: Stage) -> None:
    turn_id = await stage.say("SCN:say Noted. SCN:tag percept The shop uses PostgreSQL 16.")
    [leg] = await stage.read(lambda conn: legs.of_turn(conn, turn_id))
    assert "milk:" not in leg.text
    [fact] = await stage.read(lambda conn: percept_lists.of_leg(conn, leg.id))
    assert (fact.content, fact.status, fact.weight) == ("The shop uses PostgreSQL 16.", PerceptStatus.LIVE, 700)
    assert [e.what for e in stage.of(events.PerceptChanged)] == ["captured", "live"]


async def test_a_fact_by_tool_is_the_same_as_by_tag(stage: Stage) -> None:
    turn_id = await stage.say('SCN:tool record_memory {"fact":"The API port is 8412."} SCN:then SCN:say ok')
    [leg] = await stage.read(lambda conn: legs.of_turn(conn, turn_id))
    [fact] = await stage.read(lambda conn: percept_lists.of_leg(conn, leg.id))
    assert fact.content == "The API port is 8412."
    assert [e.name for e in stage.of(events.ToolStarted)] == ["record_memory"]
    assert leg.text == "ok"


async def test_text_before_a_tool_call_stands_before_it_to_its_last_letter(stage: Stage) -> None:
    nonce = stage.conductor.session.nonces[0]
    turn_id = await stage.say(f'SCN:say the word {nonce[0]} SCN:tool set_need {{"need": "x"}} SCN:then SCN:say  .')
    [leg] = await stage.read(lambda conn: legs.of_turn(conn, turn_id))
    body = (await stage.read(lambda conn: legs.bodies(conn, [leg.id])))[leg.id]
    assert leg.text[: body.tools[0].position] == f"the word {nonce[0]}"


async def test_a_fact_for_one_agent_is_not_given_to_the_other(stage: Stage) -> None:
    await stage.say('SCN:tool record_memory {"fact":"Deep secret of rivers.","consumer":"deep"} SCN:then SCN:say ok')
    await stage.say("tell me about rivers SCN:say none")
    await stage.say("tell me about rivers SCN:say there", escalate=True)
    *_, for_fast, for_deep = requests(stage)
    assert "Deep secret of rivers." not in sent({"messages": for_fast["messages"][:1] + for_fast["messages"][-1:]})
    assert "Deep secret of rivers." in sent(for_deep)


async def test_a_refused_fact_is_said_and_not_stored(stage: Stage) -> None:
    await stage.say("SCN:tag percept The key is sk-ant-api03-" + "a1B2" * 24)
    assert [e.why for e in stage.of(events.PerceptRefused)]
    assert not stage.of(events.PerceptChanged)


async def test_the_need_is_set_by_tag_and_shown(stage: Stage) -> None:
    await stage.say("SCN:tag need Fix the double charge.")
    need = await stage.read(lambda conn: bricks.newest(conn, stage.conductor.session.id, BrickKind.NEED))
    assert need is not None and need.text == "Fix the double charge."
    assert any(e.brick.kind is BrickKind.NEED for e in stage.of(events.BrickChanged))


async def test_perception_is_kept_and_given_to_the_next_leg(stage: Stage) -> None:
    lines = json.dumps({"layer": "frame", "entries": "slice: retries\ndecided: queue worker"})
    await stage.say(f"SCN:tool update_perception {lines} SCN:then SCN:say ok")
    entries = await stage.read(lambda conn: perception.current(conn, stage.conductor.session.id))
    assert {(e.key, e.value) for e in entries} == {("slice", "retries"), ("decided", "queue worker")}
    await stage.say("next SCN:say ok")
    assert "queue worker" in sent(requests(stage)[-1])


async def test_one_key_sends_this_turn_to_the_escalation_agent_with_what_matters(stage: Stage) -> None:
    await stage.say("we use Postgres SCN:say I found the handler. SCN:tag percept The handler retries charge().")
    turn_id = await stage.say("why twice? SCN:say Because.", escalate=True, reason="needs a design")
    [leg] = await stage.read(lambda conn: legs.of_turn(conn, turn_id))
    assert (leg.role, leg.mode, leg.escalated, leg.reason) == (
        Role.ESCALATION,
        ContextMode.FIRST,
        True,
        "needs a design",
    )
    text = sent(requests(stage)[-1])
    for given in ("I found the handler.", "The handler retries charge().", "needs a design", "why twice?"):
        assert given in text
    assert stage.conductor.session.sticky is None
    receipt = await stage.read(lambda conn: receipts.get(conn, leg.id))
    assert receipt is not None and receipt.chars > 0


async def test_receipts_show_no_nonce(stage: Stage) -> None:
    turn_id = await stage.say("hello SCN:say hi")
    [leg] = await stage.read(lambda conn: legs.of_turn(conn, turn_id))
    receipt = await stage.read(lambda conn: receipts.get(conn, leg.id))
    nonce = stage.conductor.session.primary.nonce
    assert nonce in sent(requests(stage)[0])
    assert receipt is not None and all(nonce not in s.text for s in receipt.segments)


@pytest.mark.parametrize(
    "how", ['SCN:tool escalate {"reason":"spans three services"}', "SCN:say hm SCN:tag escalate spans three services"]
)
async def test_the_primary_hands_over_by_tool_or_tag_within_the_turn(stage: Stage, how: str) -> None:
    turn_id = await stage.say(f"design it {how}")
    first, second = await stage.read(lambda conn: legs.of_turn(conn, turn_id))
    assert (first.role, first.status) == (Role.PRIMARY, LegStatus.DONE)
    assert (second.role, second.reason) == (Role.ESCALATION, "spans three services")
    assert "spans three services" in sent(requests(stage)[-1])
    assert stage.conductor.session.sticky is Role.ESCALATION
    brief = await stage.read(lambda conn: bricks.newest(conn, stage.conductor.session.id, BrickKind.BRIEF))
    assert brief is not None and brief.delivered_leg == second.id
    await stage.say("and then? SCN:say more " + "of the design " * 20)
    assert stage.of(events.LegStarted)[-1].role is Role.ESCALATION
    await stage.conductor.hand_back()
    await stage.say("now you SCN:say back")
    assert stage.of(events.LegStarted)[-1].role is Role.PRIMARY
    assert "more of the design" in sent(requests(stage)[-1])


async def test_handing_back_while_the_escalation_agent_answers_holds_when_it_has_answered(
    stage: Stage, home: Path
) -> None:
    gate = home / "go on"
    turn_id = await stage.conductor.submit(
        f'go SCN:say Begun. SCN:tool escalate {{"reason": "deep"}}'
        f"SCN:then SCN:say Begun. SCN:until {gate} SCN:say Done?"
    )
    await stage.seen(events.LegStarted, lambda event: event.role is Role.ESCALATION)
    deep = stage.of(events.LegStarted)[-1].leg_id
    await stage.seen(events.LegText, lambda event: event.leg_id == deep)
    await stage.conductor.hand_back()
    gate.touch()
    await stage.conductor.wait_idle()
    session = stage.conductor.session
    assert (session.sticky, session.waiting) == (None, None)
    kept = await stage.read(lambda conn: legs.of_turn(conn, turn_id))
    assert [leg.status for leg in kept] == [LegStatus.DONE, LegStatus.DONE]


async def test_an_escalation_that_asks_waits_for_the_answer(stage: Stage) -> None:
    await stage.say("plan it SCN:say Which database do you use?", escalate=True)
    assert stage.conductor.session.waiting is Role.ESCALATION
    await stage.say("Postgres SCN:say Good.")
    assert stage.of(events.LegStarted)[-1].role is Role.ESCALATION
    assert stage.of(events.LegStarted)[-1].mode is ContextMode.RESUME
    assert stage.conductor.session.waiting is None


async def test_an_agent_that_is_down_is_replaced_visibly(stage: Stage) -> None:
    turn_id = await stage.say("go SCN:flaky 1 401 SCN:say from the other one")
    first, second = await stage.read(lambda conn: legs.of_turn(conn, turn_id))
    assert first.status is LegStatus.FAILED and first.error and first.error.kind is ErrorKind.AUTH
    assert second.role is Role.ESCALATION and "fast failed" in second.reason
    assert second.text == "from the other one"
    assert stage.of(events.TurnFinished)[-1].status is TurnStatus.DONE
    assert stage.conductor.session.sticky is None


async def test_both_down_keeps_the_prompt_and_the_session_goes_on(stage: Stage) -> None:
    turn_id = await stage.say("go SCN:err 401")
    assert stage.of(events.TurnFinished)[-1].status is TurnStatus.FAILED
    assert (await stage.read(lambda conn: turns.get(conn, turn_id))).prompt == "go SCN:err 401"
    again = await stage.conductor.retry(turn_id)
    await stage.conductor.wait_idle()
    assert again > turn_id
    await stage.say("hello SCN:say fine")
    assert stage.of(events.LegFinished)[-1].text == "fine"


async def test_stopping_keeps_the_partial_text_and_marks_the_leg(stage: Stage) -> None:
    turn_id = await stage.conductor.submit("go SCN:say the beginning of it. SCN:stall")
    await stage.seen(events.LegText)
    await until(lambda: "".join(e.text for e in stage.of(events.LegText)) == "the beginning of it.")
    assert stage.conductor.running is not None
    assert await stage.conductor.stop()
    await stage.conductor.wait_idle()
    [leg] = await stage.read(lambda conn: legs.of_turn(conn, turn_id))
    assert (leg.status, leg.text) == (LegStatus.CANCELLED, "the beginning of it.")
    assert not await stage.conductor.stop()


async def test_closing_while_an_answer_runs_stores_its_end(launch: Launch, home) -> None:
    stage = await begin(launch, home)
    turn_id = await stage.conductor.submit("go SCN:say the beginning of it. SCN:stall")
    await until(lambda: "".join(e.text for e in stage.of(events.LegText)) == "the beginning of it.")
    await stage.workspace.aclose()
    store = Store.open(stage.workspace.store.path)
    [leg] = await store.read(lambda conn: legs.of_turn(conn, turn_id))
    turn = await store.read(lambda conn: turns.get(conn, turn_id))
    assert (turn.status, leg.status, leg.text) == (TurnStatus.CANCELLED, LegStatus.CANCELLED, "the beginning of it.")
    await store.aclose()


async def test_prompts_that_waited_at_the_end_are_worked_on_at_the_next_start(launch: Launch, home) -> None:
    stage = await begin(launch, home)
    await stage.conductor.submit("first SCN:say the beginning of it. SCN:stall")
    await stage.seen(events.LegText)
    waiting = await stage.conductor.submit("second SCN:say at last", escalate=True, reason="too deep for you")
    await stage.workspace.aclose()
    stage = await begin(launch, home)
    assert [turn.id for turn in await stage.conductor.resume_waiting()] == [waiting]
    assert await stage.conductor.resume_waiting() == ()
    await stage.conductor.wait_idle()
    [leg] = await stage.read(lambda conn: legs.of_turn(conn, waiting))
    assert (leg.text, leg.role, leg.reason) == ("at last", Role.ESCALATION, "too deep for you")
    await stage.workspace.aclose()


async def test_prompts_wait_in_line_and_can_be_taken_back(stage: Stage) -> None:
    await stage.conductor.submit("first SCN:say x. SCN:stall")
    second = await stage.conductor.submit("second SCN:say y")
    third = await stage.conductor.submit("third SCN:say z")
    assert [t.prompt[:6] for t in stage.conductor.queued] == ["second", "third "]
    assert await stage.conductor.drop_queued(second) == "second SCN:say y"
    assert await stage.conductor.drop_queued(second) is None
    await stage.seen(events.LegText)
    await stage.conductor.stop()
    await stage.conductor.wait_idle()
    assert [e.turn_id for e in stage.of(events.TurnStarted)][-1] == third
    assert stage.of(events.LegFinished)[-1].text == "z"


async def test_prompts_that_wait_change_places_with_all_that_belongs_to_them(stage: Stage) -> None:
    await stage.conductor.submit("first SCN:say x. SCN:stall")
    second = await stage.conductor.submit("second SCN:say y")
    third = await stage.conductor.submit("third SCN:say z", escalate=True, reason="deep")
    assert await stage.conductor.move_queued(second, -1) is None
    assert await stage.conductor.move_queued(third, -1) == second
    assert [t.prompt[:6] for t in stage.conductor.queued] == ["third ", "second"]
    await stage.seen(events.LegText)
    await stage.conductor.stop()
    await stage.conductor.wait_idle()
    told = {e.turn_id: (e.text, e.role) for e in await _legs_of(stage, second, third)}
    assert told == {second: ("z", Role.ESCALATION), third: ("y", Role.PRIMARY)}
    assert await stage.conductor.move_queued(third, -1) is None


async def test_prompts_keep_their_new_order_through_a_restart(launch: Launch, home) -> None:
    stage = await begin(launch, home)
    await stage.conductor.submit("first SCN:say the beginning of it. SCN:stall")
    await stage.seen(events.LegText)
    for word in ("second", "third", "fourth"):
        last = await stage.conductor.submit(f"{word} SCN:say {word}")
    assert await stage.conductor.move_queued(last, -1) == last - 1
    await stage.workspace.aclose()
    stage = await begin(launch, home)
    assert [turn.prompt.split()[0] for turn in await stage.conductor.resume_waiting()] == ["second", "fourth", "third"]
    await stage.conductor.wait_idle()
    await stage.workspace.aclose()


async def test_work_goes_on_when_the_answer_ends_while_prompts_change_places(stage: Stage) -> None:
    await stage.conductor.submit("first SCN:say x. SCN:stall")
    await stage.conductor.submit("second SCN:say y")
    third = await stage.conductor.submit("third SCN:say z")
    await stage.seen(events.LegText)
    await asyncio.gather(stage.conductor.move_queued(third, -1), stage.conductor.stop())
    await stage.conductor.wait_idle()
    assert [e.text for e in stage.of(events.LegFinished)][1:] in (["z", "y"], ["y", "z"])


async def _legs_of(stage: Stage, *turn_ids: int):
    return [leg for turn_id in turn_ids for leg in await stage.read(lambda conn, t=turn_id: legs.of_turn(conn, t))]


@pytest.mark.parametrize(("how", "status"), [("SCN:empty", LegStatus.EMPTY), ("SCN:think hm", LegStatus.EMPTY)])
async def test_an_answer_without_text_is_shown_as_empty(stage: Stage, how: str, status: LegStatus) -> None:
    await stage.say(f"go {how}")
    assert stage.of(events.LegFinished)[-1].status is status


async def test_escapes_in_an_answer_are_taken_out(stage: Stage) -> None:
    turn_id = await stage.say("go SCN:say a\\e[31mb\\e]52;c;aGk=\\x07c")
    [leg] = await stage.read(lambda conn: legs.of_turn(conn, turn_id))
    assert leg.text == "abc"
    assert "".join(e.text for e in stage.of(events.LegText)) == "abc"


async def test_a_blank_prompt_is_refused_and_not_stored(stage: Stage) -> None:
    with pytest.raises(MilkError):
        await stage.conductor.submit(" \n ")
    assert not await stage.read(lambda conn: turns.index(conn, stage.conductor.session.id))


async def test_a_prompt_before_the_models_are_found_waits_visibly_and_is_answered(launch: Launch, home) -> None:
    from milk_tui.engine.workspace import Workspace

    workspace = Workspace.open(launch)
    stage = Stage(workspace, await workspace.open_session(), home / "requests.jsonl")
    await stage.conductor.submit("early SCN:say late")
    assert [e.why for e in stage.of(events.TurnQueued)] == ["waits until a model is found"]
    await workspace.start()
    await stage.seen(events.TurnFinished)
    assert stage.of(events.LegFinished)[-1].text == "late"
    await workspace.aclose()


async def test_without_any_model_the_prompt_is_refused_with_what_to_do(home, monkeypatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    monkeypatch.setattr("milk_tui.engine.discovery._importable", lambda _name: False)
    (home / "project").mkdir()
    stage = await begin(Launch(directory=home / "project"), home)
    with pytest.raises(MilkError, match="No model"):
        await stage.conductor.submit("hello")
    await stage.workspace.aclose()


async def test_without_an_escalation_agent_escalating_says_how_to_get_one(home, monkeypatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    (home / "project").mkdir()
    stage = await begin(Launch(directory=home / "project", primary="embedded:tiny"), home)
    with pytest.raises(MilkError, match="No escalation agent"):
        await stage.conductor.submit("hello", escalate=True)
    with pytest.raises(MilkError, match="No escalation agent"):
        await stage.conductor.plan_escalation()
    await stage.workspace.aclose()


async def test_everything_is_there_after_a_restart(launch: Launch, home) -> None:
    stage = await begin(launch, home)
    await stage.say("hello SCN:say hi SCN:tag percept The port is 8412. SCN:tag need Find the port.")
    await stage.conductor.save_draft("half a thou")
    before = stage.conductor.session
    await stage.workspace.aclose()
    stage = await begin(launch, home)
    session = stage.conductor.session
    assert (session.id, session.draft, session.primary.nonce) == (before.id, "half a thou", before.primary.nonce)
    groups = await stage.read(lambda conn: percept_lists.groups(conn, session.id))
    assert "The port is 8412." in repr(groups)
    await stage.say("go on SCN:say sure")
    assert "Find the port." in sent(requests(stage)[-1])
    assert '"hi' in sent(requests(stage)[-1])
    await stage.workspace.aclose()


async def test_requests_of_a_session_share_their_beginning(stage: Stage) -> None:
    for number in range(4):
        await stage.say(f"question {number} SCN:say answer {number}")
    first, *_, last = [json.dumps(r["messages"]) for r in requests(stage)]
    system = json.dumps(requests(stage)[0]["messages"][0])[:-1]
    assert first[1:].startswith(system) and last[1:].startswith(system)


async def test_learning_pinning_forgetting_and_restoring_are_told_and_kept(stage: Stage) -> None:
    conductor = stage.conductor
    fact = await conductor.learn("@deep: Deploys happen on Tuesdays.")
    assert (fact.weight, fact.consumer, fact.producer) == (900, "escalation", "user")
    await conductor.pin(fact.id, True)
    await conductor.forget(fact.short_id)
    await conductor.restore(fact.id)
    assert [e.what for e in stage.of(events.PerceptChanged)][-3:] == ["pinned", "forgotten", "restored"]
    with pytest.raises(MilkError):
        await conductor.learn("password=hunter2hunter2")


async def test_the_title_comes_from_the_first_prompt(stage: Stage) -> None:
    await stage.say("Why does checkout charge twice? SCN:say because")
    assert stage.conductor.session.title.startswith("Why does checkout charge twice?")
    rows = await stage.workspace.sessions()
    assert [row.turns for row in rows] == [1]


async def test_the_persons_need_wins_and_can_be_done(stage: Stage) -> None:
    await stage.conductor.set_need("Ship it")
    await stage.conductor.finish_need()
    need = await stage.read(lambda conn: bricks.newest(conn, stage.conductor.session.id, BrickKind.NEED))
    assert need is not None and (need.text, need.status) == ("Ship it", "fulfilled")
    with pytest.raises(MilkError):
        await stage.conductor.set_need("  ")


async def test_the_plan_of_an_escalation_can_be_looked_at_before(stage: Stage) -> None:
    await stage.say("hello SCN:say I looked at handler.py")
    plan = await stage.conductor.plan_escalation()
    summary = plan.segment("primary_summary")
    assert summary is not None and "handler.py" in summary.text
    assert stage.conductor.session.escalation is not None
    assert all(stage.conductor.session.escalation.nonce not in s.text for s in plan.segments)


async def test_a_cut_stream_keeps_what_came_and_says_so(stage: Stage) -> None:
    turn_id = await stage.say("go SCN:say half an ans SCN:cut")
    [leg] = await stage.read(lambda conn: legs.of_turn(conn, turn_id))
    assert leg.status is LegStatus.FAILED and leg.error is not None and leg.error.kind is ErrorKind.CUT
    assert leg.text == "half an ans"


async def test_a_dead_model_host_fails_the_leg_visibly_and_the_next_turn_works(stage: Stage) -> None:
    await stage.say("go SCN:say some text SCN:host die")
    assert stage.of(events.LegFinished)[-1].error.kind is ErrorKind.HOST_DIED
    await stage.say("again SCN:say alive")
    assert stage.of(events.LegFinished)[-1].text == "alive"


async def test_what_the_person_does_while_the_agents_are_found_is_not_undone_by_it(
    launch: Launch, home, monkeypatch
) -> None:
    stage = await begin(launch, home)
    await stage.conductor.pin_agent(Role.ESCALATION)
    handed_back = asyncio.Event()
    read = stage.conductor.store.read

    async def slow_read(fn):
        found = await read(fn)
        await handed_back.wait()
        return found

    monkeypatch.setattr(stage.conductor.store, "read", slow_read)
    finding = asyncio.create_task(stage.conductor.agents_found())
    renaming = asyncio.create_task(stage.conductor.rename("a title"))
    await stage.seen(events.SessionChanged, lambda event: event.session.pinned_agent is Role.ESCALATION)
    await asyncio.sleep(0)
    await stage.conductor.hand_back()
    handed_back.set()
    await asyncio.gather(finding, renaming)
    assert stage.conductor.session.pinned_agent is None
    assert stage.conductor.session.title == "a title"
    await stage.workspace.aclose()


async def test_the_session_state_survives_in_the_store(stage: Stage) -> None:
    await stage.conductor.pin_agent(Role.ESCALATION)
    stored = await stage.read(lambda conn: sessions.get(conn, stage.conductor.session.id))
    assert stored.pinned_agent is Role.ESCALATION
    await stage.say("hello SCN:say deep here")
    assert stage.of(events.LegStarted)[-1].role is Role.ESCALATION


async def test_later_pins_travel_in_the_dynamic_part_until_a_fresh_start_folds_them_in(stage: Stage) -> None:
    await stage.say("plan SCN:say first " + "design " * 40, escalate=True)
    await stage.conductor.learn("Deploys happen on Tuesdays.", pinned=True)
    await stage.say("go on SCN:say second", escalate=True)
    before = requests(stage)[-1]["messages"]
    assert "Deploys happen" not in str(before[0]) and "Deploys happen" in str(before[-1])
    await stage.say("anew SCN:say third", escalate=True, fresh=True)
    assert "Deploys happen" in str(requests(stage)[-1]["messages"][0])


async def test_the_database_is_sound_after_turns_of_one_and_of_two_answers(stage: Stage) -> None:
    await stage.say("hello SCN:say hi")
    await stage.say("hard SCN:tag escalate needs thought SCN:say wait SCN:then SCN:say done")
    found = await stage.read(lambda conn: integrity.problems(conn))
    assert found == []
