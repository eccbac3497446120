"""What can be completed in the prompt: the word under the cursor, and what is offered for it. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple

from milk_tui.ui import actions
from milk_tui.ui import format as f
from milk_tui.ui.actions import Action, Keymap
from milk_tui.ui.paint import Line, cells

_USAGE = 21
"""Cells for a command and what follows it."""


class Kind(StrEnum):
    COMMAND = "command"
    ARGUMENT = "argument"
    FILE = "file"


class Word(NamedTuple):
    """What is being written under the cursor. ``start`` is its column (for a file that of the ``@``), ``command`` the
    one that an argument is for."""

    kind: Kind
    written: str
    start: int = 0
    command: str = ""


class Choice(NamedTuple):
    """One row of the list. ``value`` is what is written when it is taken: a command's name, an argument, a path."""

    value: str
    about: str = ""
    shown: str = ""
    """What stands in the row instead of the value."""
    keys: str = ""
    action: Action | None = None
    """What a command does."""

    def line(self, width: int) -> Line:
        if self.action is None:
            return self._plain(width)
        keys = f" {self.keys} "
        about = f.pad(self.about, max(0, width - _USAGE - len(keys)))
        return ((f.pad(f" {self.shown}", _USAGE), "strong"), (about, "dim"), (keys, "key"))

    def _plain(self, width: int) -> Line:
        line: Line = ((f" {self.shown or self.value}", "strong"), (f"  {self.about}", "dim"))
        return line if cells(line) <= width - 2 else ((f" {f.fit_left(self.value, width - 2)}", "strong"),)


def word_at(lines: Sequence[str], row: int, column: int) -> Word | None:
    """The word that can be completed where the cursor is; ``None`` when none can."""
    if (beginning := command_beginning(lines)) is not None:
        return Word(Kind.COMMAND, beginning, 1)
    line = lines[row] if row < len(lines) else ""
    if len(lines) == 1 and line.startswith("/") and column > line.find(" ") > 1:
        name, _, _ = line[1:].partition(" ")
        if name in actions.BY_COMMAND and actions.BY_COMMAND[name].arguments:
            start = len(name) + 2
            return Word(Kind.ARGUMENT, line[start:column].lstrip(), start, name)
    if "@" not in line:
        return None
    from milk_tui.core.attachments import mention_at

    found = mention_at(line, column)
    return None if found is None else Word(Kind.FILE, found[1], found[0])


def command_beginning(lines: Sequence[str]) -> str | None:
    """The word after the slash when all that is written is one; ``None`` otherwise."""
    if len(lines) != 1 or not lines[0].startswith("/"):
        return None
    word = lines[0][1:]
    return word if not word or (word.replace("-", "").isalpha() and word.isascii()) else None


def of_commands(beginning: str, keymap: Keymap) -> list[Choice]:
    """The commands that fit what is typed of one."""
    return [
        Choice(action.command, action.help, action.usage, keymap.shown(action, 1), action)
        for action in actions.matching(beginning)
    ]


def of_files(paths: Sequence[str]) -> list[Choice]:
    """Paths, each with its name first; what a name could do to a terminal is taken out of what is shown."""
    from milk_tui.core.text import one_line

    choices = []
    for path in paths:
        folder, _, name = path.rstrip("/").rpartition("/")
        end = "/" if path.endswith("/") else ""
        choices.append(Choice(path, one_line(folder, 400), one_line(f"{name}{end}", 400)))
    return choices
