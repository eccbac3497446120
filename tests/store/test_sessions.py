from __future__ import annotations

import sqlite3

import pytest

from milk_tui.core.errors import MilkError, StoreError
from milk_tui.core.records import AgentName, LegStatus, Receipt, Role, Segment, TurnStatus, Usage
from milk_tui.store import agents, integrity, legs, receipts, sessions, turns, usage
from tests.store.makers import ESCALATION, PRIMARY, answered, end_leg, make_leg, make_session, make_turn

SEGMENT = {"stable": True, "included": True, "why": "always"}


def test_a_session_is_kept_with_its_agents_and_nonces(store, session):
    kept = store.read_sync(lambda conn: sessions.get(conn, session.id))
    assert kept.primary == PRIMARY
    assert kept.escalation == ESCALATION
    assert set(store.read_sync(lambda conn: agents.nonces(conn, session.id))) == {"abc123", "xyz789"}
    assert store.read_sync(lambda conn: agents.nonces(conn, "another")) == ()


def test_a_session_may_have_no_escalation_agent_and_get_one_later(store):
    session = make_session(store, escalation=None)
    assert session.escalation is None
    store.write_sync(lambda db: agents.put(db, session.id, ESCALATION))
    assert store.read_sync(lambda conn: sessions.get(conn, session.id)).escalation == ESCALATION
    store.write_sync(lambda db: agents.remove(db, session.id, Role.ESCALATION))
    assert store.read_sync(lambda conn: sessions.get(conn, session.id)).escalation is None


def test_two_agents_of_a_session_can_not_have_one_name_in_any_case(store):
    twin = AgentName(role=Role.ESCALATION, name="QWEN", model="m", nonce="n")
    with pytest.raises(sqlite3.IntegrityError):
        make_session(store, escalation=twin)
    assert store.read_sync(lambda conn: sessions.rows(conn)) == []


def test_the_newest_session_is_the_one_used_last_in_that_directory(store):
    one = make_session(store, "/a", now=1)
    two = make_session(store, "/a", now=2)
    make_session(store, "/b", now=3)
    newest = lambda: store.read_sync(lambda conn: sessions.newest(conn, "/a"))  # noqa: E731
    assert newest().id == two.id
    store.write_sync(lambda db: sessions.touch(db, one.id, 5))
    assert newest().id == one.id
    store.write_sync(lambda db: sessions.touch(db, one.id, 1))
    assert newest().updated_ms == 5, "a clock that goes back makes nothing older"
    assert store.read_sync(lambda conn: sessions.newest(conn, "/nowhere")) is None


def test_a_session_is_found_by_title_then_by_the_beginning_of_its_id(store):
    here = make_session(store, "/here", title="Refactor auth")
    there = make_session(store, "/there", title="refactor auth", now=10**15)

    def find(name, directory=None):
        found = store.read_sync(lambda conn: sessions.by_name(conn, name, directory))
        return found and found.id

    assert find("refactor auth", "/here") == here.id
    assert find("refactor auth") == there.id
    assert find(here.id) == here.id
    assert find(here.id[:13].upper()) == here.id
    assert find("abc") is None
    assert find("no such thing") is None
    assert find("%") is None


def test_a_beginning_that_fits_several_ids_is_refused(store):
    def both(db):
        for end in ("1", "2"):
            db.execute(
                "insert into sessions (id, directory, created_ms, updated_ms) values (?, '/', 1, 1)",
                ("abcd" + end,),
            )
            agents.put(db, "abcd" + end, PRIMARY)

    store.write_sync(both)
    with pytest.raises(MilkError, match="several"):
        store.read_sync(lambda conn: sessions.by_name(conn, "abcd"))


def test_a_list_shows_turns_last_prompt_agents_and_cost(store):
    empty = make_session(store, "/a", now=1)
    session = make_session(store, "/a", title="work")
    leg = make_leg(store, make_turn(store, session, "first"))
    store.write_sync(lambda db: legs.finish(db, leg.id, LegStatus.DONE, text="x", usage=Usage(cost_usd=0.25)))
    answered(store, session, "second\nline", "y")
    rows = store.read_sync(lambda conn: sessions.rows(conn, "/a"))
    assert [row.id for row in rows] == [session.id, empty.id]
    assert (rows[0].turns, rows[0].last_prompt, rows[0].agents) == (2, "second\nline", "qwen · claude")
    assert rows[0].cost_usd == 0.25
    assert (rows[1].turns, rows[1].last_prompt, rows[1].cost_usd) == (0, "", None), "unknown is not 0"
    assert store.read_sync(lambda conn: sessions.rows(conn, "/b")) == []
    assert len(store.read_sync(lambda conn: sessions.rows(conn))) == 2


def test_state_changes_what_is_given_and_keeps_the_rest(store, session):
    def change(**state):
        return store.write_sync(lambda db: sessions.set_state(db, session.id, **state))

    change(sticky=Role.ESCALATION, draft="half a th\ud800ught\x00\n")
    after = change(waiting=Role.ESCALATION, sticky=None)
    assert (after.sticky, after.waiting, after.pinned_agent) == (None, Role.ESCALATION, None)
    assert after.draft == "half a th?ught\x00\n"
    assert change() == after


def test_renaming_and_counting(store, session):
    store.write_sync(lambda db: sessions.rename(db, session.id, "new title"))
    assert store.read_sync(lambda conn: sessions.get(conn, session.id)).title == "new title"
    assert [store.write_sync(lambda db: sessions.bump_revision(db, session.id)) for _ in range(3)] == [
        1,
        2,
        3,
    ]


def test_a_session_that_is_not_there_is_named(store):
    with pytest.raises(StoreError, match="no session nope"):
        store.read_sync(lambda conn: sessions.get(conn, "nope"))


def test_an_agents_revision_counts_across_sessions_and_cases(store, session):
    assert store.read_sync(lambda conn: agents.revision(conn, "qwen")) == 0
    assert store.read_sync(lambda conn: agents.revision(conn, "never seen")) == 0
    store.write_sync(lambda db: agents.bump(db, "Qwen"))
    assert store.write_sync(lambda db: agents.bump(db, "qwen")) == 2


def test_deleting_a_session_takes_what_is_its_own_and_leaves_what_is_shared(store, session):
    other = make_session(store, "/elsewhere")
    kept = answered(store, other, "kept prompt", "kept answer")
    gone = answered(store, session, "gone prompt", "gone answer")
    shared, own = Segment(name="s", text="shared", **SEGMENT), Segment(name="o", text="own", **SEGMENT)
    for leg, segments in ((kept, (shared,)), (gone, (shared, own))):
        receipt = Receipt(
            leg_id=leg.id,
            turn_id=leg.turn_id,
            role=leg.role,
            agent_name=leg.agent_name,
            mode=leg.mode,
            segments=segments,
            sent_ms=1,
        )
        store.write_sync(lambda db, receipt=receipt: receipts.save(db, receipt))
    store.write_sync(lambda db: sessions.delete(db, session.id))
    assert [row.id for row in store.read_sync(lambda conn: sessions.rows(conn))] == [other.id]
    assert store.read_sync(lambda conn: receipts.get(conn, kept.id)).segments == (shared,)
    texts = store.read_sync(lambda conn: [row[0] for row in conn.execute("select text from segment_texts")])
    assert texts == ["shared"]
    assert store.read_sync(integrity.problems) == []


def test_a_session_names_the_programs_that_work_in_it(store, session):
    assert store.read_sync(lambda conn: sessions.owners(conn, session.id)) == set()
    leg = make_leg(store, make_turn(store, session))
    assert store.read_sync(lambda conn: sessions.owners(conn, session.id)) == {store.owner_id}
    end_leg(store, leg, "x")
    store.write_sync(lambda db: turns.finish(db, leg.turn_id, TurnStatus.DONE))
    assert store.read_sync(lambda conn: sessions.owners(conn, session.id)) == set()


def test_what_a_session_used_is_summed_and_what_is_unknown_is_said(store, session):
    for reported in (Usage(), Usage(input_tokens=10, output_tokens=2, cost_usd=0.5), Usage(input_tokens=30)):
        leg = make_leg(store, make_turn(store, session))
        store.write_sync(
            lambda db, leg=leg, reported=reported: legs.finish(db, leg.id, LegStatus.DONE, text="x", usage=reported)
        )
    used = store.read_sync(lambda conn: usage.of_session(conn, session.id))
    assert (used.usage.input_tokens, used.usage.output_tokens, used.usage.cost_usd) == (40, 2, 0.5)
    assert used.usage.cached_tokens is None, "unknown is not 0"
    assert (used.unreported, used.last_input_tokens) == (1, 30)
    empty = store.read_sync(lambda conn: usage.of_session(conn, "none"))
    assert (empty.usage, empty.unreported, empty.last_input_tokens) == (Usage(), 0, None)
