"""What agents are given by their kind: with a memory of their own, a thread, a small window (``semantics.md`` §4)."""

from __future__ import annotations

from itertools import pairwise

import pytest

from milk_tui.core import context, instructions
from milk_tui.core.bricks import Rendering
from milk_tui.core.context import Budgets, ContextState, ModeInputs, Part, Size, messages, plan
from milk_tui.core.records import Role
from tests.core import session_makers as make
from tests.core.context_states import PRIMARY, RETURNS, STARTED, given_names, overfull, state, text, why


def _remembers(**changes) -> ContextState:
    return state(stateless=False, **({"brief": None, "mode": RETURNS} | changes))


def test_a_first_start_gives_everything():
    made = plan(_remembers(mode=ModeInputs()))

    assert {*context.STATIC_PARTS, Part.INVARIANTS, Part.FRAME, Part.NEED, PRIMARY} <= set(given_names(made))
    assert made.thread == () and made.thread_note == "its remote session keeps the thread"


def test_returning_gives_need_delta_and_new_facts_only():
    delta = Rendering(text="## Turn 7\nuser: a\nqwen: b", turns=1)

    made = plan(_remembers(other_delta=delta))

    assert given_names(made) == [Part.NEED, PRIMARY, Part.FACTS]
    assert "[Summary of qwen: since your last answer]\n## Turn 7" in text(made, PRIMARY)


def test_an_empty_delta_is_left_out_as_nothing_new():
    assert why(plan(_remembers(other_delta=Rendering())), PRIMARY) == (
        "nothing new: its own remote session has the rest"
    )


@pytest.mark.parametrize("inputs", [STARTED, ModeInputs(started=True, waiting=True)])
def test_resume_and_continuation_give_what_changed_else_nothing(inputs: ModeInputs):
    assert given_names(plan(_remembers(mode=inputs, facts=()))) == []

    changed = plan(_remembers(mode=inputs, facts=(), changed=frozenset([Part.FRAME, Part.NEED])))
    assert given_names(changed) == [Part.FRAME, Part.NEED]
    assert "[Frame]" in messages(changed, "go")[-1].content


def test_told_facts_are_not_given_again():
    told = make.percept(2, "the queue is in redis")

    assert why(plan(_remembers(told=frozenset([told.id]))), Part.FACTS) == "none is new to it and for it"


def test_reinjection_gives_the_static_text_again():
    made = plan(_remembers(reinject=True))

    assert {*context.STATIC_PARTS, Part.INVARIANTS, Part.FRAME} <= set(given_names(made))


# the thread in the plan


def test_the_thread_is_bounded_and_says_what_left():
    thread = tuple(make.thread_turn(n, "p" * 200, "a" * 200) for n in range(1, 400))

    made = plan(state(mode=STARTED, thread=thread))

    assert sum(len(m.content) for m in made.thread) <= made.thread_limit == 96_000
    assert "older turns left (bound 96,000 characters)" in made.thread_note


def test_a_session_that_outgrows_its_thread_changes_its_prefix_rarely():
    thread = tuple(make.thread_turn(n, f"{n:03}" * 60, "a" * 220) for n in range(1, 301))
    budgets = Budgets(window_tokens=8_000)
    mark, before, requests = None, (), []
    for n in range(1, 301):
        made = plan(
            state(mode=STARTED, thread=thread[: n - 1], mark=mark, budgets=budgets, prompt=thread[n - 1].prompt)
        )
        mark = made.thread_mark
        requests.append([m.content for m in messages(made, thread[n - 1].prompt)])

    for before, after in pairwise(requests):
        assert after[:3] == before[:3]
    broken = sum(after[3:4] != before[3:4] for before, after in pairwise(requests[2:]))
    assert broken <= 300 * 400 / (16_000 * 0.4) + 1


# small models


def _small(**changes) -> ContextState:
    text_for = instructions.protocol("minimal", "aaaaaa", "small", "claude")
    return overfull(role=Role.PRIMARY, size=Size.MINIMAL, budgets=Budgets.minimal(), instructions=text_for, **changes)


def test_a_small_model_has_a_short_byte_stable_system_text():
    before = plan(_small())
    after = plan(_small(frame=(), pinned=(), facts=(), need=None, invariants=()))

    system = [m for m in messages(before, "go") if m.role == "system"]
    assert len(system) == 1 and len(system[0].content) <= 1_200
    assert [m for m in messages(after, "go") if m.role == "system"] == system


def test_a_small_model_gets_everything_else_behind_the_thread_within_a_tight_bound():
    made = plan(_small())

    volatile = messages(made, "go")[-1].content
    assert len(volatile) <= 2_200
    assert all(x in volatile for x in ("tabs, never spaces", "award points once", "decided: integers"))
    assert why(made, Part.PROJECT) == "left out: small model"


def test_a_small_models_thread_leaves_room_for_the_rest_of_its_window():
    assert Budgets.minimal(4_096).thread_limit == 4_096
    assert Budgets.minimal(2_048).thread_limit == 2_048
