"""One turn without a screen: what is gathered from the stream (``engine/headless.py``)."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from milk_tui.config import Config
from milk_tui.core.records import (
    AgentName,
    Consumer,
    ContextMode,
    ErrorKind,
    LegError,
    LegStatus,
    Percept,
    PerceptScope,
    PerceptStatus,
    Producer,
    Receipt,
    Role,
    RouteDecision,
    Session,
    TurnStatus,
    Usage,
)
from milk_tui.engine.conductor import Conductor
from milk_tui.engine.events import (
    AnyEvent,
    LegFinished,
    LegStarted,
    LegText,
    Notice,
    PerceptChanged,
    PerceptRefused,
    TurnDropped,
    TurnFinished,
    TurnStarted,
)
from milk_tui.engine.headless import Gathered, run_turn
from milk_tui.engine.launch import Launch
from milk_tui.engine.workspace import Workspace

SESSION = Session(
    id="s",
    directory="/d",
    title="",
    created_ms=0,
    updated_ms=0,
    primary=AgentName(role=Role.PRIMARY, name="qwen", model="m", nonce="aaa111"),
    escalation=None,
)


def started(turn: int) -> TurnStarted:
    route = RouteDecision(role=Role.PRIMARY, rule="primary", reason="nothing else applies")
    return TurnStarted(session_id="s", turn_id=turn, prompt="p", created_ms=0, route=route)


def leg(turn: int, leg_id: int, role: Role = Role.PRIMARY, reason: str = "") -> LegStarted:
    receipt = Receipt(
        leg_id=leg_id, turn_id=turn, role=role, agent_name="x", mode=ContextMode.FIRST, segments=(), sent_ms=0
    )
    return LegStarted(
        session_id="s",
        turn_id=turn,
        leg_id=leg_id,
        role=role,
        agent_name=f"agent-{role}",
        model="m",
        mode=ContextMode.FIRST,
        started_ms=0,
        escalated=role is Role.ESCALATION,
        reason=reason,
        receipt=receipt,
    )


def ended(turn: int, leg_id: int, text: str, role: Role = Role.PRIMARY, **more: object) -> LegFinished:
    given = {"status": LegStatus.DONE, "usage": Usage(), "error": None, **more}
    return LegFinished(session_id="s", turn_id=turn, leg_id=leg_id, role=role, text=text, ended_ms=1, **given)


def finished(turn: int, status: TurnStatus = TurnStatus.DONE) -> TurnFinished:
    return TurnFinished(session_id="s", turn_id=turn, status=status)


def fact(what: str, percept_id: str = "f", weight: int = 700) -> PerceptChanged:
    percept = Percept(
        id=percept_id,
        content="c",
        producer=Producer.PRIMARY,
        agent_name="qwen",
        consumer=Consumer.ALL,
        scope=PerceptScope.SESSION,
        weight=weight,
        pinned=False,
        status=PerceptStatus.LIVE,
        created_ms=0,
        updated_ms=0,
        confirmed_ms=0,
    )
    return PerceptChanged(session_id="s", percept=percept, what=what)


def gather(*events: AnyEvent, turn: int = 1) -> Gathered:
    gathered = Gathered(session=SESSION, turn=turn)
    for event in events:
        gathered.add(event)
    return gathered


def test_the_answer_is_the_text_of_the_last_leg_that_has_one() -> None:
    outcome = gather(
        started(1),
        leg(1, 1),
        ended(1, 1, "handing over"),
        leg(1, 2, Role.ESCALATION, "too deep"),
        ended(1, 2, "the answer", Role.ESCALATION),
        finished(1),
    ).outcome()
    assert (outcome.text, outcome.status) == ("the answer", TurnStatus.DONE)
    assert [(each.role, each.escalated, each.reason) for each in outcome.legs] == [
        (Role.PRIMARY, False, ""),
        (Role.ESCALATION, True, "too deep"),
    ]


def test_usage_is_summed_and_unknown_is_not_zero() -> None:
    outcome = gather(
        leg(1, 1),
        ended(1, 1, "a", usage=Usage(input_tokens=3)),
        leg(1, 2),
        ended(1, 2, "b", usage=Usage(input_tokens=4, output_tokens=1)),
        finished(1),
    ).outcome()
    assert (outcome.usage.input_tokens, outcome.usage.output_tokens) == (7, 1)
    assert outcome.usage.cost_usd is None


def test_legs_of_an_older_prompt_that_finishes_first_are_not_ours() -> None:
    gathered = gather(leg(1, 1), ended(1, 1, "old"), finished(1), turn=2)
    assert not gathered.done
    assert not gathered.leg_of_turn(1)
    for event in (leg(2, 2), ended(2, 2, "new"), finished(2)):
        gathered.add(event)
    assert gathered.done
    assert [each.id for each in gathered.outcome().legs] == [2]


def test_a_failed_turn_has_the_error_of_its_last_leg() -> None:
    error = LegError(kind=ErrorKind.AUTH, message="The key was refused.", hint="Check it.")
    outcome = gather(
        leg(1, 1),
        ended(1, 1, "", status=LegStatus.FAILED, error=error),
        finished(1, TurnStatus.FAILED),
    ).outcome()
    assert (outcome.status, outcome.error) == (TurnStatus.FAILED, error)


def test_facts_stand_as_they_are_at_the_end() -> None:
    outcome = gather(
        fact("captured", "a"),
        fact("captured", "b"),
        fact("live", "a", weight=750),
        fact("removed", "b"),
        fact("pinned", "of another turn"),
        PerceptRefused(session_id="s", content="x", why="too long"),
        Notice(session_id="s", text="hello"),
        finished(1),
    ).outcome()
    assert [(each.id, each.weight) for each in outcome.facts] == [("a", 750)]
    assert [each.why for each in outcome.refused] == ["too long"]
    assert outcome.notices == ("hello",)


def test_a_prompt_that_was_taken_back_is_cancelled() -> None:
    gathered = gather(TurnDropped(session_id="s", turn_id=1, prompt="p"))
    assert gathered.done
    assert gathered.outcome().status is TurnStatus.CANCELLED


@pytest.fixture
async def conductor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Conductor]:
    """A real session on a model host with a scripted model."""
    monkeypatch.setenv("MILK_TUI_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("MILK_TUI_PROBE_PORTS", "none")
    monkeypatch.setenv("MILK_TUI_HOST_COMMAND", f"{sys.executable} -m tests.support.scripted_host")
    workspace = Workspace.open(Launch(directory=tmp_path, primary="m/small", escalation="m/deep"))
    await workspace.start()
    yield await workspace.open_session()
    await workspace.aclose()


def ignore(event: AnyEvent, gathered: Gathered) -> None:
    pass


async def test_a_turn_is_submitted_and_waited_for(conductor: Conductor) -> None:
    outcome = await run_turn(conductor, "SCN:say hello", emit=ignore, stop=asyncio.Event())
    assert (outcome.status, outcome.text) == (TurnStatus.DONE, "hello")
    again = await run_turn(conductor, "SCN:say again", emit=ignore, stop=asyncio.Event(), escalate=True)
    assert (again.text, again.legs[0].role, again.turn > outcome.turn) == ("again", Role.ESCALATION, True)


async def test_a_stop_before_anything_began_takes_the_prompt_back(conductor: Conductor) -> None:
    stop = asyncio.Event()
    stop.set()
    outcome = await run_turn(conductor, "SCN:say hello", emit=ignore, stop=stop)
    assert (outcome.status, outcome.text) == (TurnStatus.CANCELLED, "")


async def test_a_stop_while_it_answers_keeps_what_came(conductor: Conductor) -> None:
    stop = asyncio.Event()

    def stop_at_text(event: AnyEvent, gathered: Gathered) -> None:
        if isinstance(event, LegText):
            stop.set()

    outcome = await run_turn(conductor, "SCN:say some\nSCN:stall", emit=stop_at_text, stop=stop)
    assert (outcome.status, outcome.legs[0].status) == (TurnStatus.CANCELLED, LegStatus.CANCELLED)
    assert outcome.text == "some"


async def test_a_reader_that_fails_stops_the_turn_and_its_error_is_raised(conductor: Conductor) -> None:
    heard = []

    def fail(event: AnyEvent, gathered: Gathered) -> None:
        heard.append(event)
        if isinstance(event, LegText):
            raise BrokenPipeError

    with pytest.raises(BrokenPipeError):
        await run_turn(conductor, "SCN:say some\nSCN:stall", emit=fail, stop=asyncio.Event())
    assert isinstance(heard[-1], LegText)
    assert not conductor.busy


async def test_the_config_bounds_the_facts_of_a_turn(conductor: Conductor) -> None:
    limit = Config().memory.facts_per_turn
    prompt = "\n".join(f"SCN:tag percept fact number {n}" for n in range(limit + 1))
    outcome = await run_turn(conductor, prompt, emit=ignore, stop=asyncio.Event())
    assert (len(outcome.facts), len(outcome.refused)) == (limit, 1)
