"""What is proposed for cleaning up: only what a person would expect, and marks that lose nothing of theirs."""

from __future__ import annotations

import random

import pytest

from milk_tui.core import cleanup
from milk_tui.core.cleanup import UNUSED_DAYS
from milk_tui.core.records import Consumer, PerceptStatus, Producer
from tests.ui.samples import NOW, percept

LATER = NOW + UNUSED_DAYS * 86_400_000


def contents(candidates):
    return [[fact.content for fact in group] for group in candidates.groups]


def marked(candidates):
    return sorted(fact.content for fact in candidates.percepts if fact.id in candidates.marked)


def alike(*texts, **more):
    return cleanup.look_alikes([percept(n, text, **more) for n, text in enumerate(texts, 1)])


def test_a_fact_that_no_agent_was_given_in_a_week_was_never_recalled():
    facts = [
        percept(1, "never"),
        percept(2, "used", uses=1),
        percept(3, "in a receipt", id="abc12300-0000-4000-8000-000000000000"),
        percept(4, "young", created_ms=NOW + 1),
        percept(5, "pinned", pinned=True),
        percept(6, "gone", status=PerceptStatus.FORGOTTEN),
        percept(7, "the person's", producer=Producer.USER),
    ]
    found = cleanup.never_recalled(facts, {"#abc123"}, LATER)
    assert contents(found) == [["never"], ["the person's"]]
    assert marked(found) == ["never"]


def test_a_fact_whose_time_is_over_is_expired():
    facts = [
        percept(1, "over", valid_to_ms=NOW),
        percept(2, "not yet", valid_to_ms=LATER + 1),
        percept(3, "open end"),
        percept(4, "replaced", valid_to_ms=NOW, status=PerceptStatus.SUPERSEDED),
        percept(5, "pinned", valid_to_ms=NOW + 1, pinned=True),
    ]
    found = cleanup.expired(facts, LATER)
    assert contents(found) == [["over"], ["pinned"]]
    assert marked(found) == ["over"]


def test_of_a_conflict_the_older_is_marked_unless_it_is_the_persons_or_pinned():
    new = percept(9, "new")
    olds = [percept(1, "an agent's"), percept(2, "a person's", producer=Producer.USER), percept(3, "pin", pinned=True)]
    assert marked(cleanup.conflicts([(new, old) for old in olds])) == ["an agent's"]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("retries live in the queue", "The retries live in the queue."),
        ("the retry lives in the queue worker", "retries live in the queue workers"),
        ("deploys run from the main branch", "deploys run from the main branch only after review"),
        ("部署は夜に行う", "部署は夜に行う。"),
    ],
)
def test_the_same_in_almost_the_same_words_is_a_look_alike(one, other):
    assert len(alike(one, other).groups) == 1


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("the timeout of the checkout is 30 seconds", "the timeout of the checkout is 60 seconds"),
        ("use tabs for indentation in this project", "use spaces for indentation in this project"),
        ("deploy on Fridays after the review", "do not deploy on Fridays after the review"),
        ("never log the session token", "log the session token"),
        ("we use Postgres for the orders", "we use ScyllaDB for the orders"),
        (
            "retries live in the queue",
            "retries live in the queue of the payment service in Frankfurt beside the ledger",
        ),
        ("the API is at v2", "the API is at v3"),
        ("", "!!!"),
    ],
)
def test_another_value_or_a_not_makes_another_fact(one, other):
    assert alike(one, other).groups == ()


def test_facts_for_different_readers_are_not_alike():
    facts = [percept(1, "the same words", consumer=Consumer.PRIMARY), percept(2, "the same words.")]
    assert cleanup.look_alikes(facts).groups == ()


def test_the_best_of_a_group_stays_unmarked():
    group = [
        percept(1, "retries live in the queue", weight=900),
        percept(2, "the retries live in the queue", weight=300),
        percept(3, "retries live in the queue.", producer=Producer.USER, weight=200),
    ]
    found = cleanup.look_alikes(group)
    assert contents(found)[0][0] == "retries live in the queue."
    assert len(found.marked) == 2
    pinned = percept(4, "Retries live in the queue", pinned=True, weight=1000)
    assert cleanup.look_alikes([*group, pinned]).groups[0][0] is pinned


def test_the_groups_do_not_depend_on_the_order_in_which_facts_come():
    texts = [
        f"{word} lives in the {place}" for word in ("cache", "queue", "ledger") for place in ("box", "boxes", "hall")
    ]
    facts = [percept(n, text) for n, text in enumerate(texts)]
    expected = cleanup.look_alikes(facts)
    for seed in range(5):
        random.Random(seed).shuffle(facts)
        assert cleanup.look_alikes(facts) == expected
