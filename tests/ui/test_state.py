"""What the screen knows after an event, and how header, status and bricks say it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from milk_tui.core.records import (
    BrickKind,
    ContextMode,
    LegStatus,
    NeedStatus,
    Role,
    RouteDecision,
    Usage,
)
from milk_tui.engine import events as e
from milk_tui.ui import reduce, summary
from milk_tui.ui.paint import cells, plain
from milk_tui.ui.state import AgentView, ContextUse, SessionState, Topic
from tests.ui.samples import NOW, brick, percept, receipt, segment, session, state

S = "session"


def leg_started(leg_id: int = 7, role: Role = Role.PRIMARY, chars: int = 400) -> e.LegStarted:
    return e.LegStarted(
        session_id=S,
        turn_id=3,
        leg_id=leg_id,
        role=role,
        agent_name="qwen2.5-coder",
        model="m",
        mode=ContextMode.FIRST,
        started_ms=NOW,
        escalated=False,
        reason="",
        receipt=receipt(segment("identity", "x" * chars), leg_id=leg_id, role=role),
    )


def leg_finished(leg_id: int = 7, usage: Usage | None = None) -> e.LegFinished:
    return e.LegFinished(
        session_id=S,
        turn_id=3,
        leg_id=leg_id,
        role=Role.PRIMARY,
        status=LegStatus.DONE,
        text="",
        usage=usage or Usage(),
        error=None,
        ended_ms=NOW,
    )


def after(*happened: e.AnyEvent, begun: SessionState | None = None) -> SessionState:
    known = begun or state()
    for event in happened:
        reduce.apply(known, event, now=100.0)
    return known


def header(known: SessionState, width: int = 140) -> str:
    return plain(summary.header(known, width))


def status(known: SessionState, now: float = 100.0) -> str:
    return plain(summary.status(known, now, 0))


def test_a_leg_is_running_from_its_start_to_its_end() -> None:
    known = after(leg_started())
    assert status(known, 112) == "⠋ ● qwen2.5-coder waits for the first word · 12 s"
    known = after(e.LegText(session_id=S, leg_id=7, text="x" * 400), begun=known)
    assert status(known, 165) == "⠋ ● qwen2.5-coder answers · 1:05 · ~100 tok"
    known = after(leg_finished(), begun=known)
    assert known.running is None
    assert status(known) == "to ● qwen2.5-coder"


@pytest.mark.parametrize(
    ("event", "said"),
    [
        (e.LegThinking(session_id=S, leg_id=7, text="hmm"), "thinks"),
        (e.ToolStarted(session_id=S, leg_id=7, tool_id=1, name="read_file", arguments=""), "runs read_file"),
        (e.LegNotice(session_id=S, leg_id=7, text="trying again in 3 s"), "trying again in 3 s"),
        (e.LegNotice(session_id=S, leg_id=7, text="loading", fraction=0.5), "▰▰▰▰▰▱▱▱▱▱ 50 % loading"),
    ],
)
def test_what_a_running_leg_does_is_said(event: e.AnyEvent, said: str) -> None:
    assert said in status(after(leg_started(), event))


def test_streamed_text_draws_nothing_again_but_its_beginning() -> None:
    known = after(leg_started())
    text = e.LegText(session_id=S, leg_id=7, text="x")
    assert reduce.apply(known, text, 0) == {Topic.STATUS}
    assert reduce.apply(known, text, 0) == set()


def test_what_another_leg_does_is_not_this_ones() -> None:
    known = after(leg_started(7), e.LegText(session_id=S, leg_id=6, text="old"))
    assert known.running is not None
    assert known.running.chars == 0


def test_a_context_is_estimated_until_it_is_reported() -> None:
    known = after(leg_started(chars=4_000))
    known.windows = {"primary": 10_000}
    assert "ctx ▰▱▱▱▱ ~10 %" in header(known)
    known = after(
        e.UsageChanged(session_id=S, leg_id=7, usage=Usage(input_tokens=2_500)),
        e.UsageChanged(session_id=S, leg_id=7, usage=Usage(input_tokens=6_000)),
        begun=known,
    )
    assert known.context == ContextUse(3_500, estimated=False, role="primary")
    assert "ctx ▰▰▱▱▱ 35 %" in header(known)


def test_meters_do_not_lie() -> None:
    known = state()
    assert "tok" not in header(known) and "$" not in header(known)
    known = after(leg_finished(1, Usage(input_tokens=900, output_tokens=100, cost_usd=0.004)), begun=known)
    assert "1.0k tok   $0.004 " in header(known)
    known = after(leg_finished(2), begun=known)
    assert "≥ 1.0k tok   ≥ $0.004 " in header(known)


def test_an_unknown_window_gives_no_percentage() -> None:
    known = state()
    known.context = ContextUse(1_234, estimated=True)
    assert "ctx ~1.2k" in header(known)
    assert "%" not in header(known)


def test_prompts_wait_until_they_start_or_are_taken_back() -> None:
    def queued(turn: int) -> e.TurnQueued:
        return e.TurnQueued(session_id=S, turn_id=turn, prompt="p", created_ms=NOW, why="waits for the turn before it")

    known = after(queued(1), queued(2))
    assert plain(summary.queue(known)).startswith("2 prompts wait for the turn before it")
    route = RouteDecision(role=Role.PRIMARY, rule="primary", reason="")
    known = after(
        e.TurnStarted(session_id=S, turn_id=1, prompt="p", created_ms=NOW, route=route),
        e.TurnDropped(session_id=S, turn_id=2, prompt="p"),
        begun=known,
    )
    assert summary.queue(known) == ()


def test_a_prompt_that_waits_for_the_session_is_said() -> None:
    known = SessionState(directory="/tmp")
    known.waiting_here.append("early")
    assert "1 prompt waits until the session is open" in plain(summary.queue(known))


@pytest.mark.parametrize(
    ("what", "there"), [("captured", True), ("live", True), ("forgotten", True), ("removed", False)]
)
def test_facts_follow_their_events(what: str, there: bool) -> None:
    fact = percept(1)
    known = after(
        e.PerceptChanged(session_id=S, percept=fact, what="captured"),
        e.PerceptChanged(session_id=S, percept=fact, what=what),
    )
    assert (fact.id in known.percepts) is there


def test_every_event_says_what_is_to_be_drawn_again() -> None:
    known = state()
    assert reduce.apply(known, e.BrickChanged(session_id=S, brick=brick(BrickKind.NEED, "x")), 0) == {Topic.BRICKS}
    assert Topic.HEADER in reduce.apply(known, e.SessionChanged(session_id=S, session=session()), 0)
    assert reduce.apply(known, e.Notice(session_id=S, text="x"), 0) == {Topic.BRICKS}


def test_the_header_says_who_gets_the_next_prompt_and_why() -> None:
    assert "◆ claude (sticky)" in header(state(sticky=Role.ESCALATION))
    assert "◆ claude (waiting)" in header(state(waiting=Role.ESCALATION, sticky=Role.ESCALATION))
    assert "◆ claude (pinned)" in header(state(pinned_agent=Role.ESCALATION, sticky=Role.ESCALATION))
    assert status(state(pinned_agent=Role.ESCALATION)) == "to ◆ claude (pinned)"


def test_a_missing_or_loading_agent_is_said() -> None:
    known = state(escalation=None)
    assert "◆ none" in header(known)
    known = after(
        e.AgentStatus(session_id=S, role=Role.PRIMARY, state="loading", text="fetching it", fraction=0.43),
        begun=known,
    )
    assert "● qwen2.5-coder (loading 43 %)" in header(known)
    assert "▰▰▰▰▱▱▱▱▱▱ 43 % esc cancels · fetching it" in status(known)
    assert known.busy
    known = after(e.AgentStatus(session_id=S, role=Role.PRIMARY, state="down", text="refused"), begun=known)
    assert "qwen2.5-coder is down · refused" in status(known)


def test_the_model_host_is_said_while_it_starts_and_when_it_fails() -> None:
    starting = after(e.HostChanged(session_id=S, state="starting"))
    assert "model host starting" in status(starting)
    assert starting.busy
    failed = after(e.HostChanged(session_id=S, state="failed", detail="no memory"))
    assert "model host failed: no memory" in status(failed)
    assert not failed.busy


@given(
    st.integers(10, 260),
    st.text(alphabet=st.characters(codec="utf-8", exclude_categories=("Cc", "Cf", "Cs", "Zl", "Zp")), max_size=80),
    st.sampled_from(["unknown", "ready", "loading", "missing", "down"]),
)
def test_the_header_fits_every_width(width: int, title: str, agent_state: str) -> None:
    known = state(title=title)
    known.agents["escalation"] = AgentView("escalation", "a very long name of an agent", "m", agent_state)
    known.context = ContextUse(9_000, True)
    known.usage = Usage(input_tokens=10**9, output_tokens=5, cost_usd=1234.5)
    assert cells(summary.header(known, width)) <= width


@pytest.mark.parametrize("width", [120, 80, 60, 40])
def test_the_header_keeps_the_title_and_the_agent_in_turn(width: int) -> None:
    assert "refactor" in header(state(), width)
    assert "●" in header(state(), width)


@pytest.mark.parametrize("width", [28, 40, 60])
def test_the_brick_strip_fits(width: int) -> None:
    known = state()
    for kind in BrickKind:
        known.bricks[kind.value] = brick(kind, "long text " * 400, status=NeedStatus.OPEN)
    lines = summary.brick_lines(known, width)
    assert all(cells(line) <= width for line in lines)
    assert len(lines) == (4 if width >= 36 else 5)
    assert "4k/12k" in "".join(plain(line) for line in lines) or width < 48


def test_another_session_leaves_nothing_of_the_one_before() -> None:
    known = after(leg_started(), e.PerceptChanged(session_id=S, percept=percept(1), what="live"))
    known.begin(session(title="other"))
    assert (known.running, known.percepts, known.queue, known.usage) == (None, {}, {}, None)
