"""Facts that an answer used weigh more from then on, once a turn."""

from __future__ import annotations

from milk_tui.engine import events
from tests.engine.conftest import Stage


def saying(answer: str) -> str:
    """The directive for an answer, spelled so that the prompt has none of its words."""
    return "SCN:say " + "".join(f"\\x{ord(letter):02x}" for letter in answer)


async def test_an_answer_that_uses_a_fact_makes_it_weigh_more(stage: Stage) -> None:
    fact = await stage.conductor.learn("The API port is 8412.")
    await stage.say(f"which port does the API have? {saying('It is port 8412.')}")
    used = [event.percept for event in stage.of(events.PerceptChanged) if event.what == "used"]
    assert [(each.id, each.weight, each.uses) for each in used] == [(fact.id, 950, 1)]


async def test_a_fact_that_was_not_given_or_not_used_gains_nothing(stage: Stage) -> None:
    await stage.conductor.learn("The API port is 8412.")
    await stage.say("which port does the API have? SCN:say I do not know.")
    await stage.conductor.learn("@deep: The staging port is 9321.")
    await stage.say(f"which port does staging have? {saying('It is port 9321.')}")
    assert not [event for event in stage.of(events.PerceptChanged) if event.what == "used"]


async def test_a_failed_answer_uses_nothing_and_two_agents_of_a_turn_use_it_once(stage: Stage) -> None:
    await stage.conductor.learn("The API port is 8412.")
    await stage.say(f"which port does the API have? {saying('It is port 8412.')} SCN:cut")
    assert not [event for event in stage.of(events.PerceptChanged) if event.what == "used"]
    await stage.say(f"which port has the API? {saying('It is port 8412.')} SCN:tag escalate needs a design")
    await stage.seen(events.LegFinished, lambda event: event.role == "escalation")
    used = [event.percept for event in stage.of(events.PerceptChanged) if event.what == "used"]
    assert [each.weight for each in used] == [950]
