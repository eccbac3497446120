"""Vectors of facts in the store, and what changes did to them."""

from __future__ import annotations

import pytest

from milk_tui.core.records import Consumer, PerceptScope
from milk_tui.store import percepts, vectors
from milk_tui.store.vectors import Placed

MODEL = "model-1"


def learn(store, session, *contents, **more):
    return store.write_sync(
        lambda db: [
            percepts.add(db, content=content, session_id=session and session.id, **more).percept for content in contents
        ]
    )


def texts(store, *seqs):
    return store.read_sync(lambda conn: vectors.texts(conn, seqs))


def embed(store, *seqs, model=MODEL):
    return store.write_sync(
        lambda db: vectors.put(db, model, [(fact, b"v%d" % fact.place.seq) for fact in vectors.texts(db.conn, seqs)])
    )


def stored(store, **more):
    return store.read_sync(lambda conn: [(place, blob) for _, place, blob in vectors.stored(conn, MODEL, **more)])


def missing(store):
    return store.read_sync(lambda conn: vectors.missing(conn, MODEL))


def test_a_fact_waits_until_it_has_a_vector_of_the_model(store, session):
    learn(store, session, "one queue", "two queues")
    assert missing(store) == [1, 2]
    embed(store, 1)
    embed(store, 2, model="another")
    assert missing(store) == [2]
    assert store.read_sync(lambda conn: vectors.counts(conn, MODEL)) == (1, 2)
    assert stored(store) == [(Placed(1, session.id, "all"), b"v1")]


def test_a_vector_says_where_its_fact_may_be_given(store, session):
    learn(store, session, "a", consumer=Consumer.PRIMARY)
    learn(store, session, "b", scope=PerceptScope.GLOBAL)
    embed(store, 1, 2)
    assert [place for place, _ in stored(store)] == [Placed(1, session.id, "primary"), Placed(2, None, "all")]


def test_what_was_stored_later_can_be_asked_for(store, session):
    learn(store, session, "a", "b")
    first = embed(store, 1)
    embed(store, 2)
    assert [place.seq for place, _ in stored(store, after=first)] == [2]


@pytest.mark.parametrize("how", ["forgotten", "edited", "deleted with its session"])
def test_a_vector_goes_with_what_it_was_made_of(store, session, how):
    (fact,) = learn(store, session, "a queue")
    embed(store, 1)
    if how == "forgotten":
        store.write_sync(lambda db: percepts.forget(db, fact.id))
    elif how == "edited":
        store.write_sync(lambda db: percepts.edit(db, fact.id, "a tape"))
    else:
        from milk_tui.store import sessions

        store.write_sync(lambda db: sessions.delete(db, session.id))
    assert store.read_sync(lambda conn: conn.execute("select count(*) from percept_vectors").fetchone()[0]) == 0


def test_a_vector_of_what_was_edited_meanwhile_is_not_stored(store, session):
    (fact,) = learn(store, session, "a queue")
    before = texts(store, 1)
    store.write_sync(lambda db: percepts.edit(db, fact.id, "a tape"))
    assert store.write_sync(lambda db: vectors.put(db, MODEL, [(before[0], b"v")])) == 0
    assert missing(store) == [1]


@pytest.mark.parametrize("status", ["staged", "quarantined", "forgotten"])
def test_what_may_not_be_found_is_not_embedded(store, session, status):
    learn(store, session, "a queue")
    store.write_sync(lambda db: db.execute("update percepts set status = ?", (status,)))
    assert missing(store) == [] and texts(store, 1) == []


def test_changes_say_what_may_be_found_and_what_no_longer(store, session):
    one, two, three = learn(store, session, "a", "b", "c")
    start = store.read_sync(vectors.last_event)
    store.write_sync(lambda db: percepts.forget(db, one.id))
    store.write_sync(lambda db: percepts.share(db, two.id, consumer=Consumer.ESCALATION))
    end = store.read_sync(vectors.last_event)
    held, gone = store.read_sync(lambda conn: vectors.changed(conn, start, end))
    assert held == [Placed(2, session.id, "escalation")] and gone == {1}
    assert store.read_sync(lambda conn: vectors.changed(conn, end, end)) == ([], set())
    assert three.holds


def test_the_names_of_agents_are_told_once_each(store, session):
    assert store.read_sync(vectors.names) == ("claude", "qwen")
