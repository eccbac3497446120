"""The prompt in its frame: what happens now stands in the upper edge, what waits in the lower one."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.message import Message
from textual.widgets import Static, TextArea

from milk_tui.ui import format as f
from milk_tui.ui.actions import Action, Keymap
from milk_tui.ui.completion import Completion
from milk_tui.ui.mention_list import MentionList
from milk_tui.ui.paint import Line, to_content
from milk_tui.ui.prompt import Prompt


class PromptBox(Vertical):
    """Frame, prompt and completion."""

    DEFAULT_CLASSES: ClassVar = "pane -focused"

    @dataclass
    class CommandChosen(Message):
        """A command was picked from the completion; it needs no argument."""

        action: Action

    def __init__(self) -> None:
        super().__init__(id="prompt-box")
        self.prompt = Prompt(self._completion_key)
        self.completion = Completion()
        self.mentions = MentionList()
        self.find_files: Callable[[str], Awaitable[Sequence[str]]] | None = None
        """Finds the files that fit what is written of a mention."""
        self._note = Static(id="prompt-note", markup=False)
        self._note.display = False
        self._noted_text = ""

    def compose(self) -> ComposeResult:
        yield self.completion
        yield self.mentions
        with Horizontal(id="prompt-row"):
            yield Static(f.USER_MARK, id="prompt-mark", markup=False)
            yield self.prompt
        yield self._note

    def say(self, status: Line, queue: Line) -> None:
        """Write what happens into the upper edge, and what waits into the lower one."""
        self.border_title = to_content(status) if status else None
        self.border_subtitle = to_content(queue) if queue else None

    def note(self, text: str, severity: str = "information") -> None:
        """Say something under the text until the next key that changes it."""
        from milk_tui.core.text import clean

        self._note.update(Content(clean(text)))
        self._note.set_classes(f"-{severity}")
        self._note.display = bool(text)
        self._noted_text = self.prompt.text

    def use_keys(self, keymap: Keymap) -> None:
        self.completion.keymap = keymap
        self.prompt.use_keys(keymap.overrides())

    def close_completion(self) -> bool:
        """True when there was one to close."""
        was_open = self.completion.is_open
        self._complete(None)
        return self.mentions.close() or was_open

    @on(Prompt.CommandTyped)
    def command_typed(self, event: Prompt.CommandTyped) -> None:
        event.stop()
        self._complete(event.beginning)

    def _completion_key(self, key: str) -> bool:
        """A key for the completion; False when none is open."""
        if self.mentions.is_open:
            return self._mention_key(key)
        if not self.completion.is_open:
            return False
        if key in ("enter", "tab") and self.completion.beginning != self.prompt.beginning:
            self._complete(self.prompt.beginning)  # keys can be faster than the messages that follow the text
            return self._completion_key(key)
        match key:
            case "up":
                self.completion.move(-1)
            case "down":
                self.completion.move(1)
            case _:
                action = self.completion.current
                self.close_completion()
                if action is not None:
                    self._take(action, run=key == "enter")
        return True

    def _mention_key(self, key: str) -> bool:
        """A key for the list of files. One that fits something else than what is written now is not chosen from."""
        match key:
            case "up" | "down":
                self.mentions.move(-1 if key == "up" else 1)
                return True
            case _:
                path, fits = self.mentions.current, self.mentions.words == self.prompt.mention
                self.mentions.close()
                if path is None or not fits or (key == "enter" and path == self.prompt.mention):
                    return key == "tab"
                self.prompt.complete_mention(path)
                return True

    @on(Prompt.MentionTyped)
    def mention_typed(self, event: Prompt.MentionTyped) -> None:
        event.stop()
        if event.written is None or self.find_files is None:
            self.mentions.close()
        else:
            self.run_worker(self._find_files(event.written), group="mention", exclusive=True, exit_on_error=False)

    async def _find_files(self, written: str) -> None:
        assert self.find_files is not None
        found = await self.find_files(written)
        if written == self.prompt.mention:
            self.mentions.open_for(written, found, self.region.y - 3)

    @on(MentionList.Picked)
    def mention_picked(self, event: MentionList.Picked) -> None:
        event.stop()
        self.mentions.close()
        self.prompt.complete_mention(event.path)
        self.prompt.focus()

    @on(Completion.Picked)
    def picked(self, event: Completion.Picked) -> None:
        event.stop()
        self.close_completion()
        self._take(event.action, run=True)
        self.prompt.focus()

    @on(TextArea.Changed)
    def text_changed(self) -> None:
        if self._note.display and self.prompt.text != self._noted_text:
            self._note.display = False

    def _take(self, action: Action, *, run: bool) -> None:
        if run and not action.needs_argument:
            self.prompt.take()
            self.post_message(self.CommandChosen(action))
        else:
            self.prompt.set_text(f"/{action.command} ")

    def _complete(self, beginning: str | None) -> None:
        room = self.region.y - 3
        self.completion.open_for(beginning, room)
