from __future__ import annotations

import pytest

from milk_tui.core.errors import StoreError
from milk_tui.core.records import (
    ContextMode,
    ErrorKind,
    LegError,
    LegStatus,
    Producer,
    Role,
    ToolStatus,
    Usage,
)
from milk_tui.store import agents, legs, percepts, remotes, tool_calls
from tests.store.makers import answered, end_leg, make_leg, make_session, make_turn

LATER = 9_000_000_000_000


def get(store, leg):
    return store.read_sync(lambda conn: legs.get(conn, leg.id))


def test_a_leg_is_claimed_once_and_stores_the_revision_it_is_given(store, session):
    store.write_sync(lambda db: agents.bump(db, "QWEN"))
    leg = make_leg(store, make_turn(store, session), claimed=False, reason="why", escalated=True)
    assert (leg.status, leg.revision_at_delivery) == (LegStatus.PENDING, 0)
    claimed = store.write_sync(lambda db: legs.claim(db, leg.id, now=7))
    assert (claimed.status, claimed.revision_at_delivery, claimed.started_ms) == (LegStatus.RUNNING, 1, 7)
    assert (claimed.reason, claimed.escalated, claimed.session_id) == ("why", True, session.id)
    assert store.write_sync(lambda db: legs.claim(db, leg.id)) is None


def test_a_leg_of_no_turn_is_refused(store):
    with pytest.raises(StoreError, match="no turn 99"):
        store.write_sync(
            lambda db: legs.create(
                db,
                99,
                role=Role.PRIMARY,
                agent_name="qwen",
                model="m",
                mode=ContextMode.FIRST,
                owner=store.owner_id,
            )
        )


def test_progress_is_kept_while_the_leg_runs_and_only_then(store, session):
    leg = make_leg(store, make_turn(store, session))
    save = lambda text: store.write_sync(  # noqa: E731
        lambda db: legs.save_progress(db, leg.id, text=text, thinking="hm", usage=Usage(output_tokens=3))
    )
    assert save("so f\ud800r\n")
    kept = get(store, leg)
    assert (kept.text, kept.thinking, kept.usage.output_tokens, kept.usage.input_tokens) == (
        "so f?r\n",
        "hm",
        3,
        None,
    )
    end_leg(store, leg, "all of it")
    assert not save("late")
    assert get(store, leg).text == "all of it"


def test_a_leg_ends_once_with_all_that_is_known(store, session):
    leg = make_leg(store, make_turn(store, session))
    error = LegError(kind=ErrorKind.RATE_LIMIT, message="too fast", hint="wait", retry_after_s=2.5)
    usage = Usage(input_tokens=1, output_tokens=2, cached_tokens=3, cost_usd=0.5)

    def finish(status):
        return store.write_sync(
            lambda db: legs.finish(
                db, leg.id, status, text="partial", thinking="t", usage=usage, error=error, now=LATER
            )
        )

    assert finish(LegStatus.FAILED)
    assert not finish(LegStatus.DONE)
    kept = get(store, leg)
    assert (kept.status, kept.ended_ms, kept.error, kept.usage) == (LegStatus.FAILED, LATER, error, usage)
    with pytest.raises(ValueError, match="not an end"):
        finish(LegStatus.RUNNING)


def test_a_leg_that_was_not_claimed_can_not_end(store, session):
    leg = make_leg(store, make_turn(store, session), claimed=False)
    assert not end_leg(store, leg, "x")


@pytest.mark.parametrize(
    ("status", "seen"),
    [
        (LegStatus.DONE, 2),
        (LegStatus.FAILED, 0),
        (LegStatus.CANCELLED, 0),
        (LegStatus.EMPTY, 0),
        (LegStatus.INTERRUPTED, 0),
    ],
)
def test_only_success_acknowledges_what_was_delivered(store, session, status, seen):
    for _ in range(2):
        store.write_sync(lambda db: agents.bump(db, "qwen"))
    leg = make_leg(store, make_turn(store, session))
    store.write_sync(lambda db: agents.bump(db, "qwen"))
    end_leg(store, leg, "x", status)
    remote = store.read_sync(lambda conn: remotes.current(conn, session.id, "qwen"))
    assert (remote.last_seen if remote else 0) == seen


def test_what_was_seen_never_goes_back(store, session):
    see = lambda revision: store.write_sync(  # noqa: E731
        lambda db: remotes.seen(db, session_id=session.id, agent_name="qwen", remote_id=None, revision=revision)
    )
    see(5)
    see(3)
    remote = store.read_sync(lambda conn: remotes.current(conn, session.id, "qwen"))
    assert (remote.last_seen, remote.remote_id) == (5, session.id)


def test_two_live_sessions_of_one_agent_acknowledge_for_themselves(store, session):
    other = make_session(store, "/elsewhere")
    store.write_sync(lambda db: agents.bump(db, "qwen"))
    end_leg(store, make_leg(store, make_turn(store, session)), "x")
    assert store.read_sync(lambda conn: remotes.current(conn, session.id, "qwen")).last_seen == 1
    assert store.read_sync(lambda conn: remotes.current(conn, other.id, "qwen")) is None


def test_a_remote_session_keeps_what_it_was_told_until_it_ends(store, session):
    def write(db):
        remote = remotes.open_one(db, session_id=session.id, agent_name="claude", remote_id="r-1", now=1)
        remote = remotes.mark(db, remote, told=("a", "b"), markers={"need": "x", "n": [1]})
        assert remotes.open_one(db, session_id=session.id, agent_name="claude", remote_id="r-1", now=2) == remote
        return remote

    remote = store.write_sync(write)
    assert (remote.told, remote.markers) == (("a", "b"), {"need": "x", "n": [1]})
    assert store.write_sync(lambda db: remotes.mark(db, remote, markers={})).told == ("a", "b")
    store.write_sync(lambda db: remotes.end(db, remote))
    assert store.read_sync(lambda conn: remotes.current(conn, session.id, "claude")) is None


def test_tool_calls_are_kept_as_they_happen(store, session):
    leg = make_leg(store, make_turn(store, session))
    call = store.write_sync(
        lambda db: tool_calls.start(
            db, leg.id, call_id="c1", name="grep", arguments='{"a":"\ud800"}', position=4, now=1
        )
    )
    assert (call.status, call.arguments, call.position, call.ended_ms) == (
        ToolStatus.RUNNING,
        '{"a":"?"}',
        4,
        None,
    )
    ended = store.write_sync(lambda db: tool_calls.finish(db, call.id, ToolStatus.OK, "found", now=3))
    assert (ended.status, ended.result, ended.ended_ms) == (ToolStatus.OK, "found", 3)
    assert store.write_sync(lambda db: tool_calls.finish(db, call.id, ToolStatus.FAILED, "late")) is None


def test_calls_that_still_run_end_with_their_leg(store, session):
    leg = make_leg(store, make_turn(store, session))
    call = store.write_sync(lambda db: tool_calls.start(db, leg.id, call_id="1", name="sh", arguments="{}"))
    end_leg(store, leg, "x", LegStatus.CANCELLED)
    assert store.read_sync(lambda conn: tool_calls.get(conn, call.id)).status is ToolStatus.CANCELLED


def test_the_index_lists_legs_by_turn_with_sizes_and_reads_no_text(store, session):
    first, second = make_turn(store, session), make_turn(store, session)
    late = make_leg(store, second, Role.ESCALATION, escalated=True)
    end_leg(store, late, "two\nlines", thinking="abc")
    again = make_leg(store, first)
    store.write_sync(lambda db: tool_calls.start(db, again.id, call_id="1", name="sh", arguments="{}"))
    listed = store.read_sync(lambda conn: legs.index(conn, session.id))
    assert [(leg.turn_id, leg.id) for leg in listed] == [(first.id, again.id), (second.id, late.id)]
    assert (listed[0].tools, listed[0].status, listed[0].ended_ms) == (1, LegStatus.RUNNING, None)
    assert (listed[1].text_chars, listed[1].text_lines, listed[1].thinking_chars) == (9, 2, 3)
    assert (listed[1].role, listed[1].escalated) == (Role.ESCALATION, True)
    plan = store.read_sync(
        lambda conn: conn.execute(
            "explain query plan select id, turn_id, role, status, escalated, started_ms, ended_ms, text_chars,"
            " text_lines, thinking_chars, tools from legs where session_id = '' order by id"
        ).fetchall()
    )
    assert "COVERING INDEX" in plan[0]["detail"]


def test_bodies_give_text_tools_and_captures_of_the_legs_that_are_asked_for(store, session):
    leg, other = make_leg(store, make_turn(store, session)), answered(store, session, "q", "a")
    call = store.write_sync(lambda db: tool_calls.start(db, leg.id, call_id="1", name="sh", arguments="{}"))
    fact = store.write_sync(
        lambda db: percepts.stage(db, leg_id=leg.id, producer=Producer.PRIMARY, content="retries live in the queue")
    )
    end_leg(store, leg, "hello", thinking="deep")
    bodies = store.read_sync(lambda conn: legs.bodies(conn, [leg.id, 10**9]))
    assert set(bodies) == {leg.id}
    body = bodies[leg.id]
    assert (body.leg.text, body.leg.thinking) == ("hello", "deep")
    assert [tool.id for tool in body.tools] == [call.id]
    assert body.percept_ids == (fact.percept.id,)
    assert store.read_sync(lambda conn: legs.bodies(conn, [other.id]))[other.id].tools == ()


def test_thousands_of_legs_can_be_asked_for_at_once(store, session):
    leg = answered(store, session, "q", "a")
    assert set(store.read_sync(lambda conn: legs.bodies(conn, range(40_000)))) == {leg.id}


def test_the_last_answered_leg_is_the_newest_that_is_done(store, session):
    done = answered(store, session, "1", "yes")
    answered(store, session, "2", "", status=LegStatus.EMPTY)
    answered(store, session, "3", "no", status=LegStatus.FAILED)
    answered(store, session, "4", "deep", Role.ESCALATION)
    last = lambda role: store.read_sync(lambda conn: legs.last_answered(conn, session.id, role))  # noqa: E731
    assert last(Role.PRIMARY).id == done.id
    assert last(Role.ESCALATION).text == "deep"
    assert store.read_sync(lambda conn: legs.last_answered(conn, make_session(store).id, Role.PRIMARY)) is None


def test_answers_after_a_leg_are_counted(store, session):
    first = answered(store, session, "1", "a")
    answered(store, session, "2", "b")
    answered(store, session, "3", "c", status=LegStatus.FAILED)
    counted = store.read_sync(lambda conn: legs.answered_after(conn, session.id, Role.PRIMARY, first.id))
    assert counted == 1
    assert [leg.text for leg in store.read_sync(lambda conn: legs.of_turn(conn, first.turn_id))] == ["a"]


def test_nothing_ends_before_it_began_though_the_clock_went_back(store, session):
    leg = make_leg(store, make_turn(store, session))
    call = store.write_sync(lambda db: tool_calls.start(db, leg.id, call_id="c", name="grep", arguments="{}"))
    ended = store.write_sync(lambda db: tool_calls.finish(db, call.id, ToolStatus.OK, now=5))
    assert ended.ended_ms == ended.started_ms
    assert end_leg(store, leg, "text", now=5)
    kept = store.read_sync(lambda conn: legs.get(conn, leg.id))
    assert kept.ended_ms == kept.started_ms
