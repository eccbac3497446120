"""Queries for the text indexes: which words are asked for, and that no text is read as syntax."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from milk_tui.store import fts, percepts


def learn(store, *contents):
    store.write_sync(lambda db: [percepts.add(db, content=content) for content in contents])


def ask(store, text, **more):
    return store.read_sync(lambda conn: fts.ask(conn, text, **more))


def found(store, text):
    return store.read_sync(lambda conn: [seq for seq, _ in fts.best(conn, fts.ask(conn, text).match, 50)])


def pieces(store, *words):
    return store.read_sync(lambda conn: fts.by_pieces(conn, words, 50))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Why does the queue retry?", ["queue", "retry"]),
        ("please explain Caroline's plan", ["Caroline", "plan"]),
        ("Queue QUEUE queue", ["Queue"]),
        ("a/b_c.py", ["b", "c", "py"]),
        ("yes, thanks", []),
        ("", []),
        ("\ud800\x00!?", []),
        ("数据库", ["数据库"]),
    ],
)
def test_the_words_of_a_text_are_those_that_say_something(text, words):
    assert fts.words_of(text) == words


def test_of_a_huge_text_both_ends_are_read():
    found = fts.words_of("first " + "filler " * 100_000 + "last")
    assert found == ["first", "filler", "last"]


def test_the_rarest_words_come_first_and_unknown_ones_are_named(store):
    learn(store, *(f"queue {n}" for n in range(8)), "the importer reads the queue")
    asked = ask(store, "does the importer write to the queue or the tape")
    assert asked.words == ("importer", "queue")
    assert asked.unknown == ("tape",)
    assert asked.size == 9


def test_common_words_are_left_out_when_there_are_rarer_ones(store, monkeypatch):
    monkeypatch.setattr(fts, "POSTINGS", 10)
    learn(store, *(f"queue worker {n}" for n in range(12)), "the queue has an importer")
    asked = ask(store, "importer worker queue")
    assert (asked.words, asked.common) == (("importer",), ("worker", "queue"))
    assert ask(store, "queue").words == ("queue",), "one word is always asked for"


def test_among_very_many_facts_only_few_words_are_asked_for(store, monkeypatch):
    monkeypatch.setattr(fts, "LARGE", 1)
    learn(store, " ".join(f"word{n}" for n in range(20)), "other")
    assert len(ask(store, " ".join(f"word{n}" for n in range(20))).words) == fts.LARGE_WORDS


def test_what_stands_together_is_asked_for_as_a_whole(store):
    learn(store, "handler for py files", "see payments/handler.py", "py and handler and payments apart")
    assert '"payments/handler.py"' in ask(store, "open payments/handler.py").match
    assert found(store, "open payments/handler.py")[0] == 2


def test_the_last_word_may_be_the_beginning_of_one_while_it_is_typed(store):
    learn(store, "the banner is green")
    assert ask(store, "bann").words == ()
    assert ask(store, "bann", typing=True).words == ("bann",)
    assert ask(store, "ba", typing=True).words == ()


def test_a_fact_with_all_words_is_worth_about_the_ideal(store):
    learn(store, *(f"filler number {n}" for n in range(50)), "checkout retries")
    asked = ask(store, "checkout retries")
    ((_, score),) = store.read_sync(lambda conn: fts.best(conn, asked.match, 5))
    assert 0.9 < score / asked.ideal < 1.6


def test_parts_of_words_are_found_when_most_of_the_word_is_there(store):
    learn(store, "getUserById is slow", "the user is here", "数据库使用端口五四三二", "在哪个端口")
    assert [seq for seq, _ in pieces(store, "userById")] == [1]
    assert [seq for seq, _ in pieces(store, "getUserByIdentity")] == [1]
    assert pieces(store, "getUpdates") == []
    assert {seq for seq, _ in pieces(store, "端口是多少")} == {3, 4}, "also at the end of a text"
    assert pieces(store, "ab") == [] and pieces(store) == []


def test_forgotten_facts_leave_both_indexes_and_come_back(store):
    learn(store, "getUserById is slow")
    (reference,) = store.read_sync(lambda conn: [row[0] for row in conn.execute("select id from percepts")])
    store.write_sync(lambda db: percepts.forget(db, reference))
    assert found(store, "slow") == [] and pieces(store, "userById") == []
    store.write_sync(lambda db: percepts.restore(db, reference))
    assert found(store, "slow") == [1] and pieces(store, "userById") == [(1, 1.0)]


@pytest.mark.parametrize(
    ("word", "odd"), [("getUser", True), ("E17", True), ("queue", False), ("URL", False), ("数据", True)]
)
def test_identifiers_and_unspaced_scripts_are_odd(word, odd):
    assert fts.is_odd(word) is odd


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.text(max_size=80) | st.text('"*():^-+{}\\%_ NEAR AND OR NOT#\x00', max_size=60))
def test_no_text_is_query_syntax(store, text):
    if not store.read_sync(lambda conn: conn.execute("select 1 from percepts").fetchone()):
        learn(store, "NEAR and (far) * queue", "数据库 here", "x_y a.b")
    for typing in (False, True):
        asked = ask(store, text, typing=typing)
        store.read_sync(lambda conn, match=asked.match: fts.best(conn, match, 5))
    store.read_sync(lambda conn: fts.by_pieces(conn, fts.words_of(text), 5))
    assert isinstance(fts.any_of(text, typing=True), str)
