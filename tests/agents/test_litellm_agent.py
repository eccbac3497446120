"""An agent on a litellm model: rounds of tools, retries, errors, escalation."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from milk_tui.agents.base import LegRequest, ToolOutcome, ToolSpec
from milk_tui.agents.events import (
    AgentEvent,
    EscalationAsked,
    LegEnd,
    Retrying,
    TextDelta,
    ThinkDelta,
    ToolResult,
    ToolStart,
    UsageReported,
)
from milk_tui.agents.litellm_agent import LitellmAgent, without_tools
from milk_tui.agents.litellm_settings import LitellmSettings
from milk_tui.core.records import (
    ContextMode,
    ContextPlan,
    ErrorKind,
    Message,
    MessageToolCall,
    Role,
    Segment,
)
from milk_tui.modelhost.client import HostState, ModelHost
from milk_tui.modelhost.protocol import CompleteRequest, Done, HostEvent, ModelInfo, Timeouts
from tests.support.polling import until

PLAN = ContextPlan(
    role=Role.PRIMARY,
    mode=ContextMode.FIRST,
    segments=(
        Segment(name="identity", text="You are qwen.", stable=True, included=True, why="always"),
        Segment(name="need", text="The need: find it.", stable=False, included=True, why="set"),
    ),
    thread=(Message(role="user", content="earlier"), Message(role="assistant", content="indeed")),
    thread_limit=100_000,
)
TOOLS = tuple(
    ToolSpec(name, f"Does {name}.", {"type": "object", "properties": {}}) for name in ("look", "see", "escalate")
)
SETTINGS = LitellmSettings(timeouts=Timeouts(first_s=20, idle_s=20), retry_delays_s=(0.0, 0.0))

Run = Callable[[str, str, str], Any]


class World:
    """A scripted host, an agent on it, and what was sent."""

    def __init__(self, folder: Path) -> None:
        self.record = folder / "record"
        self.host = ModelHost(
            folder / "host.log",
            [sys.executable, "-m", "tests.support.scripted_host", "--record", str(self.record)],
        )

    def agent(self, **settings: Any) -> LitellmAgent:
        fields = {name: getattr(SETTINGS, name) for name in ("timeouts", "retry_delays_s")}
        return LitellmAgent("qwen", "openai/x", self.host, LitellmSettings(**{**fields, **settings}))

    @property
    def sent(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.record.read_text("utf-8").splitlines()]


class Known:
    """A host that knows one thing about the model and says nothing in its name."""

    def __init__(self, info: ModelInfo) -> None:
        self._info = info
        self.asked = 0

    async def info(self, model: str, *, api_base: str = "") -> ModelInfo:
        self.asked += 1
        return self._info

    async def complete(self, request: CompleteRequest) -> AsyncGenerator[HostEvent, None]:
        yield Done()


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    made = World(tmp_path)
    yield made
    await made.host.aclose()


async def found(call_id: str, name: str, arguments: str) -> ToolOutcome:
    return ToolOutcome(f"{name} found {arguments}")


def leg(prompt: str, run_tool: Run | None = found, tools: tuple[ToolSpec, ...] = TOOLS) -> LegRequest:
    return LegRequest(role=Role.PRIMARY, plan=PLAN, prompt=prompt, tools=tools, run_tool=run_tool)


async def events_of(agent: LitellmAgent, request: LegRequest) -> list[AgentEvent]:
    events = [event async for event in agent.run(request)]
    assert [event for event in events if isinstance(event, LegEnd)] == [events[-1]], "one LegEnd, at the end"
    return events


def text_of(events: list[AgentEvent]) -> str:
    return "".join(event.text for event in events if isinstance(event, TextDelta))


def results_of(events: list[AgentEvent]) -> list[tuple[bool, str]]:
    return [(event.ok, event.content) for event in events if isinstance(event, ToolResult)]


def end_of(events: list[AgentEvent]) -> LegEnd:
    assert isinstance(events[-1], LegEnd)
    return events[-1]


def error_kind(events: list[AgentEvent]) -> ErrorKind:
    error = end_of(events).error
    assert error is not None and end_of(events).stopped == "error" and error.message
    return error.kind


async def test_an_answer_streams_with_reasoning_and_usage(world: World) -> None:
    events = await events_of(world.agent(), leg("SCN:think hm SCN:say done"))
    assert [type(event) for event in events] == [ThinkDelta, TextDelta, UsageReported, LegEnd]
    assert text_of(events) == "done" and end_of(events) == LegEnd("finished")


async def test_the_request_is_the_plan_then_the_thread_then_the_prompt(world: World) -> None:
    await events_of(world.agent(temperature=0.5, max_tokens=9, params={"seed": 1}), leg("hello you"))
    body = world.sent[0]
    assert [m["role"] for m in body["messages"]] == ["system", "user", "assistant", "user"]
    assert body["messages"][0]["content"] == "You are qwen."
    assert "The need: find it." in body["messages"][-1]["content"]
    assert body["messages"][-1]["content"].endswith("hello you")
    assert (body["temperature"], body["max_tokens"], body["seed"]) == (0.5, 9, 1)
    assert [tool["function"]["name"] for tool in body["tools"]] == ["look", "see", "escalate"]


async def test_tools_of_one_answer_run_at_once_and_are_answered_in_order(world: World) -> None:
    started: list[str] = []
    both = asyncio.Event()

    async def together(call_id: str, name: str, arguments: str) -> ToolOutcome:
        started.append(name)
        if len(started) == 2:
            both.set()
        await both.wait()
        return ToolOutcome(f"{name} {arguments}")

    prompt = 'SCN:say well SCN:tool look {"a":1}SCN:tool see\nSCN:then SCN:say found it'
    events = await events_of(world.agent(), leg(prompt, together))
    shown = [(type(event).__name__, getattr(event, "name", "")) for event in events]
    assert [kind for kind, _ in shown] == [
        *["TextDelta", "UsageReported", "ToolStart", "ToolStart", "ToolResult", "ToolResult"],
        *["TextDelta", "UsageReported", "LegEnd"],
    ]
    assert results_of(events) == [(True, 'look {"a":1}'), (True, "see {}")]
    assert text_of(events) == "wellfound it"


async def test_every_round_begins_with_the_bytes_of_the_one_before(world: World) -> None:
    prompt = "SCN:tool look {}\nSCN:then SCN:tool see {}\nSCN:then SCN:say done"
    await events_of(world.agent(), leg(prompt))
    rounds = [body["messages"] for body in world.sent]
    assert len(rounds) == 3
    for before, after in pairwise(rounds):
        assert after[: len(before)] == before
    assert [m["role"] for m in rounds[2][-4:]] == ["assistant", "tool", "assistant", "tool"]
    assert rounds[2][-1]["content"] == "see found {}"


async def test_calls_have_ids_of_their_own_within_a_leg(world: World) -> None:
    prompt = "SCN:tool look {}\nSCN:then SCN:tool look {}\nSCN:then SCN:say done"
    events = await events_of(world.agent(), leg(prompt))
    ids = [event.call_id for event in events if isinstance(event, ToolStart)]
    assert len(set(ids)) == 2
    last = world.sent[-1]["messages"]
    assert [m["tool_call_id"] for m in last if m["role"] == "tool"] == ids


@pytest.mark.parametrize(
    ("call", "said"),
    [
        ("SCN:tool rm_rf {}", "There is no tool “rm_rf”. Tools: look, see, escalate."),
        ("SCN:tool look {broken", "The arguments of look are not a JSON object."),
        ("SCN:tool look [1]", "The arguments of look are not a JSON object."),
    ],
)
async def test_a_call_that_can_t_be_done_is_answered_with_the_error(world: World, call: str, said: str) -> None:
    ran: list[str] = []

    async def never(call_id: str, name: str, arguments: str) -> ToolOutcome:
        ran.append(name)
        return ToolOutcome("")

    events = await events_of(world.agent(), leg(f"{call}\nSCN:then SCN:say sorry", never))
    (ok, content), *rest = results_of(events)
    assert not ok and content.startswith(said) and not rest and not ran
    assert any(event.arguments for event in events if isinstance(event, ToolStart))
    assert text_of(events) == "sorry"
    assert world.sent[-1]["messages"][-1]["content"].startswith(said)


async def test_a_tool_that_fails_is_answered_and_the_leg_goes_on(world: World) -> None:
    async def broken(call_id: str, name: str, arguments: str) -> ToolOutcome:
        raise ValueError("secret inside")

    events = await events_of(world.agent(), leg("SCN:tool look {}\nSCN:then SCN:say well", broken))
    assert results_of(events) == [(False, "look failed: ValueError.")]
    assert text_of(events) == "well"


async def test_a_granted_escalation_ends_the_leg_without_another_round(world: World) -> None:
    events = await events_of(world.agent(), leg('SCN:tool escalate {"reason":"too deep"}'))
    assert events[-2:] == [EscalationAsked("too deep"), LegEnd("finished")]
    assert len(world.sent) == 1


async def test_a_refused_escalation_is_told_to_the_model_which_goes_on(world: World) -> None:
    async def refuse(call_id: str, name: str, arguments: str) -> ToolOutcome:
        return ToolOutcome("Nobody is there to take over.", ok=False)

    prompt = 'SCN:tool escalate {"reason":"too deep"}\nSCN:then SCN:say then I try'
    events = await events_of(world.agent(), leg(prompt, refuse))
    assert not any(isinstance(event, EscalationAsked) for event in events)
    assert text_of(events) == "then I try"


async def test_a_model_that_only_calls_tools_is_stopped(world: World) -> None:
    rounds = "\nSCN:then ".join(["SCN:tool look {}"] * 4)
    events = await events_of(world.agent(max_rounds=3), leg(rounds))
    assert error_kind(events) is ErrorKind.BAD_ANSWER
    assert len(results_of(events)) == 3 and len(world.sent) == 3


@pytest.mark.parametrize("prompt", ["SCN:empty", "SCN:think only this"])
async def test_an_answer_without_text_is_finished(world: World, prompt: str) -> None:
    events = await events_of(world.agent(), leg(prompt))
    assert text_of(events) == "" and end_of(events) == LegEnd("finished")


async def test_an_answer_at_its_longest_says_so(world: World) -> None:
    assert end_of(await events_of(world.agent(), leg("SCN:say a SCN:finish length"))) == LegEnd("length")


@pytest.mark.parametrize(
    ("prompt", "kind"),
    [
        ("SCN:err 401", ErrorKind.AUTH),
        ("SCN:err 404", ErrorKind.NOT_FOUND),
        ("SCN:err 429", ErrorKind.RATE_LIMIT),
        ("SCN:err 429 21", ErrorKind.RATE_LIMIT),
        ("SCN:say a SCN:cut", ErrorKind.CUT),
        ("SCN:say a SCN:fail boom", ErrorKind.SERVER),
        ("SCN:say a SCN:finish content_filter", ErrorKind.REFUSED),
        ("SCN:say a SCN:host die", ErrorKind.HOST_DIED),
    ],
)
async def test_an_error_ends_the_leg_and_is_not_tried_again(world: World, prompt: str, kind: ErrorKind) -> None:
    events = await events_of(world.agent(), leg(prompt))
    assert error_kind(events) is kind
    assert not any(isinstance(event, Retrying) for event in events)
    assert len(world.sent) == 1


@pytest.mark.parametrize("refusal", ["500", "503", "529", "429 0.01"])
async def test_a_server_that_fails_before_the_first_token_is_asked_again(world: World, refusal: str) -> None:
    events = await events_of(world.agent(), leg(f"SCN:flaky 2 {refusal} SCN:say at last"))
    assert [event.attempt for event in events if isinstance(event, Retrying)] == [1, 2]
    assert text_of(events) == "at last" and len(world.sent) == 3


async def test_two_retries_are_all(world: World) -> None:
    events = await events_of(world.agent(), leg("SCN:err 500"))
    assert error_kind(events) is ErrorKind.SERVER
    assert len([event for event in events if isinstance(event, Retrying)]) == 2 and len(world.sent) == 3


async def test_a_retry_waits_as_long_as_the_server_asks(world: World) -> None:
    events = await events_of(world.agent(), leg("SCN:flaky 1 503 0.02 SCN:say fine"))
    assert [event.delay_s for event in events if isinstance(event, Retrying)] == [0.02]


async def test_a_model_that_takes_no_tools_is_given_them_as_text_and_it_is_remembered(world: World) -> None:
    agent = world.agent()
    message = "registry/x does not support tools"
    events = await events_of(agent, leg(f"SCN:message {message} SCN:flaky 1 400 SCN:say without"))
    assert text_of(events) == "without" and agent.caps.tools
    assert "tools" in world.sent[0] and "tools" not in world.sent[1]
    assert "<tool_call>" in json.dumps(world.sent[1]["messages"]) and "<tool_call>" not in json.dumps(world.sent[0])
    await events_of(agent, leg("SCN:say again"))
    assert "tools" not in world.sent[2]


async def test_another_bad_request_is_no_reason_to_drop_the_tools(world: World) -> None:
    agent = world.agent()
    events = await events_of(agent, leg("SCN:err 400 SCN:message temperature must be below 2"))
    assert error_kind(events) is ErrorKind.BAD_REQUEST and agent.caps.tools


async def test_tools_can_be_switched_off(world: World) -> None:
    agent = world.agent(tools=False)
    events = await events_of(agent, leg("SCN:tool look {}"))
    assert not agent.caps.tools and "tools" not in world.sent[0]
    assert results_of(events) == [(True, "look found {}")], "a model that calls all the same is served"
    assert all("tool_calls" not in m and m["role"] != "tool" for m in world.sent[1]["messages"])


async def test_stopping_in_an_answer_stops_the_request(world: World) -> None:
    agent = world.agent()
    async with aclosing(agent.run(leg("SCN:say a SCN:stall"))) as events:
        assert isinstance(await anext(events), TextDelta)
    assert text_of(await events_of(agent, leg("SCN:say next"))) == "next"


async def test_stopping_in_a_tool_cancels_the_tool(world: World) -> None:
    running, cancelled = asyncio.Event(), asyncio.Event()

    async def endless(call_id: str, name: str, arguments: str) -> ToolOutcome:
        running.set()
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.set()
        return ToolOutcome("")

    task = asyncio.create_task(events_of(world.agent(), leg("SCN:tool look {}", endless)))
    await asyncio.wait_for(running.wait(), 20)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert cancelled.is_set()


async def test_a_host_that_can_t_be_started_is_an_error_of_the_leg(tmp_path: Path) -> None:
    host = ModelHost(tmp_path / "log", ["/nowhere/host"])
    agent = LitellmAgent("qwen", "openai/x", host, SETTINGS)
    await agent.warm(PLAN)
    assert error_kind(await events_of(agent, leg("hello"))) is ErrorKind.HOST_DIED
    await host.aclose()


async def test_warming_up_asks_what_is_known_and_sends_nothing_to_the_model(world: World) -> None:
    agent = world.agent(window_tokens=5000)
    await agent.warm(PLAN)
    await until(lambda: world.host.state is HostState.READY)
    assert agent.caps.window_tokens == 5000 and agent.caps.tools
    assert not world.record.exists()


async def test_the_first_leg_has_the_model_looked_up_for_the_next(tmp_path: Path) -> None:
    host = Known(ModelInfo(window_tokens=32_000, tools=False, priced=True))
    agent = LitellmAgent("qwen", "openai/x", host, SETTINGS)
    await events_of(agent, leg("hello"))
    await until(lambda: agent.caps.window_tokens == 32_000)
    assert agent.caps.cost and agent.caps.tools
    await events_of(agent, leg("hello"))
    assert host.asked == 1
    await agent.aclose()


def test_calls_and_results_can_be_told_as_text() -> None:
    call = MessageToolCall(id="1", name="look", arguments='{"a":1}')
    told = without_tools(
        [
            Message(role="user", content="q"),
            Message(role="assistant", content="well", tool_calls=(call,)),
            Message(role="tool", content="seen", tool_call_id="1", cache_point=True),
        ]
    )
    assert told == (
        Message(role="user", content="q"),
        Message(role="assistant", content='well\n[called look {"a":1}]'),
        Message(role="user", content="[result of look]\nseen\n[/result of look]", cache_point=True),
    )
