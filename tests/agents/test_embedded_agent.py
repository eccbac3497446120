"""The agent on the embedded model: decision, answer, need, fact, errors, cancelling."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from milk_tui.agents.base import LegRequest
from milk_tui.agents.embedded_agent import EmbeddedAgent, checked_need, names_a_need
from milk_tui.agents.events import (
    AgentEvent,
    EscalationAsked,
    FactSuggested,
    LegEnd,
    NeedSuggested,
    Progress,
    TextDelta,
    UsageReported,
)
from milk_tui.config import Config
from milk_tui.core.errors import MilkError
from milk_tui.core.records import ContextMode, ContextPlan, ErrorKind, Message, Role, Segment
from milk_tui.embedded.cancel import CancelToken
from milk_tui.embedded.catalogue import MODELS
from milk_tui.embedded.manager import EmbeddedCancelledError, EmbeddedManager, EmbeddedStatus, Phase
from milk_tui.embedded.weights import obtain_weights
from milk_tui.engine.embedding import embedded_settings
from milk_tui.modelhost.client import ModelHost
from tests.support.polling import until

PLAN = ContextPlan(
    role=Role.PRIMARY,
    mode=ContextMode.FIRST,
    segments=(
        Segment(name="identity", text="You are qwen.", stable=True, included=True, why="always"),
        Segment(name="facts", text="[Facts]\nthe shop sells apples", stable=False, included=True, why="recalled"),
    ),
    thread=(Message(role="user", content="earlier"), Message(role="assistant", content="indeed")),
)


@dataclass
class Ready:
    """Stands where the manager stands: a model that is ready, after some words, or an error."""

    base_url: str = "http://127.0.0.1:9/v1"
    api_key: str = "key"
    model: str = "tiny"
    says: tuple[tuple[str, float | None], ...] = ()
    error: MilkError | None = None
    waits: bool = False
    calls: int = 0
    stopped: bool = False

    async def ready(self, size: str, on_status: Callable[[Any], None] | None = None) -> Ready:
        self.calls += 1
        for text, fraction in self.says:
            if on_status is not None:
                on_status(EmbeddedStatus("tiny", Phase.READY if text == "ready" else Phase.LOADING, text, fraction))
        if self.error is not None:
            raise self.error
        if self.waits:
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                self.stopped = True
                raise
        return self


@pytest.fixture
async def scripted(tmp_path: Path) -> AsyncIterator[Callable[..., ModelHost]]:
    """A host whose model answers line by line of a script; ``sent`` reads what it was asked."""
    hosts: list[ModelHost] = []

    def host(*script: str) -> ModelHost:
        (tmp_path / "script").write_text("\n".join(script))
        command = [sys.executable, "-m", "tests.support.scripted_host"]
        command += ["--script", str(tmp_path / "script"), "--record", str(tmp_path / "record")]
        hosts.append(ModelHost(tmp_path / "host.log", command=command))
        return hosts[-1]

    yield host
    for made in hosts:
        await made.aclose()


def sent(tmp_path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (tmp_path / "record").read_text().splitlines()]


def request(
    prompt: str, *, may_escalate: bool = False, need: str = "something else", plan: ContextPlan = PLAN
) -> LegRequest:
    return LegRequest(Role.PRIMARY, plan, prompt, may_escalate=may_escalate, need=need)


async def events_of(agent: EmbeddedAgent, asked: LegRequest) -> list[AgentEvent]:
    return [event async for event in agent.run(asked)]


def text_of(events: list[AgentEvent]) -> str:
    return "".join(e.text for e in events if isinstance(e, TextDelta))


def kinds(events: list[AgentEvent]) -> list[type]:
    found: list[type] = []
    for event in events:
        if not isinstance(event, UsageReported) and (not found or found[-1] is not type(event)):
            found.append(type(event))
    return found


class TestAnswer:
    async def test_it_is_streamed_and_ends_with_one_end(self, scripted) -> None:
        agent = EmbeddedAgent("q", "tiny", Ready(), scripted("SCN:say An apple is a fruit."))
        events = await events_of(agent, request("Again?"))
        assert text_of(events) == "An apple is a fruit."
        assert len([e for e in events if isinstance(e, TextDelta)]) > 1
        assert events[-1] == LegEnd("finished")
        assert len([e for e in events if isinstance(e, LegEnd)]) == 1
        assert any(isinstance(e, UsageReported) for e in events)

    async def test_the_server_is_asked_through_the_host_with_bounds(self, scripted, tmp_path: Path) -> None:
        agent = EmbeddedAgent("q", "tiny", Ready(), scripted("SCN:say Yes."))
        await events_of(agent, request("Again?"))
        (asked,) = sent(tmp_path)
        assert asked["model"] == "openai/tiny"
        assert asked["api_base"] == "http://127.0.0.1:9/v1"
        assert 0 < asked["max_tokens"] <= 1024
        assert "tools" not in asked
        roles = [m["role"] for m in asked["messages"]]
        assert roles == ["system", "user", "assistant", "user"]

    async def test_an_answer_cut_at_its_bound_says_so(self, scripted) -> None:
        agent = EmbeddedAgent("q", "tiny", Ready(), scripted("SCN:say Once upon SCN:finish length"))
        assert (await events_of(agent, request("Again?")))[-1] == LegEnd("length")

    async def test_caps_say_what_it_can_not_do(self) -> None:
        agent = EmbeddedAgent("q", "tiny", Ready(), None)
        assert agent.model == "embedded:tiny"
        assert not agent.caps.tools
        assert not agent.caps.tags
        assert agent.caps.window_tokens == 4096


class TestDecision:
    async def test_hard_hands_over_with_the_reason_and_no_answer(self, scripted) -> None:
        agent = EmbeddedAgent("q", "small", Ready(), scripted("SCN:say hard"))
        events = await events_of(agent, request("Again, design it all.", may_escalate=True))
        (asked,) = [e for e in events if isinstance(e, EscalationAsked)]
        assert "Again, design it all." in asked.reason
        assert text_of(events) == ""
        assert events[-1] == LegEnd("finished")

    async def test_easy_is_answered(self, scripted, tmp_path: Path) -> None:
        agent = EmbeddedAgent("q", "small", Ready(), scripted("SCN:say easy", "SCN:say Four."))
        events = await events_of(agent, request("Again, 2 + 2?", may_escalate=True))
        assert text_of(events) == "Four."
        decision, _ = sent(tmp_path)
        assert decision["temperature"] == 0
        assert decision["max_tokens"] <= 8
        assert decision["extra_body"]["grammar"] == 'root ::= "easy" | "hard"'

    @pytest.mark.parametrize("script", ["SCN:say banana", "SCN:empty", "SCN:err 400", "SCN:malformed"])
    async def test_a_decision_that_can_not_be_read_means_answer(self, scripted, script: str) -> None:
        agent = EmbeddedAgent("q", "small", Ready(), scripted(script, "SCN:say Four."))
        events = await events_of(agent, request("Again, 2 + 2?", may_escalate=True))
        assert text_of(events) == "Four."
        assert events[-1] == LegEnd("finished")

    async def test_it_is_not_asked_when_nobody_could_take_over(self, scripted, tmp_path: Path) -> None:
        agent = EmbeddedAgent("q", "small", Ready(), scripted("SCN:say Four."))
        await events_of(agent, request("Again, 2 + 2?"))
        assert len(sent(tmp_path)) == 1

    async def test_a_prompt_that_does_not_fit_is_handed_over_unasked(self, scripted) -> None:
        agent = EmbeddedAgent("q", "small", Ready(), scripted())
        events = await events_of(agent, request("Again " + "word " * 4000, may_escalate=True))
        (asked,) = [e for e in events if isinstance(e, EscalationAsked)]
        assert "longer than" in asked.reason


class TestBeside:
    async def test_a_need_is_suggested_when_there_is_none(self, scripted) -> None:
        host = scripted("SCN:say Because.", "SCN:say find out why the Docker build is slow")
        events = await events_of(
            EmbeddedAgent("q", "small", Ready(), host), request("Why is my Docker build slow?", need="")
        )
        assert NeedSuggested("find out why the Docker build is slow") in events
        assert kinds(events) == [TextDelta, NeedSuggested, LegEnd]

    async def test_the_need_stays_while_the_topic_does(self, scripted, tmp_path: Path) -> None:
        host = scripted("SCN:say Because.")
        need = "find out why the Docker build is slow"
        events = await events_of(
            EmbeddedAgent("q", "small", Ready(), host), request("Which Docker layer takes longest of all?", need=need)
        )
        assert kinds(events) == [TextDelta, LegEnd]
        assert len(sent(tmp_path)) == 1

    async def test_a_fact_the_model_confirms_is_suggested_in_the_persons_words(self, scripted) -> None:
        host = scripted("SCN:say Noted.", "SCN:say fact")
        events = await events_of(
            EmbeddedAgent("q", "small", Ready(), host), request("We use PostgreSQL 16 for the shop")
        )
        assert FactSuggested("We use PostgreSQL 16 for the shop.") in events

    async def test_a_sentence_the_model_denies_is_none(self, scripted) -> None:
        host = scripted("SCN:say I see.", "SCN:say other")
        events = await events_of(EmbeddedAgent("q", "small", Ready(), host), request("The colours are ugly on it"))
        assert kinds(events) == [TextDelta, LegEnd]

    async def test_what_was_asked_to_be_remembered_needs_no_model(self, scripted, tmp_path: Path) -> None:
        host = scripted("SCN:say Noted.")
        events = await events_of(
            EmbeddedAgent("q", "tiny", Ready(), host), request("Remember that the API port is 8412.")
        )
        assert FactSuggested("The API port is 8412.") in events
        assert len(sent(tmp_path)) == 1

    async def test_at_most_one_fact_a_prompt(self, scripted) -> None:
        host = scripted("SCN:say Noted.", "SCN:say fact", "SCN:say fact", "SCN:say fact")
        events = await events_of(
            EmbeddedAgent("q", "small", Ready(), host),
            request("We use Go. Our API runs on port 9. Our shop sells tea."),
        )
        assert len([e for e in events if isinstance(e, FactSuggested)]) == 1

    @pytest.mark.parametrize("prompt", ["Why is it so?", "Write me a poem about apples", "Thanks!"])
    async def test_questions_and_orders_bring_no_fact(self, scripted, prompt: str) -> None:
        host = scripted("SCN:say Well.", "SCN:say fact", "SCN:say fact")
        events = await events_of(EmbeddedAgent("q", "small", Ready(), host), request(prompt))
        assert not [e for e in events if isinstance(e, FactSuggested)]

    @pytest.mark.parametrize("script", ["SCN:err 500", "SCN:cut", "SCN:empty"])
    async def test_trouble_beside_the_answer_is_no_error_of_the_leg(self, scripted, script: str) -> None:
        host = scripted("SCN:say Because.", script, script)
        events = await events_of(
            EmbeddedAgent("q", "small", Ready(), host), request("We use Go. Why is my build slow?", need="")
        )
        assert text_of(events) == "Because."
        assert events[-1] == LegEnd("finished")
        assert [e.text for e in events if isinstance(e, NeedSuggested)] == ["We use Go. Why is my build slow?"]

    async def test_an_escalated_turn_still_leaves_its_need(self, scripted) -> None:
        host = scripted("SCN:say hard", "SCN:say design the booking system")
        events = await events_of(
            EmbeddedAgent("q", "small", Ready(), host),
            request("Design the booking system.", may_escalate=True, need=""),
        )
        assert kinds(events) == [NeedSuggested, EscalationAsked, LegEnd]


def test_a_need_in_other_words_than_the_persons_is_replaced_by_theirs() -> None:
    prompt = "Why does checkout charge twice?"
    assert checked_need("explain why checkout charges twice.", prompt) == "explain why checkout charges twice"
    assert checked_need("explain the difference between a list and a tuple", prompt) == prompt
    assert checked_need("", prompt) == prompt


@pytest.mark.parametrize(
    "prompt", ["Thanks!", "Hi!", "Continue.", "now sort them by date please", "Hmm, I am not sure."]
)
def test_reactions_and_follow_ups_name_no_need(prompt: str) -> None:
    assert not names_a_need(prompt, "")


def test_a_new_topic_names_a_need() -> None:
    assert names_a_need("Write a parser for German dates", "find out why the build is slow")
    assert not names_a_need("Is the build slow on Windows too?", "find out why the build is slow")


class TestTrouble:
    async def test_what_the_manager_says_is_shown_while_it_gets_ready(self, scripted) -> None:
        manager = Ready(says=(("fetching 43 %", 0.43), ("loading", None), ("ready", None)))
        events = await events_of(EmbeddedAgent("q", "tiny", manager, scripted("SCN:say Yes.")), request("Again?"))
        assert events[:2] == [Progress("fetching 43 %", 0.43), Progress("loading", None)]
        assert events[2] == Progress("reading the prompt")
        assert text_of(events) == "Yes."

    async def test_a_model_that_can_not_be_had_ends_the_leg_with_the_reason(self, scripted) -> None:
        manager = Ready(error=MilkError("The weights are wrong.", "Fetch them again."))
        (end,) = await events_of(EmbeddedAgent("q", "tiny", manager, scripted()), request("Again?"))
        assert isinstance(end, LegEnd)
        assert end.stopped == "error"
        assert end.error is not None
        assert (end.error.kind, end.error.message, end.error.hint) == (
            ErrorKind.NO_AGENT,
            "The weights are wrong.",
            "Fetch them again.",
        )

    async def test_a_cancelled_fetch_is_a_cancelled_leg(self, scripted) -> None:
        manager = Ready(error=EmbeddedCancelledError("Cancelled."))
        (end,) = await events_of(EmbeddedAgent("q", "tiny", manager, scripted()), request("Again?"))
        assert isinstance(end, LegEnd)
        assert end.stopped == "cancelled"

    async def test_closing_the_leg_while_it_waits_stops_the_waiting(self, scripted) -> None:
        manager = Ready(says=(("fetching", 0.1),), waits=True)
        async with aclosing(EmbeddedAgent("q", "tiny", manager, scripted()).run(request("Again?"))) as events:
            assert await anext(events) == Progress("fetching", 0.1)
        assert manager.stopped

    async def test_a_server_that_has_gone_is_started_again_once(self, scripted) -> None:
        manager = Ready()
        host = scripted("SCN:err 401", "SCN:say Back.")
        events = await events_of(EmbeddedAgent("q", "tiny", manager, host), request("Again?"))
        assert text_of(events) == "Back."
        assert manager.calls == 2

    async def test_a_window_filled_too_full_is_filled_less_once(self, scripted, tmp_path: Path) -> None:
        host = scripted("SCN:err 400 SCN:message maximum context length is 4096 tokens", "SCN:say Yes.")
        plan = replace_thread(PLAN, 40)
        events = await events_of(EmbeddedAgent("q", "tiny", Ready(), host), request("Again?", plan=plan))
        assert text_of(events) == "Yes."
        first, second = sent(tmp_path)
        assert len(second["messages"]) < len(first["messages"])

    async def test_an_error_after_some_text_keeps_the_text_and_is_told(self, scripted) -> None:
        host = scripted("SCN:say Half an SCN:cut")
        events = await events_of(EmbeddedAgent("q", "tiny", Ready(), host), request("Again?"))
        assert text_of(events) == "Half an "[: len(text_of(events))]
        assert text_of(events)
        end = events[-1]
        assert isinstance(end, LegEnd)
        assert end.error is not None
        assert end.error.kind is ErrorKind.CUT

    async def test_a_host_that_dies_is_told(self, scripted) -> None:
        host = scripted("SCN:host die", "SCN:host die")
        end = (await events_of(EmbeddedAgent("q", "tiny", Ready(), host), request("Again?")))[-1]
        assert isinstance(end, LegEnd)
        assert end.error is not None
        assert end.error.kind is ErrorKind.HOST_DIED

    async def test_closing_the_leg_stops_the_request(self, scripted) -> None:
        agent = EmbeddedAgent("q", "tiny", Ready(), scripted("SCN:say One two three SCN:stall", "SCN:say Next."))
        async with aclosing(agent.run(request("Again?"))) as events:
            async for event in events:
                if isinstance(event, TextDelta):
                    break
        assert text_of(await events_of(agent, request("Again?"))) == "Next."


def replace_thread(plan: ContextPlan, count: int) -> ContextPlan:
    thread = tuple(
        Message(role=role, content=f"{role} {number} " + "word " * 20)
        for number in range(count)
        for role in ("user", "assistant")
    )
    return ContextPlan(role=plan.role, mode=plan.mode, segments=plan.segments, thread=thread)


class TestWarm:
    async def test_it_puts_what_every_leg_begins_with_into_the_cache(self, scripted, tmp_path: Path) -> None:
        agent = EmbeddedAgent("q", "small", Ready(), scripted(*["SCN:say x"] * 4, "SCN:say easy", "SCN:say Four."))
        await agent.warm(PLAN)
        warmed = sent(tmp_path)
        assert all(w["max_tokens"] == 1 for w in warmed)
        await events_of(agent, request("Again, 2 + 2?", may_escalate=True))
        decision, answer = sent(tmp_path)[len(warmed) :]
        begun = [w["messages"][:-1] for w in warmed]
        assert decision["messages"][:-1] in begun
        assert answer["messages"][:-1] in begun

    async def test_it_never_raises(self, scripted) -> None:
        await EmbeddedAgent("q", "tiny", Ready(error=MilkError("no")), scripted()).warm(PLAN)
        await EmbeddedAgent("q", "tiny", Ready(), scripted(*["SCN:err 500"] * 4)).warm(PLAN)


@pytest.mark.slow
@pytest.mark.embedded
async def test_the_real_tiny_model_answers_decides_and_keeps_a_fact(tmp_path: Path) -> None:
    pytest.importorskip("xllamacpp", reason="the embedded runtime has no wheel for this platform", exc_type=ImportError)
    settings = replace(embedded_settings(Config(), may_fetch=True), publisher=False, runtime_dir=tmp_path, grace_s=0.0)
    await asyncio.to_thread(obtain_weights, MODELS["tiny"], settings, lambda progress: None, CancelToken())
    manager = EmbeddedManager(settings)
    host = ModelHost(tmp_path / "host.log")
    await host.start()
    try:
        agent = EmbeddedAgent("q", "tiny", manager, host)
        events = await events_of(agent, request("Remember that the API port is 8412. What is a TCP port?", need=""))
        assert text_of(events).strip()
        assert FactSuggested("The API port is 8412.") in events
        assert [e for e in events if isinstance(e, NeedSuggested)]
        assert events[-1] in (LegEnd("finished"), LegEnd("length"))
        usage = [e.usage for e in events if isinstance(e, UsageReported)]
        assert usage
        assert all((u.input_tokens or 0) < 400 for u in usage)
        plan = ContextPlan(role=Role.PRIMARY, mode=ContextMode.FIRST, segments=())
        hard = "Design a migration of our payment service across three services without downtime."
        events = await events_of(agent, request(hard, may_escalate=True, plan=plan))
        assert [e for e in events if isinstance(e, EscalationAsked)]
        events = await events_of(agent, request("Say hello.", may_escalate=True, plan=plan))
        assert text_of(events).strip()
    finally:
        await host.aclose()
        await manager.aclose()
    await until(lambda: not list(tmp_path.glob("*.sock")))
