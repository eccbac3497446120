"""Every score part and every exclusion has its reason."""

from __future__ import annotations

import pytest

from milk_tui.core.records import Consumer
from milk_tui.recall import Reason
from milk_tui.store import percepts
from tests.store.makers import make_session


def reasons(explanation):
    return {item.percept.content: item.reason for item in explanation.items}


def test_an_explanation_says_what_is_given_in_its_order_and_then_the_rest(memory):
    memory.learn("queue retries three times", "queue workers are slow", "unrelated")
    why = memory.why("how often does the queue retry?")
    assert why.given == tuple(memory.given("how often does the queue retry?"))
    assert [item.given for item in why.items] == sorted((item.given for item in why.items), reverse=True)
    assert why.engine == "fts"
    assert set(why.words) == {"queue", "retry"} and why.unknown == ("often",)


def test_the_parts_of_a_score_add_up(memory):
    memory.learn("queue retries three times", "queue workers")
    for item in memory.why("queue retries").items:
        assert sum(part.value for part in item.parts) == pytest.approx(item.score, abs=0.005)
        assert [part.name for part in item.parts] == ["words", "meaning", "weight", "confirmed"]


def test_weight_and_confirmation_are_at_most_a_twentieth_of_the_rest(memory):
    memory.learn("queue one", pinned=False, now=1)
    memory.learn("queue two", now=10**12)
    for item in memory.why("queue").items:
        words, meaning, weight, confirmed = (part.value for part in item.parts)
        assert weight + confirmed <= 0.05 * (words + meaning) + 0.001


def test_each_exclusion_has_its_reason(memory):
    other = make_session(memory.store, "/elsewhere")
    memory.learn("queue for the other", consumer=Consumer.ESCALATION)
    memory.learn("queue elsewhere", session=other)
    memory.learn("queue pinned", pinned=True)
    (held,) = memory.learn("queue held back")
    memory.sql("update percepts set status = 'quarantined' where id = ?", held.id)
    (told,) = memory.learn("queue told")
    old, new = memory.learn("queue of old", "something newer")
    memory.supersede(old, new)
    memory.learn("queue given")
    found = reasons(memory.why("queue", told=[told.id]))
    assert found == {
        "queue for the other": Reason.NOT_FOR_IT,
        "queue elsewhere": Reason.ELSEWHERE,
        "queue pinned": Reason.PINNED,
        "queue held back": Reason.NOT_LIVE,
        "queue told": Reason.TOLD,
        "queue of old": Reason.REPLACED,
        "something newer": Reason.GIVEN,
        "queue given": Reason.GIVEN,
    }


def test_what_does_not_fit_says_why(memory):
    memory.learn("queue " + "x" * 300, "queue one", "queue two", "queue three")
    assert reasons(memory.why("queue", max_bytes=200))["queue " + "x" * 300] is Reason.NO_ROOM
    assert sorted(reasons(memory.why("queue", max_items=2)).values()) == ["full", "full", "given", "given"]


def test_a_copy_names_what_it_repeats(memory):
    one, _ = memory.learn("The deploy job of the shop runs at noon.", "the deploy job of the shop runs at noon")
    (copy,) = [item for item in memory.why("deploy job").items if item.reason is Reason.COPY]
    assert one.short_id in copy.detail or memory.given("deploy job")[0].short_id in copy.detail


def test_what_is_below_the_floor_says_how_far(memory):
    memory.fill()
    memory.learn("deploys are on Friday")
    why = memory.why("translate this poem about a Friday evening into Italian verse")
    assert why.given == ()
    (item,) = [item for item in why.items if item.percept.content == "deploys are on Friday"]
    assert item.reason is Reason.WEAK and "of the floor" in item.detail


def test_without_a_role_both_agents_facts_are_explained(memory):
    memory.learn("queue for one", consumer=Consumer.PRIMARY)
    memory.learn("queue for the other", consumer=Consumer.ESCALATION)
    assert len(memory.why("queue", role=None).given) == 2


def test_a_forgotten_fact_is_not_even_explained(memory):
    (fact,) = memory.learn("queue one")
    memory.store.write_sync(lambda db: percepts.forget(db, fact.id))
    assert memory.why("queue").items == ()


def test_a_blank_prompt_is_explained_by_weight(memory):
    memory.learn("one", "two")
    why = memory.why(" ")
    assert len(why.given) == 2 and why.prompt == ""
