"""The room that pinned facts have."""

from __future__ import annotations

from milk_tui.core import percepts as rules
from milk_tui.core import pinned
from milk_tui.core.records import Consumer, PerceptStatus
from tests.ui.samples import percept


def pin(number, content="always", **more):
    return percept(number, content, **{"pinned": True, "weight": 1000, **more})


def test_each_pinned_fact_takes_the_bytes_of_its_line():
    one, two = pin(1, "short"), pin(2, "größer")
    room = pinned.room([one, two, percept(3, "not pinned"), pin(4, "gone", status=PerceptStatus.FORGOTTEN)])
    assert room.used == sum(len(rules.line(fact).encode()) + 1 for fact in (one, two))
    assert (room.limit, room.full, room.nearly) == (1_024, False, False)


def test_what_does_not_fit_is_named():
    facts = [pin(n, "x" * 300, confirmed_ms=n) for n in range(4)]
    room = pinned.room(facts)
    assert room.full
    assert room.left_out == {facts[0].id}
    assert room.used > room.limit


def test_the_room_is_that_of_the_agent_that_has_most():
    both, one = pin(1), pin(2, consumer=Consumer.ESCALATION)
    other = pin(3, "x" * 200, consumer=Consumer.PRIMARY)
    assert pinned.room([both, one, other]).used == pinned.size(both) + pinned.size(other)


def test_it_is_said_before_it_is_full():
    assert pinned.room([pin(1, "x" * 795)]).nearly
