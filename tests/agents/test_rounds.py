"""A model that calls tools again and again is stopped in sight of the person, who says what then."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from milk_tui.agents.events import EscalationAsked, LegEnd, ToolResult
from milk_tui.core.permissions import PermissionRequest, Verdict
from milk_tui.core.records import ErrorKind
from milk_tui.core.tool_calls import ToolOutcome
from tests.agents.test_litellm_agent import World, end_of, error_kind, events_of, leg, results_of, text_of, world

__all__ = ["world"]

MANY = "\nSCN:then ".join(["SCN:tool look {}"] * 5) + "\nSCN:then SCN:say done"


class Person:
    """Answers the question with each of these in turn."""

    def __init__(self, *answers: str) -> None:
        self.answers = list(answers)
        self.asked: list[PermissionRequest] = []

    async def __call__(self, request: PermissionRequest) -> Verdict:
        self.asked.append(request)
        if not self.answers:
            return Verdict(allowed=False, by="nobody")
        return Verdict(allowed=True, answers={request.questions[0].text: self.answers.pop(0)})


async def run(world: World, person: Person, *, may_escalate: bool = True):
    request = replace(leg(MANY), ask_permission=person, may_escalate=may_escalate)
    return await events_of(world.agent(max_rounds=2), request)


async def test_it_goes_on_when_the_person_says_so(world: World) -> None:
    person = Person("go on", "go on")
    events = await run(world, person)
    assert text_of(events) == "done"
    assert len(results_of(events)) == 5
    (question,) = person.asked[0].questions
    assert "called tools 2 times" in question.text
    assert question.choices == ("go on", "escalate", "stop")
    assert "called tools 4 times" in person.asked[1].questions[0].text


async def test_it_is_handed_over_when_the_person_says_so(world: World) -> None:
    events = await run(world, Person("escalate"))
    assert isinstance(events[-2], EscalationAsked)
    assert events[-1] == LegEnd()
    assert len(results_of(events)) == 2


@pytest.mark.parametrize("answers", [("stop",), ("whatever",), ()])
async def test_any_other_answer_and_none_stop_it(world: World, answers: tuple[str, ...]) -> None:
    events = await run(world, Person(*answers))
    assert error_kind(events) is ErrorKind.BAD_ANSWER
    assert "/escalate" in end_of(events).error.hint


async def test_where_nobody_can_take_over_that_is_not_offered(world: World) -> None:
    person = Person("escalate")
    events = await run(world, person, may_escalate=False)
    assert person.asked[0].questions[0].choices == ("go on", "stop")
    assert error_kind(events) is ErrorKind.BAD_ANSWER


async def test_each_call_is_told_when_it_is_through_and_the_model_is_answered_in_order(world: World) -> None:
    second = asyncio.Event()

    async def run_tool(call_id: str, name: str, arguments: str) -> ToolOutcome:
        if '"first"' in arguments:
            await second.wait()
            for _ in range(10):
                await asyncio.sleep(0)
            return ToolOutcome("one")
        second.set()
        return ToolOutcome("two")

    prompt = 'SCN:tool look {"q":"first"} SCN:tool look {"q":"second"}\nSCN:then SCN:say done'
    events = await events_of(world.agent(), leg(prompt, run_tool))
    assert [event.content for event in events if isinstance(event, ToolResult)] == ["two", "one"]
    told = [message["content"] for message in world.sent[-1]["messages"] if message["role"] == "tool"]
    assert told == ["one", "two"]


async def test_more_calls_than_can_be_meant_are_not_done(world: World) -> None:
    prompt = " ".join(["SCN:tool look {}"] * 70) + "\nSCN:then SCN:say done"
    results = results_of(await events_of(world.agent(), leg(prompt)))
    assert len(results) == 70
    assert [content for ok, content in results if not ok] == [
        "Not done: at most 64 calls in one answer. Call it again."
    ] * 6
