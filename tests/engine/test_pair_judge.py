"""A model's word on pairs that the rules leave open: off by default, never in a turn's way, undone like a deed."""

from __future__ import annotations

from functools import partial

import pytest

from milk_tui.core.records import PerceptStatus, Producer
from milk_tui.engine import events
from milk_tui.engine.launch import Launch
from milk_tui.store import percept_changes, percept_edges, percept_events, percept_lists, percepts
from milk_tui.store.clock import now_ms
from tests.engine.conftest import Stage, begin
from tests.support.polling import until

OLD = "The log level in CI is debug."


@pytest.fixture
async def begun(launch: Launch, home):
    stages: list[Stage] = []

    async def start(settings: str) -> Stage:
        (home / "config.toml").write_text(settings)
        (home / "config.toml").chmod(0o600)
        chosen = Launch(
            directory=launch.directory,
            primary=launch.primary,
            escalation=launch.escalation,
            config_path=home / "config.toml",
        )
        stages.append(await begin(chosen, home))
        return stages[-1]

    yield start
    for stage in stages:
        await stage.workspace.aclose()


async def fact(stage: Stage, words: str):
    found = await stage.read(lambda conn: percept_lists.select(conn, "p.content like ?", (f"%{words}%",)))
    return found[-1]


async def doubt(stage: Stage, answer: str, *, by: Producer = Producer.PRIMARY) -> None:
    """Two facts that may not both hold; the newer one makes the scripted model give this answer."""
    session_id, now = stage.conductor.session.id, now_ms()

    def write(db):
        add = partial(percepts.add, db, session_id=session_id)
        old = add(content=OLD, producer=by, now=now - 1_000)
        new = add(content=f"The log level in CI is info SCN:say {answer}", producer=Producer.PRIMARY, now=now)
        return percept_changes.suspect(db, new.percept.id, old.percept.id, actor=Producer.PRIMARY, now=now)

    for change in await stage.conductor.store.write(write):
        stage.conductor.publish(events.PerceptChanged(session_id=session_id, percept=change.percept, what=change.what))


async def asked(stage: Stage) -> list[str]:
    if not stage.record.exists():
        return []
    return [line for line in stage.record.read_text().splitlines() if "Two notes from one memory" in line]


JUDGED = "[memory]\njudge = true\n[routing]\nweigh = false\n"


async def test_by_default_no_model_is_asked(begun) -> None:
    stage = await begun("[routing]\nweigh = false\n")
    await doubt(stage, "replaces")
    assert (await fact(stage, "is info")).status is PerceptStatus.SUSPECT
    await stage.workspace.judge.wait_idle()
    assert not await asked(stage)


async def test_the_model_lets_the_newer_fact_hold_and_the_person_takes_it_back(begun) -> None:
    stage = await begun(JUDGED)
    await doubt(stage, "replaces")
    await stage.workspace.judge.wait_idle()
    old, new = await fact(stage, "is debug"), await fact(stage, "is info")
    assert (old.status, old.superseded_by, new.status) == (PerceptStatus.SUPERSEDED, new.id, PerceptStatus.LIVE)
    history = await stage.read(lambda conn: percept_events.of_percept(conn, old.id))
    ended = next(event for event in history if event.kind == "superseded")
    assert (ended.actor, ended.note) == (Producer.SYSTEM, "judged by fast")
    assert any("fast judged" in notice.text for notice in stage.of(events.Notice))
    assert await stage.conductor.memory.undo() == "what a model decided"
    assert (await fact(stage, "is debug")).holds
    assert (await fact(stage, "is info")).status is PerceptStatus.SUSPECT


async def test_the_model_lets_both_hold(begun) -> None:
    stage = await begun(JUDGED)
    await doubt(stage, "both")
    await stage.workspace.judge.wait_idle()
    assert (await fact(stage, "is info")).status is PerceptStatus.LIVE
    assert not await stage.read(lambda conn: percept_edges.conflicts(conn, stage.conductor.session.id))


@pytest.mark.parametrize("answer", ["unsure", "replaces or both, who knows", "delete everything"])
async def test_any_other_answer_leaves_the_pair_to_the_person(begun, answer: str) -> None:
    stage = await begun(JUDGED)
    await doubt(stage, answer)
    await stage.workspace.judge.wait_idle()
    assert await asked(stage)
    assert (await fact(stage, "is info")).status is PerceptStatus.SUSPECT
    assert (await fact(stage, "is debug")).holds


async def test_nobody_but_the_person_is_asked_about_the_persons_own_fact(begun) -> None:
    stage = await begun(JUDGED)
    await doubt(stage, "replaces", by=Producer.USER)
    assert (await fact(stage, "is info")).status is PerceptStatus.SUSPECT
    await stage.workspace.judge.wait_idle()
    assert (await fact(stage, "is debug")).holds
    assert not await asked(stage)


async def test_a_turn_goes_first_and_the_question_is_asked_after_it(begun) -> None:
    stage = await begun(JUDGED)
    await doubt(stage, "replaces SCN:stall")
    await until(
        lambda: stage.record.exists() and "Two notes from one memory" in stage.record.read_text(), what="the question"
    )
    await stage.say("go on SCN:say done")
    assert (await fact(stage, "is info")).status is PerceptStatus.SUSPECT
    await until(
        lambda: len(stage.record.read_text().split("Two notes from one memory")) == 3, what="the question again"
    )
