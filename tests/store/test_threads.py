from __future__ import annotations

from itertools import islice

import pytest

from milk_tui.core.records import LegStatus, Role, ToolStatus
from milk_tui.store import threads, tool_calls
from tests.store.makers import answered, end_leg, make_leg, make_session, make_turn


@pytest.fixture
def talk(store, session):
    """Forty legs of two agents, the third of four by the escalation agent."""
    legs = []
    for n in range(40):
        role = Role.ESCALATION if n % 4 == 3 else Role.PRIMARY
        legs.append(answered(store, session, f"prompt {n}", f"answer {n}", role))
    answered(store, make_session(store), "elsewhere", "elsewhere")
    return legs


def texts(found):
    return [each.leg.text for each in found]


def test_legs_come_newest_first_across_chunks(store, session, talk):
    found = store.read_sync(lambda conn: list(threads.worked(conn, session.id, chunk=7)))
    assert texts(found) == [f"answer {n}" for n in reversed(range(40))]
    assert found[0].turn.prompt == "prompt 39"


def test_only_what_is_taken_is_read(store, session, talk):
    def take(conn):
        seen = []
        conn.set_trace_callback(lambda sql: seen.append(sql) if sql.startswith("select * from legs") else None)
        taken = list(islice(threads.worked(conn, session.id, chunk=5), 5))
        conn.set_trace_callback(None)
        return len(taken), len(seen)

    assert store.read_sync(take) == (5, 1)


@pytest.mark.parametrize("role", [None, Role.PRIMARY, Role.ESCALATION])
def test_every_bound_is_exclusive_and_holds_for_every_role(store, session, talk, role):
    wanted = [leg for leg in reversed(talk) if role is None or leg.role is role]

    def found(**bounds):
        return store.read_sync(
            lambda conn: [w.leg.id for w in threads.worked(conn, session.id, role=role, chunk=3, **bounds)]
        )

    low, high = talk[10], talk[30]
    assert found(after_leg=low.id) == [leg.id for leg in wanted if leg.id > low.id]
    assert found(before_leg=high.id) == [leg.id for leg in wanted if leg.id < high.id]
    assert found(after_turn=low.turn_id) == [leg.id for leg in wanted if leg.turn_id > low.turn_id]
    assert found(after_turn=talk[-1].turn_id) == []
    assert found(after_turn=low.turn_id, after_leg=high.id) == [leg.id for leg in wanted if leg.id > high.id]


def test_a_second_leg_of_an_old_turn_is_news_after_the_last_leg(store, session, talk):
    again = make_leg(store, store.read_sync(lambda conn: threads.turns.get(conn, talk[0].turn_id)))
    end_leg(store, again, "again")
    assert texts(store.read_sync(lambda conn: list(threads.worked(conn, session.id, after_leg=talk[-1].id)))) == [
        "again"
    ]


def test_running_and_pending_legs_are_not_history(store, session):
    make_leg(store, make_turn(store, session))
    make_leg(store, make_turn(store, session), claimed=False)
    answered(store, session, "q", "stopped", status=LegStatus.CANCELLED)
    assert texts(store.read_sync(lambda conn: list(threads.worked(conn, session.id)))) == ["stopped"]


def test_digests_carry_calls_and_how_a_leg_ended(store, session):
    leg = make_leg(store, make_turn(store, session, "find it"))

    def call(db):
        made = tool_calls.start(db, leg.id, call_id="1", name="grep", arguments='{"p": 1}')
        tool_calls.finish(db, made.id, ToolStatus.FAILED, "x" * 600)

    store.write_sync(call)
    end_leg(store, leg, "half", LegStatus.CANCELLED, thinking="not told")
    (digest,) = store.read_sync(lambda conn: list(threads.digests(conn, session.id, Role.PRIMARY)))
    assert (digest.prompt, digest.answer, digest.note) == ("find it", "half", "stopped by the person")
    assert (digest.calls[0].name, digest.calls[0].ok, digest.calls[0].cut) == ("grep", False, True)
    (worked,) = store.read_sync(lambda conn: list(threads.worked(conn, session.id)))
    assert worked.leg.thinking == ""
    assert worked.chars == len("find it") + len("half") + len('{"p": 1}') + 600


def test_a_thread_is_one_agents_legs_oldest_first_from_a_turn_on(store, session, talk):
    since = talk[20].turn_id
    found = store.read_sync(lambda conn: threads.thread(conn, session.id, Role.PRIMARY, since_turn=since))
    assert texts(found) == [f"answer {n}" for n in range(20, 40) if n % 4 != 3]


def test_a_bounded_thread_keeps_the_newest_and_ends_with_the_leg_that_crosses_the_bound(store, session, talk):
    each = len("prompt 38") + len("answer 38")
    found = store.read_sync(lambda conn: threads.thread(conn, session.id, Role.PRIMARY, max_chars=2 * each + 1))
    assert texts(found) == ["answer 36", "answer 37", "answer 38"]


def test_legs_are_counted_by_role_and_position(store, session, talk):
    count = lambda **more: store.read_sync(  # noqa: E731
        lambda conn: threads.count(conn, session.id, Role.ESCALATION, **more)
    )
    assert count() == 10
    assert count(after_leg=talk[20].id) == 5
