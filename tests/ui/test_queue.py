"""The prompts that wait while an answer runs: shown, taken back, dropped, put in another order."""

from __future__ import annotations

from contextlib import asynccontextmanager


@asynccontextmanager
async def line(open_desk, *prompts: str):
    """A desk where an answer runs and the prompts wait, their dialog open."""
    async with open_desk() as desk:
        await desk.say("first SCN:say Working. SCN:stall")
        await desk.sees("Working.")
        for prompt in prompts:
            await desk.say(prompt)
        await desk.until(lambda: len(desk.app.state.queue) == len(prompts), "the line")
        await desk.press("ctrl+t")
        await desk.sees("waiting prompts", *prompts)
        yield desk
        if len(desk.app.screen_stack) > 1:
            await desk.press("escape")
        await desk.until(lambda: len(desk.app.screen_stack) == 1, "the main screen")
        await desk.press("escape")
        await desk.idle()


def waiting(desk) -> list[str]:
    return [turn.prompt for turn in desk.app.control.conductor.queued]


async def test_one_is_taken_back_to_be_edited(open_desk) -> None:
    async with line(open_desk, "second one", "third one") as desk:
        await desk.press("down", "enter")
        await desk.until(lambda: desk.app.main.prompt.text == "third one", "the prompt")
        assert waiting(desk) == ["second one"]


async def test_any_can_be_dropped_and_comes_back_as_an_earlier_prompt(open_desk) -> None:
    async with line(open_desk, "second one", "third one") as desk:
        await desk.press("x")
        await desk.gone("second one")
        assert waiting(desk) == ["third one"]
        await desk.press("escape", "up", "up")
        assert desk.app.main.prompt.text == "second one"
        desk.app.main.prompt.set_text("")


async def test_they_are_put_in_another_order_and_the_cursor_goes_along(open_desk) -> None:
    async with line(open_desk, "second one", "third one", "fourth one") as desk:
        await desk.press("end", "K", "K", "J")
        await desk.until(lambda: waiting(desk) == ["second one", "fourth one", "third one"], "the order")
        await desk.press("x")
        await desk.until(lambda: waiting(desk) == ["second one", "third one"], "the moved one dropped")


async def test_it_is_right_while_the_line_moves_on(open_desk) -> None:
    async with line(open_desk, "second one SCN:say two", "third one SCN:stall") as desk:
        await desk.app.control.stop()
        await desk.until(lambda: waiting(desk) == [], "nothing waits")
        await desk.sees("no prompt waits")
        await desk.press("x", "enter", "K")
        assert len(desk.app.screen_stack) == 2


async def test_without_a_line_it_says_so(open_desk) -> None:
    async with open_desk() as desk:
        await desk.say("/queue")
        await desk.sees("no prompt waits")
