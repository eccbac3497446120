"""The settings screen: found, changed, checked, kept and taken back; agents added, tried out and given roles."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from milk_tui.engine import hello
from milk_tui.ui.settings import SettingsScreen
from milk_tui.ui.settings_dialogs import KeysDialog, ValueDialog
from tests.ui.conftest import CONFIG, Desk, configure

KEY = "sk-" + "canary-0123456789abcdef"


@pytest.fixture(autouse=True)
def quick_hello(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hello, "PROMPT", "Say hello. SCN:say Hello from here!")


def file(home: Path) -> Path:
    return home / "home" / "config" / "config.toml"


def said(home: Path) -> dict[str, Any]:
    return tomllib.loads(file(home).read_text(encoding="utf-8"))


def write(home: Path, text: str) -> None:
    configure(home, text)


async def settings(desk: Desk, words: str = "") -> SettingsScreen:
    """Open the screen; with ``words``, at the first setting that they find."""
    await desk.press("f8")
    await desk.until(lambda: isinstance(desk.app.screen, SettingsScreen), "the settings")
    screen = desk.app.screen
    assert isinstance(screen, SettingsScreen)
    await desk.sees("settings")
    if words:
        screen.filter.value = words
        await desk.pilot.pause()
        screen.list.focus()
        await desk.pilot.pause()
    return screen


async def type_into(desk: Desk, text: str) -> None:
    """Write into the dialog that is open, in place of what is there."""
    await desk.until(lambda: isinstance(desk.app.screen, ValueDialog), "a dialog to write in")
    desk.app.screen.input.value = text
    await desk.pilot.pause()


async def go_to(desk: Desk, key: str) -> None:
    screen = desk.app.screen
    assert isinstance(screen, SettingsScreen)
    await desk.until(lambda: screen.list.go_to(key), key)
    await desk.pilot.pause()


async def test_every_setting_is_found_by_words_of_its_name_and_of_what_it_does(open_desk) -> None:
    async with open_desk((120, 40)) as desk:
        await settings(desk)
        await desk.sees("WHO PLAYS NOW", "AGENTS", "CONTEXT", "How much an agent is given")
        await desk.press("slash")
        await desk.write("zebra")
        await desk.sees("no setting says that")
        await desk.press("escape")
        await desk.press("slash")
        await desk.write("prompt is escalated")
        await desk.press("enter")
        await desk.sees("threshold", "The sum of weights from which", "above 0 to 1_000")
        await desk.press("escape")
        await desk.sees("WHO PLAYS NOW")
        await desk.press("escape")
        await desk.until(lambda: desk.app.screen is desk.app.main, "the main screen")


@pytest.mark.parametrize("command", ["/settings cache_ttl", "/config cache_ttl"])
async def test_a_command_opens_it_at_what_its_words_find(open_desk, command: str) -> None:
    async with open_desk((120, 40)) as desk:
        await desk.say(command)
        await desk.sees("How long a provider that")


async def test_a_switch_changes_at_once_in_the_file_and_on_the_screen(home: Path, open_desk) -> None:
    write(home, CONFIG + "# narrow here\n[ui]\nsidebar = true  # for now\n")
    async with open_desk((120, 40)) as desk:
        await settings(desk, "ui.sidebar")
        await desk.press("enter")
        await desk.sees("ui.sidebar: off")
        assert "# narrow here\n[ui]" in file(home).read_text()
        assert said(home)["ui"]["sidebar"] is False
        await desk.press("u")
        await desk.sees("undone: ui.sidebar: off")
        assert "sidebar = true  # for now" in file(home).read_text()


async def test_the_theme_holds_at_once(home: Path, open_desk) -> None:
    async with open_desk((120, 40)) as desk:
        await settings(desk, "ui.theme")
        await desk.press("enter")
        await type_into(desk, "milk-light")
        await desk.press("enter")
        await desk.until(lambda: desk.app.theme == "milk-light", "the theme")
        assert said(home)["ui"]["theme"] == "milk-light"


async def test_a_number_is_checked_as_it_is_typed_and_only_a_right_one_kept(home: Path, open_desk) -> None:
    async with open_desk((120, 40)) as desk:
        await settings(desk, "context.cap")
        await desk.press("enter")
        for wrong in ("-5", "many", "", "1.5"):
            await type_into(desk, wrong)
            await desk.sees("Allowed: a whole number from 0 to 10_000_000")
            await desk.press("enter")
            assert isinstance(desk.app.screen, ValueDialog)
        await type_into(desk, "30,000")
        await desk.press("enter")
        await desk.sees("context.cap: 30,000: holds from the next prompt on", "config file")
        assert said(home)["context"]["cap"] == 30_000
        assert desk.app.control.workspace.config.context.cap == 30_000
        await desk.press("r")
        await desk.sees("context.cap: its default")
        assert "cap" not in said(home).get("context", {})


async def test_a_choice_is_made_from_a_list(home: Path, open_desk) -> None:
    async with open_desk((120, 40)) as desk:
        await settings(desk, "helper.enabled")
        await desk.press("enter")
        await desk.sees("the default")
        await desk.press("up", "enter")
        await desk.sees("holds from the next start on")
        assert said(home)["helper"]["enabled"] in (True, False)


async def test_a_list_has_one_thing_a_line_and_says_what_is_wrong(home: Path, open_desk) -> None:
    async with open_desk((120, 40)) as desk:
        await settings(desk, "tools.families")
        await desk.press("enter")
        await desk.sees("One a line.")
        desk.app.screen.words.text = "files\nserch"
        await desk.press("enter")
        await desk.sees("“serch” is not allowed", '"search"')
        desk.app.screen.words.text = "files\nsearch\n"
        await desk.press("enter")
        await desk.sees("tools.families: files, search")
        assert said(home)["tools"]["families"] == ["files", "search"]


async def test_a_key_is_pressed_and_one_that_is_taken_refused(home: Path, open_desk) -> None:
    async with open_desk((120, 40)) as desk:
        await settings(desk, "keys.bricks")
        await desk.press("enter")
        await desk.until(lambda: isinstance(desk.app.screen, KeysDialog), "the dialog")
        await desk.press("f2")
        await desk.sees("f2 already means memory")
        await desk.press("enter")
        assert isinstance(desk.app.screen, KeysDialog)
        await desk.press("f2", "f9", "enter")
        await desk.sees("keys.bricks: f9")
        assert said(home)["keys"]["bricks"] == ["f9"]
        await desk.press("escape", "escape", "f9")
        await desk.sees("brick inspector")


async def test_what_somebody_else_wrote_is_shown_and_never_written_over(home: Path, open_desk) -> None:
    async with open_desk((120, 40)) as desk:
        await settings(desk, "context.cap")
        theirs = CONFIG + "[context]\ncap = 1000\n"
        write(home, theirs)
        await desk.press("enter")
        await type_into(desk, "2000")
        await desk.press("enter")
        await desk.sees("was changed by another program", "1,000")
        assert file(home).read_text() == theirs


async def test_a_file_that_was_broken_meanwhile_is_said_and_left_alone(home: Path, open_desk) -> None:
    async with open_desk((120, 40)) as desk:
        write(home, "[ui\n")
        await settings(desk, "ui.sidebar")
        await desk.sees("line 1")
        await desk.press("enter")
        await desk.sees("line 1")
        assert file(home).read_text() == "[ui\n"


async def test_an_option_of_the_command_line_is_said_to_lie_over_the_file(open_desk) -> None:
    async with open_desk((120, 40), primary="claude", escalation="qwen") as desk:
        await settings(desk, "session.primary")
        await desk.sees("option --primary", "lies over the file")


async def test_an_agent_says_hello_through_its_runtime(open_desk) -> None:
    async with open_desk((120, 40)) as desk:
        await settings(desk)
        await go_to(desk, "agent:qwen")
        await desk.press("t")
        await desk.sees("✓ answered in", "Hello from here!")


async def test_one_that_can_not_says_what_to_do(open_desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hello, "PROMPT", "SCN:err 401")
    async with open_desk((120, 40)) as desk:
        await settings(desk)
        await go_to(desk, "role:escalation")
        await desk.press("t")
        await desk.sees("✗ ", "key")


async def test_a_hello_is_stopped_with_escape(open_desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hello, "PROMPT", "SCN:stall SCN:say never")
    async with open_desk((120, 40)) as desk:
        screen = await settings(desk)
        await go_to(desk, "agent:qwen")
        await desk.press("t")
        await desk.sees("esc stops")
        await desk.press("escape")
        await desk.sees("stopped")
        assert desk.app.screen is screen


async def test_a_model_is_added_with_only_what_it_needs_and_a_key_never_taken(home: Path, open_desk) -> None:
    async with open_desk((120, 40)) as desk:
        await settings(desk)
        await desk.press("a", "enter")
        await type_into(desk, "mine")
        await desk.sees("Write the provider before it")
        await type_into(desk, "openai/mine")
        await desk.press("enter")
        await type_into(desk, "localhost:8000")
        await desk.sees("begins with http")
        await type_into(desk, "http://127.0.0.1:9/v1")
        await desk.press("enter")
        await desk.sees("where is its key?")
        await desk.press("up", "up", "enter")
        await type_into(desk, KEY)
        await desk.sees("looks like the key itself")
        await desk.press("enter")
        await type_into(desk, "MY_KEY")
        await desk.press("enter")
        await type_into(desk, "qwen")
        await desk.sees("There is an agent qwen already")
        await type_into(desk, "mine")
        await desk.press("enter")
        await desk.sees("mine is there", "$MY_KEY, NOT set")
        assert said(home)["agents"]["mine"] == {
            "model": "openai/mine",
            "api_base": "http://127.0.0.1:9/v1",
            "api_key_env": "MY_KEY",
        }
        assert KEY not in file(home).read_text()
        await desk.press("e")
        await desk.sees("mine is the escalation agent from the next turn on")
        assert said(home)["session"]["escalation"] == "mine"
        await desk.press("x")
        await desk.sees("mine is out of the config")
        assert "mine" not in file(home).read_text()
        await desk.press("u")
        await desk.until(lambda: "mine" in file(home).read_text(), "the agent again")


async def test_keys_typed_ahead_between_two_dialogs_do_nothing_in_the_list(home: Path, open_desk) -> None:
    async with open_desk((120, 40)) as desk:
        screen = await settings(desk)
        await go_to(desk, "agent:claude")
        before = file(home).read_text()
        screen._busy = True
        await desk.press("p", "x", "t", "a", "enter", "r", "u")
        assert desk.app.screen is screen
        assert file(home).read_text() == before
        screen._busy = False


@pytest.mark.parametrize(
    ("moves", "table"),
    [
        (("down", "enter", "down", "enter"), {"provider": "embedded", "model": "tiny"}),
        (("down", "down", "enter", "enter"), {"provider": "claude-cli"}),
        (("down", "down", "down", "enter", "down", "enter"), {"provider": "acp"}),
    ],
)
async def test_other_kinds_ask_for_less(home: Path, open_desk, moves: tuple[str, ...], table: dict[str, str]) -> None:
    async with open_desk((120, 40)) as desk:
        await settings(desk)
        await desk.press("a")
        for key in moves:
            await desk.press(key)
        await desk.sees("What you and the other agent call it")
        await desk.press("enter")
        await desk.sees("is there")
        (made,) = [agent for name, agent in said(home)["agents"].items() if name not in ("qwen", "claude")]
        assert made == table


async def test_two_agents_exchange_their_roles(home: Path, open_desk) -> None:
    async with open_desk((120, 40)) as desk:
        await settings(desk)
        await go_to(desk, "agent:claude")
        await desk.press("p")
        await desk.sees("claude is the primary agent from the next turn on")
        assert said(home)["session"] == {"primary": "claude", "escalation": "qwen"}
        await desk.press("escape")
        await desk.say("who SCN:say me")
        await desk.idle()
        assert desk.app.control.conductor.session.primary.name == "claude"


async def test_fields_of_an_agent_are_unfolded_and_changed(home: Path, open_desk) -> None:
    async with open_desk((120, 40)) as desk:
        await settings(desk)
        await go_to(desk, "agent:qwen")
        assert "temperature" not in desk.text
        await desk.press("enter")
        await go_to(desk, "agents.qwen.temperature")
        await desk.press("enter")
        await type_into(desk, "3")
        await desk.sees("a number from 0 to 2")
        await type_into(desk, "0.5")
        await desk.press("enter")
        await desk.sees("agents.qwen.temperature: 0.5: holds from the next prompt on")
        assert said(home)["agents"]["qwen"]["temperature"] == 0.5


@pytest.mark.parametrize("size", [(40, 12), (60, 20), (80, 24), (110, 30), (250, 70)])
async def test_it_works_at_every_size(open_desk, size: tuple[int, int]) -> None:
    async with open_desk(size) as desk:
        screen = await settings(desk)
        await desk.sees("WHO PLAYS NOW", "primary")
        await go_to(desk, "context.cap")
        await desk.sees("Characters of everything")
        await desk.press("enter")
        await type_into(desk, "-1")
        await desk.sees("not allowed", "enter keeps")
        await desk.press("escape")
        await desk.press("end")
        assert all(len(line) <= size[0] for line in desk.text.splitlines())
        assert desk.app.screen is screen
