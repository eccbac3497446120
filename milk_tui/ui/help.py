"""Help (F1): every key and command, searchable; choosing one does it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.cells import cell_len

from milk_tui.ui import format as f
from milk_tui.ui.actions import ACTIONS, Action, Keymap, Where
from milk_tui.ui.dialogs import Picker
from milk_tui.ui.paint import Line
from milk_tui.ui.row_list import Heading, Row
from milk_tui.ui.words import TextRow

_TITLES = {
    Where.SESSION: "ON THE MAIN SCREEN",
    Where.EVERYWHERE: "EVERYWHERE",
    Where.PROMPT: "IN THE PROMPT",
    Where.CONVERSATION: "IN THE CONVERSATION",
    Where.PERCEPTS: "IN A LIST OF FACTS",
    Where.MEMORY: "IN THE MEMORY BROWSER",
    Where.SESSIONS: "IN THE LIST OF SESSIONS",
    Where.INSPECTOR: "IN THE BRICK INSPECTOR",
    Where.PERCEPTION: "IN THE PERCEPTION",
    Where.PERMISSION: "WHEN AN AGENT ASKS",
    Where.CHANGES: "IN THE LIST OF CHANGED FILES",
    Where.HELPER: "IN THE MEMORY HELPER'S LIST",
    Where.STATISTICS: "IN THE STATISTICS",
    Where.SETTINGS: "IN THE SETTINGS",
}


@dataclass(frozen=True, slots=True)
class ActionRow:
    """Keys and command, then what they do."""

    action: Action
    keys: str
    selectable: bool = True

    @property
    def key(self) -> str:
        return self.action.id

    def height(self, width: int) -> int:
        return 1 + len(self._help(width))

    def lines(self, width: int) -> Sequence[Line]:
        usage = self.action.usage or self.action.title
        first: Line = (
            (f"  {f.pad(self.keys, max(16, cell_len(self.keys) + 1))}", "key"),
            (usage, "strong"),
            (f"  {self.action.id}" if width >= 60 else "", "dim"),
        )
        return [first, *((("    ", ""), (row, "dim")) for row in self._help(width))]

    def _help(self, width: int) -> list[str]:
        also = f" Also {' '.join(f'/{name}' for name in self.action.aliases)}." if self.action.aliases else ""
        return f.wrap(self.action.help + also, width - 5)


def help_picker(keymap: Keymap, here: Sequence[Where] = (), *, words: str = "") -> Picker:
    """The help screen, what can be done ``here`` first; its result is the id of an action, or ``None``."""
    return Picker(
        "help",
        lambda words: help_rows(words, keymap, here),
        placeholder="type to find a key or a command",
        hint="enter does it · esc closes",
        wide=True,
        words=words,
    )


def help_rows(words: str, keymap: Keymap, here: Sequence[Where] = ()) -> Sequence[Row]:
    """The actions that fit the words, by the pane in which their keys work: those of ``here`` first. Before them, what
    is wrong with the keys of the config."""
    wanted = words.casefold().split()
    rows: list[Row] = []
    if keymap.problems and not wanted:
        rows.append(Heading("problems", (("KEYS OF THE CONFIG THAT DO NOT WORK", "warning"),)))
        rows += [
            TextRow(f"problem:{number}", problem, "warning", ("  ", ""))
            for number, problem in enumerate(keymap.problems)
        ]
    for where in dict.fromkeys((*here, *_TITLES)):
        members = [a for a in ACTIONS if a.where is where and _fits(a, wanted, keymap)]
        if not members:
            continue
        if rows:
            rows.append(TextRow(f"gap:{where}", ""))
        title = _TITLES.get(where, where.upper()) + (" · YOU ARE HERE" if where is next(iter(here), None) else "")
        rows.append(Heading(f"where:{where}", ((title, "heading"),)))
        rows += [ActionRow(action, keymap.shown(action)) for action in members]
    return rows


def _fits(action: Action, words: list[str], keymap: Keymap) -> bool:
    text = " ".join(
        (action.id, action.title, action.help, action.usage, *action.aliases, *keymap.of(action))
    ).casefold()
    return all(word in text for word in words)
