"""What a runtime that keeps its own history was given, and what is due again (``semantics.md`` §4)."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from milk_tui.core import remote_told
from milk_tui.core.records import (
    Brick,
    BrickKind,
    ContextMode,
    ContextPlan,
    Layer,
    NeedStatus,
    PerceptionEntry,
    Role,
    Segment,
)
from milk_tui.core.remote_told import Told
from tests.core.session_makers import percept

NEED = Brick(kind=BrickKind.NEED, text="fix it", version=1, turn_id=1, updated_ms=0, status=NeedStatus.OPEN)
FRAME = (PerceptionEntry(layer=Layer.FRAME, key="story", value="pay once"),)


def plan(mode: ContextMode = ContextMode.RETURNING, **texts: str) -> ContextPlan:
    segments = tuple(Segment(name=n, text=t, stable=False, included=True, why="") for n, t in texts.items())
    return ContextPlan(role=Role.ESCALATION, mode=mode, segments=segments)


def after(told: Told, given: ContextPlan, **fields: object) -> Told:
    values = {"facts": (), "now": {}, "answer": "ok", "reinjected": False, "compacted": False}
    return remote_told.after(told, given, **values | fields)  # type: ignore[arg-type]


def test_a_fact_is_known_in_the_words_in_which_it_was_given() -> None:
    one = percept(7, "The port is 80.")
    told = after(Told(), plan(), facts=(one,))
    assert remote_told.known(told, (one,)) == {one.id}
    assert remote_told.known(told, (replace(one, content="The port is 443."),)) == frozenset()


def test_a_layer_is_given_again_when_it_changed_and_only_then() -> None:
    now = remote_told.prints(NEED, FRAME, ())
    told = after(Told(), plan(current_need="x", frame="y"), now=now)
    assert remote_told.changed(told, now) == frozenset()
    older = (replace(FRAME[0], updated_ms=9, turn_id=7, writer="claude"),)
    assert remote_told.prints(NEED, older, ()) == now
    newer = remote_told.prints(NEED, (replace(FRAME[0], value="pay twice"),), ())
    assert remote_told.changed(told, newer) == {"frame"}


def test_what_was_left_out_of_a_leg_counts_as_not_given() -> None:
    now = remote_told.prints(NEED, FRAME, ())
    told = after(Told(), plan(current_need="x"), now=now)
    assert remote_told.changed(told, now) == {"frame"}


def test_a_layer_that_holds_nothing_any_more_is_said_once_and_again_after_it_came_back() -> None:
    full, empty = remote_told.prints(NEED, FRAME, ()), remote_told.prints(NEED, (), ())
    told = after(Told(), plan(current_need="x", frame="y"), now=full)
    [line] = remote_told.emptied(told, empty)
    told = after(told, plan(changes=f"[Changed]\n{line}\n[/Changed]"), now=empty)
    assert remote_told.emptied(told, empty) == ()
    told = after(told, plan(frame="y"), now=full)
    assert remote_told.emptied(told, empty) == (line,) and line not in told.lines


def test_a_fact_that_was_said_to_be_gone_may_be_told_again() -> None:
    one = percept(7, "The port is 80.")
    told = after(Told(), plan(), facts=(one,))
    gone = f"{one.short_id} no longer holds (now The port is 443.)"
    told = after(told, plan(changes=f"[Changed]\n{gone}\n(2 more changes)\n[/Changed]"))
    assert told.facts == {} and told.lines == (gone,)
    told = after(told, plan(), facts=(one,))
    assert remote_told.known(told, (one,)) == {one.id} and told.lines == ()


def test_a_first_leg_begins_the_record_anew() -> None:
    old = Told(facts={"a": "b"}, lines=("x",), turns=9, bytes=9, cost_usd=1.0, model="m")
    assert after(old, plan(ContextMode.FIRST)) == Told(turns=1, bytes=2)


def test_nothing_of_the_record_counts_after_a_compaction() -> None:
    told = after(Told(facts={"a": "b"}, cost_usd=1.0), plan(), compacted=True, model="m", cost_usd=2.0)
    assert told == Told(compacted=True, model="m", cost_usd=2.0)
    assert remote_told.standing(told) == Told(model="m", cost_usd=2.0)
    assert not after(remote_told.standing(told), plan()).compacted


@pytest.mark.parametrize(
    ("told", "due"),
    [
        (Told(turns=19, bytes=39_999), False),
        (Told(turns=20), True),
        (Told(bytes=40_000), True),
        (Told(compacted=True), True),
    ],
)
def test_static_text_is_due_after_turns_bytes_or_a_compaction(told: Told, due: bool) -> None:
    assert remote_told.due(told, turns=20, bytes_=40_000) is due
    assert remote_told.due(told, turns=0, bytes_=0) is told.compacted


def test_turns_and_bytes_are_counted_from_the_last_time_that_static_text_was_given() -> None:
    told = after(after(Told(), plan(ContextMode.FIRST)), plan(), answer="größer")
    assert (told.turns, told.bytes) == (2, 2 + 8)
    again = after(told, plan(), answer="x", reinjected=True)
    assert (again.turns, again.bytes) == (1, 1)


def test_cost_and_model_are_kept_until_something_newer_is_said() -> None:
    told = after(Told(), plan(ContextMode.FIRST), model="m", cost_usd=0.5)
    assert (after(told, plan()).model, after(told, plan()).cost_usd) == ("m", 0.5)


def test_what_the_agent_did_itself_is_no_news_to_it() -> None:
    before, one = remote_told.prints(NEED, FRAME, ()), percept(7, "The port is 80.")
    told = after(Told(), plan(current_need="x"), now=before)
    mine = remote_told.prints(replace(NEED, text="fix it well"), (replace(FRAME[0], value="pay twice"),), ())
    told = remote_told.own_doings(told, before=before, now=mine, facts=(one,))
    assert remote_told.changed(told, mine) == {"frame"}, "it had not been given the frame that it changed"
    assert remote_told.known(told, (one,)) == {one.id}
    emptied = remote_told.own_doings(told, before=mine, now={}, facts=())
    assert "current_need" not in emptied.prints
    gone = Told(compacted=True)
    assert remote_told.own_doings(gone, before=before, now=mine, facts=(one,)) == gone
