"""Permissions (``quality.md``): the matrix of who answers what, and for how long."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from milk_tui.core.grants import WITHDRAWN
from milk_tui.core.permissions import PermissionRequest, Question, Scope, Verdict
from milk_tui.core.records import AgentName, Role, Session
from milk_tui.engine.events import AnyEvent, Notice, PermissionAsked, PermissionEnded
from milk_tui.engine.permissions import PermissionDesk
from milk_tui.store import Store, grants, sessions
from tests.support.polling import until

AGENT = AgentName(role=Role.PRIMARY, name="qwen", model="m", nonce="abc123")


class Office:
    """A desk over a real store, with everything it has said."""

    def __init__(self, store: Store, session: Session, *, attended: bool = True) -> None:
        self.store = store
        self.events: list[AnyEvent] = []
        self.session = session
        self.desk = PermissionDesk(store, lambda: self.session, self.events.append, attended=attended)
        self._number = 0

    def request(self, command: str = "pytest -q", **more: object) -> PermissionRequest:
        self._number += 1
        values = {
            "id": f"r{self._number}",
            "role": Role.PRIMARY,
            "agent_name": "qwen",
            "tool": "run_command",
            "arguments": json.dumps({"command": command}),
            "title": f"run {command}",
            "directory": "/work/shop",
            "pattern": "pytest *",
        }
        return PermissionRequest(**{**values, **more})  # type: ignore[arg-type]

    async def ask(self, request: PermissionRequest, verdict: Verdict | None = None) -> Verdict:
        """Ask; when it waits for the person, answer with ``verdict``. ``None`` says that it must not wait."""
        asking = asyncio.create_task(self.desk.ask(request))
        await until(lambda: asking.done() or self.desk.pending, what="the request")
        if verdict is not None:
            assert self.desk.answer(request.id, verdict)
        return await asyncio.wait_for(asking, 10)

    def of(self, kind: type) -> list:
        return [event for event in self.events if isinstance(event, kind)]

    def grants(self) -> list:
        return self.store.read_sync(lambda conn: grants.all_of(conn))


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = Store.open(tmp_path / "milk.db")
    yield opened
    opened.close()


@pytest.fixture
def make_office(store: Store) -> Callable[..., Office]:
    def make(**more: bool) -> Office:
        session = store.write_sync(lambda db: sessions.create(db, directory="/work/shop", primary=AGENT))
        return Office(store, session, **more)

    return make


@pytest.fixture
def office(make_office: Callable[..., Office]) -> Office:
    return make_office()


def allow(scope: Scope = Scope.ONCE, **more: object) -> Verdict:
    return Verdict(allowed=True, scope=scope, **more)  # type: ignore[arg-type]


async def test_a_request_waits_until_the_person_answers(office: Office) -> None:
    request = office.request()
    verdict = await office.ask(request, allow())
    assert (verdict.allowed, verdict.by) == (True, "person")
    assert [event.request.id for event in office.of(PermissionAsked)] == [request.id]
    assert [event.request_id for event in office.of(PermissionEnded)] == [request.id]
    assert office.grants() == []


async def test_a_denial_says_why(office: Office) -> None:
    verdict = await office.ask(office.request(), Verdict(allowed=False, reason="use make"))
    assert (verdict.allowed, verdict.reason) == (False, "use make")


async def test_nobody_there_means_denied_and_it_is_said(make_office: Callable[..., Office]) -> None:
    office = make_office(attended=False)
    verdict = await office.ask(office.request())
    assert not verdict.allowed
    assert "no person is there" in verdict.reason
    assert "denied to qwen: run pytest -q" in office.of(Notice)[0].text
    assert office.of(PermissionAsked) == []


async def test_what_was_granted_before_holds_without_a_person(store: Store, office: Office) -> None:
    await office.ask(office.request(), allow(Scope.ALWAYS))
    alone = Office(store, office.session, attended=False)
    assert (await alone.ask(alone.request())).allowed


@pytest.mark.parametrize(
    ("scope", "wide", "later", "held"),
    [
        (Scope.ONCE, False, {}, False),
        (Scope.SESSION, False, {}, True),
        (Scope.ALWAYS, False, {}, True),
        (Scope.SESSION, False, {"command": "pytest -x"}, False),
        (Scope.ALWAYS, False, {"command": "pytest -x"}, False),
        (Scope.ALWAYS, False, {"command": "pytest -q "}, False),
        (Scope.SESSION, True, {"command": "pytest -x"}, True),
        (Scope.ALWAYS, True, {"command": "pytest -x"}, True),
        (Scope.ALWAYS, True, {"command": "pytest -x; rm -rf /", "pattern": ""}, False),
        (Scope.ALWAYS, True, {"pattern": "rm *"}, False),
        (Scope.ALWAYS, True, {"pattern": "pytest -x *"}, False),
        (Scope.ALWAYS, True, {"tool": "write_file"}, False),
        (Scope.ALWAYS, True, {"directory": "/work"}, False),
        (Scope.ALWAYS, True, {"directory": "/work/shop/sub"}, False),
        (Scope.ALWAYS, True, {"agent_name": "claude"}, False),
        (Scope.ALWAYS, True, {"scopes": (Scope.ONCE,)}, False),
    ],
)
async def test_a_grant_covers_what_was_shown_and_no_more(
    office: Office, scope: Scope, wide: bool, later: dict, held: bool
) -> None:
    await office.ask(office.request(), allow(scope, wide=wide))
    asking = asyncio.create_task(office.desk.ask(office.request(**later)))
    await until(lambda: asking.done() or office.desk.pending)
    assert asking.done() is held
    if not held:
        office.desk.answer(office.desk.pending[0].id, Verdict(allowed=False))
    assert (await asking).allowed is held


async def test_the_order_of_arguments_makes_no_difference(office: Office) -> None:
    await office.ask(office.request(arguments='{"a": 1, "b": 2}'), allow(Scope.SESSION))
    verdict = await office.ask(office.request(arguments='{"b":2,"a":1}'))
    assert verdict.by.startswith("grant")


async def test_a_grant_for_the_session_does_not_hold_in_another(
    office: Office, make_office: Callable[..., Office]
) -> None:
    await office.ask(office.request(), allow(Scope.SESSION))
    other = make_office()
    verdict = await other.ask(other.request(), Verdict(allowed=False))
    assert not verdict.allowed


async def test_a_revoked_grant_holds_no_more(office: Office, store: Store) -> None:
    await office.ask(office.request(), allow(Scope.ALWAYS))
    (grant,) = office.grants()
    store.write_sync(lambda db: grants.revoke(db, grant.id))
    assert not (await office.ask(office.request(), Verdict(allowed=False))).allowed


async def test_a_use_of_a_grant_is_counted(office: Office) -> None:
    await office.ask(office.request(), allow(Scope.ALWAYS))
    await office.ask(office.request())
    (grant,) = office.grants()
    assert (grant.uses, grant.title, grant.covered) == (1, "run pytest -q", '{"command":"pytest -q"}')


async def test_an_answer_never_gives_more_than_was_offered(office: Office) -> None:
    request = office.request(scopes=(Scope.ONCE,), pattern="")
    verdict = await office.ask(request, allow(Scope.ALWAYS, wide=True))
    assert (verdict.allowed, verdict.scope, verdict.wide) == (True, Scope.ONCE, False)
    assert office.grants() == []


async def test_an_answer_to_another_request_is_none(office: Office) -> None:
    request = office.request()
    asking = asyncio.create_task(office.desk.ask(request))
    await until(lambda: office.desk.pending)
    assert not office.desk.answer("r999", allow())
    assert not asking.done()
    assert office.desk.answer(request.id, allow())
    assert not office.desk.answer(request.id, Verdict(allowed=False))
    assert (await asking).allowed


async def test_arguments_that_change_after_the_request_are_another_request(office: Office) -> None:
    first = office.request("echo a")
    changed = replace(first, id="other", arguments='{"command": "rm -rf /"}')
    await office.ask(first, allow(Scope.SESSION))
    assert not (await office.ask(changed, Verdict(allowed=False))).allowed


async def test_several_wait_in_order_and_each_has_its_own_answer(office: Office) -> None:
    requests = [office.request(f"echo {n}", pattern="") for n in range(3)]
    asking = [asyncio.create_task(office.desk.ask(request)) for request in requests]
    await until(lambda: len(office.desk.pending) == 3)
    assert [request.id for request in office.desk.pending] == [request.id for request in requests]
    for number in (2, 0, 1):
        office.desk.answer(requests[number].id, Verdict(allowed=number == 1))
    assert [verdict.allowed for verdict in await asyncio.gather(*asking)] == [False, True, False]


async def test_a_grant_answers_those_that_wait_for_the_same(office: Office) -> None:
    same = [office.request(), office.request(), office.request("pytest -x")]
    asking = [asyncio.create_task(office.desk.ask(request)) for request in same]
    await until(lambda: len(office.desk.pending) == 3)
    office.desk.answer(same[0].id, allow(Scope.SESSION))
    assert (await asking[1]).allowed
    assert [request.id for request in office.desk.pending] == [same[2].id]
    office.desk.answer(same[2].id, Verdict(allowed=False))
    assert not (await asking[2]).allowed


async def test_a_cancelled_request_is_withdrawn(office: Office) -> None:
    asking = asyncio.create_task(office.desk.ask(office.request()))
    await until(lambda: office.desk.pending)
    asking.cancel()
    await asyncio.gather(asking, return_exceptions=True)
    assert office.desk.pending == ()
    assert office.of(PermissionEnded)[0].verdict.reason == WITHDRAWN
    assert not office.desk.answer("r1", allow())


async def test_questions_are_answered_and_never_granted(office: Office) -> None:
    question = Question(text="Which\x1b[31m database?", choices=("Postgres", "My\u202eSQL"))
    request = office.request(questions=(question,))
    (shown,) = (asyncio.create_task(office.desk.ask(request)),)
    await until(lambda: office.desk.pending)
    asked = office.desk.pending[0].questions[0]
    assert (asked.text, asked.choices) == ("Which database?", ("Postgres", "MySQL"))
    office.desk.answer(request.id, allow(Scope.ALWAYS, answers={asked.text: "MySQL"}))
    assert (await shown).answers == {question.text: "My\u202eSQL"}
    assert office.grants() == []


@pytest.mark.parametrize("answers", [{}, {"Which?": "  "}, {"another question": "yes"}])
async def test_no_answer_to_a_question_is_a_denial(office: Office, answers: dict[str, str]) -> None:
    request = office.request(questions=(Question(text="Which?"),))
    assert not (await office.ask(request, allow(answers=answers))).allowed


async def test_what_can_not_be_seen_is_spelled_out(office: Office) -> None:
    request = office.request(title="run ls\x1b]0;x\x07", body="ls \u202e\u200b# \x1b[8mrm -rf ~\r")
    asking = asyncio.create_task(office.desk.ask(request))
    await until(lambda: office.desk.pending)
    shown = office.desk.pending[0]
    assert shown.body == "ls \\u202e\\u200b# \\u001b[8mrm -rf ~\\r"
    assert "\x1b" not in shown.title
    asking.cancel()
    await asyncio.gather(asking, return_exceptions=True)
