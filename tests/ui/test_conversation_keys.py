"""The conversation by keyboard: what is done with the prompt or answer that the cursor is on."""

from __future__ import annotations

import pytest

CODE = "SCN:say Look:\\n\\n```python\\nx = 1\\ny = 2\\n```\\n\\nDone."


async def at_answer(desk, prompt: str = f"alpha {CODE}") -> None:
    """An answer, and the cursor on its first block of text."""
    await desk.say(prompt)
    await desk.idle()
    await desk.press("f6")
    await desk.until(lambda: desk.app.main.conversation.transcript.has_focus, "the conversation")
    await desk.press("home")


@pytest.fixture
def copied(monkeypatch):
    """What was sent to the clipboard."""
    from milk_tui.ui.app import MilkApp

    texts: list[str] = []
    monkeypatch.setattr(MilkApp, "copy_to_clipboard", lambda self, text: texts.append(text))
    return texts


async def test_code_is_copied_without_its_fence_from_anywhere_above_it(open_desk, copied) -> None:
    async with open_desk() as desk:
        await at_answer(desk)
        await desk.press("j", "j", "c")
        await desk.until(lambda: copied, "a copy")
        assert copied == ["x = 1\ny = 2"]


async def test_where_no_code_is_it_is_said(open_desk, copied) -> None:
    async with open_desk() as desk:
        await at_answer(desk, "alpha SCN:say one")
        await desk.press("c")
        await desk.sees("there is no code")
        assert copied == []


async def test_a_whole_answer_is_copied_as_it_was_said(open_desk, copied) -> None:
    async with open_desk() as desk:
        await at_answer(desk)
        await desk.press("a", "j", "j", "a")
        await desk.until(lambda: len(copied) == 2, "two copies")
        assert copied[0].startswith("alpha SCN:say")
        assert copied[1] == "Look:\n\n```python\nx = 1\ny = 2\n```\n\nDone."


async def test_a_quotation_goes_into_the_prompt_behind_what_is_there(open_desk) -> None:
    async with open_desk() as desk:
        await at_answer(desk, "alpha SCN:say one")
        desk.app.main.prompt.set_text("mine")
        await desk.press("q")
        await desk.until(lambda: desk.app.main.prompt.has_focus, "the prompt")
        assert desk.app.main.prompt.text == "mine\n\n> alpha SCN:say one\n\n"


async def test_the_other_agent_answers_the_same_and_both_answers_stay(open_desk) -> None:
    async with open_desk() as desk:
        await at_answer(desk, "alpha SCN:say one")
        await desk.press("r")
        await desk.sees("◆ claude ·")
        await desk.idle()
        assert desk.text.count("│  one") == 2


async def test_a_fork_has_everything_up_to_here(open_desk) -> None:
    async with open_desk() as desk:
        await desk.say("alpha SCN:say one")
        await desk.idle()
        await at_answer(desk, "beta SCN:say two")
        await desk.press("f")
        await desk.sees("(fork)", "│  one")
        await desk.gone("│  two")


async def test_escalations_and_prompts_are_stepped_through(open_desk) -> None:
    async with open_desk(size=(100, 20)) as desk:
        await desk.say("alpha SCN:say one")
        await desk.idle()
        desk.app.main.prompt.set_text("beta SCN:count 40 row\\n\\n")
        await desk.press("ctrl+g")
        await desk.idle()
        await at_answer(desk, "gamma SCN:count 40 row\\n\\n")
        transcript = desk.app.main.conversation.transcript
        await desk.press("right_curly_bracket")
        await desk.until(lambda: transcript.cursor[0][0] == "leg", "the escalation")
        escalation = transcript.cursor[0]
        await desk.press("right_square_bracket")
        await desk.until(lambda: transcript.cursor[0][0] == "turn", "the prompt below")
        await desk.press("left_curly_bracket")
        await desk.until(lambda: transcript.cursor[0] == escalation, "the escalation again")
