"""What a use does to a fact: it counts once a turn and adds a little weight."""

from __future__ import annotations

import pytest

from milk_tui.core.records import Producer
from milk_tui.store import percept_events, percept_lists, percept_uses, percepts
from tests.store.makers import make_turn


@pytest.fixture
def fact(store, session):
    return store.write_sync(lambda db: percepts.add(db, content="the port is 8412", session_id=session.id)).percept


def use(store, *facts, turn_id=1, now=5):
    ids = [fact.id for fact in facts]
    return store.write_sync(lambda db: percept_uses.record(db, ids, turn_id=turn_id, actor="primary", now=now))


def get(store, fact):
    return store.read_sync(lambda conn: percept_lists.get(conn, fact.id))


def test_a_use_adds_weight_and_is_counted_with_its_turn(store, fact):
    (change,) = use(store, fact, turn_id=7)
    assert (change.what, change.percept.weight, change.percept.uses, change.percept.used_ms) == ("used", 950, 1, 5)
    event = store.read_sync(lambda conn: percept_events.of_percept(conn, fact.id))[-1]
    told = (event.kind, event.actor, event.turn_id, event.weight_before, event.weight_after)
    assert told == ("used", "primary", 7, 900, 950)


def test_a_fact_counts_once_a_turn_whoever_uses_it(store, fact):
    use(store, fact, fact)
    assert use(store, fact) == []
    assert (get(store, fact).uses, get(store, fact).weight) == (1, 950)
    use(store, fact, turn_id=2)
    use(store, fact, turn_id=3)
    assert (get(store, fact).uses, get(store, fact).weight) == (3, 1000)


def test_use_and_confirmation_in_one_turn_add_weight_once(store, session, fact):
    turn = make_turn(store, session)
    confirm = lambda producer: store.write_sync(  # noqa: E731
        lambda db: percepts.confirm(
            db, percept_lists.many(db.conn, [fact.id])[fact.id], producer=producer, turn_id=turn.id, independent=True
        )
    )
    use(store, fact, turn_id=turn.id)
    assert confirm(Producer.PRIMARY).weight == 950
    assert confirm(Producer.ESCALATION).weight == 950


def test_a_pinned_fact_and_a_tainted_one_are_counted_and_gain_nothing(store, session, fact):
    other = store.write_sync(lambda db: percepts.add(db, content="from the web", session_id=session.id)).percept
    store.write_sync(lambda db: db.execute("update percepts set tainted = 1, weight = 400 where id = ?", (other.id,)))
    store.write_sync(lambda db: percepts.pin(db, fact.id, True))
    use(store, fact, other)
    assert [(get(store, each).weight, get(store, each).uses) for each in (fact, other)] == [(1000, 1), (400, 1)]


def test_what_does_not_hold_is_not_used(store, fact):
    store.write_sync(lambda db: percepts.forget(db, fact.id))
    assert use(store, fact) == []


def test_a_use_can_be_taken_back_with_its_count(store, fact):
    use(store, fact)
    after = store.write_sync(lambda db: percepts.undo(db, fact.id)).percept
    assert (after.weight, after.uses, after.used_ms) == (900, 0, None)
    assert [change.what for change in use(store, fact)] == ["used"], "what was taken back may count again"
