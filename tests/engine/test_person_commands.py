"""A command of the person: asked about, shown while it runs, kept, and given to the agents (``ux.md``, ``!``)."""

from __future__ import annotations

import asyncio
import io
import json
from collections.abc import AsyncIterator

import pytest

from milk_tui.core.errors import MilkError
from milk_tui.core.permissions import Scope, Verdict
from milk_tui.core.records import TurnStatus
from milk_tui.engine import events, session_export, session_html
from milk_tui.store import attachments, legs, turns
from tests.engine.conftest import Stage
from tests.support.polling import until


@pytest.fixture
async def person(stage: Stage) -> AsyncIterator[Stage]:
    """A session with a person who allows everything that is asked."""
    asked: list[str] = []

    def answer(event: object) -> None:
        if isinstance(event, events.PermissionAsked):
            asked.append(event.request.title)
            desk, request = stage.conductor.permissions, event.request
            asyncio.get_running_loop().call_soon(desk.answer, request.id, Verdict(allowed=True, scope=Scope.ONCE))

    stage.asked = asked  # type: ignore[attr-defined]
    stop = stage.conductor.listen(answer)
    yield stage
    stop()


async def test_it_is_asked_run_shown_and_kept(person: Stage) -> None:
    turn_id = await person.conductor.commands.run("printf 'one\\ntwo\\n'")

    assert person.asked == ["run printf 'one\\ntwo\\n'"]  # type: ignore[attr-defined]
    turn = await person.read(lambda conn: turns.get(conn, turn_id))
    assert (turn.status, turn.prompt) == (TurnStatus.DONE, "!printf 'one\\ntwo\\n'")
    assert await person.read(lambda conn: legs.of_turn(conn, turn_id)) == []
    [kept] = (await person.read(lambda conn: attachments.shown(conn, [turn_id])))[turn_id]
    assert kept.text.startswith("one\ntwo\n[exit code 0") and kept.ok
    assert "".join(e.text for e in person.of(events.CommandPrinted)) == "one\ntwo\n"
    assert [e.ok for e in person.of(events.CommandEnded)] == [True]


async def test_its_output_goes_with_the_next_prompt_once_and_stays_in_the_thread(person: Stage) -> None:
    await person.conductor.commands.run("echo the-answer-is-42; exit 3")
    await person.say("what went wrong? SCN:say it failed")
    await person.say("and then? SCN:say ok")

    first, second = [json.loads(line)["messages"] for line in person.record.read_text().splitlines()]
    assert "[The person ran: echo the-answer-is-42; exit 3]" in json.dumps(first[-1])
    assert "exit code 3" in json.dumps(first[-1])
    assert "the-answer-is-42" not in json.dumps(second[-1])
    assert "the-answer-is-42" in json.dumps(second[:-1])


async def test_denied_is_not_run(stage: Stage) -> None:
    running = asyncio.create_task(stage.conductor.commands.run("touch made"))
    desk = stage.conductor.permissions
    await until(lambda: desk.pending, what="the question")
    desk.answer(desk.pending[0].id, Verdict(allowed=False))
    with pytest.raises(MilkError, match="not allowed"):
        await running
    assert await stage.read(lambda conn: turns.index(conn, stage.conductor.session.id)) == []


async def test_a_grant_for_the_session_is_asked_once(stage: Stage) -> None:
    desk = stage.conductor.permissions
    for number in range(2):
        running = asyncio.create_task(stage.conductor.commands.run("echo again"))
        if number == 0:
            await until(lambda: desk.pending, what="the question")
            desk.answer(desk.pending[0].id, Verdict(allowed=True, scope=Scope.SESSION))
        await running
    assert len(stage.of(events.PermissionAsked)) == 1


async def test_stopping_ends_it_and_keeps_what_it_printed(person: Stage) -> None:
    running = asyncio.create_task(person.conductor.commands.run("echo begun; sleep 600"))
    await person.seen(events.CommandPrinted)
    assert await person.conductor.stop()
    turn_id = await running

    turn = await person.read(lambda conn: turns.get(conn, turn_id))
    assert turn.status is TurnStatus.CANCELLED
    assert [e.text for e in person.of(events.CommandEnded)] == ["begun\n[stopped]"]


async def test_a_second_one_has_to_wait(person: Stage) -> None:
    running = asyncio.create_task(person.conductor.commands.run("echo begun; sleep 600"))
    await person.seen(events.CommandPrinted)
    with pytest.raises(MilkError, match="runs already"):
        await person.conductor.commands.run("echo two")
    await person.conductor.stop()
    await running


@pytest.mark.parametrize("command", ["", "   ", "vim x", "a\0b", "x" * 30_000])
async def test_what_can_not_be_run_is_refused_before_it_is_asked(person: Stage, command: str) -> None:
    with pytest.raises(MilkError):
        await person.conductor.commands.run(command)
    assert person.asked == []  # type: ignore[attr-defined]


async def test_asking_again_means_the_last_prompt_and_no_command(person: Stage) -> None:
    prompt = await person.say("hello there SCN:say hi")
    await person.conductor.commands.run("true")

    last = await person.read(lambda conn: turns.last_asked_id(conn, person.conductor.session.id))
    assert last == prompt


async def test_leaving_the_session_ends_it(person: Stage) -> None:
    running = asyncio.create_task(person.conductor.commands.run("echo begun; sleep 600"))
    await person.seen(events.CommandPrinted)
    await person.workspace.close_session(person.conductor)

    turn = await person.read(lambda conn: turns.get(conn, running.result() if running.done() else 1))
    assert turn.status is TurnStatus.CANCELLED
    await running


@pytest.mark.parametrize("write", [session_export.markdown, session_html.html])
async def test_it_and_what_was_attached_are_in_an_export(person: Stage, write) -> None:
    await person.conductor.commands.run("echo one > a.txt; echo the-answer-is-42")
    await person.say("see @a.txt SCN:say ok")
    session, store = person.conductor.session, person.conductor.store
    out = io.StringIO()
    await asyncio.to_thread(lambda: write(out, session, session_export.conversation(store, session.id)))

    assert "the-answer-is-42\n[exit code 0" in out.getvalue()
    assert "file attached: a.txt · 1 line" in out.getvalue()
