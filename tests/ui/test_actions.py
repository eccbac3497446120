"""One registry: bindings, help, commands and the README's table come from it (``style.md``)."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from milk_tui.ui import actions
from milk_tui.ui.actions import ACTIONS, BY_COMMAND, Action, Where
from milk_tui.ui.keymap import named


def test_every_action_is_named_once_and_says_what_it_does() -> None:
    assert len({action.id for action in ACTIONS}) == len(ACTIONS)
    for action in ACTIONS:
        assert re.fullmatch(r"[a-z]+(-[a-z]+)*", action.id)
        assert action.title and action.help.endswith("."), action.id
        assert action.keys or action.command, f"{action.id} can't be reached"


def test_no_two_commands_have_one_name() -> None:
    names = [name for action in ACTIONS for name in (action.command, *action.aliases) if name]
    assert len(set(names)) == len(names) == len(BY_COMMAND)


def test_the_commands_that_the_program_promises_are_there() -> None:
    promised = "escalate handback need new learn forget pin help quit sessions retry"
    assert set(promised.split()) <= set(BY_COMMAND)


def test_no_key_means_two_things_in_one_place() -> None:
    assert actions.keymap({action.id: action.keys for action in ACTIONS if action.keys}).problems == ()


@pytest.mark.parametrize("key", ["ctrl+b", "ctrl+x", "ctrl+a", "ctrl+e", "ctrl+k", "ctrl+u", "ctrl+w"])
def test_keys_that_a_multiplexer_or_an_editor_needs_are_left_alone(key: str) -> None:
    assert not [action.id for action in ACTIONS if key in action.keys]


def test_the_copy_key_has_no_priority_so_that_copying_works() -> None:
    assert not actions.BY_ID["copy"].priority


def test_bindings_carry_id_title_and_help() -> None:
    for where in Where:
        for binding in actions.bindings(where):
            action = actions.BY_ID[binding.id or ""]
            assert binding.action == action.method
            assert (binding.description, binding.tooltip) == (action.title, action.help)
            assert binding.key == ",".join(action.keys)


def test_a_configured_key_replaces_the_built_in_one() -> None:
    keymap = actions.keymap({"escalate": ("f10", "f9")})
    assert keymap.problems == ()
    assert keymap.of(actions.BY_ID["escalate"]) == ("f10", "f9")
    assert keymap.overrides() == {"escalate": "f10,f9"}
    assert keymap.of(actions.BY_ID["help"]) == ("f1",)


def test_two_actions_may_swap_their_keys() -> None:
    keymap = actions.keymap({"help": ("f2",), "memory": ("f1",)})
    assert keymap.problems == ()
    assert keymap.overrides() == {"help": "f2", "memory": "f1"}


@pytest.mark.parametrize(
    ("configured", "said"),
    [
        ({"escalte": ("f9",)}, "escalte: no such action"),
        ({"escalate": ("f1",)}, "f1 already means help"),
        ({"pin-fact": ("ctrl+g",)}, "ctrl+g already means escalate"),
        ({"escalte": ("f9",)}, "escalate perhaps"),
        ({"escalate": ("crtl+g",)}, "no key is called crtl+g"),
        ({"escalate": ("z",)}, "z is written into the text"),
        ({"rename-session": ("ctrl+i",)}, "the same as tab"),
        ({"escalate": ("ctrl+k",)}, "the prompt, which needs it"),
        ({"mark-fact": ("f1",)}, "f1 already means help"),
    ],
)
def test_a_wrong_key_is_said_and_left_out(configured: dict[str, tuple[str, ...]], said: str) -> None:
    keymap = actions.keymap(configured)
    assert said in keymap.problems[0]
    assert keymap.overrides() == {}


def test_the_same_key_may_mean_another_thing_in_another_list() -> None:
    assert actions.keymap({"rename-session": ("ctrl+g",)}).problems == ()


def test_what_has_no_key_can_be_given_one() -> None:
    keymap = actions.keymap({"retry": ("f10",)})
    assert keymap.problems == ()
    assert [action.id for action in keymap.bound] == ["retry"]
    assert keymap.shown(actions.BY_ID["retry"]) == "F10"


@pytest.mark.parametrize(
    ("written", "key"),
    [
        ("Ctrl-G", "ctrl+g"),
        ("shift+ctrl+p", "ctrl+shift+p"),
        ("?", "question_mark"),
        ("slash", "slash"),
        ("ctrl+[", "ctrl+left_square_bracket"),
        ("ESC", "escape"),
        ("F5", "f5"),
        ("ctrl+-", "ctrl+minus"),
        ("nope", None),
        ("", None),
        ("ctrl+", None),
        ("ctrl+ctrl+a", None),
    ],
)
def test_a_key_may_be_written_as_people_do(written: str, key: str | None) -> None:
    assert named(written) == key


@given(st.text(max_size=12))
def test_no_name_of_a_key_does_harm(text: str) -> None:
    actions.keymap({"escalate": (text,)})


def test_there_is_a_way_to_every_pane() -> None:
    for where in {action.where for action in ACTIONS} - {Where.EVERYWHERE, Where.SESSION}:
        way = actions.BY_ID[actions.WAYS[where]]
        assert way.keys or way.command, where


@pytest.mark.parametrize(
    ("key", "shown"),
    [("ctrl+g", "^g"), ("f2", "F2"), ("escape", "esc"), ("shift+f6", "shift+F6"), ("slash", "/"), ("p", "p")],
)
def test_keys_are_shown_short(key: str, shown: str) -> None:
    assert actions.display(key) == shown


def test_commands_are_found_as_they_are_typed() -> None:
    assert actions.matching("ne")[0].command == "need"
    assert [a.command for a in actions.matching("resu")] == ["sessions"]
    for name, action in BY_COMMAND.items():
        assert actions.matching(name)[0] is action, f"enter on /{name} does something else"
    assert {a.command for a in actions.matching("")} == {a.command for a in ACTIONS if a.command}


def test_the_readme_table_has_every_action() -> None:
    table = actions.readme_table()
    for action in ACTIONS:
        assert action.help in table
        assert all(f"`{key}`" in table for key in action.keys)
        assert not action.command or f"`{action.usage}`" in table


def test_usage_says_what_is_needed() -> None:
    assert Action("x", "x", "x", Where.SESSION, command="x", arguments="TEXT").needs_argument
    assert not actions.BY_ID["need"].needs_argument
    assert actions.BY_ID["need"].usage == "/need [TEXT]"


def test_every_action_is_done_somewhere() -> None:
    from milk_tui.ui.app import MilkApp
    from milk_tui.ui.changes_dialog import ChangesDialog
    from milk_tui.ui.commands import Commands
    from milk_tui.ui.fact_list import FactList
    from milk_tui.ui.helper_dialog import HelperDialog
    from milk_tui.ui.inspector import InspectorScreen
    from milk_tui.ui.main_screen import MainScreen
    from milk_tui.ui.memory import MemoryScreen
    from milk_tui.ui.perception import PerceptionScreen
    from milk_tui.ui.permission_dialog import PermissionDialog
    from milk_tui.ui.prompt import Prompt
    from milk_tui.ui.sessions import SessionPicker
    from milk_tui.ui.settings import SettingsScreen
    from milk_tui.ui.state import SessionState
    from milk_tui.ui.statistics import StatisticsScreen
    from milk_tui.ui.transcript import Transcript

    homes = {
        Where.EVERYWHERE: MilkApp,
        Where.SESSION: MainScreen,
        Where.PROMPT: Prompt,
        Where.CONVERSATION: Transcript,
        Where.PERCEPTS: FactList,
        Where.MEMORY: MemoryScreen,
        Where.SESSIONS: SessionPicker,
        Where.INSPECTOR: InspectorScreen,
        Where.PERCEPTION: PerceptionScreen,
        Where.PERMISSION: PermissionDialog,
        Where.HELPER: HelperDialog,
        Where.CHANGES: ChangesDialog,
        Where.STATISTICS: StatisticsScreen,
        Where.SETTINGS: SettingsScreen,
    }
    commands = Commands(None, SessionState(), None)  # type: ignore[arg-type]
    for action in ACTIONS:
        method = f"action_{action.method}"
        if action.keys:
            assert hasattr(homes[action.where], method), action.id
        if action.command:
            by_command = action.id in commands.by_id
            assert by_command or hasattr(MilkApp, method) or hasattr(MainScreen, method), action.id
