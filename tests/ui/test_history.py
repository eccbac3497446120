"""What was typed in a directory before: searched from its first day on."""

from __future__ import annotations

from milk_tui.store import history


async def test_every_earlier_prompt_is_found_however_long_ago(open_desk) -> None:
    async with open_desk() as desk:
        control = desk.app.control

        def fill(db) -> None:
            history.add(db, directory=control.state.directory, text="the very first of all")
            for number in range(400):
                history.add(db, directory=control.state.directory, text=f"prompt number {number}")

        await control.workspace.store.write(fill)
        await desk.press("ctrl+r")
        await desk.sees("earlier prompts", "prompt number 399")
        await desk.press(*"very", "space", *"fir")
        await desk.gone("prompt number")
        await desk.press("enter")
        await desk.until(lambda: desk.app.main.prompt.text == "the very first of all", "the prompt")


async def test_what_was_typed_just_now_is_found_first(open_desk) -> None:
    async with open_desk() as desk:
        await desk.say("alpha SCN:say one")
        await desk.idle()
        await desk.press("ctrl+r")
        await desk.sees("earlier prompts", "alpha SCN:say one")
        await desk.press("enter")
        await desk.until(lambda: desk.app.main.prompt.text == "alpha SCN:say one", "the prompt")
