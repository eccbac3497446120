"""Every target of the fuzzing holds for its seeds and for what Hypothesis makes of them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.reliability.targets import TARGETS

MARKS = [
    b"<milk:",
    b"</milk:",
    b"abc123",
    b"xyz789",
    b">",
    b"`",
    b"```\n",
    b"\n",
    b"\x1b[",
    b"\xe2\x80\xae",
    b"\xed\xa0\x80",
    b'"',
    b"{",
]


@st.composite
def mutated(draw: st.DrawFn, seeds: tuple[bytes, ...]) -> bytes:
    """A seed of which pieces were cut out, doubled, replaced or mixed with marks."""
    data = draw(st.sampled_from(seeds))
    for _ in range(draw(st.integers(0, 6))):
        at, end = sorted((draw(st.integers(0, len(data))), draw(st.integers(0, len(data)))))
        put = draw(st.one_of(st.binary(max_size=6), st.sampled_from(MARKS), st.just(data[at:end] * 2)))
        data = data[:at] + put + data[end:]
    return data


@pytest.mark.parametrize("name", TARGETS)
def test_a_parser_holds_for_whatever_comes(name: str, record_property: Any) -> None:
    target = TARGETS[name]
    tried = len(target.seeds)
    for seed in target.seeds:
        target.run(seed)

    @settings(max_examples=20 if name == "foreign" else 120, deadline=None, suppress_health_check=list(HealthCheck))
    @given(mutated(target.seeds))
    def holds(data: bytes) -> None:
        nonlocal tried
        tried += 1
        target.run(data)

    holds()
    record_property("tried", tried)
