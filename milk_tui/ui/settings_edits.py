"""Changing one setting in the way that its kind asks for: a switch at once, the rest in a dialog that checks it."""

from __future__ import annotations

import shlex
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from milk_tui.config_schema import Kind, Setting, plain, read, shown, written
from milk_tui.core.errors import ConfigError
from milk_tui.ui.actions import BY_ID
from milk_tui.ui.actions import keymap as checked_keymap
from milk_tui.ui.agent_wizard import choice, field_problem, split
from milk_tui.ui.settings_dialogs import KeysDialog, ValueDialog
from milk_tui.ui.write_dialog import WriteDialog

if TYPE_CHECKING:
    from textual.app import App

    from milk_tui.config import Config
    from milk_tui.engine.agent_spec import AgentSpec
    from milk_tui.engine.settings_desk import Held

COMMANDS = ("command", "api_key_command")
"""Lists that are written as in a shell."""
Keep = Callable[[Setting, Any], Awaitable[None]]


async def edit(app: App[Any], held: Held, config: Config, spec: AgentSpec | None, keep: Keep) -> None:
    """Ask for another value and give it to ``keep``; nothing happens when the person leaves. ``spec``: the agent that
    the setting belongs to. Raises what ``keep`` raises."""
    setting = held.setting
    match setting.kind:
        case Kind.SWITCH:
            await keep(setting, not held.value)
        case Kind.CHOICE:
            await _choose(app, held, keep)
        case Kind.KEYS:
            await _press(app, held, config, keep)
        case Kind.LIST | Kind.PAIRS if setting.path[-1] not in COMMANDS:
            await _write(app, held, keep)
        case _:
            await _line(app, held, spec, keep)


async def _choose(app: App[Any], held: Held, keep: Keep) -> None:
    setting = held.setting
    names = {shown(value): value for value in setting.choices}
    default = shown(plain(setting.default))
    listed = [(name, name, "the default" if name == default else "") for name in names]
    picked = await app.push_screen_wait(choice(setting.key, listed, start=shown(held.value)))
    if picked is not None:
        await keep(setting, names[picked])


async def _press(app: App[Any], held: Held, config: Config, keep: Keep) -> None:
    action = BY_ID[held.setting.path[1]]
    others = {id_: keys for id_, keys in config.keys.items() if id_ != action.id}
    known = set(checked_keymap(others).problems)

    def problem(keys: list[str]) -> str:
        found = [each for each in checked_keymap({**others, action.id: keys}).problems if each not in known]
        return found[0].removeprefix("[keys] ") if found else ""

    keys = await app.push_screen_wait(KeysDialog(action.title, held.value, problem, about=action.help))
    if keys is not None:
        await keep(held.setting, keys)


async def _write(app: App[Any], held: Held, keep: Keep) -> None:
    setting = held.setting

    async def kept(text: str) -> None:
        await keep(setting, read(setting, text))

    about = f"One a line. {setting.meaning} Allowed: {setting.allowed}."
    await app.push_screen_wait(WriteDialog(setting.key, written(setting, held.value), kept, about=about))


async def _line(app: App[Any], held: Held, spec: AgentSpec | None, keep: Keep) -> None:
    setting = held.setting
    is_command = setting.path[-1] in COMMANDS
    value = shlex.join(held.value or ()) if is_command else written(setting, held.value)
    allowed = "a program and its arguments, as in a shell" if is_command else setting.allowed
    words = await app.push_screen_wait(
        ValueDialog(
            setting.key, value, lambda text: _problem(setting, text, spec), about=setting.meaning, allowed=allowed
        )
    )
    if words is not None:
        await keep(setting, (split(words) if words.strip() else None) if is_command else read(setting, words))


def _problem(setting: Setting, text: str, spec: AgentSpec | None) -> str:
    """What is wrong with what is typed; empty when nothing is."""
    if spec is not None and text.strip():
        return field_problem(setting, text, spec.provider)
    try:
        if setting.path[-1] not in COMMANDS:
            read(setting, text)
        elif text.strip():
            split(text)
    except ConfigError as error:
        return str(error)
    return ""
