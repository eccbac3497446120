"""What a small model is given: bounded, byte-stable, volatile parts last."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from milk_tui.agents import embedded_prompts
from milk_tui.agents.embedded_prompts import ANSWER_TOKENS, SYSTEM, SYSTEM_CHARS, WINDOW_TOKENS, estimate_tokens, fill
from milk_tui.core.records import ContextMode, ContextPlan, Message, MessageToolCall, Role, Segment


def segment(name: str, text: str, *, stable: bool = False, included: bool = True) -> Segment:
    return Segment(name=name, text=text, stable=stable, included=included, why="test")


def plan(*segments: Segment, thread: tuple[Message, ...] = ()) -> ContextPlan:
    return ContextPlan(role=Role.PRIMARY, mode=ContextMode.FIRST, segments=segments, thread=thread)


def turns(count: int, words: int = 20) -> tuple[Message, ...]:
    return tuple(
        Message(role=role, content=f"{role} {number} " + "word " * words)
        for number in range(count)
        for role in ("user", "assistant")
    )


def estimated(messages: tuple[Message, ...]) -> int:
    return sum(estimate_tokens(m.content) for m in messages)


def test_the_model_is_told_what_it_is() -> None:
    assert "small language model" in SYSTEM
    assert "never make up facts" in SYSTEM


def test_the_system_text_is_short_with_whatever_the_plan_adds() -> None:
    filled = fill(
        plan(segment("identity", "You are q.", stable=True), segment("project", "x" * 5000, stable=True)), "?"
    )
    system = filled.messages[0].content
    assert "You are q." in system
    assert "xxx" not in system
    assert len(system) <= SYSTEM_CHARS
    assert estimate_tokens(system) <= 300


def test_what_changes_stands_right_before_the_prompt_and_changes_nothing_before_it() -> None:
    first = fill(plan(segment("facts", "[A]"), thread=turns(2)), "one")
    second = fill(plan(segment("facts", "[B]"), thread=turns(2)), "two")
    assert first.messages[:-1] == second.messages[:-1]
    assert "[A]" in first.messages[-1].content
    assert first.messages[-1].content.endswith("\n\none")


def test_segments_left_out_of_the_plan_are_not_sent() -> None:
    filled = fill(plan(segment("facts", "[A]", included=False)), "one")
    assert filled.messages[-1].content == "one"


def test_everything_fits_the_window() -> None:
    filled = fill(plan(segment("facts", "fact " * 2000), thread=turns(200)), "prompt " * 5000)
    assert estimated(filled.messages) <= WINDOW_TOKENS - ANSWER_TOKENS
    assert "middle was left out" in filled.notice


def test_the_newest_turns_stay_and_old_ones_leave_several_at_a_time() -> None:
    starts = set()
    for count in range(40, 60):
        messages = fill(plan(thread=turns(count)), "next").messages
        assert messages[-2].content.startswith(f"assistant {count - 1} ")
        assert messages[1].role == "user"
        starts.add(messages[1].content.split()[1])
    assert len(starts) <= 6


def test_tool_rounds_of_another_model_are_told_as_text() -> None:
    thread = (
        Message(role="user", content="look"),
        Message(role="assistant", tool_calls=(MessageToolCall(id="1", name="f", arguments="{}"),)),
        Message(role="tool", content="result", tool_call_id="1"),
        Message(role="assistant", content="seen"),
    )
    sent = fill(plan(thread=thread), "next").messages
    assert [(m.role, m.content) for m in sent[1:-1]] == [("user", "look"), ("assistant", "seen")]
    assert all(not m.tool_calls for m in sent)


def test_a_smaller_share_sends_less() -> None:
    full = plan(segment("facts", "fact " * 400), thread=turns(60))
    whole = estimated(fill(full, "prompt " * 900).messages)
    assert estimated(fill(full, "prompt " * 900, share=0.5).messages) <= whole * 0.6


@pytest.mark.parametrize("size", ["tiny", "small", "medium"])
def test_every_example_keeps_to_its_grammar(size: str) -> None:
    for task in (embedded_prompts.decision(size), embedded_prompts.fact(size)):
        assert {answer for _, answer in task.examples} == set(
            task.grammar.removeprefix("root ::= ").replace('"', "").split(" | ")
        )


@given(st.text(max_size=3000), st.integers(min_value=60, max_value=500))
def test_a_shortened_text_is_within_its_tokens(text: str, tokens: int) -> None:
    short = embedded_prompts.shorten(text, tokens)
    assert estimate_tokens(short) <= max(tokens, 160)
    if estimate_tokens(text) <= tokens:
        assert short == text


@given(st.text(max_size=500))
def test_an_estimate_is_never_less_than_a_token_for_eight_letters(text: str) -> None:
    assert estimate_tokens(text) >= len("".join(text.split())) / 8
