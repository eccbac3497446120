"""Lists of the frame grow line by line; what is decided anew takes the place of what was decided before."""

from __future__ import annotations

import pytest

from milk_tui.core.perception import items
from milk_tui.core.perception_gather import added, gathered
from milk_tui.core.records import Layer
from tests.core.session_makers import entry


def texts(before: str, new: str, reason: str = "") -> list[str]:
    return [
        item.text
        for item in items(
            gathered(entry(Layer.FRAME, "decided", before), entry(Layer.FRAME, "decided", new, reason=reason))
        )
    ]


def test_a_line_adds_to_the_list_and_keeps_every_reason():
    made = gathered(
        entry(Layer.FRAME, "decided", "points are integer", reason="legal"),
        entry(Layer.FRAME, "decided", "awards are idempotent", reason="replay"),
    )
    assert made.value == "points are integer [reason: legal]\nawards are idempotent [reason: replay]"


@pytest.mark.parametrize(
    ("before", "new"),
    [
        ("we use Postgres", "we migrated to ScyllaDB"),
        ("the cache lives for 5 minutes", "the cache lives for 10 minutes"),
        ("points are integer", "Points are integer"),
    ],
)
def test_what_is_decided_anew_takes_the_place_of_what_was_decided(before, new):
    assert texts(f"{before}\nretries carry a key", new) == ["retries carry a key", new]


def test_a_line_that_may_be_contradicted_stays_and_is_marked():
    made = items(gathered(entry(Layer.FRAME, "decided", "use Postgres"), entry(Layer.FRAME, "decided", "use ScyllaDB")))
    assert [(item.text, bool(item.stale)) for item in made] == [("use Postgres", True), ("use ScyllaDB", False)]


@pytest.mark.parametrize(
    ("body", "keys"),
    [
        ("decided: one", {"decided"}),
        ("decided: one\nopen: what?", {"decided", "open"}),
        ("decided:\n  - one", set()),
        ("decided:\n- one", set()),
        ("decided: one\n- two", set()),
        ("story: x", set()),
        ("decided:", set()),
    ],
)
def test_one_line_adds_and_a_list_replaces(body, keys):
    assert added(Layer.FRAME, body) == keys
    assert added(Layer.WORKING, body) == set()
