"""Where the turns of a real session go: signals, repetition, classifier, spend guard, handing back (§8)."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from milk_tui.core.permissions import Verdict
from milk_tui.core.records import Role, TurnStatus
from milk_tui.engine import events
from milk_tui.engine.launch import Launch
from milk_tui.store import legs, turns
from tests.engine.conftest import Stage, begin
from tests.support.polling import until

P, E = Role.PRIMARY, Role.ESCALATION
Begin = Callable[..., "asyncio.Future[Stage]"]


@pytest.fixture
async def begun(launch: Launch, home: Path) -> AsyncIterator[Callable[..., object]]:
    """Begin a session with lines of a config file."""
    opened: list[Stage] = []

    async def with_config(text: str = "", *, attended: bool = False) -> Stage:
        from dataclasses import replace

        file = home / "config.toml"
        file.write_text(text)
        file.chmod(0o600)
        stage = await begin(replace(launch, config_path=file), home)
        stage.conductor.permissions.attended = attended
        opened.append(stage)
        return stage

    yield with_config
    for stage in opened:
        await stage.workspace.aclose()


async def route_of(stage: Stage, turn_id: int):
    turn = await stage.read(lambda conn: turns.get(conn, turn_id))
    assert turn.route is not None
    return turn.route


async def roles(stage: Stage, turn_id: int) -> list[Role]:
    return [leg.role for leg in await stage.read(lambda conn: legs.of_turn(conn, turn_id))]


def asked(stage: Stage) -> list[dict]:
    return [json.loads(line) for line in stage.record.read_text().splitlines()]


async def answer_when_asked(stage: Stage, choice: int) -> None:
    """Answer the guard's question with one of its choices."""
    desk = stage.conductor.permissions
    await until(lambda: desk.pending, what="the question")
    (request,) = desk.pending
    (question,) = request.questions
    desk.answer(request.id, Verdict(allowed=True, answers={question.text: question.choices[choice]}))


async def test_signals_escalate_and_are_kept_with_the_turn(stage: Stage) -> None:
    turn_id = await stage.say("Two workers deadlock, redesign the locking. SCN:say done")

    route = await route_of(stage, turn_id)
    assert (route.role, route.rule) == (E, "signals")
    assert [part.name for part in route.parts][:2] == ["design", "concurrency"]
    assert await roles(stage, turn_id) == [E]
    assert stage.conductor.session.sticky is E


async def test_weights_can_be_the_persons_or_switched_off(begun) -> None:
    stage = await begun("[routing]\nweigh = false\n")
    assert await roles(stage, await stage.say("redesign the whole architecture SCN:say ok")) == [P]


async def test_own_signals_count(begun) -> None:
    stage = await begun('[routing.signals]\n"wobble factor" = 3\n')
    assert await roles(stage, await stage.say("the wobble factor SCN:say ok")) == [E]


async def test_a_prompt_said_again_goes_up(stage: Stage) -> None:
    first = await stage.say("please tell me the answer to everything SCN:say 41")
    second = await stage.say("Please tell me the answer to everything! SCN:say 42")

    assert await roles(stage, first) == [P]
    route = await route_of(stage, second)
    assert (route.role, route.rule) == (E, "repeat")


async def test_asking_again_by_command_is_no_repetition(stage: Stage) -> None:
    first = await stage.say("please tell me the answer to everything SCN:say 41")
    again = await stage.conductor.retry(first)
    await stage.conductor.wait_idle()

    assert await roles(stage, again) == [P]


async def test_what_failed_is_no_answer_so_saying_it_again_is_none_either(stage: Stage) -> None:
    prompt = "please tell me the answer to everything SCN:err 400"
    await stage.say(prompt)
    assert await roles(stage, await stage.say(prompt)) == [P]


async def test_the_classifier_decides_where_nothing_else_does(begun) -> None:
    stage = await begun("[routing]\nclassifier = true\n")
    turn_id = await stage.say("consider this SCN:say escalate")

    assert (await route_of(stage, turn_id)).rule == "classifier"
    assert await roles(stage, turn_id) == [E]
    first, _ = asked(stage)
    assert first["max_tokens"] <= 16 and "tools" not in first


@pytest.mark.parametrize(
    "directive", ["SCN:say perhaps", "SCN:flaky 1 500 SCN:say ok", "SCN:say local or escalate", "SCN:empty"]
)
async def test_no_usable_word_leaves_it_to_the_next_rule(begun, directive: str) -> None:
    stage = await begun("[routing]\nclassifier = true\n")
    turn_id = await stage.say(f"consider this {directive}")

    assert (await route_of(stage, turn_id)).rule == "primary"


async def test_a_classifier_that_takes_too_long_is_not_waited_for(begun) -> None:
    stage = await begun("[routing]\nclassifier = true\nclassifier_seconds = 0.2\n")
    turn = await stage.conductor.submit("consider this SCN:stall")
    await stage.seen(events.TurnStarted)
    await stage.conductor.stop()
    await stage.conductor.wait_idle()

    assert (await route_of(stage, turn)).rule == "primary"


async def test_over_the_limit_the_person_is_asked_and_may_say_no(begun) -> None:
    stage = await begun("[routing]\nmax_escalations_per_hour = 1\n", attended=True)
    await stage.say("redesign the architecture SCN:say ok")
    await stage.conductor.hand_back()

    turn = await stage.conductor.submit("redesign the parser SCN:say ok")
    await until(lambda: stage.conductor.permissions.pending, what="the question")
    assert [e.why for e in stage.of(events.TurnQueued)] == ["waits for your answer"], "the prompt is shown meanwhile"
    await answer_when_asked(stage, 2)
    await stage.conductor.wait_idle()

    assert await roles(stage, turn) == [P]
    route = await route_of(stage, turn)
    assert route.rule == "spending" and "the limit is 1" in route.reason


async def test_a_yes_for_the_session_is_asked_once(begun) -> None:
    stage = await begun("[routing]\nmax_escalations_per_hour = 0\n", attended=True)
    turn = await stage.conductor.submit("redesign the parser SCN:say ok")
    await answer_when_asked(stage, 1)
    await stage.conductor.wait_idle()
    await stage.conductor.hand_back()

    assert await roles(stage, turn) == [E]
    assert await roles(stage, await stage.say("redesign the lexer SCN:say ok")) == [E]
    assert len(stage.of(events.PermissionAsked)) == 1


async def test_without_a_person_the_primary_works_on_it(begun) -> None:
    stage = await begun("[routing]\nmax_escalations_per_hour = 0\n")
    assert await roles(stage, await stage.say("redesign the parser SCN:say ok")) == [P]
    assert any("not escalated" in e.text for e in stage.of(events.Notice))


async def test_unknown_cost_is_not_nothing(begun) -> None:
    stage = await begun("[routing]\nmax_usd_per_session = 5\n", attended=True)
    await stage.say("hello there SCN:usage off SCN:say ok")
    turn = await stage.conductor.submit("redesign the parser SCN:say ok")
    await until(lambda: stage.conductor.permissions.pending, what="the question")

    assert "no known cost" in stage.conductor.permissions.pending[0].questions[0].text
    await answer_when_asked(stage, 0)
    await stage.conductor.wait_idle()
    assert await roles(stage, turn) == [E]


async def test_what_the_person_asked_for_is_said_and_not_asked(begun) -> None:
    stage = await begun("[routing]\nmax_escalations_per_hour = 0\n", attended=True)
    turn = await stage.say("look SCN:say ok", escalate=True)

    assert await roles(stage, turn) == [E]
    assert not stage.of(events.PermissionAsked)
    assert any("because you asked for it" in e.text for e in stage.of(events.Notice))


async def test_the_primarys_own_escalation_is_asked_about_too(begun) -> None:
    stage = await begun("[routing]\nmax_escalations_per_hour = 0\n")
    turn = await stage.say('look SCN:tool escalate {"reason":"too deep"} SCN:then SCN:say never')

    assert await roles(stage, turn) == [P]
    stored = await stage.read(lambda conn: turns.get(conn, turn))
    assert stored.status is TurnStatus.DONE


async def test_the_session_goes_back_by_itself_only_where_that_is_configured(begun) -> None:
    stage = await begun("[routing]\nhand_back_after = 2\n")
    await stage.say("redesign the parser SCN:say done")
    assert stage.conductor.session.sticky is E
    await stage.say("and the lexer SCN:say done")
    assert stage.conductor.session.sticky is None
    assert any("back to fast" in e.text for e in stage.of(events.Notice))
    turn = await stage.say("so what is left SCN:say ok")
    assert await roles(stage, turn) == [P]
    assert "done" in json.dumps(asked(stage)[-1]["messages"])


async def test_an_escalation_sticks_for_good_by_default(stage: Stage) -> None:
    for prompt in ("redesign the parser", "and the lexer", "and the rest", "what else"):
        await stage.say(f"{prompt} SCN:say done")
    assert stage.conductor.session.sticky is E


async def test_a_question_keeps_the_session_with_the_escalation_agent(begun) -> None:
    stage = await begun("[routing]\nhand_back_after = 1\n")
    await stage.say("redesign the parser SCN:say which one?")

    assert stage.conductor.session.waiting is E
