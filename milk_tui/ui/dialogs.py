"""Dialogs: a text to read, and a list to choose from."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input

from milk_tui.ui.line_input import LineInput
from milk_tui.ui.on_top import OnTop
from milk_tui.ui.row_list import Row, RowList
from milk_tui.ui.themes import style_sheets

STYLES = style_sheets("dialogs")
CLOSE = Binding("escape", "close", "Close", show=False)


class Reader(OnTop, ModalScreen[str | None]):
    """A text to scroll; rows that can be chosen close it with their key."""

    CSS_PATH = STYLES
    BINDINGS: ClassVar = [CLOSE, Binding("q", "close", "Close", show=False)]

    def __init__(self, title: str, rows: Sequence[Row], *, hint: str = "esc closes") -> None:
        super().__init__(classes="dialog")
        self._title = title
        self._rows = rows
        self._hint = hint

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog-box pane") as box:
            box.border_title = Content(self._title)
            box.border_subtitle = Content(self._hint)
            yield RowList(self._rows)

    @on(RowList.Chosen)
    def chosen(self, event: RowList.Chosen) -> None:
        self.dismiss(event.key)

    def action_close(self) -> None:
        self.dismiss(None)


class Picker(OnTop, ModalScreen[str | None]):
    """A list that narrows as one types; enter chooses, the result is the row's key."""

    CSS_PATH = STYLES
    BINDINGS: ClassVar = [
        CLOSE,
        Binding("up", "move(-1)", "Up", show=False),
        Binding("down", "move(1)", "Down", show=False),
        Binding("pageup", "page(-1)", "Page up", show=False),
        Binding("pagedown", "page(1)", "Page down", show=False),
    ]

    def __init__(
        self,
        title: str,
        find: Callable[[str], Sequence[Row]],
        *,
        placeholder: str = "type to narrow",
        hint: str = "enter chooses · esc closes",
        empty: str = "nothing found",
        wide: bool = False,
        start: str = "",
        words: str = "",
    ) -> None:
        """``find`` gives the rows for what is typed, at first for ``words``; the cursor begins on the row
        ``start``."""
        super().__init__(classes="dialog")
        self._title = title
        self._find = find
        self._hint = hint
        self._wide = wide
        self._start = start
        self.filter = LineInput(words, placeholder=placeholder)
        self.list = RowList(empty=empty)
        self.list.can_focus = False
        self.list.led = True

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog-box pane" + (" -wide-box" if self._wide else "")) as box:
            box.border_title = Content(self._title)
            box.border_subtitle = Content(self._hint)
            yield self.filter
            yield self.list

    def on_mount(self) -> None:
        self.narrow()
        self.list.go_to(self._start)

    def narrow(self) -> None:
        """Find again what fits the words."""
        self.list.set_rows(self._find(self.filter.value))

    @on(Input.Changed)
    def typed(self, event: Input.Changed) -> None:
        event.stop()
        self.narrow()
        self.list.action_edge(0)

    @on(Input.Submitted)
    def submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.list.action_choose()

    @on(RowList.Chosen)
    def chosen(self, event: RowList.Chosen) -> None:
        event.stop()
        self.dismiss(event.key)

    def action_move(self, step: int) -> None:
        self.list.action_move(step)

    def action_page(self, step: int) -> None:
        self.list.action_page(step)

    def action_close(self) -> None:
        self.dismiss(None)


class Ask(OnTop, ModalScreen[str | None]):
    """One line to write."""

    CSS_PATH = STYLES
    BINDINGS: ClassVar = [CLOSE]

    def __init__(self, title: str, value: str = "", *, hint: str = "enter keeps it · esc leaves") -> None:
        super().__init__(classes="dialog")
        self._title = title
        self._value = value
        self._hint = hint

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog-box pane -line-box") as box:
            box.border_title = Content(self._title)
            box.border_subtitle = Content(self._hint)
            yield LineInput(self._value)

    @on(Input.Submitted)
    def submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.dismiss(event.value.strip() or None)

    def action_close(self) -> None:
        self.dismiss(None)
