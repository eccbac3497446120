"""The hard cap of what an agent is given: what shrinks, in which order, and what never does (``semantics.md`` §4)."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from milk_tui.core import bricks
from milk_tui.core.blocks import StaleFact
from milk_tui.core.bricks import Rendering
from milk_tui.core.context import Budgets, ContextState, ModeInputs, Part, Size, messages, plan
from milk_tui.core.records import BrickKind, ContextPlan, Layer, Message, Role
from tests.core import session_makers as make
from tests.core.context_states import ESCALATION, NEED, PRIMARY, RETURNS, STARTED, overfull, request, state, text, why


def _shrunk(made: ContextPlan) -> list[str]:
    return [s.name for s in made.segments if s.shrunk_from is not None]


def test_the_prior_escalation_summary_shrinks_first():
    made = plan(overfull())

    assert _shrunk(made) == [ESCALATION]
    segment = made.segment(ESCALATION)
    assert segment is not None
    assert segment.shrunk_from is not None and segment.chars < segment.shrunk_from
    assert "over the cap" in segment.why
    assert "[earlier turns left out]\n\n## Turn " in segment.text and "## Turn 27" in segment.text


def test_the_shrink_order_is_prior_summary_other_summary_facts_working_frame():
    big = {
        "working": tuple(make.entry(Layer.WORKING, f"w{n}", "w" * 290) for n in range(20)),
        "frame": tuple(make.entry(Layer.FRAME, f"f{n}", "f" * 290) for n in range(20)),
    }
    shrunk = [
        set(_shrunk(plan(overfull(**big, budgets=Budgets(total_chars=cap))))) for cap in range(60_000, 8_000, -500)
    ]

    order = [ESCALATION, PRIMARY, Part.FACTS, Part.WORKING]
    for now in shrunk:
        expected = order[: len(now & set(order))]
        assert now & set(order) == set(expected)
    assert {len(now & set(order)) for now in shrunk} == {0, 1, 2, 3, 4}
    assert [Part.FRAME in now for now in shrunk] == sorted(Part.FRAME in now for now in shrunk)


def test_brief_need_pins_and_decisions_never_shrink():
    decided = make.entry(Layer.FRAME, "decided", "d" * 1_200, reason="r" * 100)
    others = tuple(make.entry(Layer.FRAME, f"f{n}", "f" * 290) for n in range(80))

    made = plan(
        overfull(
            frame=(*others[:40], decided, *others[40:]),
            brief=make.brick(BrickKind.BRIEF, "b" * bricks.BRIEF_CHARS),
            need=make.brick(NEED, "n" * 280),
            project_text="j" * 50_000,
        )
    )

    sent = request(made)
    assert all(x in sent for x in ("d" * 1_200, "b" * bricks.BRIEF_CHARS, "n" * 280, "tabs, never spaces"))
    assert not {Part.BRIEF, Part.NEED, Part.PINNED} & set(_shrunk(made))
    assert "entries left out, please tidy" in text(made, Part.FRAME)


def test_old_tool_results_leave_the_working_set_before_its_other_entries():
    results = "\n".join(f"- result {n:02} " + "x" * 500 for n in range(60))
    working = (
        make.entry(Layer.WORKING, "file", "points.py", updated_ms=1),
        make.entry(Layer.WORKING, "recent-tool-results", results, updated_ms=9),
    )

    said = text(plan(overfull(working=working)), Part.WORKING)

    assert "file: points.py" in said and "result 59" in said and "result 00" not in said


def test_what_a_block_of_less_than_a_few_lines_would_say_is_left_out_instead():
    made = plan(overfull(budgets=Budgets(total_chars=11_000)))

    assert "left out: over the cap" in why(made, ESCALATION)


_text = st.text(alphabet="ab \n[]<é\x1b:", max_size=300)
_sizes = st.sampled_from([0, 1, 300, 3_000, 15_000, 60_000])


def _filled(draw: st.DrawFn, letter: str) -> str:
    return draw(_text) + letter * draw(_sizes) + draw(st.sampled_from(["", "[Frame] " * 500, "\n\n## Turn 3\n" * 9]))


@st.composite
def _states(draw: st.DrawFn) -> ContextState:
    role = draw(st.sampled_from(Role))
    size = draw(st.sampled_from(Size))
    entries = lambda layer: tuple(  # noqa: E731
        make.entry(layer, draw(st.sampled_from(["decided", "slice", "recent-tool-results", "k"])), _filled(draw, "e"))
        for _ in range(draw(st.integers(0, 4)))
    )
    pins = tuple(make.percept(n, _filled(draw, "p")[:2_000], pinned=True) for n in range(draw(st.integers(0, 4))))
    return state(
        role,
        size=size,
        budgets=draw(st.sampled_from([Budgets(), Budgets(total_chars=9_000), Budgets(total_chars=0)]))
        if size is Size.FULL
        else Budgets.minimal(),
        mode=draw(st.sampled_from([ModeInputs(), STARTED, RETURNS, ModeInputs(started=True, forced_fresh=True)])),
        instructions=_filled(draw, "i"),
        project_text=_filled(draw, "j"),
        pinned_at_start=pins[:2],
        pinned=pins[1:],
        invariants_at_start=entries(Layer.INVARIANT),
        invariants=entries(Layer.INVARIANT),
        frame=entries(Layer.FRAME),
        working=entries(Layer.WORKING),
        need=make.brick(NEED, bricks.need_line(_filled(draw, "n"))),
        need_age=draw(st.integers(0, 99)),
        brief=bricks.brief(None, _filled(draw, "b"), turn_id=1, now_ms=1, author="user"),
        primary_summary=make.brick(PRIMARY, _filled(draw, "s")),
        escalation_summary=make.brick(ESCALATION, _filled(draw, "s")),
        facts=tuple(make.percept(9 + n, _filled(draw, "f")[:2_000]) for n in range(draw(st.integers(0, 9)))),
        stale=tuple(StaleFact(short_id="#abc", now=_filled(draw, "q")) for _ in range(draw(st.integers(0, 9)))),
        notes=draw(_text) + "o" * draw(_sizes),
        digest=draw(_text) + "g" * draw(_sizes),
        other_delta=draw(st.sampled_from([None, Rendering(), Rendering(text=_filled(draw, "d"))])),
        stateless=draw(st.booleans()),
    )


@given(_states())
def test_everything_but_thread_and_prompt_stays_under_the_hard_cap(now: ContextState):
    made = plan(now)
    sent = messages(made, "PROMPT")

    outside = [m for m in sent if m.role == "system"] + [sent[-1]]
    cap = max(now.budgets.total_chars, 4_000)
    assert sum(len(m.content) for m in outside) - len("PROMPT") + 2 * len(outside) <= cap
    assert made.chars <= cap


@given(_states())
def test_a_plan_is_a_function_of_its_state(now: ContextState):
    assert plan(now) == plan(now)


@given(_states())
def test_what_shrank_says_from_how_much(now: ContextState):
    for segment in plan(now).segments:
        assert segment.included == bool(segment.text)
        if segment.shrunk_from is not None:
            assert "shortened" in segment.why or "left out" in segment.why or segment.name == Part.PROJECT


@given(_states(), _states(), st.integers(0, 3))
def test_a_later_layers_change_never_changes_a_byte_of_an_earlier_one(
    now: ContextState, other: ContextState, depth: int
):
    layers = (
        ("invariants_at_start",),
        ("frame",),
        ("thread",),
        ("working", "need", "need_age", "own_summary", "other_summary", "facts", "pinned", "invariants", "stale",
         "notes", "digest", "brief"),
    )  # fmt: skip
    now = replace(now, stateless=True, size=Size.FULL, budgets=Budgets())
    changed = {name: getattr(other, name) for names in layers[depth:] for name in names}
    if "thread" in changed:
        changed["thread"] = (make.thread_turn(9, "another", "thread"),)

    before, after = (messages(plan(s), "go") for s in (now, replace(now, **changed)))

    kinds = [_layer(m) for m in before]
    kept = kinds.index("thread") if depth > 2 and "thread" in kinds else None
    for kind in ("static", "invariants", "frame")[: depth + 1]:
        assert [m.content for m in before if _layer(m) == kind] == [m.content for m in after if _layer(m) == kind]
    if kept is not None:
        assert [m.content for m in before[:-1]] == [m.content for m in after[:-1]]


def _layer(message: Message) -> str:
    if message.role != "system":
        return "thread"
    return {"[Invariants]": "invariants", "[Frame]": "frame"}.get(message.content.split("\n")[0], "static")


def test_static_is_byte_identical_over_a_session():
    first = plan(state(mode=ModeInputs()))
    later = plan(
        state(
            mode=STARTED,
            need=make.brick(NEED, "another"),
            pinned=(),
            frame=(make.entry(Layer.FRAME, "slice", "other"),),
            facts=(),
            thread=tuple(make.thread_turn(n, "p", "a" * 500) for n in range(1, 50)),
        )
    )

    assert messages(first, "a")[0] == messages(later, "b")[0]
