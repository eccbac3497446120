"""Which facts an agent, and a person who searches, is given for a text."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from milk_tui import recall
from milk_tui.core import percepts as rules
from milk_tui.core.records import Consumer, Role
from milk_tui.recall import lexical
from milk_tui.store import percepts
from tests.store.makers import make_session


def learn(store, session, *contents, **more):
    def write(db):
        return [
            percepts.add(db, content=content, session_id=session and session.id, **more).percept for content in contents
        ]

    return store.write_sync(write)


def for_leg(store, session, prompt, role=Role.PRIMARY, **more):
    return store.read_sync(lambda conn: recall.for_leg(conn, role=role, session_id=session.id, prompt=prompt, **more))


def search(store, text, session=None, **more):
    found = store.read_sync(lambda conn: recall.search(conn, text, session_id=session.id if session else None, **more))
    return [fact.content for fact in found]


@pytest.fixture(params=["all ranked", "by the text index"])
def way(request, monkeypatch):
    """Both ways to the candidates keep the same rules."""
    if request.param == "by the text index":
        monkeypatch.setattr(lexical, "SCAN", 3)


def test_the_fact_that_shares_words_with_the_prompt_comes_first(store, session, way):
    learn(store, session, "the banner is green", "checkout retries in the queue", "deploys are on Friday")
    learn(store, session, *(f"note {n}" for n in range(5)))
    assert for_leg(store, session, "why is checkout retried?")[0].content == "checkout retries in the queue"


def test_an_empty_prompt_gives_most_weight_then_newest(store, session, way):
    one, two = learn(store, session, "one", now=1) + learn(store, session, "two", now=2)
    (three,) = learn(store, session, "three", now=0)
    store.write_sync(lambda db: percepts.set_weight(db, three.id, 950))
    assert [f.id for f in for_leg(store, session, "")][:3] == [three.id, two.id, one.id]


def test_a_fact_that_shares_nothing_still_comes_when_there_is_room(store, session, way):
    learn(store, session, "the banner is green")
    assert [f.content for f in for_leg(store, session, "unrelated words")] == ["the banner is green"]


def test_an_agent_is_given_its_own_facts_and_those_for_all(store, session, way):
    other = make_session(store, "/elsewhere")
    learn(store, session, "queue for primary", consumer=Consumer.PRIMARY)
    learn(store, session, "queue for escalation", consumer=Consumer.ESCALATION)
    learn(store, session, "queue for all")
    learn(store, None, "queue global")
    learn(store, other, "queue of another session")
    learn(store, session, *(f"note {n}" for n in range(5)))
    given = {f.content for f in for_leg(store, session, "queue", Role.ESCALATION) if "queue" in f.content}
    assert given == {"queue for escalation", "queue for all", "queue global"}


def test_other_sessions_facts_do_not_crowd_out_this_ones(store, session, monkeypatch):
    monkeypatch.setattr(lexical, "SCAN", 3)
    monkeypatch.setattr(lexical, "CANDIDATES", 5)
    other = make_session(store, "/elsewhere")
    learn(store, other, *(f"queue queue {n}" for n in range(40)))
    learn(store, session, "the queue retries, among many other words that make the match a weak one")
    learn(store, session, *(f"note {n}" for n in range(9)), pinned=False, now=10**13)
    assert "the queue retries" in for_leg(store, session, "queue")[0].content


def test_the_budgets_hold(store, session, way):
    learn(store, session, *(f"fact {n} " + "é" * 60 for n in range(60)))
    given = for_leg(store, session, "fact")
    assert 10 < len(given) <= 25
    assert sum(len(rules.line(f).encode()) + 1 for f in given) <= 2048
    assert len(for_leg(store, session, "fact", max_items=3)) == 3
    assert for_leg(store, session, "fact", max_bytes=10) == []


def test_pinned_facts_have_their_own_budget_and_are_left_out_of_the_rest(store, session):
    learn(store, session, "queue pinned", pinned=True)
    learn(store, session, "queue pinned for escalation", pinned=True, consumer=Consumer.ESCALATION)
    learn(store, session, "queue plain")
    assert [f.content for f in for_leg(store, session, "queue")] == ["queue plain"]
    assert len(for_leg(store, session, "queue", exclude_pinned=False)) == 2
    pinned = store.read_sync(lambda conn: recall.pinned_for(conn, Role.PRIMARY, session.id))
    assert [f.content for f in pinned] == ["queue pinned"]
    learn(store, session, *(f"{n} " + "x" * 90 for n in range(30)), pinned=True)
    pinned = store.read_sync(lambda conn: recall.pinned_for(conn, Role.PRIMARY, session.id))
    assert 5 < len(pinned) < 15
    assert sum(len(rules.line(f).encode()) + 1 for f in pinned) <= 1024


def test_forgotten_facts_are_not_given(store, session, way):
    facts = learn(store, session, "queue one", "queue two", "queue three", "queue four", "queue five")
    store.write_sync(lambda db: percepts.forget(db, facts[0].id))
    assert "queue one" not in {f.content for f in for_leg(store, session, "queue one")}


def test_other_scripts_are_found(store, session):
    learn(store, session, "the banner is green", "数据库使用端口五四三二", "قاعدة البيانات في الخادم")
    assert for_leg(store, session, "数据库的端口")[0].content == "数据库使用端口五四三二"
    assert for_leg(store, session, "أين البيانات")[0].content == "قاعدة البيانات في الخادم"


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(text=st.text(st.characters(), max_size=60) | st.text('"*():^-+{}\\%_ANDORNET#\x00', max_size=40))
def test_no_text_makes_recall_or_search_fail(store, session, text):
    if not store.read_sync(lambda conn: conn.execute("select 1 from percepts").fetchone()):
        learn(store, session, *(f"fact {n}" for n in range(6)))
    original, lexical.SCAN = lexical.SCAN, 3
    try:
        assert len(for_leg(store, session, text)) >= 3
        search(store, text, session)
    finally:
        lexical.SCAN = original


@pytest.mark.parametrize(
    "prompt",
    ["\ud800 queue", "queue " * 100_000, "\x00queue", "💥" * 10_000],
    ids=["surrogate", "huge", "nul", "emoji"],
)
def test_hostile_prompts_are_only_words(store, session, way, prompt):
    learn(store, session, "queue one", *(f"note {n}" for n in range(5)))
    given = for_leg(store, session, prompt)
    assert len(given) >= 3
    assert given[0].content == "queue one" or "queue" not in prompt


def test_a_damaged_index_means_less_found_not_a_failure(store, session, monkeypatch):
    monkeypatch.setattr(lexical, "SCAN", 3)
    learn(store, session, *(f"queue {n}" for n in range(9)))
    store.write_sync(lambda db: db.execute("update percepts_fts_data set block = zeroblob(3)"))
    assert len(for_leg(store, session, "queue")) == 3
    assert len(search(store, "queue", session)) == 9


def test_a_person_finds_by_word_beginning_part_and_id(store, session):
    facts = learn(store, session, "checkout retries in the queue", "the banner is green", "see payments/handler.py")
    assert search(store, "retry") == ["checkout retries in the queue"]
    assert search(store, "bann") == ["the banner is green"]
    assert search(store, "nts/hand") == ["see payments/handler.py"]
    assert search(store, facts[1].short_id)[0] == "the banner is green"
    assert search(store, "no such thing at all") == []


def test_a_person_who_types_nothing_sees_all_but_the_forgotten(store, session):
    facts = learn(store, session, "one", "two", "three")
    store.write_sync(lambda db: percepts.forget(db, facts[0].id))
    store.write_sync(lambda db: percepts.pin(db, facts[1].id, True))
    assert search(store, "  ") == ["two", "three"]
    assert search(store, "", limit=1) == ["two"]


def test_a_search_within_a_session_sees_what_the_session_can(store, session):
    other = make_session(store, "/elsewhere")
    learn(store, session, "queue here", consumer=Consumer.ESCALATION)
    learn(store, other, "queue there")
    learn(store, None, "queue everywhere")
    assert set(search(store, "queue", session)) == {"queue here", "queue everywhere"}
    assert set(search(store, "queue")) == {"queue here", "queue there", "queue everywhere"}


def test_the_best_match_comes_first_in_a_search(store, session):
    learn(store, session, "a queue of many other words that are not asked for", "queue retries")
    assert search(store, "queue retries", session)[0] == "queue retries"
