"""The dialogs in which a value is written: one line that is checked as it is typed, and a key that is pressed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from milk_tui.core.text import clean, one_line
from milk_tui.ui.keymap import display
from milk_tui.ui.line_input import LineInput
from milk_tui.ui.on_top import OnTop
from milk_tui.ui.themes import style_sheets

STYLES = style_sheets("dialogs", "inspector", "settings")


class ValueDialog(OnTop, ModalScreen[str | None]):
    """One line. ``problem`` says what is wrong with it, empty when nothing is; only what is right can be kept."""

    CSS_PATH = STYLES
    BINDINGS: ClassVar = [Binding("escape", "leave", "Leave", show=False)]

    def __init__(
        self, title: str, value: str, problem: Callable[[str], str], *, about: str = "", allowed: str = ""
    ) -> None:
        super().__init__(classes="dialog")
        self._title = title
        self._problem = problem
        self._about = about
        self._allowed = allowed
        self.input = LineInput(one_line(clean(value), 10_000))

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog-box pane value-box") as box:
            box.border_title = Content(self._title)
            box.border_subtitle = "enter keeps · esc leaves"
            yield Static(Content(self._about), markup=False, classes="write-about")
            yield self.input
            yield Static(Content(""), markup=False, classes="value-said")

    def on_mount(self) -> None:
        if not self._about:
            self.query_one(".write-about").display = False
        self.input.focus()
        self._say("")

    @on(Input.Changed)
    def typed(self, event: Input.Changed) -> None:
        event.stop()
        self._say(self._problem(event.value))

    @on(Input.Submitted)
    def submitted(self, event: Input.Submitted) -> None:
        event.stop()
        if problem := self._problem(event.value):
            self._say(problem)
        else:
            self.dismiss(event.value)

    def _say(self, problem: str) -> None:
        said = self.query_one(".value-said", Static)
        said.update(Content(clean(problem or (f"allowed: {self._allowed}" if self._allowed else ""))))
        said.set_class(bool(problem), "-wrong")

    def action_leave(self) -> None:
        self.dismiss(None)


class KeysDialog(OnTop, ModalScreen[list[str] | None]):
    """Keys are pressed, not written: each that is pressed is added, or taken away again."""

    CSS_PATH = STYLES

    def __init__(
        self, title: str, keys: Sequence[str], problem: Callable[[list[str]], str], *, about: str = ""
    ) -> None:
        super().__init__(classes="dialog")
        self._title = title
        self._keys: list[str] = []
        self._before = list(keys)
        self._problem = problem
        self._about = about

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog-box pane value-box") as box:
            box.border_title = Content(self._title)
            box.border_subtitle = "press the keys · enter keeps · esc leaves"
            yield Static(Content(self._about), markup=False, classes="write-about")
            yield Static(Content(""), markup=False, id="keys-pressed")
            yield Static(Content(""), markup=False, classes="value-said")

    def on_mount(self) -> None:
        self._show()

    def on_key(self, event: events.Key) -> None:
        event.stop()
        event.prevent_default()
        match event.key:
            case "escape":
                self.dismiss(None)
            case "enter" if not self._keys:
                self.dismiss(None)
            case "enter" if not self._problem(self._keys):
                self.dismiss(list(self._keys))
            case "enter":
                pass
            case key if key in self._keys:
                self._keys.remove(key)
            case key:
                self._keys.append(key)
        if self.is_attached:
            self._show()

    def _show(self) -> None:
        pressed = "  ".join(map(display, self._keys))
        now = "  ".join(map(display, self._before)) or "no key"
        self.query_one("#keys-pressed", Static).update(
            Content(f"{pressed}" if pressed else f"now {now}: press the key that shall do it")
        )
        problem = self._problem(self._keys) if self._keys else ""
        said = self.query_one(".value-said", Static)
        said.update(Content(clean(problem)))
        said.set_class(bool(problem), "-wrong")
