"""Changing the config file: comments and order stay, the file is replaced in one step, and what somebody else wrote
meanwhile is never lost."""

from __future__ import annotations

import contextlib
import copy
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from milk_tui import config_file
from milk_tui.core.errors import ConfigError

Changes = Mapping[tuple[str, ...], Any]
"""Key → value; ``None`` takes the key, or a whole table, out."""


class ChangedMeanwhileError(ConfigError):
    """The file is not as it was read: another program or an editor wrote it."""


class _Any:
    pass


WHATEVER = _Any()


def write(file: Path, changes: Changes, *, seen: str | _Any | None = WHATEVER) -> str:
    """Set keys such as ``("session", "primary")``; the file's new text.

    The file is 0600, replaced in one step, and left alone when the result would not load. ``seen``: its text as it was
    read (``None``: it was not there), and it must still be that. Raises ``ConfigError``.
    """
    from milk_tui import paths

    shown = paths.shown(file)
    with _alone(file):
        before = config_file.read_text(file)
        _still(before, seen, shown)
        text = changed(before or "", changes, shown)
        check(text, shown)
        config_file.replace_private(file, text)
    return text


def put(file: Path, text: str | None, *, seen: str | _Any | None = WHATEVER) -> None:
    """Give the file that whole text, or take it away (``None``): what undoes a ``write``. Raises ``ConfigError``."""
    from milk_tui import paths

    shown = paths.shown(file)
    with _alone(file):
        _still(config_file.read_text(file), seen, shown)
        if text is None:
            file.resolve().unlink(missing_ok=True)
            return
        check(text, shown)
        config_file.replace_private(file, text)


def check(text: str, shown: str) -> None:
    """Raises ``ConfigError`` for a text that would not load."""
    config, _ = config_file.parse(text, shown)
    config_file.check(config, shown)


def changed(text: str, changes: Changes, shown: str = "config") -> str:
    """The text with the changes in it; all that is not named stays as it stands, comments too. Raises ``ConfigError``
    for one that can't be changed so: then a person has to do it."""
    import tomllib

    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    text = text if not text or text.endswith("\n") else f"{text}\n"
    keys = ", ".join(".".join(path) for path in changes)
    by_hand = ConfigError(
        f"{shown}: it is written in a way in which {keys} can't be changed from here.",
        "Change it by hand: milk-tui config edit.",
    )
    try:
        wanted = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        config_file.parse(text, shown)
        raise
    try:
        document = tomlkit.parse(text)
        for path, value in changes.items():
            _set(document, path, value)
            _set_plain(wanted, path, value)
        result = tomlkit.dumps(document)
        if tomllib.loads(result) != _without_empty(wanted, tomllib.loads(result)):
            raise by_hand
    except (TOMLKitError, tomllib.TOMLDecodeError, AttributeError, KeyError, TypeError, ValueError) as error:
        raise by_hand from error
    return result


def _set(document: Any, path: tuple[str, ...], value: Any) -> None:
    import tomlkit
    from tomlkit.items import InlineTable

    *tables, last = path
    table = document
    for depth, name in enumerate(tables):
        if name not in table:
            if value is None:
                return
            inline = isinstance(table, InlineTable)
            table.add(name, tomlkit.inline_table() if inline else tomlkit.table(is_super_table=depth < len(tables) - 1))
        table = table[name]
    if value is None:
        if last in table:
            table.remove(last)
    elif isinstance(value, Mapping):
        pairs = tomlkit.inline_table()
        pairs.update(value)
        table[last] = pairs
    else:
        _keep_remark(table, last, value)


def _keep_remark(table: Any, key: str, value: Any) -> None:
    """Set a value; the remark behind the one before it stays where it is."""
    import tomlkit

    made = tomlkit.item(list(value) if isinstance(value, tuple) else value)
    if key in table and hasattr(table[key], "trivia"):
        old = table[key].trivia
        made.trivia.comment_ws, made.trivia.comment, made.trivia.trail = old.comment_ws, old.comment, old.trail
    table[key] = made


def _set_plain(table: dict[str, Any], path: tuple[str, ...], value: Any) -> None:
    *tables, last = path
    for name in tables:
        if value is None and name not in table:
            return
        table = table.setdefault(name, {})
    if value is None:
        table.pop(last, None)
    else:
        table[last] = copy.deepcopy(list(value) if isinstance(value, tuple) else value)


def _without_empty(wanted: dict[str, Any], got: dict[str, Any]) -> dict[str, Any]:
    """``wanted`` without empty tables that are not in ``got``: a table made of dotted keys goes with the last one."""
    return {
        name: _without_empty(value, got.get(name, {})) if isinstance(value, dict) else value
        for name, value in wanted.items()
        if value != {} or name in got
    }


def _still(before: str | None, seen: str | _Any | None, shown: str) -> None:
    if seen is not WHATEVER and before != seen:
        raise ChangedMeanwhileError(
            f"{shown} was changed by another program meanwhile; nothing was written.",
            "It is read again now: look at it and repeat what you did.",
        )


@contextlib.contextmanager
def _alone(file: Path) -> Iterator[None]:
    """One program of ours at a time changes files of that folder. Raises ``ConfigError``."""
    import fcntl

    from milk_tui import paths

    folder = paths.private_folder(file.resolve().parent)
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    except OSError as error:
        raise ConfigError(
            f"{paths.shown(file)}: can't be written ({config_file.reason(error)}).",
            "Check the folder's permissions.",
        ) from error
    try:
        with contextlib.suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
