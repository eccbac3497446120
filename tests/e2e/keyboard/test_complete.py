"""The walks press every key and send every command that the registry has: no terminal is needed to see that."""

from __future__ import annotations

import importlib
from pathlib import Path

from milk_tui.ui.actions import ACTIONS
from tests.e2e.keyboard.steps import Step


def walked() -> set[tuple[str, str]]:
    """The actions with the keys and commands that some step of a walk presses."""
    names = (file.stem for file in Path(__file__).parent.glob("test_*.py"))
    modules = [importlib.import_module(f"{__package__}.{name}") for name in names]
    values = [value for module in modules for value in vars(module).values() if isinstance(value, tuple)]
    return {(step.action, step.pressed) for value in values for step in value if isinstance(step, Step) and step.action}


def test_every_key_and_every_command_has_a_step() -> None:
    keys = {(action.id, key) for action in ACTIONS for key in action.keys}
    commands = {(action.id, f"/{name}") for action in ACTIONS for name in (action.command, *action.aliases) if name}
    assert keys | commands == walked()


def test_every_action_can_be_done_by_the_keyboard() -> None:
    assert [action.id for action in ACTIONS if not action.keys and not action.command] == []
