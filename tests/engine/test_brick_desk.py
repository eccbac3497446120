"""The person's hand on the bricks: each change is a version, told to the listeners, and what an agent then gets."""

from __future__ import annotations

import pytest

from milk_tui.core.brick_edits import BrickEditError
from milk_tui.core.records import BrickKind, NeedStatus
from milk_tui.engine import events as e
from milk_tui.store import bricks
from tests.engine.conftest import Stage

PRIMARY, ESCALATION = BrickKind.PRIMARY_SUMMARY, BrickKind.ESCALATION_SUMMARY


async def versions(stage: Stage, kind: BrickKind):
    session_id = stage.conductor.session.id
    return await stage.read(lambda conn: bricks.history(conn, session_id, kind))


async def test_a_summary_written_by_hand_is_what_the_other_agent_gets(stage: Stage) -> None:
    await stage.say("look SCN:say it is the queue")
    made = await stage.conductor.bricks.edit(PRIMARY, "It is the worker, not the queue.")
    assert stage.of(e.BrickChanged)[-1].brick == made
    plan = await stage.conductor.plan_escalation()
    assert "It is the worker, not the queue." in plan.segment("primary_summary").text
    assert [v.author for v in await versions(stage, PRIMARY)] == ["user", "milk"]


async def test_it_holds_until_its_agent_has_worked_again(stage: Stage) -> None:
    await stage.say("look SCN:say it is the queue")
    await stage.conductor.bricks.edit(PRIMARY, "by hand")
    await stage.say("more SCN:say and a lock")
    newest, written, _ = await versions(stage, PRIMARY)
    assert "and a lock" in newest.text and newest.author == "milk"
    assert written.text == "by hand"


async def test_a_rebuild_makes_it_from_what_was_done(stage: Stage) -> None:
    await stage.say("look SCN:say it is the queue")
    (built,) = await versions(stage, PRIMARY)
    assert await stage.conductor.bricks.rebuild(PRIMARY) is None
    await stage.conductor.bricks.edit(PRIMARY, "by hand")
    again = await stage.conductor.bricks.rebuild(PRIMARY)
    assert again is not None and (again.text, again.version) == (built.text, 3)
    assert stage.of(e.BrickChanged)[-1].brick == again


async def test_an_older_version_is_taken_back(stage: Stage) -> None:
    await stage.say("look SCN:say it is the queue")
    (built,) = await versions(stage, PRIMARY)
    await stage.conductor.bricks.edit(PRIMARY, "by hand")
    back = await stage.conductor.bricks.take_back(PRIMARY, 1)
    assert (back.text, back.version, back.author) == (built.text, 3, "user")
    with pytest.raises(BrickEditError, match="no version 9"):
        await stage.conductor.bricks.take_back(PRIMARY, 9)


async def test_a_need_that_is_edited_replaces_the_one_before(stage: Stage) -> None:
    await stage.conductor.set_need("ship it")
    await stage.conductor.bricks.edit(BrickKind.NEED, "ship it on\nMonday")
    newest, before = await versions(stage, BrickKind.NEED)
    assert (newest.text, newest.author, newest.status) == ("ship it on Monday", "user", NeedStatus.OPEN)
    assert before.status is NeedStatus.REPLACED


async def test_what_can_not_be_done_is_said(stage: Stage) -> None:
    desk = stage.conductor.bricks
    with pytest.raises(BrickEditError, match="blank"):
        await desk.edit(BrickKind.NEED, " ")
    with pytest.raises(BrickEditError, match="No brief waits"):
        await desk.edit(BrickKind.BRIEF, "because")
    with pytest.raises(BrickEditError, match="has done nothing"):
        await desk.rebuild(ESCALATION)
    assert stage.of(e.BrickChanged) == []
