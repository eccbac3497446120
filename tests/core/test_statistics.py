"""What a session used, turn by turn: nothing that nobody reported is counted as nothing."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from milk_tui.core.records import LegStatus, Role
from milk_tui.core.statistics import LegFigures, cached_share, cost_per_turn, spans, tokens_per_turn, totals

NUMBER = st.none() | st.integers(0, 10**7)
LEGS = st.lists(
    st.builds(
        LegFigures,
        leg_id=st.integers(1, 1000),
        turn_id=st.integers(1, 60),
        role=st.sampled_from(Role),
        agent=st.sampled_from(["fast", "deep"]),
        model=st.just("m"),
        status=st.sampled_from([LegStatus.DONE, LegStatus.FAILED]),
        sent=NUMBER,
        written=NUMBER,
        cached=NUMBER,
        cost_usd=st.none() | st.floats(0, 10),
    ),
    max_size=80,
)


def leg(turn: int, role: Role = Role.PRIMARY, **figures: object) -> LegFigures:
    kept = {"agent": "fast", "model": "m", "status": LegStatus.DONE, **figures}
    return LegFigures(leg_id=turn, turn_id=turn, role=role, **kept)  # type: ignore[arg-type]


@given(LEGS, st.integers(1, 200))
def test_every_leg_is_in_exactly_one_column_and_no_column_is_too_many(legs: list[LegFigures], most: int) -> None:
    found = spans(legs, most, lambda own: float(len(own)))
    assert len(found) <= most
    assert sum(number or 0 for span in found for number in span.values.values()) == len(legs)
    assert all(before.last < after.first for before, after in pairwise(found))


@given(LEGS)
def test_the_sums_of_all_agents_are_those_of_all_legs(legs: list[LegFigures]) -> None:
    found = totals(legs)
    assert sum(each.legs for each in found) == len(legs)
    assert sum(each.usage.input_tokens or 0 for each in found) == sum(each.sent or 0 for each in legs)
    assert all(each.cached_share is None or 0 <= each.cached_share <= 1 for each in found)


def test_what_nobody_reported_is_unknown_and_not_nothing() -> None:
    (span,) = spans([leg(1), leg(1, Role.ESCALATION, sent=10, written=0)], 5, tokens_per_turn)
    assert span.values == {Role.PRIMARY: None, Role.ESCALATION: 10}
    assert totals([leg(1)])[0].usage.cost_usd is None
    assert totals([leg(1)])[0].cost_unknown == 1


def test_turns_that_share_a_column_have_their_mean() -> None:
    legs = [leg(1, cost_usd=1.0), leg(2, cost_usd=3.0), leg(3), leg(3, cost_usd=2.0)]
    (span,) = spans(legs, 1, cost_per_turn)
    assert (span.first, span.last, span.turns) == (1, 3, 3)
    assert span.values[Role.PRIMARY] == 2.0


def test_a_share_is_one_of_the_tokens_whose_caching_is_known() -> None:
    assert cached_share([leg(1, sent=100, cached=50), leg(2, sent=900)]) == 0.5
    assert cached_share([leg(1, sent=100)]) is None
    assert cached_share([leg(1, sent=0, cached=0)]) is None
