from __future__ import annotations

import pytest

from milk_tui.core.records import PerceptScope, Producer
from milk_tui.core.tags import TagKind
from milk_tui.store import captures, integrity, messages, percept_lists, percepts, sessions
from tests.store.makers import answered, end_leg, make_leg, make_session, make_turn


def test_a_database_in_use_has_no_problems(store, session):
    leg = make_leg(store, make_turn(store, session, "asked\x00with nul"))
    store.write_sync(lambda db: percepts.stage(db, leg_id=leg.id, producer=Producer.PRIMARY, content="a fact"))
    answered(store, session, "q", "with\x00nul")
    assert store.read_sync(integrity.problems) == []
    assert store.write_sync(integrity.index_problems) == []


IMPOSSIBLE = [
    ("without a time of its end", "update legs set ended_ms = null"),
    ("runs in a turn that has ended", "update legs set status = 'running'; update turns set status = 'done'"),
    ("without being done", "update legs set status = 'failed'"),
    ("names no successor", "update percepts set status = 'superseded'"),
    ("waits for a leg that has ended", "update percepts set status = 'staged'"),
    ("no primary agent", "delete from session_agents"),
    (
        "of another session",
        "update legs set session_id = (select id from sessions where directory = '/other')",
    ),
    ("is not its size", "update legs set text_chars = 99"),
    (
        "versions of a brick are missing",
        "insert into bricks (session_id, kind, version, turn_id, updated_ms, author, text)"
        " select id, 'current_need', 2, 1, 1, 'user', 'x' from sessions",
    ),
    (
        "runs in a leg that has ended",
        "insert into tool_calls (leg_id, call_id, name, status, arguments)"
        " select id, '1', 'x', 'running', '' from legs",
    ),
    ("is not the number of its turns", "update sessions set revision = 77"),
    (
        "newer than its revision",
        "insert into agents (name, revision) values ('ann', 1); insert into exchanges (agent_name, event_id, revision,"
        " ts_ms, kind, session_id, label, peers, takeaway) values ('ann', 'e', 2, 1, 'handback', 's', '', '[]', '')",
    ),
    (
        "seen more of its memory than there is",
        "insert into remote_sessions (session_id, agent_name, remote_id, started_ms, last_seen)"
        " select id, 'qwen', 'r', 1, 9 from sessions limit 1",
    ),
    (
        "delivered and nobody knows when",
        "insert into notes (session_id, status, carriers, created_ms, expires_ms, cites, text)"
        " values ('s', 'delivered', '', 1, 2, '[]', 'x')",
    ),
]
MENDABLE = {
    what
    for what, _ in IMPOSSIBLE
    if what not in ("no primary agent", "of another session", "versions of a brick are missing")
}


@pytest.mark.parametrize(("what", "sql"), IMPOSSIBLE)
def test_a_state_that_can_not_be_is_named(store, session, what, sql):
    make_session(store, "/other")
    leg = make_leg(store, make_turn(store, session))
    store.write_sync(lambda db: percepts.stage(db, leg_id=leg.id, producer=Producer.PRIMARY, content="a fact"))
    end_leg(store, leg, "text")
    store.write_sync(lambda db: percepts.make_live(db, leg.id))
    assert store.read_sync(integrity.problems) == []
    store.write_sync(lambda db: db.executescript(sql + ";"))
    problems = store.read_sync(integrity.problems)
    assert any(what in problem for problem in problems), problems
    mended = store.write_sync(integrity.mend)
    left = store.read_sync(integrity.problems)
    if what in MENDABLE:
        assert any(what in told for told in mended), mended
        assert not any(what in problem for problem in left), left
    else:
        assert any(what in problem for problem in left), left


def test_a_whole_database_is_not_touched_by_mending(store, session):
    answered(store, session, "q", "a")
    before = list(store._writer._conn.iterdump())
    assert store.write_sync(integrity.mend) == []
    assert list(store._writer._conn.iterdump()) == before


def test_a_reference_to_nothing_is_named(store, session):
    make_turn(store, session)
    writer = store._writer._conn
    writer.execute("pragma foreign_keys = off")
    writer.execute("update turns set session_id = 'nowhere'")
    writer.execute("pragma foreign_keys = on")
    assert any("turns refers to one of sessions" in problem for problem in store.read_sync(integrity.problems))


@pytest.mark.parametrize("index", ["percepts_fts", "messages_fts"])
def test_a_damaged_text_index_is_named_and_can_be_rebuilt(store, session, index):
    answered(store, session, "wherefore", "therefore")
    store.write_sync(lambda db: percepts.add(db, content="the queue retries", session_id=session.id))
    store.write_sync(lambda db: db.execute(f"update {index}_data set block = zeroblob(7) where id > 100"))
    assert any(index in problem for problem in store.write_sync(integrity.index_problems))
    store.write_sync(integrity.rebuild_indexes)
    assert store.write_sync(integrity.index_problems) == []
    found = store.read_sync(lambda conn: messages.search(conn, "therefore"))
    assert [hit.text for hit in found] == ["therefore"]


def test_messages_are_found_in_prompts_and_ended_answers(store, session):
    leg = make_leg(store, make_turn(store, session, "why does checkout charge twice"))
    find = lambda text, **more: store.read_sync(lambda conn: messages.search(conn, text, **more))  # noqa: E731
    assert [(hit.leg_id, hit.turn_id) for hit in find("charging")] == [(None, leg.turn_id)]
    end_leg(store, leg, "the handler retries")
    assert [hit.leg_id for hit in find("retry handlers")] == [leg.id]
    assert find("retry", session_id="another") == []
    assert find("retry", session_id=session.id)
    assert find("the of and") == []


@pytest.mark.parametrize(
    "text", ['"', "AND OR NOT", "a*b NEAR(c", "\x00", "\ud800", "(" * 5000, "-- ;", "col:umn", "💥"]
)
def test_no_text_is_query_syntax(store, session, text):
    make_turn(store, session, "plain")
    assert store.read_sync(lambda conn: messages.search(conn, text)) == []


def test_deleting_a_session_leaves_nothing_to_find(store, session):
    answered(store, session, "unique prompt", "unique answer")
    store.write_sync(lambda db: percepts.add(db, content="unique fact", session_id=session.id))
    store.write_sync(lambda db: sessions.delete(db, session.id))
    assert store.read_sync(lambda conn: messages.search(conn, "unique")) == []
    assert store.write_sync(integrity.index_problems) == []
    assert store.read_sync(integrity.problems) == []


def test_a_fact_for_all_sessions_outlives_the_one_it_was_learned_in(store, session):
    leg = make_leg(store, make_turn(store, session))
    fact = store.write_sync(
        lambda db: percepts.stage(db, leg_id=leg.id, producer=Producer.PRIMARY, content="a fact")
    ).percept
    store.write_sync(lambda db: percepts.make_live(db, leg.id))
    store.write_sync(lambda db: percepts.share(db, fact.id, scope=PerceptScope.GLOBAL))
    store.write_sync(lambda db: sessions.delete(db, session.id))
    kept = store.read_sync(lambda conn: percept_lists.get(conn, fact.id))
    assert (kept.content, kept.session_id, kept.turn_id, kept.leg_id) == ("a fact", None, None, None)


def test_other_captures_wait_for_their_leg_too(store, session):
    leg = make_leg(store, make_turn(store, session))
    keep = store.write_sync(lambda db: captures.stage(db, leg.id, TagKind.NEED, "fix it", now=1))
    gone = store.write_sync(lambda db: captures.stage(db, leg.id, TagKind.FRAME, "story: x", now=2))
    store.write_sync(lambda db: captures.drop(db, [gone]))
    settled = store.write_sync(lambda db: captures.settle(db, leg.id))
    assert [(c.id, c.kind, c.body) for c in settled] == [(keep, TagKind.NEED, "fix it")]
    assert store.write_sync(lambda db: captures.settle(db, leg.id)) == []
