"""Our hook in a project's settings of Claude Code: put in, taken out, looked for; nothing else of the file changes."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from milk_tui import paths
from milk_tui.core.errors import MilkError
from milk_tui.interop import json_edit
from milk_tui.interop.hook_payload import EVENTS, START, TOOL
from milk_tui.interop.json_edit import Node, NotJson

SHARED = Path(".claude/settings.json")
LOCAL = Path(".claude/settings.local.json")
BACKUP = ".milk-backup"
LARGEST = 2_000_000
TIMEOUT_S = 10

_OURS = re.compile(r"\bmilk[-_]tui\b(?:\.exe)?[\"']?(?:\s.*)?\shook\b")
_MATCHERS = {TOOL: "*", START: "compact|clear"}


@dataclass(frozen=True, slots=True)
class Settings:
    """A settings file as it is. ``text`` is empty when there is none."""

    file: Path
    text: str
    found: bool


@dataclass(frozen=True, slots=True)
class Status:
    """``commands``: by event, what of ours is called."""

    file: Path
    found: bool
    commands: dict[str, str]

    @property
    def complete(self) -> bool:
        return all(event in self.commands for event in EVENTS)


def read(file: Path) -> Settings:
    """Raises MilkError for a file that can't be read or is something else than settings."""
    shown = paths.shown(file)
    try:
        if file.stat().st_size > LARGEST:
            raise MilkError(f"{shown}: too large for a settings file.", "Look at it, then run this again.")
        text = file.read_bytes().decode("utf-8")
    except FileNotFoundError:
        return Settings(file, "", found=False)
    except OSError as error:
        raise MilkError(f"{shown}: can't be read: {error.strerror}.", "Check its permissions.") from error
    except UnicodeDecodeError as error:
        raise MilkError(f"{shown}: byte {error.start} is not UTF-8.", "Save it as UTF-8.") from error
    _root(file, text)
    return Settings(file, text, found=True)


def status(settings: Settings) -> Status:
    commands: dict[str, str] = {}
    for event, _, handler in _handlers(_root(settings.file, settings.text)):
        command = _command(handler)
        if command is not None and _OURS.search(command):
            commands.setdefault(event, command)
    return Status(settings.file, settings.found, commands)


def installed(settings: Settings, command: str) -> str:
    """The text with our hook at each boundary, calling ``command``; as it is when that is so already."""
    now = status(settings)
    if now.complete and set(now.commands.values()) == {command}:
        return settings.text
    text = uninstalled(settings) if now.commands else settings.text
    if not text.strip():
        text = "{}\n"
    for event in EVENTS:
        root = _root(settings.file, text)
        hooks = root.get("hooks")
        entry: dict[str, Any] = {"hooks": [{"type": "command", "command": command, "timeout": TIMEOUT_S}]}
        if event in _MATCHERS:
            entry = {"matcher": _MATCHERS[event], **entry}
        if hooks is None:
            text = json_edit.insert(text, root, {event: [entry]}, "hooks")
        elif (groups := hooks.get(event)) is None:
            text = json_edit.insert(text, hooks, [entry], event)
        else:
            text = json_edit.insert(text, groups, entry)
    return text


def uninstalled(settings: Settings) -> str:
    """The text without our hook; what it leaves empty goes too."""
    text = settings.text
    while (found := _first_of_ours(settings.file, text)) is not None:
        parent, child = found
        text = json_edit.remove(text, parent, child)
    return text


def write(settings: Settings, text: str) -> Path | None:
    """Replace the file in one step and keep a copy of what was there; the copy's path. A file that only held our hook
    and that we made goes. Raises MilkError."""
    file = Path(os.path.realpath(settings.file))
    backup = file.with_name(file.name + BACKUP)
    try:
        if settings.found and not text.strip("{} \t\r\n") and not backup.exists():
            file.unlink()
            return None
        file.parent.mkdir(parents=True, exist_ok=True)
        mode = file.stat().st_mode & 0o777 if settings.found else 0o644
        if settings.found:
            _replace(backup, settings.text, mode)
        _replace(file, text, mode)
    except OSError as error:
        raise MilkError(f"{paths.shown(file)}: can't be written: {error.strerror}.", "Nothing was changed.") from error
    return backup if settings.found else None


def _replace(file: Path, text: str, mode: int) -> None:
    handle, name = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.")
    try:
        with os.fdopen(handle, "wb") as out:
            out.write(text.encode())
        Path(name).chmod(mode)
        Path(name).replace(file)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _first_of_ours(file: Path, text: str) -> tuple[Node, Node] | None:
    """What to take out next: our handler, or the outermost thing that holds nothing else."""
    root = _root(file, text)
    hooks = root.get("hooks")
    for event, chain, handler in _handlers(root):
        command = _command(handler)
        if command is None or not _OURS.search(command):
            continue
        groups, group, listed = chain
        if _size(listed) > 1:
            return listed, handler
        if _size(groups) > 1:
            return groups, group
        assert hooks is not None
        return (root, hooks) if _size(hooks) == 1 else (hooks, _member(hooks, event))
    return None


def _handlers(root: Node) -> Iterator[tuple[str, tuple[Node, Node, Node], Node]]:
    """Event, the nodes that hold a handler (groups, group, its list), handler; what has another shape is left out."""
    hooks = root.get("hooks")
    for event, _, groups in (hooks.members or ()) if hooks is not None else ():
        for group in groups.items or ():
            listed = group.get("hooks")
            for handler in (listed.items or ()) if listed is not None else ():
                assert listed is not None
                yield event, (groups, group, listed), handler


def _command(handler: Node) -> str | None:
    node = handler.get("command")
    return node.value if node is not None and isinstance(node.value, str) else None


def _size(node: Node) -> int:
    held: Sequence[object] = node.members if node.members is not None else node.items or ()
    return len(held)


def _member(node: Node, key: str) -> Node:
    found = node.get(key)
    assert found is not None
    return found


def _root(file: Path, text: str) -> Node:
    """Raises MilkError for what can't be changed without harm."""
    shown = paths.shown(file)
    try:
        root = json_edit.parse(text if text.strip() else "{}")
    except NotJson as error:
        raise MilkError(f"{shown}: not JSON: {error}.", "Nothing was changed: mend it first.") from error
    hooks = root.get("hooks") if root.members is not None else None
    wrong = root.members is None or (hooks is not None and hooks.members is None)
    if not wrong and hooks is not None:
        wrong = any(groups.items is None for event, _, groups in hooks.members or () if event in EVENTS)
    if wrong:
        raise MilkError(f"{shown}: not a settings file of Claude Code.", "Nothing was changed: look at “hooks” in it.")
    return root
