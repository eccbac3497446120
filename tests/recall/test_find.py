"""What a person finds who filters or searches."""

from __future__ import annotations

import pytest

from milk_tui import recall
from milk_tui.core.records import Consumer
from milk_tui.recall import finding
from milk_tui.store import percepts
from tests.store.makers import make_session


def texts(memory, text, **more):
    return [hit.percept.content for hit in memory.found(text, **more)]


def test_a_person_finds_by_word_beginning_part_and_id(memory):
    facts = memory.learn("checkout retries in the queue", "the banner is green", "see payments/handler.py")
    assert texts(memory, "retry") == ["checkout retries in the queue"]
    assert texts(memory, "bann") == ["the banner is green"]
    assert texts(memory, "nts/hand") == ["see payments/handler.py"]
    assert texts(memory, facts[1].short_id)[0] == "the banner is green"
    assert texts(memory, "no such thing at all") == []


def test_parts_of_words_are_found_among_many_facts_too(memory, monkeypatch):
    monkeypatch.setattr(finding, "_ALL_READ", 0)
    memory.learn("see payments/handler.py", "the banner is green")
    assert texts(memory, "aymen") == ["see payments/handler.py"]


def test_a_person_who_types_nothing_sees_all_but_the_forgotten(memory):
    facts = memory.learn("one", "two", "three")
    memory.store.write_sync(lambda db: percepts.forget(db, facts[0].id))
    memory.store.write_sync(lambda db: percepts.pin(db, facts[1].id, True))
    assert texts(memory, "  ") == ["two", "three"]
    assert texts(memory, "", limit=1) == ["two"]
    assert [hit.score for hit in memory.found("")] == [0, 0]


def test_superseded_and_held_back_facts_are_found(memory):
    old, new, held = memory.learn("queue of old", "queue of now", "queue held")
    memory.supersede(old, new)
    memory.sql("update percepts set status = 'quarantined' where id = ?", held.id)
    assert set(texts(memory, "queue")) == {"queue of old", "queue of now", "queue held"}


def test_a_search_within_a_session_sees_what_the_session_can(memory):
    other = make_session(memory.store, "/elsewhere")
    memory.learn("queue here", consumer=Consumer.ESCALATION)
    memory.learn("queue there", session=other)
    memory.learn("queue everywhere", session=None)
    assert set(texts(memory, "queue")) == {"queue here", "queue everywhere"}
    assert set(texts(memory, "queue", everywhere=True)) == {"queue here", "queue there", "queue everywhere"}


def test_the_best_match_comes_first_with_the_best_score(memory):
    memory.learn("a queue of many other words that are not asked for", "queue retries")
    hits = memory.found("queue retries")
    assert hits[0].percept.content == "queue retries"
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    assert hits[0].score > 0 and hits[0].parts


def test_no_floor_stands_between_a_person_and_a_word(memory):
    memory.fill()
    memory.learn("deploys are on Friday")
    assert texts(memory, "a poem about a Friday evening in Italy") == ["deploys are on Friday"]


def test_a_limit_holds_and_search_is_find_without_scores(memory):
    memory.learn(*(f"queue {n}" for n in range(30)))
    assert len(memory.found("queue", limit=7)) == 7
    plain = memory.store.read_sync(lambda conn: recall.search(conn, "queue", session_id=memory.session.id, limit=7))
    assert plain == [hit.percept for hit in memory.found("queue", limit=7)]


@pytest.mark.parametrize(
    "text",
    ["word " * 20_000, "%" * 60_000, "\x00", "\ud800", "🦆" * 5_000, '" OR * NEAR(a b) ^ col:x'],
    ids=["huge", "pattern", "nul", "surrogate", "emoji", "syntax"],
)
def test_whatever_is_typed_is_looked_for_or_found_in_nothing(memory, text):
    memory.learn("the queue is RabbitMQ", "🦆")
    memory.found(text)
