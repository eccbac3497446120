"""What stands in a conversation in which nothing was said yet: who answers, what is remembered, first keys."""

from __future__ import annotations

from collections.abc import Callable

from textual.geometry import Region
from textual.strip import Strip

from milk_tui.ui import format as f
from milk_tui.ui.actions import BY_ID, Keymap
from milk_tui.ui.paint import Line, Painter, cells
from milk_tui.ui.state import ESCALATION, PRIMARY, AgentView, SessionState

MARGIN = 3
NAME = 18
"""Cells for an agent's name at most."""
COLUMN = 30
"""Cells of one key with its words."""
KEYS = (
    ("send", "send"),
    ("escalate", "ask the deep agent"),
    ("palette", "every command"),
    ("help", "every key"),
    ("sessions", "earlier sessions"),
    ("settings", "settings"),
)
SIGNS = (("/", "a command"), ("@", "a file"))


def lines(state: SessionState, keymap: Keymap, width: int, height: int) -> list[Line]:
    """As many lines as have room, the most useful ones."""
    agents = [_agent(state.agent(role), keymap, width - MARGIN) for role in (PRIMARY, ESCALATION)]
    memory = _memory(state, keymap)
    keys = _keys(keymap, width)
    for shown in (
        [_HEADING, (), *agents, *memory, (), *keys],
        [*agents, *memory, (), *keys],
        [*agents, *keys],
        agents,
    ):
        if len(shown) <= height:
            return shown
    return []


_HEADING: Line = (("milk", "strong"), ("   two agents, one memory", "dim"))


def _agent(view: AgentView, keymap: Keymap, room: int) -> Line:
    nobody = not view.name or (view.state == "missing" and not view.model)
    name = "nobody yet" if nobody else f.fit(view.name, NAME)
    look = "dim" if nobody else view.role
    mark: Line = ((f"{f.ROLE_MARKS[view.role]} {name}", look), (" " * max(2, 14 - len(name)), ""))
    does = _does(view, nobody, keymap)
    if cells(mark) + len(does) > room:
        does = does.split(",")[0]
    return (*mark, (f.fit(does, max(1, room - cells(mark))), "dim"))


def _does(view: AgentView, nobody: bool, keymap: Keymap) -> str:
    key = keymap.shown(BY_ID["escalate"], 1)
    match view.state:
        case "unknown":
            return "is looked for"
        case "loading":
            return "is loading" if view.fraction is None else f"is loading, {f.percent(view.fraction)}"
        case "down":
            return f"is down: {view.text}" if view.text else "is down"
        case "missing" if nobody:
            role = "answers" if view.role == PRIMARY else "would take over"
            return f"{role} once you choose one: {keymap.shown(BY_ID['settings'], 1)}, or milk-tui setup"
        case "missing":
            return f"is missing: {view.text}" if view.text else "is missing"
    return "answers" if view.role == PRIMARY else f"takes over with {key}, or when the other asks for it"


def _memory(state: SessionState, keymap: Keymap) -> list[Line]:
    known = len(state.percepts)
    if not known:
        return []
    facts = f.plural(known, "fact")
    return [((f"★ {facts}", ""), (" " * max(2, 14 - len(facts)), ""), ("remembered, ", "dim"), *_key("memory", keymap))]


def _key(name: str, keymap: Keymap) -> Line:
    return ((keymap.shown(BY_ID[name], 1), "key"), (" shows them", "dim"))


def _keys(keymap: Keymap, width: int) -> list[Line]:
    """Two columns where they have room. A key that was taken off is not shown."""
    pieces = [(keymap.shown(BY_ID[name], 1), what) for name, what in KEYS]
    pieces = [*(piece for piece in pieces if piece[0]), *SIGNS]
    made = [(((f"{key:<7}", "key"), (f"{what:<{COLUMN - 7}}", "dim"))) for key, what in pieces]
    if width - 2 * MARGIN < 2 * COLUMN - 8:
        return list(made)
    half = (len(made) + 1) // 2
    return [(*made[row], *(made[row + half] if row + half < len(made) else ())) for row in range(half)]


class Welcome(Painter):
    """Over the conversation while ``is_empty`` says that nothing is in it."""

    ALLOW_SELECT = False

    def __init__(self, state: SessionState, is_empty: Callable[[], bool], keymap: Callable[[], Keymap]) -> None:
        super().__init__(id="welcome")
        self._state = state
        self._is_empty = is_empty
        self._keymap = keymap
        self._lines: list[Line] = []
        self.display = False

    def state_changed(self) -> None:
        """Come, go, or say what has changed."""
        self.display = self._state.ready and not self._state.problem and self._is_empty()
        if self.display:
            self.refresh()

    def render_lines(self, crop: Region) -> list[Strip]:
        self._lines = lines(self._state, self._keymap(), *self.size)
        return super().render_lines(crop)

    def render_line(self, y: int) -> Strip:
        width, height = self.size
        at = y - max(0, (height - len(self._lines)) // 3)
        line = self._lines[at] if 0 <= at < len(self._lines) else ()
        margin = MARGIN if width >= 44 else 1
        return self.paint(((" " * margin, ""), *line) if line else (), width)
