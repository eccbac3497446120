"""What an empty conversation says."""

from __future__ import annotations

import pytest

from milk_tui.ui.actions import Keymap, keymap
from milk_tui.ui.paint import cells
from milk_tui.ui.state import ESCALATION, PRIMARY, AgentView, SessionState
from milk_tui.ui.welcome import lines


def said(state: SessionState, width: int = 74, height: int = 30, keys: Keymap | None = None) -> str:
    made = lines(state, keys or Keymap({}), width, height)
    return "\n".join("".join(text for text, _ in line).rstrip() for line in made)


def with_agents(primary: AgentView, escalation: AgentView) -> SessionState:
    state = SessionState()
    state.agents = {PRIMARY: primary, ESCALATION: escalation}
    return state


READY = with_agents(
    AgentView(PRIMARY, "fast", "openai/fast", "ready"), AgentView(ESCALATION, "claude", "claude", "ready")
)


def test_it_says_who_answers_and_the_first_keys() -> None:
    text = said(READY)
    assert "● fast          answers" in text
    assert "◆ claude        takes over with ^g" in text
    assert "⏎      send" in text and "F1     every key" in text and "@      a file" in text
    assert "remembered" not in text


@pytest.mark.parametrize(
    ("view", "words"),
    [
        (AgentView(PRIMARY), "● nobody yet    is looked for"),
        (AgentView(PRIMARY, state="missing"), "answers once you choose one: F8"),
        (AgentView(PRIMARY, "small", "embedded:small", "loading", "", 0.31), "● small         is loading, 31 %"),
        (AgentView(PRIMARY, "fast", "openai/fast", "down", "connection refused"), "is down: connection refused"),
        (AgentView(PRIMARY, "fast", "openai/fast", "missing", "no key"), "is missing: no key"),
    ],
    ids=lambda value: value.state if isinstance(value, AgentView) else "",
)
def test_it_says_how_an_agent_is(view: AgentView, words: str) -> None:
    assert words in said(with_agents(view, AgentView(ESCALATION)))


def test_it_names_the_keys_that_hold() -> None:
    keys = keymap({"escalate": ["ctrl+b"], "sessions": []})
    text = said(READY, keys=keys)
    assert "takes over with ^b" in text and "^b     ask" in text


@pytest.mark.parametrize("width", range(20, 120, 7))
@pytest.mark.parametrize("height", [0, 1, 2, 5, 9, 12, 40])
def test_it_is_never_higher_than_its_room(width: int, height: int) -> None:
    made = lines(READY, Keymap({}), width, height)
    assert len(made) <= height
    if width >= 34:
        assert all(cells(line) <= width for line in made)


async def test_it_goes_with_the_first_prompt_and_comes_with_a_new_session(open_desk) -> None:
    async with open_desk() as desk:
        await desk.sees("two agents, one memory")
        await desk.say("hello SCN:say Hi.")
        await desk.sees("Hi.")
        assert "two agents" not in desk.text
        await desk.say("/new")
        await desk.sees("two agents, one memory")


async def test_it_is_not_there_when_a_conversation_is_gone_on_with(open_desk) -> None:
    async with open_desk() as desk:
        await desk.say("hello SCN:say Hi.")
        await desk.sees("Hi.")
    async with open_desk() as desk:
        await desk.sees("Hi.")
        assert "two agents" not in desk.text


async def test_it_counts_what_is_remembered(open_desk) -> None:
    async with open_desk() as desk:
        await desk.say("/learn Prices are cents")
        await desk.sees("★ 1 fact", "remembered, F2 shows them")
