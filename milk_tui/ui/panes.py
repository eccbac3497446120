"""A full screen of several panes: all at once where there is room, else one at a time under their names."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from rich.cells import cell_len
from textual import events, on, work
from textual.app import ComposeResult
from textual.containers import Container
from textual.content import Content
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import Static

from milk_tui.core.errors import MilkError
from milk_tui.ui.actions import Keymap
from milk_tui.ui.paint import Line, Painter, Piece
from milk_tui.ui.screens import FullScreen
from milk_tui.ui.state import SessionState, Topic

if TYPE_CHECKING:
    from textual.timer import Timer

CURRENT = "-current"


class Pane(NamedTuple):
    """``id`` names the frame around ``widget``; ``name`` is one word for where there is little room."""

    id: str
    title: str
    name: str
    widget: Widget


class PaneNames(Painter):
    """The panes by name, where only one of them is seen; a click shows another."""

    ALLOW_SELECT = False

    @dataclass
    class Chosen(Message):
        index: int

    def __init__(self, titles: Sequence[str]) -> None:
        super().__init__(classes="pane-names")
        self._titles = titles
        self._current = 0

    def show(self, current: int) -> None:
        self._current = current
        self.refresh()

    def _line(self) -> Line:
        pieces: list[Piece] = []
        for index, title in enumerate(self._titles):
            pieces += [(f" {title} ", "cursor" if index == self._current else "dim"), (" ", "")]
        return tuple(pieces)

    def render_line(self, y: int) -> Strip:
        width = self.size.width
        names = [cell_len(title) + 3 for title in self._titles]
        line = self._line()
        hidden = 0
        while sum(names[hidden:]) > width + 1 and hidden < self._current:
            hidden += 1
        return self.paint(line[2 * hidden :], width)

    def on_click(self, event: events.Click) -> None:
        x = 0
        for index, title in enumerate(self._titles):
            x += cell_len(title) + 3
            if event.x < x:
                self.post_message(self.Chosen(index))
                return


class PanedScreen(FullScreen):
    """Subclasses make ``panes`` before they are composed; the first one has the focus. ``_look`` reads what they
    show."""

    LAYOUT_ID = "panes"
    FOLLOWS: ClassVar[frozenset[Topic]] = frozenset()
    """What has it read again."""
    SOON_S: ClassVar = 0.1
    """Seconds after a change in which it is read again: changes come in bursts."""

    def __init__(self, state: SessionState, keymap: Keymap) -> None:
        super().__init__(state, keymap)
        self.panes: tuple[Pane, ...] = ()
        self._names: PaneNames | None = None
        self._waits: Timer | None = None

    def body(self) -> ComposeResult:
        self._names = PaneNames([pane.name for pane in self.panes])
        yield self._names
        with Container(id=self.LAYOUT_ID, classes="panes"):
            for index, pane in enumerate(self.panes):
                classes = f"pane {CURRENT}" if index == 0 else "pane"
                with Container(id=pane.id, classes=classes) as frame:
                    frame.border_title = Content(pane.title)
                    yield pane.widget
        yield Static(classes="pane-note", markup=False)

    def on_mount(self) -> None:
        self.say("")
        self.panes[0].widget.focus()

    def state_changed(self, topics: Iterable[Topic], facts: Iterable[str] = ()) -> None:
        if self.FOLLOWS & set(topics) and self.is_mounted and self._waits is None:
            self._waits = self.set_timer(self.SOON_S, self._look_again)

    def _look_again(self) -> None:
        self._waits = None
        self.look()

    @work(exclusive=True, group="look", exit_on_error=False)
    async def look(self) -> None:
        """Read what the panes show; that it can't be read is said."""
        try:
            await self._look()
        except MilkError as error:
            self.say(str(error), "error")

    async def _look(self) -> None:
        """Raises MilkError."""

    def frame(self, pane_id: str) -> Widget:
        return self.query_one(f"#{pane_id}")

    def say(self, text: str, severity: str = "information") -> None:
        """Say something where the person looks: over the keys."""
        note = self.query_one(".pane-note", Static)
        note.update(Content(text))
        note.set_class(severity != "information", "-warning")
        note.display = bool(text)

    @property
    def current(self) -> Pane:
        """The pane that has the focus, or had it last."""
        index = next((i for i, pane in enumerate(self.panes) if self.frame(pane.id).has_class(CURRENT)), 0)
        return self.panes[index]

    def move_pane(self, step: int) -> None:
        index = self.panes.index(self.current)
        self.show_pane((index + step) % len(self.panes))

    def show_pane(self, index: int) -> None:
        """Give a pane the focus; where only one is seen, it is that one."""
        self._mark(index)
        self.call_after_refresh(self.panes[index].widget.focus)

    def _mark(self, index: int) -> None:
        for at, pane in enumerate(self.panes):
            self.frame(pane.id).set_class(at == index, CURRENT)
        layout = self.query_one(f"#{self.LAYOUT_ID}")
        layout.set_class(index >= (len(self.panes) + 1) // 2, "-bottom")
        for at in range(len(self.panes)):
            layout.set_class(at == index, f"-at-{at}")
        if self._names is not None:
            self._names.show(index)

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        for index, pane in enumerate(self.panes):
            if event.widget is pane.widget:
                self._mark(index)
        self.offer_keys()

    def offer_keys(self) -> None:
        """Say in the footer what can be done in the pane."""

    @on(PaneNames.Chosen)
    def name_chosen(self, event: PaneNames.Chosen) -> None:
        self.show_pane(event.index)
