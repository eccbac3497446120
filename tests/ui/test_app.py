"""The main job at the keyboard: ask, read, escalate, remember, leave, come back (issue 2, ``ux.md``)."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.ui.conftest import configure

FACT = "SCN:tag percept parcels wait in the depot SCN:say It is the depot."


async def test_a_prompt_is_answered_on_the_screen(open_desk) -> None:
    async with open_desk() as desk:
        await desk.sees("to ● qwen")
        await desk.say("Why? SCN:say The handler **retries**.")
        await desk.sees("you · ", "Why?", "● qwen · ", "The handler retries.", " in · ")
        await desk.idle()
        assert desk.app.main.prompt.text == ""


async def test_what_is_typed_before_the_session_is_open_is_kept_and_sent(open_desk) -> None:
    async with open_desk(ready=False) as desk:
        await desk.write("early")
        await desk.press("enter")
        await desk.write("and later")
        await desk.sees("● qwen · ")
        await desk.idle()
        assert desk.app.main.prompt.text == "and later"
        assert "▌ early" in desk.text


async def test_one_turn_goes_to_the_escalation_agent_by_key(open_desk) -> None:
    async with open_desk() as desk:
        await desk.say(FACT)
        await desk.sees("It is the depot.")
        await desk.idle()
        desk.app.main.prompt.set_text("design it SCN:say Use a key.")
        await desk.press("ctrl+g")
        await desk.sees("escalated to claude", "sent ", "[F3]", "◆ claude · ", "Use a key.")
        await desk.idle()
        await desk.sees("to ● qwen")


async def test_a_fact_appears_beside_the_conversation_while_it_is_learned(open_desk) -> None:
    async with open_desk() as desk:
        await desk.say(FACT)
        await desk.sees("SESSION 1", "parcels wait in the depot", "remembered: #")
        facts = desk.app.main.sidebar.pane.facts
        assert facts.rows[-1].percept.agent_name == "qwen"


async def test_an_empty_prompt_pins_and_unpins_the_escalation_agent(open_desk) -> None:
    async with open_desk() as desk:
        await desk.press("ctrl+g")
        await desk.sees("◆ claude (pinned)", "to ◆ claude (pinned)", "every prompt goes to claude now")
        await desk.press("ctrl+g")
        await desk.sees("to ● qwen", "claude is no longer pinned")


async def test_handing_back_ends_the_pin(open_desk) -> None:
    async with open_desk() as desk:
        await desk.press("ctrl+g")
        await desk.sees("to ◆ claude (pinned)")
        await desk.press("ctrl+l")
        await desk.sees("to ● qwen")


async def test_without_an_escalation_agent_the_prompt_is_kept_and_the_way_is_said(open_desk, home: Path) -> None:
    configure(home, '[session]\nprimary = "qwen"\n[agents.qwen]\nmodel = "scripted/fast"\n')
    async with open_desk() as desk:
        await desk.until(lambda: desk.app.state.agents["escalation"].state == "missing")
        await desk.write("help me")
        await desk.press("ctrl+g")
        await desk.until(lambda: desk.app.main.box.query_one("#prompt-note").display, "a note")
        assert "--escalation" in desk.text
        assert desk.app.main.prompt.text == "help me"


async def test_the_running_answer_is_stopped_and_what_came_is_kept(open_desk) -> None:
    async with open_desk() as desk:
        await desk.say("SCN:say Beginning of it. SCN:stall")
        await desk.sees("Beginning of it.")
        await desk.press("escape")
        await desk.sees("stopped; what came until then is kept")
        await desk.idle()
        assert "Beginning of it." in desk.text


async def test_a_second_prompt_waits_visibly_and_can_be_taken_back(open_desk) -> None:
    async with open_desk() as desk:
        await desk.say("first SCN:say Working. SCN:stall")
        await desk.sees("Working.")
        await desk.say("second one")
        await desk.sees("1 prompt waits for the turn before it · /queue")
        await desk.say("/unqueue")
        await desk.gone("1 prompt waits")
        assert desk.app.main.prompt.text == "second one"
        await desk.press("escape")
        await desk.idle()


async def test_everything_is_there_after_a_restart(open_desk) -> None:
    async with open_desk() as desk:
        await desk.say(FACT)
        await desk.sees("It is the depot.")
        await desk.idle()
        await desk.say("/need ship it")
        await desk.sees("ship it")
        await desk.write("a draft")
        await desk.press("ctrl+q")
        await desk.until(lambda: desk.app.return_value is not None or not desk.app.is_running)
    async with open_desk() as desk:
        await desk.sees("It is the depot.", "parcels wait in the depot", "need  ship it")
        assert desk.app.main.prompt.text == "a draft"
        await desk.press("up")
        assert desk.app.main.prompt.text == "/need ship it"


async def test_a_prompt_that_still_waited_is_answered_after_a_restart(open_desk) -> None:
    async with open_desk() as desk:
        await desk.say("first SCN:say Working. SCN:stall")
        await desk.until(lambda: desk.app.state.running is not None)
        await desk.say(r"second SCN:say An\x73wered.")
        await desk.sees("1 prompt waits")
        await desk.press("ctrl+q")
        await desk.until(lambda: desk.app.return_value == 0)
    async with open_desk() as desk:
        await desk.sees("Answered.")
        await desk.idle()


async def test_a_draft_meets_what_was_typed_since_and_both_are_kept(open_desk) -> None:
    async with open_desk() as desk:
        await desk.write("old draft")
        await desk.app.control.save_draft("old draft")
    async with open_desk(ready=False) as desk:
        await desk.write("new words")
        await desk.ready()
        await desk.until(lambda: desk.app.state.ready)
        assert desk.app.main.prompt.text == "new words"
        await desk.press("up")
        assert desk.app.main.prompt.text == "old draft"


@pytest.mark.parametrize(
    ("error", "said"),
    [
        ("SCN:err 401", "Incorrect API key"),
        ("SCN:err 404", "was not found at its server"),
        ("SCN:say Half SCN:cut", "Half"),
        ("SCN:empty", "no answer"),
        ("SCN:err 500", "server"),
    ],
)
async def test_a_failure_is_said_in_the_conversation_and_the_session_goes_on(open_desk, error: str, said: str) -> None:
    async with open_desk() as desk:
        await desk.say(f"try {error}")
        await desk.sees(said, "/retry")
        await desk.idle()
        await desk.say("again SCN:say Fine now.")
        await desk.sees("Fine now.")


async def test_hostile_text_from_a_model_is_shown_as_text(open_desk) -> None:
    async with open_desk() as desk:
        await desk.say(r"SCN:say [bold red]x[/] \e]52;c;ZXZpbA==\x07 \e[2Jend $error[/]")
        await desk.sees("[bold red]x[/]", "end $error[/]")
        assert "\x1b" not in desk.text


async def test_a_megabyte_answer_does_no_harm(open_desk) -> None:
    async with open_desk() as desk:
        await desk.say("SCN:huge 1000000")
        await desk.idle()
        await desk.say("and SCN:say next")
        await desk.sees("next")
