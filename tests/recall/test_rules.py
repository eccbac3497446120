"""The pure rules of recall: questions about the past, copies, scores and the floor."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from milk_tui.core.records import Consumer, Percept, PerceptScope, PerceptStatus, Producer
from milk_tui.recall import ranking
from milk_tui.recall.copies import Text
from milk_tui.recall.past import asks_about_the_past
from milk_tui.recall.ranking import Candidate

PAST = [
    "what did we use before Postgres?",
    "which database was it originally",
    "history of the shipping limit",
    "how were blocks delimited in the first version",
    "minimum Android version back in spring 2025",
    "what was my machine",
    "how often did a node measure in 2025",
    "tarif d'avant",
    "wie hieß es früher?",
    "之前用什么数据库",
]
PRESENT = [
    "which database do we use",
    "add a test for the importer",
    "make the history view faster",
    "why is checkout slow",
    "fix the build and deploy it",
    "was",
    "",
]


@pytest.mark.parametrize("text", PAST)
def test_a_question_about_the_past_is_known(text):
    assert asks_about_the_past(text)


@pytest.mark.parametrize("text", PRESENT)
def test_a_prompt_about_now_is_not_one(text):
    assert not asks_about_the_past(text)


COPIES = [
    ("The deploy job runs at noon.", "the deploy job runs at noon"),
    ("Tests run with pytest, always in the container!", "tests run with pytest always in the container"),
]
DIFFERENT = [
    ("The port is 5432.", "The port is 5433."),
    ("Use tabs.", "Don't use tabs."),
    ("Deploys need an approval.", "Deploys need no approval."),
    ("See docs/a.md for it.", "See docs/b.md for it."),
    ("The API is REST.", "The API is SOAP."),
    ("Ship on Monday at ten.", "Ship on Tuesday at ten."),
    ("", ""),
]


@pytest.mark.parametrize(("one", "other"), COPIES)
def test_nearly_the_same_words_are_a_copy(one, other):
    assert Text(one).repeats(Text(other)) and Text(other).repeats(Text(one))


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_another_value_or_sign_is_no_copy(one, other):
    assert not Text(one).repeats(Text(other))


@pytest.mark.parametrize(("one", "other"), DIFFERENT[:5])
def test_not_even_when_the_vectors_are_near(one, other):
    assert not Text(one).may_repeat(Text(other))


def fact(number=1, *, weight=700, confirmed=0):
    return Percept(
        id=f"{number:08x}-0000",
        content="x",
        producer=Producer.USER,
        agent_name="",
        consumer=Consumer.ALL,
        scope=PerceptScope.SESSION,
        weight=weight,
        pinned=False,
        status=PerceptStatus.LIVE,
        created_ms=0,
        updated_ms=0,
        confirmed_ms=confirmed,
    )


def scored(*candidates, ideal=10.0):
    return ranking.score(candidates, ideal=ideal)


def test_words_count_one_for_the_best_that_has_most_of_what_was_asked():
    best, other = scored(Candidate(fact(1), 1, words=9.0), Candidate(fact(2), 2, words=4.5))
    assert best.shares[0] == 1.0 and other.shares[0] == 0.5


def test_words_count_less_when_even_the_best_has_little():
    (only,) = scored(Candidate(fact(), 1, words=2.0))
    assert only.shares[0] == pytest.approx(0.25)


def test_meaning_decides_between_facts_that_share_little():
    near, far = scored(
        Candidate(fact(1), 1, words=2.0, above=0.0, cosine=0.1), Candidate(fact(2), 2, above=6.0, cosine=0.5)
    )
    assert near.seq == 2 and far.seq == 1


def test_a_fact_without_words_needs_some_nearness():
    assert scored(Candidate(fact(), 1, above=9.0, cosine=ranking.LEAST_COSINE - 0.01)) == []
    assert len(scored(Candidate(fact(), 1, above=9.0, cosine=ranking.LEAST_COSINE))) == 1


@given(
    st.lists(st.tuples(st.floats(0, 50), st.floats(-3, 9), st.integers(0, 1000), st.integers(0, 2**41)), max_size=20),
    st.floats(0, 60),
)
def test_weight_and_confirmation_never_turn_a_clear_order(rows, ideal):
    ranked = scored(
        *(
            Candidate(fact(n, weight=w, confirmed=c), n, words=b, above=z, cosine=0.3)
            for n, (b, z, w, c) in enumerate(rows)
        ),
        ideal=ideal,
    )
    assert [c.score for c in ranked] == sorted((c.score for c in ranked), reverse=True)
    relevance = [c.shares[0] + c.shares[1] for c in ranked]
    for before, after in itertools.pairwise(relevance):
        assert after <= before * 1.05 + 1e-9


@pytest.mark.parametrize(("size", "height"), [(0, 0), (20, 0), (120, 0.5), (220, 1), (10**6, 1)])
def test_the_floor_rises_with_the_number_of_facts(size, height):
    assert ranking.height(size) == pytest.approx(height)


def floor(words, *, cosine=None, size=1_000, ideal=10.0):
    above = None if cosine is None else 3.0
    return ranking.floor(scored(Candidate(fact(), 1, words=words, above=above, cosine=cosine), ideal=ideal), size=size)


def test_below_the_floor_nothing_is_given_and_just_above_it_a_few():
    assert floor(2.4).most == 0
    assert floor(2.6).most == ranking.FEW
    assert floor(5.0).most is None
    assert floor(0.0, cosine=0.3).most == 0
    assert floor(0.0, cosine=0.4).most == ranking.FEW
    assert floor(8.0, cosine=0.5).most is None


def test_there_is_no_floor_among_few_facts_or_for_nothing():
    assert floor(0.1, size=10).most is None
    assert ranking.floor([], size=1_000).most == 0
