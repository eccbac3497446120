"""Searching in the conversation: all that was said, also what was never drawn."""

from __future__ import annotations

import pytest


async def asked(desk, *prompts: str) -> None:
    for prompt in prompts:
        await desk.say(prompt)
        await desk.idle()


async def test_words_are_found_and_stepped_through_around_the_ends(open_desk) -> None:
    async with open_desk() as desk:
        await asked(desk, "alpha SCN:say the first zebra", "beta SCN:say nothing", "gamma SCN:say one more Zebra")
        await desk.press("ctrl+f")
        await desk.press(*"zebra")
        await desk.sees("4 of 4 places")
        assert desk.app.main.get_selected_text().casefold() == "zebra"
        await desk.press("down")
        await desk.sees("1 of 4 places")
        await desk.press("up", "up")
        await desk.sees("3 of 4 places")


async def test_what_is_far_above_is_brought_into_view(open_desk) -> None:
    async with open_desk(size=(100, 24)) as desk:
        await asked(desk, "alpha SCN:say the zebra", *(f"more {n} SCN:count 30 row\\n\\n" for n in range(3)))
        await desk.gone("│  the zebra")
        await desk.say("/search the zebra")
        await desk.sees("2 of 2 places", "│  the zebra")
        assert not desk.app.main.conversation.transcript.following


async def test_escape_closes_it_and_the_prompt_is_one_more_step(open_desk) -> None:
    async with open_desk() as desk:
        await asked(desk, "alpha SCN:say zebra")
        await desk.press("ctrl+f", *"zebra")
        await desk.sees("of 2 places")
        await desk.press("escape")
        await desk.gone("of 2 places")
        assert not desk.app.main.selections
        await desk.press("escape")
        await desk.until(lambda: desk.app.main.prompt.has_focus, "the prompt")


async def test_what_is_nowhere_is_said(open_desk) -> None:
    async with open_desk() as desk:
        await asked(desk, "alpha SCN:say one")
        await desk.press("ctrl+f", *"zebra")
        await desk.sees("nowhere")
        await desk.press("enter")
        await desk.sees("nowhere")


@pytest.mark.parametrize("size", [(120, 40), (80, 24), (40, 12)])
async def test_it_works_at_every_size(open_desk, size) -> None:
    async with open_desk(size=size) as desk:
        await asked(desk, "alpha SCN:say zebra")
        await desk.press("ctrl+f", *"zebra")
        await desk.sees("of 2 places")


async def test_what_was_thought_and_what_a_call_brought_is_found_and_opened(open_desk, home) -> None:
    for name in ("a", "b", "c"):
        (home / "shop" / f"{name}.txt").write_text(f"line of {name}\nthe okapi of {name}\n")
    calls = " ".join(f'SCN:tool read_file {{"path": "{name}.txt"}}' for name in ("a", "b", "c"))
    async with open_desk() as desk:
        await asked(desk, f"alpha SCN:think is it a quagga SCN:say Before. {calls} SCN:then SCN:say After.")
        await desk.sees("After.", "[2 more read_file calls]")
        await desk.press("ctrl+f", *"quagga")
        await desk.sees("2 of 2 places", "│ is it a quagga")
        assert desk.app.main.get_selected_text() == "quagga"
        for _ in "quagga":
            await desk.press("backspace")
        await desk.press(*"okapi")
        await desk.sees("3 of 3 places", "the okapi of c")
        assert desk.app.main.get_selected_text() == "okapi"
        await desk.press("up", "up")
        await desk.sees("1 of 3 places", "the okapi of a")


async def test_what_was_searched_for_is_gone_through_by_n_when_its_bar_is_closed(open_desk) -> None:
    async with open_desk() as desk:
        await asked(desk, "alpha SCN:say one zebra", "beta SCN:say two zebra")
        await desk.press("f6")
        await desk.until(lambda: desk.app.main.conversation.transcript.has_focus, "the conversation")
        await desk.press("n")
        await desk.sees("nothing was searched for yet")
        await desk.press("ctrl+f", *"zebra")
        await desk.sees("4 of 4 places")
        await desk.press("escape")
        await desk.until(lambda: desk.app.main.conversation.transcript.has_focus, "the conversation")
        await desk.press("n")
        await desk.sees("1 of 4 places: zebra")
        await desk.press("N", "N")
        await desk.sees("3 of 4 places: zebra")
        assert desk.app.main.get_selected_text() == "zebra"
