"""A model without tool calls of its own uses tools by text (``core.text_tools``)."""

from __future__ import annotations

import json

import pytest

from milk_tui.agents.base import ToolOutcome
from milk_tui.agents.events import LegEnd, Retrying, ToolStart
from tests.agents.test_litellm_agent import World, events_of, leg, results_of, text_of, world

__all__ = ["world"]

CALL = '<tool_call>{"name": "look", "arguments": {"at": "x"}}</tool_call>'


async def answers(call_id: str, name: str, arguments: str) -> ToolOutcome:
    """A result that tells the scripted model what to say next."""
    return ToolOutcome(f"result of {name} {arguments} SCN:say The end.")


@pytest.mark.parametrize("chunk", [1, 7, 500])
async def test_a_call_in_the_answer_is_run_and_the_model_goes_on_with_its_result(world: World, chunk: int) -> None:
    events = await events_of(world.agent(tools="text"), leg(f"SCN:chunk {chunk} SCN:say I look. {CALL}", answers))

    assert [(e.name, json.loads(e.arguments)) for e in events if isinstance(e, ToolStart)] == [("look", {"at": "x"})]
    assert results_of(events)[0][0]
    assert text_of(events) == "I look. The end."
    assert events[-1] == LegEnd("finished")


async def test_the_tools_are_told_in_the_system_text_and_the_thread_is_text(world: World) -> None:
    await events_of(world.agent(tools="text"), leg(f"SCN:say {CALL}", answers))
    first, second = world.sent

    for request in (first, second):
        assert "tools" not in request and "tool_calls" not in json.dumps(request)
        assert all(message["role"] != "tool" for message in request["messages"])
        assert "- look:" in request["messages"][0]["content"]
    assert second["messages"][: len(first["messages"])] == first["messages"]
    assert "<tool_response name=" in second["messages"][-1]["content"]


async def test_what_a_model_invents_behind_its_call_is_dropped_and_no_more_is_read(world: World) -> None:
    invented = "<tool_response> all is well </tool_response> So I am done."
    events = await events_of(
        world.agent(tools="text"), leg(f"SCN:chunk 3 SCN:say Look: {CALL} {invented} SCN:stall", answers)
    )

    assert text_of(events) == "Look: The end."
    assert "all is well" not in json.dumps(world.sent[-1]["messages"][-2:])


async def test_a_wrong_name_is_answered_so_that_the_model_can_correct_it(world: World) -> None:
    events = await events_of(
        world.agent(tools="text", max_rounds=2), leg('SCN:say <tool_call>{"name": "nope", "arguments": {}}</tool_call>')
    )

    assert results_of(events)[0] == (False, "There is no tool “nope”. Tools: look, see, escalate.")


async def test_broken_arguments_are_answered_too(world: World) -> None:
    events = await events_of(
        world.agent(tools="text", max_rounds=2),
        leg('SCN:say <tool_call>{"name": "look", "arguments": {at: x}}</tool_call>'),
    )

    assert results_of(events)[0][0] is False


async def test_a_grammar_is_sent_where_the_server_can_and_dropped_where_it_can_not(world: World) -> None:
    agent = world.agent(tools="text", grammar=True)
    events = await events_of(agent, leg("SCN:message unknown field grammar SCN:flaky 1 400 SCN:say fine"))

    assert text_of(events) == "fine" and any(isinstance(e, Retrying) for e in events)
    assert "root ::=" in world.sent[0]["extra_body"]["grammar"]
    assert "grammar" not in json.dumps(world.sent[1].get("extra_body", {}))


async def test_without_tools_nothing_is_told(world: World) -> None:
    await events_of(world.agent(tools="text"), leg("SCN:say hello", tools=()))

    assert "tool_call" not in json.dumps(world.sent)
