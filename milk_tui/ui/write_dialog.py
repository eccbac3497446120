"""A text to write: kept with enter, left with escape; what is refused stays to be changed."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import ClassVar

from textual import events, on, work
from textual.app import ComposeResult, SuspendNotSupported
from textual.binding import Binding
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.screen import ModalScreen
from textual.widgets import Static, TextArea

from milk_tui.core.errors import MilkError
from milk_tui.core.text import clean
from milk_tui.ui.on_top import OnTop
from milk_tui.ui.themes import style_sheets

LONGEST = 50_000
"""Characters that can be written; the bound of what is written is said when it is kept."""
KEEPS = "enter keeps · ^j new line · F5 $EDITOR · esc leaves"


class Words(TextArea):
    """The text. Enter keeps it, ctrl+j makes a line: as in the prompt."""

    class Kept(Message):
        pass

    class Left(Message):
        pass

    def __init__(self, text: str) -> None:
        super().__init__(
            clean(text)[:LONGEST],
            soft_wrap=True,
            compact=True,
            show_line_numbers=False,
            highlight_cursor_line=False,
        )
        self.cursor_blink = False

    def on_mount(self) -> None:
        self.move_cursor(self.document.end)

    async def _on_key(self, event: events.Key) -> None:
        """In the order in which they were typed: a binding would come after letters that follow it."""
        match event.key:
            case "enter":
                self.post_message(self.Kept())
            case "escape":
                self.post_message(self.Left())
            case "ctrl+j" | "alt+enter" | "shift+enter":
                self.insert("\n")
            case _ if event.is_printable or not await self._run(event.key):
                await super()._on_key(event)
                return
        event.stop()
        event.prevent_default()

    async def _run(self, key: str) -> bool:
        """Do at once what a key is bound to here; False when it is bound to nothing."""
        for binding in self._bindings.key_to_bindings.get(key, ()):
            if await self.app.run_action(binding.action, self):
                return True
        return False

    async def _on_paste(self, event: events.Paste) -> None:
        event.stop()
        event.prevent_default()
        self.replace(clean(event.text)[:LONGEST], *self.selection, maintain_selection_offset=False)


class WriteDialog(OnTop, ModalScreen[bool]):
    """``keep`` stores what was written and raises MilkError for what can't be; the result says whether it was kept."""

    CSS_PATH = style_sheets("dialogs", "inspector")
    BINDINGS: ClassVar = [
        Binding("escape", "leave", "Leave", show=False),
        Binding("f5", "editor", "Editor", show=False, priority=True),
    ]

    def __init__(self, title: str, text: str, keep: Callable[[str], Awaitable[object]], *, about: str = "") -> None:
        """``about``: a line that says what the text is for."""
        super().__init__(classes="dialog")
        self._title = title
        self._keep = keep
        self._about = about
        self.words = Words(text)

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog-box pane -wide-box write-box") as box:
            box.border_title = Content(self._title)
            box.border_subtitle = KEEPS
            yield Static(Content(self._about), markup=False, classes="write-about")
            yield self.words
            yield Static(id="write-problem", markup=False)

    def on_mount(self) -> None:
        self.query_one(".write-about").display = bool(self._about)
        self.words.focus()

    @on(Words.Kept)
    def kept(self) -> None:
        self.keep(self.words.text)

    @work(exclusive=True, group="keep", exit_on_error=False)
    async def keep(self, text: str) -> None:
        try:
            await self._keep(text)
        except MilkError as error:
            self._say(str(error))
        else:
            self.dismiss(True)

    def _say(self, text: str) -> None:
        problem = self.query_one("#write-problem", Static)
        problem.update(Content(text))
        problem.display = bool(text)

    @on(Words.Left)
    def action_leave(self) -> None:
        self.dismiss(False)

    @work(exclusive=True, group="editor", exit_on_error=False)
    async def action_editor(self) -> None:
        """Write it in ``$EDITOR``; it comes back here to be kept."""
        from milk_tui.ui import editor

        terminal = getattr(self.app, "terminal", None)
        try:
            with self.app.suspend(), self.app.batch_update():
                written = await asyncio.to_thread(editor.edit, self.words.text, terminal)
        except SuspendNotSupported:
            self._say("This terminal can't be handed over to an editor.")
        except MilkError as error:
            self._say(str(error))
        else:
            self.words.text = clean(written)[:LONGEST]
            self.words.move_cursor(self.words.document.end)
        finally:
            self.app.refresh(layout=True)
