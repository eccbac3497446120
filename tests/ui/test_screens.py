"""Sessions, help and palette at the keyboard."""

from __future__ import annotations

import pytest

from milk_tui.ui import actions, help


def test_help_finds_by_key_command_and_words() -> None:
    keymap = actions.Keymap({})

    def ids(words: str) -> list[str]:
        return [row.key for row in help.help_rows(words, keymap) if row.selectable]

    assert ids("ctrl+g") == ["escalate"]
    assert ids("hand back") == ["hand-back"]
    assert ids("/learn") == ["learn"]
    assert ids("no such thing") == []
    assert set(ids("")) == set(actions.BY_ID)


async def test_sessions_are_listed_resumed_and_renamed(open_desk) -> None:
    async with open_desk() as desk:
        await desk.say("alpha SCN:say one")
        await desk.sees("one")
        await desk.idle()
        await desk.press("ctrl+n")
        await desk.sees("new session")
        await desk.say("beta SCN:say two")
        await desk.sees("│  two")
        await desk.idle()
        await desk.press("ctrl+o")
        await desk.sees("sessions of this directory", "+ new session", "alpha SCN:say one", "beta SCN:say two")
        await desk.press(*"alpha")
        await desk.gone("+ new session")
        await desk.press("ctrl+r")
        await desk.sees("rename the session")
        await desk.press("home", "ctrl+k", *"renamed", "enter")
        await desk.sees("renamed")
        await desk.press("enter")
        await desk.sees("milk · renamed", "│  one")
        assert "│  two" not in desk.text


async def test_sessions_of_other_directories_are_one_key_away(open_desk, home) -> None:
    (home / "other").mkdir()
    async with open_desk() as desk:
        await desk.say("alpha SCN:say one")
        await desk.sees("│  one")
        await desk.idle()
    from milk_tui.engine.launch import Launch
    from milk_tui.ui.app import MilkApp
    from tests.ui.conftest import Desk

    app = MilkApp(Launch(directory=home / "other"))
    async with app.run_test(size=(120, 40)) as pilot:
        desk = Desk(app, pilot)
        await desk.ready()
        await desk.press("ctrl+o")
        await desk.sees("sessions of this directory")
        assert "alpha" not in desk.text
        await desk.press("tab")
        await desk.sees("sessions of every directory", "alpha")
        await desk.press(*"alpha", "enter")
        await desk.sees("│  one")
        await app.control.close()


async def test_each_session_keeps_its_draft(open_desk) -> None:
    async with open_desk() as desk:
        await desk.say("alpha SCN:say one")
        await desk.sees("│  one")
        await desk.idle()
        await desk.write("draft of alpha")
        await desk.press("ctrl+n")
        await desk.sees("milk · new session")
        assert desk.app.main.prompt.text == ""
        await desk.press("ctrl+o")
        await desk.sees("alpha")
        await desk.press(*"alpha", "enter")
        await desk.sees("│  one")
        assert desk.app.main.prompt.text == "draft of alpha"


async def test_help_runs_what_is_chosen(open_desk) -> None:
    async with open_desk() as desk:
        await desk.press("f1")
        await desk.sees("ON THE MAIN SCREEN", "escalate")
        await desk.press(*"f4", "enter")
        await desk.sees("no slice is open yet")


async def test_the_palette_finds_and_runs_commands(open_desk) -> None:
    async with open_desk() as desk:
        await desk.press("ctrl+p")
        await desk.sees("find a command", "/bricks")
        await desk.press(*"sidebar")
        await desk.sees("/sidebar")
        await desk.press("enter")
        await desk.until(lambda: desk.app.main.has_class("-no-sidebar"), "the sidebar is hidden")


async def test_the_palette_puts_a_command_that_needs_more_into_the_prompt(open_desk) -> None:
    async with open_desk() as desk:
        await desk.press("ctrl+p", *"learn", "enter")
        await desk.until(lambda: desk.app.main.prompt.text == "/learn ")


async def test_earlier_prompts_are_searched(open_desk) -> None:
    async with open_desk() as desk:
        for word in ("apples", "pears"):
            await desk.say(f"about {word} SCN:say ok")
            await desk.idle()
        await desk.press("ctrl+r")
        await desk.sees("earlier prompts")
        await desk.press(*"apples", "enter")
        await desk.until(lambda: desk.app.main.prompt.text == "about apples SCN:say ok")


@pytest.mark.parametrize("command", ["help", "sessions", "memory", "bricks", "perception", "palette", "history"])
async def test_every_screen_has_a_command(open_desk, command: str) -> None:
    async with open_desk() as desk:
        await desk.say(f"/{command}")
        await desk.until(lambda: desk.app.screen is not desk.app.main, command)
        await desk.press("escape")
        await desk.until(lambda: desk.app.screen is desk.app.main, "back")
        assert desk.app.main.prompt.has_focus


async def test_full_screens_replace_one_another(open_desk) -> None:
    async with open_desk() as desk:
        await desk.press("f2", "f3", "f4")
        await desk.sees("no slice is open yet")
        assert len(desk.app.screen_stack) == 2
        await desk.press("f4")
        assert desk.app.screen is desk.app.main
