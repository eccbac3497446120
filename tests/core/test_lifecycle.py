"""How facts gain and lose weight over sessions: the table of ``semantics.md`` §2."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from milk_tui.core import lifecycle
from milk_tui.core.lifecycle import Changes, Edge, EdgeKind, Period, Step, consolidate, reinforced
from milk_tui.core.records import (
    BIRTH_WEIGHT,
    PINNED_WEIGHT,
    Consumer,
    Percept,
    PerceptScope,
    PerceptStatus,
    Producer,
)

DAY = date(2026, 5, 2)


def fact(percept_id: str = "a", weight: int | None = None, producer: Producer = Producer.PRIMARY, **more) -> Percept:
    pinned = more.get("pinned", False)
    return Percept(
        **{
            "id": percept_id,
            "content": "checkout retries in the queue",
            "producer": producer,
            "agent_name": "qwen",
            "consumer": Consumer.ALL,
            "scope": PerceptScope.SESSION,
            "weight": (PINNED_WEIGHT if pinned else BIRTH_WEIGHT[producer]) if weight is None else weight,
            "pinned": False,
            "status": PerceptStatus.LIVE,
            "created_ms": 0,
            "updated_ms": 0,
            "confirmed_ms": 0,
            "session_id": "s",
            **more,
        }
    )


def everywhere(percept_id: str = "a", weight: int = 850, **more) -> Percept:
    return fact(percept_id, weight, scope=PerceptScope.GLOBAL, **more)


def after(facts: Iterable[Percept], changes: Changes) -> list[Percept]:
    """The facts as a store would have them once the changes are written."""
    return [
        structs.replace(
            each,
            weight=changes.weights.get(each.id, each.weight),
            scope=PerceptScope.GLOBAL if each.id in changes.promoted else each.scope,
            status=PerceptStatus.FORGOTTEN if each.id in changes.forgotten else each.status,
        )
        for each in facts
    ]


def live(facts: list[Percept], periods: int, edges: Iterable[Edge] = ()) -> list[list[Percept]]:
    """The facts after each of so many sessions, one a day, each with one new turn."""
    edges = list(edges)
    history = []
    last = None
    day = DAY
    global_day = None
    for number in range(1, periods + 1):
        period = Period(session_id="s", last_turn_id=number)
        changes = consolidate(facts, edges, period=period, last=last, today=day, global_day=global_day)
        facts = after(facts, changes)
        history.append(facts)
        last, day, global_day = period, day + timedelta(days=1), changes.global_day
    return history


def once(facts: list[Percept], edges: Iterable[Edge] = (), **more) -> Changes:
    arguments = {"period": Period(session_id="s", last_turn_id=7), "last": None, "today": DAY, **more}
    return consolidate(facts, edges, **arguments)


def steps(changes: Changes) -> list[tuple[Step, int, int]]:
    return [(row.step, row.before, row.after) for row in changes.rows]


def test_a_persons_fact_becomes_global_with_its_first_consolidation():
    changes = once([fact(producer=Producer.USER)])
    assert steps(changes) == [(Step.DECAYED, 900, 800), (Step.PROMOTED, 800, 800)]
    assert changes.promoted == ("a",)


@pytest.mark.parametrize("producer", [Producer.PRIMARY, Producer.ESCALATION])
def test_an_agents_fact_is_gone_exactly_at_the_fifth(producer):
    history = live([fact(producer=producer)], 6)
    assert [facts[0].weight for facts in history] == [600, 500, 400, 300, 200, 200]
    assert [facts[0].status for facts in history] == [PerceptStatus.LIVE] * 4 + [PerceptStatus.FORGOTTEN] * 2


def test_a_fact_of_the_system_is_gone_exactly_at_the_second():
    history = live([fact(producer=Producer.SYSTEM)], 2)
    assert [(facts[0].weight, facts[0].holds) for facts in history] == [(300, True), (200, False)]


def test_a_kept_note_of_the_helper_is_gone_exactly_at_the_fourth():
    history = live([fact(producer=Producer.HELPER)], 4)
    assert [facts[0].holds for facts in history] == [True, True, True, False]


def test_a_pinned_fact_never_loses_weight_and_is_never_forgotten():
    edges = [Edge(source="b", target="a", kind=EdgeKind.CONTRADICTS)]
    history = live([fact(pinned=True), fact("b")], 20, edges)
    assert all(facts[0].weight == PINNED_WEIGHT and facts[0].holds for facts in history)


def test_a_pinned_fact_of_the_session_is_there_in_the_next_one():
    assert once([fact(pinned=True)]).promoted == ("a",)


def test_a_global_fact_loses_20_at_most_once_a_calendar_day():
    first = once([everywhere()])
    assert steps(first) == [(Step.DECAYED, 850, 830)]
    assert first.global_day == DAY
    facts = after([everywhere()], first)
    same_day = once(facts, period=Period(session_id="other", last_turn_id=9), global_day=first.global_day)
    assert same_day.rows == ()
    assert same_day.counted
    assert same_day.global_day is None
    next_day = once(facts, today=DAY + timedelta(days=1), global_day=first.global_day)
    assert steps(next_day) == [(Step.DECAYED, 830, 810)]


def test_a_clock_that_goes_back_decays_nothing_global():
    assert once([everywhere()], today=DAY - timedelta(days=1), global_day=DAY).rows == ()


def test_a_fact_that_becomes_global_is_not_decayed_twice_that_day():
    first = once([fact(producer=Producer.USER)])
    facts = after([fact(producer=Producer.USER)], first)
    again = once(facts, period=Period(session_id="s", last_turn_id=8), global_day=first.global_day)
    assert again.rows == ()


def test_a_contradiction_lowers_both_ends():
    changes = once([fact("a"), fact("b")], [Edge(source="a", target="b", kind=EdgeKind.CONTRADICTS)])
    assert changes.weights == {"a": 500, "b": 500}
    assert "#b says otherwise" in changes.rows[1].reason


@pytest.mark.parametrize("kind", [EdgeKind.EXTENDS, EdgeKind.UPDATES, EdgeKind.DERIVES])
def test_every_other_edge_lifts_its_target_alone(kind):
    changes = once([fact("a"), fact("b")], [Edge(source="a", target="b", kind=kind)])
    assert changes.weights == {"a": 600, "b": 650}


def test_decay_comes_before_edges_and_edges_before_forgetting_and_promotion():
    saved = once([fact("a", 300), fact("b")], [Edge(source="b", target="a", kind=EdgeKind.EXTENDS)])
    assert [row.step for row in saved.rows if row.percept_id == "a"] == [Step.DECAYED, Step.LIFTED]
    assert saved.weights["a"] == 250
    made_global = once([fact("a", 850), fact("b")], [Edge(source="b", target="a", kind=EdgeKind.DERIVES)])
    assert made_global.promoted == ("a",)
    lost = once([fact("a", 400), fact("b")], [Edge(source="b", target="a", kind=EdgeKind.CONTRADICTS)])
    assert lost.forgotten == ("a",)


def test_two_calls_in_one_period_are_one_decay():
    facts = [fact("a"), everywhere("g")]
    period = Period(session_id="s", last_turn_id=3)
    first = consolidate(facts, [], period=period, last=None, today=DAY)
    again = consolidate(after(facts, first), [], period=period, last=period, today=DAY + timedelta(days=2))
    assert first.counted
    assert first.period.key == "s:3"
    assert again == Changes(period=period)


def test_a_session_without_a_turn_is_no_period():
    assert once([fact()], period=Period(session_id="s", last_turn_id=0)) == Changes(
        period=Period(session_id="s", last_turn_id=0)
    )


def test_a_fact_of_another_session_is_left_alone():
    assert once([fact(session_id="other")]).rows == ()


@pytest.mark.parametrize(
    "status", [PerceptStatus.STAGED, PerceptStatus.QUARANTINED, PerceptStatus.SUPERSEDED, PerceptStatus.FORGOTTEN]
)
def test_what_does_not_hold_neither_changes_nor_moves_another(status):
    edges = [Edge(source="a", target="b", kind=kind) for kind in EdgeKind]
    assert once([fact("a", status=status), fact("b")], edges).weights == {"b": 600}


def test_a_tainted_fact_is_never_made_global():
    assert once([fact(weight=1000, tainted=True)]).promoted == ()


@pytest.mark.parametrize("kind", list(EdgeKind))
def test_a_tainted_fact_moves_no_trusted_one(kind):
    edges = [Edge(source="a", target="b", kind=kind), Edge(source="b", target="a", kind=kind)]
    assert once([fact("a", tainted=True), fact("b")], edges).weights["b"] == 600


def test_a_flood_of_edges_counts_for_little():
    crowd = [fact(f"n{number}") for number in range(50)]
    against = [Edge(source=each.id, target="a", kind=EdgeKind.CONTRADICTS) for each in crowd]
    lifting = [Edge(source=each.id, target="a", kind=EdgeKind.EXTENDS) for each in crowd]
    assert once([fact("a", 900), *crowd], against).weights["a"] == 700
    assert once([fact("a", 700), *crowd], lifting).weights["a"] == 700


def test_an_edge_acts_on_a_global_fact_once_a_day():
    facts = [everywhere("a"), fact("b")]
    edges = [Edge(source="a", target="b", kind=EdgeKind.CONTRADICTS)]
    first = once(facts, edges)
    assert first.weights == {"a": 730, "b": 500}
    second = once(after(facts, first), edges, period=Period(session_id="s", last_turn_id=8), global_day=DAY)
    assert second.weights == {"b": 300}


def test_every_change_says_why():
    changes = once(
        [fact("a", producer=Producer.USER), fact("b", 200), everywhere("g")],
        [Edge(source="a", target="g", kind=EdgeKind.EXTENDS)],
    )
    assert {row.percept_id: row.reason for row in changes.rows if row.step is Step.LIFTED} == {"g": "#a extends it"}
    assert all(row.reason and "\n" not in row.reason for row in changes.rows)
    assert "0.10" in next(row.reason for row in changes.rows if row.step is Step.FORGOTTEN)


def test_an_independent_confirmation_adds_50():
    assert reinforced(fact(), by=Producer.USER) == 750
    assert reinforced(fact(), by=Producer.ESCALATION) == 750


def test_the_same_producer_adds_nothing():
    assert reinforced(fact(), by=Producer.PRIMARY) == 700
    assert reinforced(fact(), by=Producer.USER, earlier=[Producer.USER]) == 700


def test_a_use_adds_50_at_most_once_a_turn():
    assert reinforced(fact(), by=None) == 750
    assert reinforced(fact(), by=None, already_this_turn=True) == 700


def test_a_weight_stops_at_1000_and_a_pinned_one_stays():
    assert reinforced(fact(weight=980), by=None) == 1000
    assert reinforced(fact(pinned=True), by=None) == 1000


def test_a_forgotten_fact_can_be_restored_for_30_days():
    day_ms = 86_400_000
    assert lifecycle.restorable(1_000, 1_000 + 30 * day_ms)
    assert not lifecycle.restorable(1_000, 1_001 + 30 * day_ms)


def test_a_restored_fact_is_not_forgotten_again_at_once():
    restored = fact(weight=lifecycle.restored_weight(fact(weight=200)))
    assert once([restored]).forgotten == ()
    assert lifecycle.restored_weight(fact(weight=950)) == 950


names = st.sampled_from("abcdefgh")
facts_of_any_kind = st.lists(
    st.builds(
        fact,
        names,
        st.integers(0, 1000),
        st.sampled_from(Producer),
        pinned=st.booleans(),
        tainted=st.booleans(),
        scope=st.sampled_from(PerceptScope),
        status=st.sampled_from(PerceptStatus),
        session_id=st.sampled_from(["s", "other"]),
    ),
    max_size=8,
    unique_by=lambda each: each.id,
)
edges_of_any_kind = st.lists(st.builds(Edge, source=names, target=names, kind=st.sampled_from(EdgeKind)), max_size=20)


@given(facts_of_any_kind, edges_of_any_kind)
def test_weights_stay_within_bounds_and_rows_join_up(facts, edges):
    changes = once(facts, edges)
    at = {each.id: each.weight for each in facts}
    for row in changes.rows:
        assert row.before == at[row.percept_id]
        assert 0 <= row.after <= 1000
        at[row.percept_id] = row.after
    pinned = {each.id for each in facts if each.pinned}
    assert not pinned & set(changes.forgotten)
    assert all(row.after == row.before for row in changes.rows if row.percept_id in pinned)


@given(facts_of_any_kind, edges_of_any_kind, st.randoms())
def test_the_order_of_facts_and_edges_does_not_matter(facts, edges, chosen):
    changes = once(facts, edges)
    chosen.shuffle(facts)
    chosen.shuffle(edges)
    assert once(facts, edges) == changes


@given(facts_of_any_kind, edges_of_any_kind)
def test_an_edge_said_twice_is_one_edge(facts, edges):
    assert once(facts, edges + edges) == once(facts, edges)


@given(facts_of_any_kind, edges_of_any_kind)
def test_nothing_tainted_is_promoted_and_nothing_light_is_kept(facts, edges):
    then = after(facts, once(facts, edges))
    before = {each.id: each for each in facts}
    for each in then:
        if each.tainted:
            assert each.scope is before[each.id].scope
        if each.holds and not each.pinned and (each.scope is PerceptScope.GLOBAL or each.session_id == "s"):
            assert each.weight > lifecycle.FORGET_AT


@given(facts_of_any_kind, edges_of_any_kind)
def test_a_second_call_changes_nothing(facts, edges):
    first = once(facts, edges)
    assert once(after(facts, first), edges, last=first.period).rows == ()
