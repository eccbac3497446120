"""What the full-screen views have in common: a title line, a body, the footer, and escape to go back."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.dom import DOMNode
from textual.screen import Screen
from textual.strip import Strip

from milk_tui.ui.actions import Action, Keymap, Where
from milk_tui.ui.bars import FooterLine
from milk_tui.ui.on_top import OnTop
from milk_tui.ui.paint import Line, Painter, spread
from milk_tui.ui.sizes import HEIGHTS, WIDTHS
from milk_tui.ui.state import SessionState, Topic
from milk_tui.ui.themes import style_sheets


class TitleLine(Painter):
    """The first line of a full screen."""

    ALLOW_SELECT = False

    def __init__(self, left: Line, right: Line = ()) -> None:
        super().__init__(id="header")
        self._left = left
        self._right = right

    def say(self, left: Line, right: Line = ()) -> None:
        self._left, self._right = left, right
        self.refresh()

    def render_line(self, y: int) -> Strip:
        width = self.size.width
        return self.paint(spread(self._left, self._right, width), width)


class FullScreen(OnTop, Screen[None]):
    """A view over the whole terminal. Subclasses compose their body and follow ``state_changed``."""

    CSS_PATH = style_sheets("dialogs")
    BINDINGS: ClassVar = [Binding("escape", "back", "Back", show=False)]
    HORIZONTAL_BREAKPOINTS = WIDTHS
    VERTICAL_BREAKPOINTS = HEIGHTS
    HEADING: ClassVar = ""
    WHERE: ClassVar[tuple[Where, ...]] = ()

    def __init__(self, state: SessionState, keymap: Keymap) -> None:
        super().__init__()
        self.state = state
        self.title_line = TitleLine(((f" {self.HEADING}", "strong"),), (("esc back ", "dim"),))
        self.footer = FooterLine(keymap)

    def compose(self) -> ComposeResult:
        yield self.title_line
        yield from self.body()
        yield self.footer

    def body(self) -> ComposeResult:
        """The view's widgets."""
        yield from ()

    def on_mount(self) -> None:
        self.footer.show(where=self.WHERE, off=frozenset({"escape", "escalate"}))
        self.state_changed(Topic)

    def state_changed(self, topics: Iterable[Topic], facts: Iterable[str] = ()) -> None:
        """Draw again what the topics name."""

    @property
    def here(self) -> tuple[Where, ...]:
        return self.WHERE

    def key_target(self, action: Action) -> DOMNode | None:
        """What does an action whose key in the footer was clicked."""
        return self.focused

    @on(FooterLine.Pressed)
    def key_clicked(self, event: FooterLine.Pressed) -> None:
        """It is done by its target, as by its key: what the target then says goes past this screen."""
        target = None if event.action.where is Where.EVERYWHERE else self.key_target(event.action)
        (target or self.app).call_later(self.app.run_action, event.action.method, target)

    async def action_back(self) -> None:
        self.dismiss()
