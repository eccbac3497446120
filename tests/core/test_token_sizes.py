"""Sizes: characters are exact, tokens say whether they were counted, unknown is not nothing."""

from __future__ import annotations

import pytest

from milk_tui.core.records import Role
from milk_tui.core.token_sizes import Measure, Tokens, cache_use, estimate


def leg(**more: object) -> Measure:
    values: dict[str, object] = {"leg_id": 1, "turn_id": 1, "role": Role.PRIMARY, "chars": 400, **more}
    return Measure(**values)  # type: ignore[arg-type]


def test_an_estimate_rounds_up_and_says_that_it_is_one() -> None:
    assert estimate(0) == Tokens(0)
    assert estimate(5) == Tokens(2, estimated=True)


def test_a_sum_with_an_estimate_in_it_is_an_estimate() -> None:
    assert Tokens(3, estimated=False).plus(Tokens(4, estimated=False)) == Tokens(7, estimated=False)
    assert Tokens(3, estimated=False).plus(Tokens(4)) == Tokens(7, estimated=True)


@pytest.mark.parametrize(
    ("reported", "size"),
    [
        ({}, Tokens(100, estimated=True)),
        ({"input_tokens": 90}, Tokens(90, estimated=False)),
        ({"input_tokens": 270, "tools": 2}, Tokens(100, estimated=True)),
    ],
)
def test_a_context_is_what_one_request_was_reported_to_be(reported, size) -> None:
    assert leg(**reported).context == size


@pytest.mark.parametrize(
    ("reported", "share"),
    [
        ({}, None),
        ({"input_tokens": 100}, None),
        ({"cached_tokens": 50}, None),
        ({"input_tokens": 0, "cached_tokens": 0}, None),
        ({"input_tokens": 100, "cached_tokens": 0}, 0.0),
        ({"input_tokens": 100, "cached_tokens": 75}, 0.75),
        ({"input_tokens": 100, "cached_tokens": 130}, 1.0),
    ],
)
def test_a_cached_share_is_known_only_when_both_numbers_are(reported, share) -> None:
    assert leg(**reported).cached_share == share


def test_the_sum_says_how_many_legs_it_knows_nothing_of() -> None:
    use = cache_use(
        [
            leg(input_tokens=100, cached_tokens=80, cache_write_tokens=20),
            leg(input_tokens=100, cached_tokens=0),
            leg(input_tokens=500),
            leg(),
        ]
    )
    assert (use.legs, use.read_unknown, use.write_unknown) == (4, 2, 3)
    assert (use.usage.cached_tokens, use.usage.cache_write_tokens) == (80, 20)
    assert use.share == 0.4


def test_the_sum_over_nothing_is_unknown() -> None:
    assert cache_use([]).usage.cached_tokens is None
    assert cache_use([leg()]).share is None
