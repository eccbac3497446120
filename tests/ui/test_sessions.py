"""The list of sessions: what is done with them there, by key and by command."""

from __future__ import annotations

import pytest


async def begin(desk, *words: str) -> None:
    """One session for each word, in which it was asked."""
    for number, word in enumerate(words):
        if number:
            await desk.press("ctrl+n")
            await desk.sees("new session")
        await desk.say(f"{word} SCN:say answer about {word}")
        await desk.sees(f"│  answer about {word}")
        await desk.idle()


@pytest.mark.parametrize("size", [(120, 40), (80, 24), (40, 12)])
async def test_the_list_works_at_every_size(open_desk, size) -> None:
    async with open_desk(size=size) as desk:
        await desk.say("alpha SCN:say one")
        await desk.idle()
        await desk.press("ctrl+o")
        await desk.sees("alpha", "new session")


async def test_the_end_of_the_conversation_is_shown_beside_it(open_desk) -> None:
    async with open_desk() as desk:
        await begin(desk, "alpha", "beta")
        await desk.press("ctrl+o")
        await desk.sees("answer about alpha")
        await desk.press("up")
        await desk.sees("answer about beta")


async def test_a_session_is_found_by_what_was_said_in_it(open_desk) -> None:
    async with open_desk(size=(100, 30)) as desk:
        first = "alpha, and so many words after it that its title has ended SCN:say the idempotency key"
        for prompt in (first, "thanks SCN:say welcome"):
            await desk.say(prompt)
            await desk.idle()
        await desk.press("ctrl+n")
        await desk.sees("new session")
        await desk.press("ctrl+o")
        await desk.press(*"nothing")
        await desk.sees("no session says that")
        await desk.press("home", "ctrl+k", *"idempotency")
        await desk.sees("says the idempotency key")
        await desk.press("enter")
        await desk.sees("milk · alpha")


async def test_a_deleted_session_is_one_key_from_being_back(open_desk) -> None:
    async with open_desk() as desk:
        await begin(desk, "alpha", "beta")
        await desk.press("ctrl+o")
        await desk.sees("answer about alpha")
        await desk.press("ctrl+d")
        await desk.gone("› alpha")
        await desk.until(lambda: len(desk.app.screen.list.rows) == 2, "one session and a new one")
        await desk.press("ctrl+z")
        await desk.until(lambda: len(desk.app.screen.list.rows) == 3, "both sessions")


async def test_the_session_on_the_screen_is_not_deleted(open_desk) -> None:
    async with open_desk() as desk:
        await begin(desk, "alpha")
        await desk.press("ctrl+o")
        await desk.sees("alpha")
        await desk.press("up", "ctrl+d")
        await desk.sees("This session is open here")


async def test_a_fork_is_gone_on_with(open_desk) -> None:
    async with open_desk() as desk:
        await begin(desk, "alpha")
        await desk.say("/fork another way")
        await desk.sees("milk · another way", "│  answer about alpha")
        await desk.press("ctrl+o")
        await desk.sees("+ new session")
        await desk.press("ctrl+y")
        await desk.until(lambda: len(desk.app.screen.list.rows) == 4, "a copy of the copy")


async def test_a_session_is_written_to_a_file(open_desk, home) -> None:
    async with open_desk() as desk:
        await begin(desk, "alpha")
        await desk.say("/export out.html")
        await desk.sees("written:")
        assert "answer about alpha" in (home / "shop" / "out.html").read_text()
        await desk.press("ctrl+o")
        await desk.sees("alpha")
        await desk.press("up", "ctrl+t")
        await desk.sees("write the session to a file")
        await desk.press("enter")
        await desk.until(lambda: list((home / "shop").glob("*.md")), "the file")
