"""The first and the last line of the screen: what this is, and which keys do something now."""

from __future__ import annotations

from dataclasses import dataclass

from rich.cells import cell_len
from textual import events
from textual.message import Message
from textual.strip import Strip

from milk_tui.ui import summary
from milk_tui.ui.actions import ACTIONS, BY_ID, Action, Keymap, Where
from milk_tui.ui.paint import Line, Painter
from milk_tui.ui.state import SessionState


class HeaderLine(Painter):
    """Title, directory, agents and meters."""

    ALLOW_SELECT = False

    def __init__(self, state: SessionState) -> None:
        super().__init__(id="header")
        self._state = state

    def render_line(self, y: int) -> Strip:
        return self.paint(summary.header(self._state, self.size.width), self.size.width)


class FooterLine(Painter):
    """The keys that do something where the person is; a click on one does it."""

    ALLOW_SELECT = False

    @dataclass
    class Pressed(Message):
        """A click on an action."""

        action: Action

    def __init__(self, keymap: Keymap | None = None) -> None:
        super().__init__(id="footer")
        self._keymap = keymap or Keymap({})
        self._where: tuple[Where, ...] = ()
        self._off: frozenset[str] = frozenset()
        self._spans: list[tuple[int, int, str]] = []

    def show(
        self,
        *,
        where: tuple[Where, ...] | None = None,
        off: frozenset[str] | None = None,
        keymap: Keymap | None = None,
    ) -> None:
        """``where``: the panes whose own keys come first; ``off``: ids that make no sense now."""
        self._where = self._where if where is None else where
        self._off = self._off if off is None else off
        self._keymap = self._keymap if keymap is None else keymap
        self.refresh()

    def actions(self) -> list[Action]:
        """What is offered, the most useful here first."""
        own = [action for action in ACTIONS if action.where in self._where and action.keys]
        common = [action for action in ACTIONS if action.footer and action not in own]
        return [action for action in (*own, *common) if action.id not in self._off]

    def line(self, width: int) -> Line:
        """As many keys as fit; help is always the last."""
        self._spans = []
        shown: list[tuple[str, str]] = [(" ", "")]
        x = 1
        help_ = BY_ID["help"]
        help_cells = cell_len(self._keymap.shown(help_, 1)) + 1 + cell_len(help_.title)
        wanted = [action for action in self.actions() if action is not help_]
        for action in (*wanted, help_):
            key = self._keymap.shown(action, 1)
            cells = cell_len(key) + 1 + cell_len(action.title)
            if x + cells + (0 if action is help_ else 2 + help_cells) > width:
                continue
            shown += [(key, "key"), (f" {action.title}", "dim"), ("  ", "")]
            self._spans.append((x, x + cells, action.id))
            x += cells + 2
        return tuple(shown)

    def render_line(self, y: int) -> Strip:
        return self.paint(self.line(self.size.width), self.size.width)

    def on_click(self, event: events.Click) -> None:
        for start, end, id_ in self._spans:
            if start <= event.x < end:
                self.post_message(self.Pressed(BY_ID[id_]))
                return
