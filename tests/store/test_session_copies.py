"""A fork: everything up to a turn, and nothing of it shared with where it is from."""

from __future__ import annotations

import pytest

from milk_tui.core.errors import MilkError
from milk_tui.core.records import Brick, BrickKind, PerceptScope, Producer, Role, TurnStatus
from milk_tui.engine.session_export import conversation
from milk_tui.store import bricks, percept_lists, percepts, session_copies, turns
from tests.store import makers
from tests.store.makers import make_turn

NONCES = {Role.PRIMARY: "new111", Role.ESCALATION: "new222"}


def answered(store, session, prompt: str, text: str, role: Role = Role.PRIMARY):
    """A turn that has ended."""
    leg = makers.answered(store, session, prompt, text, role)
    store.write_sync(lambda db: turns.finish(db, leg.turn_id, TurnStatus.DONE))
    return leg


def fork(store, session, **more):
    return store.write_sync(lambda db: session_copies.fork(db, session.id, nonces=NONCES, title="copy", **more))


def prompts(store, session) -> list[str]:
    return [each.turn.prompt for each in conversation(store, session.id)]


def test_it_has_the_conversation_up_to_the_turn(store, session) -> None:
    first = answered(store, session, "one", "answer one")
    answered(store, session, "two", "answer two", Role.ESCALATION)
    copy = fork(store, session, last_turn=first.turn_id)
    assert prompts(store, copy) == ["one"]
    assert [leg.text for each in conversation(store, copy.id) for leg, _ in each.legs] == ["answer one"]
    assert (copy.title, copy.directory, copy.revision) == ("copy", session.directory, 1)
    assert copy.nonces == ("new111", "new222")
    assert prompts(store, session) == ["one", "two"]


def test_what_has_not_ended_is_no_part_of_it(store, session) -> None:
    answered(store, session, "one", "answer one")
    make_turn(store, session, "waits")
    assert prompts(store, fork(store, session)) == ["one"]


def test_a_turn_of_another_session_is_refused(store, session) -> None:
    answered(store, session, "one", "answer one")
    with pytest.raises(MilkError, match="no turn 99"):
        fork(store, session, last_turn=99)


def test_its_bricks_are_those_of_then(store, session) -> None:
    first = answered(store, session, "one", "answer one")
    second = answered(store, session, "two", "answer two")
    for version, (leg, text) in enumerate([(first, "need of then"), (second, "need of now")], start=1):
        brick = Brick(kind=BrickKind.NEED, text=text, version=version, turn_id=leg.turn_id, updated_ms=1, author="user")
        store.write_sync(lambda db, brick=brick: bricks.save(db, session.id, brick))
    copy = fork(store, session, last_turn=first.turn_id)
    need = store.read_sync(lambda conn: bricks.newest(conn, copy.id, BrickKind.NEED))
    assert need.text == "need of then"
    assert need.turn_id == store.read_sync(lambda conn: turns.last_id(conn, copy.id))


def test_its_facts_are_its_own(store, session) -> None:
    leg = answered(store, session, "one", "answer one")
    fact = store.write_sync(
        lambda db: percepts.add(
            db, content="prices are integers", producer=Producer.USER, session_id=session.id, turn_id=leg.turn_id
        )
    ).percept
    copy = fork(store, session)
    (own,) = store.read_sync(lambda conn: percept_lists.select(conn, "p.session_id = ?", (copy.id,)))
    assert own.id != fact.id
    assert (own.content, own.weight, own.scope) == (fact.content, fact.weight, PerceptScope.SESSION)
    store.write_sync(lambda db: percepts.forget(db, fact.id))
    assert store.read_sync(lambda conn: percept_lists.get(conn, own.id)).holds
