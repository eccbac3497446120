"""Where was it said? Turns are found by their words, their neighbours' and their facts'."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from milk_tui import recall
from tests.store.makers import answered, make_session


@pytest.fixture
def talk(store, session):
    """Prompts and answers; the turns' ids in order."""
    said = (
        ("where do we deploy?", "To the cluster in Oslo."),
        ("who pays for it?", "The platform team."),
        ("add a test for the importer", "Done, it covers empty dates."),
        ("rename the banner", "It is called ribbon now."),
        ("thanks", "You're welcome."),
    )
    return [answered(store, session, prompt, answer).turn_id for prompt, answer in said]


def find(store, text, session=None, **more):
    session_id = session.id if session else None
    return [
        hit.turn_id for hit in store.read_sync(lambda conn: recall.turns(conn, text, session_id=session_id, **more))
    ]


def test_a_turn_is_found_by_its_prompt_and_by_its_answer(store, talk):
    assert find(store, "tests of the importer")[0] == talk[2]
    assert find(store, "empty dates")[0] == talk[2]


def test_the_words_of_the_turns_beside_it_count_too(store, talk):
    found = find(store, "who pays for the cluster?")
    assert found[0] == talk[1]
    assert set(find(store, "importer")) == {talk[1], talk[2], talk[3]}, "those beside it follow"


def test_a_fact_leads_to_the_turn_in_which_it_was_learned(memory, talk):
    memory.learn("deliveries are billed quarterly", turn_id=talk[4])
    assert find(memory.store, "billed quarterly")[0] == talk[4]


def test_only_the_turns_of_the_session_are_found_when_one_is_named(store, session, talk):
    other = make_session(store, "/elsewhere")
    there = answered(store, other, "the importer of the other", "yes").turn_id
    assert there in find(store, "importer")
    assert there not in find(store, "importer", session)
    assert find(store, "importer", other)[0] == there


def test_a_limit_holds_and_scores_fall(store, talk):
    hits = store.read_sync(lambda conn: recall.turns(conn, "importer banner cluster", limit=2))
    assert len(hits) == 2 and hits[0].score >= hits[1].score > 0


def test_what_nobody_said_is_found_nowhere(store, talk):
    assert find(store, "zebra") == [] and find(store, "") == [] and find(store, "and the") == []


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.text(max_size=60) | st.text('"*():^-+{}\\%_ANDORNET#\x00', max_size=40))
def test_no_text_makes_it_fail(store, text):
    session = make_session(store)
    answered(store, session, "NEAR and (far) * queue", "数据库 \x00 here")
    find(store, text)
