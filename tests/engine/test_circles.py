"""An agent that goes in circles is warned of, stopped, and the way out is offered with a brief (§8)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from pathlib import Path

import pytest

from milk_tui.core.permissions import Verdict
from milk_tui.core.records import BrickKind, ErrorKind, LegStatus, Role
from milk_tui.engine import events
from milk_tui.engine.launch import Launch
from milk_tui.store import bricks, legs
from tests.engine.conftest import Stage, begin
from tests.support.polling import until

AGAIN = "I will now read the whole configuration file once more. "
CALLS = "SCN:then ".join(['SCN:tool record_memory {"fact":"The port is 8412."} '] * 8) + "SCN:then SCN:say done"


@pytest.fixture
async def begun(launch: Launch, home: Path) -> AsyncIterator[Callable[..., object]]:
    opened: list[Stage] = []

    async def with_config(text: str = "", *, attended: bool = False) -> Stage:
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


@pytest.fixture
async def alone(begun) -> Stage:
    """A session without a person who could be asked."""
    return await begun("[routing]\nweigh = false\n")


async def test_text_that_repeats_is_stopped_and_what_came_is_kept(alone: Stage) -> None:
    turn = await alone.say(f"go on then SCN:repeat 200 {AGAIN}")
    [leg] = await alone.read(lambda conn: legs.of_turn(conn, turn))

    assert leg.status is LegStatus.FAILED and leg.error and leg.error.kind is ErrorKind.BAD_ANSWER
    assert "says the same" in leg.error.message and "/escalate" in leg.error.hint
    assert 5 * len(AGAIN) < len(leg.text) < 60 * len(AGAIN)


async def test_the_same_call_with_the_same_result_is_warned_of_then_stopped(alone: Stage) -> None:
    turn = await alone.say(f"remember it {CALLS}")
    [leg] = await alone.read(lambda conn: legs.of_turn(conn, turn))

    assert leg.status is LegStatus.FAILED and "the same call" in (leg.error.message if leg.error else "")
    assert any("the same call 3 times" in e.text for e in alone.of(events.LegNotice))


async def test_the_person_is_offered_the_escalation_with_a_brief_of_what_happened(begun) -> None:
    stage = await begun("[routing]\nweigh = false\n", attended=True)
    turn = await stage.conductor.submit(f"find a port SCN:repeat 200 {AGAIN}")
    desk = stage.conductor.permissions
    await until(lambda: desk.pending, what="the offer")
    (request,) = desk.pending
    (question,) = request.questions
    assert "was stopped" in question.text and "find a port" in question.text
    desk.answer(request.id, Verdict(allowed=True, answers={question.text: question.choices[0]}))
    await stage.conductor.wait_idle()

    first, second = await stage.read(lambda conn: legs.of_turn(conn, turn))
    assert (first.role, second.role, second.escalated) == (Role.PRIMARY, Role.ESCALATION, True)
    brief = await stage.read(lambda conn: bricks.newest(conn, stage.conductor.session.id, BrickKind.BRIEF))
    assert brief is not None and "says the same" in brief.text
    assert second.reason == brief.text


async def test_a_no_leaves_it_there(begun) -> None:
    stage = await begun("[routing]\nweigh = false\n", attended=True)
    turn = await stage.conductor.submit(f"find a port SCN:repeat 200 {AGAIN}")
    desk = stage.conductor.permissions
    await until(lambda: desk.pending, what="the offer")
    desk.answer(desk.pending[0].id, Verdict(allowed=False))
    await stage.conductor.wait_idle()

    assert len(await stage.read(lambda conn: legs.of_turn(conn, turn))) == 1


async def test_only_warned_of_where_that_is_configured(begun) -> None:
    stage = await begun('[routing]\nweigh = false\nloops = "warn"\n')
    turn = await stage.say(f"go on then SCN:repeat 40 {AGAIN}")
    [leg] = await stage.read(lambda conn: legs.of_turn(conn, turn))

    assert leg.status is LegStatus.DONE and leg.text.count("once more") == 40
    assert [e.severity for e in stage.of(events.LegNotice) if "says the same" in e.text] == ["warning"]


async def test_not_watched_where_that_is_configured(begun) -> None:
    stage = await begun('[routing]\nweigh = false\nloops = "off"\n')
    await stage.say(f"go on then SCN:repeat 40 {AGAIN}")

    assert not [e for e in stage.of(events.LegNotice) if "says the same" in e.text]


async def test_silence_is_said(begun) -> None:
    stage = await begun("[routing]\nweigh = false\nsilent_seconds = 0.2\n")
    await stage.conductor.submit("go SCN:say a word SCN:stall")
    await stage.seen(events.LegNotice, lambda e: "without anything to see" in e.text)
    await stage.conductor.stop()


async def test_answers_that_are_all_but_the_same_are_said_once(begun) -> None:
    alone = await begun("[routing]\nweigh = false\nrepeated = false\n")
    answer = "The handler retries the charge after a timeout, so that the customer pays twice; use one key for each."
    for prompt in ("first of all", "then the next", "and the last", "and one more"):
        await alone.say(f"{prompt} SCN:say {answer}")

    said = [e.text for e in alone.of(events.Notice) if "nearly the same answer" in e.text]
    assert len(said) == 1 and "/escalate" in said[0]


async def test_a_list_and_a_table_are_let_through(alone: Stage) -> None:
    rows = "\\n".join("| 0 | 0 | 0 |" for _ in range(150))
    turn = await alone.say(f"a table SCN:say {rows}")
    [leg] = await alone.read(lambda conn: legs.of_turn(conn, turn))

    assert leg.status is LegStatus.DONE and not [e for e in alone.of(events.LegNotice) if "same" in e.text]
