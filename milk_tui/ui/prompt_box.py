"""The prompt in its frame: what happens now stands in the upper edge, what waits in the lower one."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.message import Message
from textual.widgets import Static, TextArea

from milk_tui.ui import format as f
from milk_tui.ui.actions import Action, Keymap
from milk_tui.ui.choices import Choice, Kind, Word, of_commands, of_files
from milk_tui.ui.completion import Completion
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
        self.find_files: Callable[[str], Awaitable[Sequence[str]]] | None = None
        """Finds the files that fit what is written of a mention."""
        self.find_arguments: Callable[[str, str], Awaitable[Sequence[Choice]]] | None = None
        """What can follow a command, by its name and what is written of it."""
        self._keymap = Keymap({})
        self._note = Static(id="prompt-note", markup=False)
        self._note.display = False
        self._noted_text = ""

    def compose(self) -> ComposeResult:
        yield self.completion
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
        self._keymap = keymap
        self.prompt.use_keys(keymap.overrides())

    def close_completion(self) -> bool:
        """True when there was one to close."""
        return self.completion.close()

    @on(Prompt.WordTyped)
    def word_typed(self, event: Prompt.WordTyped) -> None:
        event.stop()
        self._offer(event.word)

    def _offer(self, word: Word | None) -> None:
        """Open the list for a word, or close it."""
        if word is None:
            self.completion.close()
        elif word.kind is Kind.COMMAND:
            self._show(word, of_commands(word.written, self._keymap))
        else:
            self._find(word)

    @work(group="completion", exclusive=True, exit_on_error=False)
    async def _find(self, word: Word) -> None:
        found: Sequence[Choice] = ()
        if word.kind is Kind.FILE and self.find_files is not None:
            found = of_files(await self.find_files(word.written))
        elif word.kind is Kind.ARGUMENT and self.find_arguments is not None:
            found = await self.find_arguments(word.command, word.written)
        if word == self.prompt.word:
            self._show(word, found)

    def _show(self, word: Word, found: Sequence[Choice]) -> None:
        self.completion.offer(word, found, self.region.y - 3)

    def _completion_key(self, key: str) -> bool:
        """A key for the list; False when none is open, or when the key means something else."""
        if not self.completion.is_open:
            return False
        if key in ("up", "down"):
            self.completion.move(-1 if key == "up" else 1)
            return True
        word = self.prompt.word
        if self.completion.word != word:  # keys can be faster than the messages that follow the text
            self.completion.close()
            if word is None or word.kind is not Kind.COMMAND:
                return key == "tab"
            self._offer(word)
            return self._completion_key(key)
        choice = self.completion.current or (self.completion.first if key == "tab" else None)
        self.completion.close()
        if choice is None or word is None or (key == "enter" and _is_whole(word, choice)):
            return key == "tab"
        self._take(word, choice, run=key == "enter")
        return True

    @on(Completion.Picked)
    def picked(self, event: Completion.Picked) -> None:
        event.stop()
        self.completion.close()
        if (word := self.prompt.word) is not None:
            self._take(word, event.choice, run=True)
        self.prompt.focus()

    def _take(self, word: Word, choice: Choice, *, run: bool) -> None:
        if word.kind is Kind.COMMAND and run and choice.action is not None and not choice.action.needs_argument:
            self.prompt.take()
            self.post_message(self.CommandChosen(choice.action))
        else:
            self.prompt.complete(word, choice.value)

    @on(Prompt.Said)
    def prompt_said(self, event: Prompt.Said) -> None:
        event.stop()
        self.note(event.text)

    @on(TextArea.Changed)
    def text_changed(self) -> None:
        if self._note.display and self.prompt.text != self._noted_text:
            self._note.display = False


def _is_whole(word: Word, choice: Choice) -> bool:
    """True when there is nothing to add, so that enter sends."""
    return word.kind is not Kind.COMMAND and choice.value == word.written
