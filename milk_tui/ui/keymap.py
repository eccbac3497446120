"""The keys in use: the built-in ones under ``[keys]`` of the config, and what is wrong with what that says."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import NamedTuple

from textual.keys import _character_to_key, format_key

from milk_tui.ui.action import Action, Where

_TYPED_INTO = frozenset({Where.EVERYWHERE, Where.SESSION, Where.PROMPT, Where.SESSIONS})
"""Panes in which a letter is written and can't be a key."""
_SAME = {
    "ctrl+i": "tab",
    "ctrl+m": "enter",
    "ctrl+h": "backspace",
    "ctrl+left_square_bracket": "escape",
    "return": "enter",
}
"""Keys that terminals send as other ones."""
_MODIFIERS = frozenset({"ctrl", "alt", "shift", "super", "hyper", "meta"})
_NAMED = "escape enter tab space backspace delete insert up down left right home end pageup pagedown"
_NAMES = frozenset((*_NAMED.split(), *(f"f{number}" for number in range(1, 25))))
_MEANT = {"esc": "escape", "return": "enter", "del": "delete", "pgup": "pageup", "pgdn": "pagedown", "control": "ctrl"}
_BETWEEN = re.compile(r"(?<=.)[+-](?=.)")


class Keymap(NamedTuple):
    """The keys that differ from the built-in ones, by the ids of actions."""

    keys: Mapping[str, tuple[str, ...]]
    problems: tuple[str, ...] = ()
    """What of the config could not be used, and why."""
    bound: tuple[Action, ...] = ()
    """Actions without a built-in key that the config gives one; they work on the main screen."""

    def of(self, action: Action) -> tuple[str, ...]:
        return self.keys.get(action.id, action.keys)

    def shown(self, action: Action, limit: int = 3) -> str:
        """The keys as people write them: ``^g``, ``F2``, ``esc``."""
        return " ".join(display(key) for key in self.of(action)[:limit])

    def overrides(self) -> dict[str, str]:
        """What Textual's ``set_keymap`` takes."""
        return {id_: ",".join(keys) for id_, keys in self.keys.items() if keys}


def checked(configured: Mapping[str, Iterable[str]], actions: Sequence[Action]) -> Keymap:
    """Check what the config says; what can't be used is left out and said, the built-in key then holds.

    Wrong are: an unknown id, a name that no key has, a key that is taken in a pane that is there at the same time, a
    letter where letters are written, a key that the prompt needs, and one that a terminal sends as another.
    """
    by_id = {action.id: action for action in actions}
    keys: dict[str, tuple[str, ...]] = {}
    problems: list[str] = []
    bound: list[Action] = []
    for id_, wanted in configured.items():
        action = by_id.get(id_)
        if action is None:
            problems.append(f"[keys] {id_}: no such action{_nearest(id_, by_id)}; F1 lists them")
            continue
        if not action.keys and not action.command:
            problems.append(f"[keys] {id_}: it has no key and no command of its own")
            continue
        taken = {
            key: other.id
            for other in actions
            if other is not action and _meet(other.where, action.where)
            for key in keys.get(other.id, () if other.id in configured else other.keys)
        }
        free: list[str] = []
        for written in wanted:
            key = named(written)
            if key is None:
                problems.append(f"[keys] {id_}: no key is called {written}; such as ctrl+g, f2, escape, alt+enter")
            elif key in taken:
                problems.append(f"[keys] {id_}: {key} already means {taken[key]}")
            elif why := _unusable(key, action):
                problems.append(f"[keys] {id_}: {key} {why}")
            elif key not in free:
                free.append(key)
        if free:
            keys[id_] = tuple(free)
            if not action.keys:
                bound.append(action)
    return Keymap(keys, tuple(problems), tuple(bound))


def named(written: str) -> str | None:
    """The key as Textual names it: ``Ctrl-G`` is ``ctrl+g``, ``?`` is ``question_mark``; ``None``: there is none."""
    text = written.strip()
    if len(text) == 1 and text.isprintable():
        return _character_to_key(text)
    *modifiers, name = (part if len(part) == 1 else part.lower() for part in _BETWEEN.split(text))
    modifiers = [_MEANT.get(part, part) for part in modifiers]
    if not set(modifiers) <= _MODIFIERS or len(set(modifiers)) != len(modifiers):
        return None
    name = _MEANT.get(name, name)
    if len(name) == 1:
        name = _character_to_key(name.lower() if modifiers else name)
    elif name not in _NAMES and not _is_character(name):
        return None
    return "+".join([*sorted(modifiers), name])


def _is_character(name: str) -> bool:
    """True for ``question_mark`` and its like: the name of a character that can be printed."""
    import unicodedata

    if name in _ascii_names():
        return True
    try:
        return unicodedata.lookup(name.replace("_", " ")).isprintable()
    except KeyError:
        return False


@cache
def _ascii_names() -> frozenset[str]:
    return frozenset(_character_to_key(chr(code)) for code in range(33, 127))


def _unusable(key: str, action: Action) -> str:
    """Why the key would not do what is wanted; empty when it does."""
    if same := _SAME.get(key):
        return f"is the same as {same} to a terminal"
    if key in action.keys:
        return ""
    *modifiers, name = key.split("+")
    printed = (len(name) == 1 or name not in _NAMES) and not set(modifiers) - {"shift"}
    if action.where in _TYPED_INTO and (printed or key == "space"):
        return "is written into the text where it should work; add ctrl or take a function key"
    if action.where in (Where.EVERYWHERE, Where.SESSION) and not action.priority and key in _editing():
        return f"moves or edits in the prompt, which needs it ({_editing()[key]})"
    return ""


@cache
def _editing() -> Mapping[str, str]:
    """What the keys do that the prompt has for writing."""
    from textual.widgets import TextArea

    found: dict[str, str] = {}
    for binding in TextArea.BINDINGS:
        if not isinstance(binding, tuple):
            for key in binding.key.split(","):
                found[key.strip()] = binding.description.lower()
    return found


def _nearest(id_: str, known: Iterable[str]) -> str:
    from difflib import get_close_matches

    near = get_close_matches(id_, known, n=1)
    return f", {near[0]} perhaps" if near else ""


def _meet(one: Where, other: Where) -> bool:
    """True when both panes can have the keys at the same time; a dialog has them alone."""
    wide = {Where.EVERYWHERE, Where.SESSION}
    if Where.SESSIONS in (one, other):
        return one is other
    if Where.MEMORY in (one, other):
        return {one, other} <= {Where.MEMORY, Where.PERCEPTS, Where.EVERYWHERE}
    if {one, other} & {Where.INSPECTOR, Where.PERCEPTION, Where.SETTINGS}:
        return one is other or Where.EVERYWHERE in (one, other)
    return one is other or one in wide or other in wide


_CONTROL = {"ctrl": "^"}
_SHORT = {"escape": "esc", "slash": "/", "question_mark": "?", "space": "space", "plus": "+", "minus": "-"}


def display(key: str) -> str:
    """A key as the footer writes it."""
    *modifiers, name = key.split("+")
    if name[0] == "f" and name[1:].isdigit():
        name = name.upper()
    name = _SHORT.get(name) or format_key(name)
    return "".join(_CONTROL.get(modifier, f"{modifier}+") for modifier in modifiers) + name


def speak() -> None:
    """From now on keys are written as they are called, for those who hear them."""
    _CONTROL.clear()
    signs = ("question_mark", "slash", "plus", "minus")
    _SHORT.update({name: name.replace("_", " ") for name in (*_NAMED.split(), *signs)})
