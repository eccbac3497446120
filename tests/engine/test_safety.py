"""Every labelled case at the door of memory is contained (``recall.md``, "Safety")."""

from __future__ import annotations

import pytest

from tests.support.memory_door import bring, cases, contained


@pytest.mark.parametrize("case", cases(), ids=lambda case: case["id"])
def test_what_must_stay_out_stays_out_and_what_is_harmless_comes_in(case: dict) -> None:
    outcome = bring(case)
    assert contained(case, outcome), f"{case['why']}: {outcome}"
