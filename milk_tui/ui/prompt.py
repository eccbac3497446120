"""The prompt: where the person writes. It sends messages up and knows no session.

Its keys are dealt with in the order in which they were typed. Textual looks a key up only after the widget
has passed it on: with fast typing, or over a slow line, a letter could overtake a backspace or an enter.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import ClassVar

from textual import events
from textual.message import Message
from textual.widgets import TextArea

from milk_tui.ui.actions import Where, bindings
from milk_tui.ui.choices import Kind, Word, word_at
from milk_tui.ui.prompt_text import Folds, History

JOINERS = ("\u200c", "\u200d")
"""They print nothing, so that Textual drops them as keys, but Persian words and emoji are typed with them."""


class Prompt(TextArea):
    """A text area where enter sends. It never sends by itself: not for a paste, not for a newline in one."""

    @dataclass
    class Submitted(Message):
        """Enter. The text is out of the prompt; ``put_back`` returns one that can't be sent."""

        text: str

    @dataclass
    class WordTyped(Message):
        """Another word that can be completed is under the cursor; ``None``: none is any more."""

        word: Word | None

    BINDINGS: ClassVar = bindings(Where.PROMPT)

    def __init__(self, complete: Callable[[str], bool], *, id: str = "prompt") -> None:
        """``complete`` is asked first for ``up``, ``down``, ``tab`` and ``enter``: True when it took the key."""
        super().__init__(
            id=id,
            highlight_cursor_line=False,
            placeholder="Ask, or / for commands",
            max_checkpoints=200,
        )
        self.set_reactive(TextArea.cursor_blink, False)
        self.set_reactive(TextArea.match_cursor_bracket, False)
        self._complete = complete
        self.past = History()
        self._folds = Folds()
        self._word: Word | None = None
        self._own_keys = self._bindings

    @property
    def full_text(self) -> str:
        """What was written, folded pastes put back."""
        return self._folds.expand(self.text)

    @property
    def is_blank(self) -> bool:
        return not any(line.strip() for line in self.document.lines)

    @property
    def word(self) -> Word | None:
        """What can be completed under the cursor."""
        return word_at(self.document.lines, *self.cursor_location)

    def complete(self, word: Word, value: str) -> None:
        """Write the value where the word under the cursor is; behind a folder one can go on writing."""
        row, column = self.cursor_location
        if word.kind is not Kind.FILE:
            self.replace(f"{value} ", (row, word.start), (row, column), maintain_selection_offset=False)
            return
        from milk_tui.core.attachments import as_mention

        text = as_mention(value)
        text = text.removesuffix('"') if value.endswith("/") else f"{text} "
        self.replace(text, (row, word.start), (row, column), maintain_selection_offset=False)

    def use_keys(self, overrides: Mapping[str, str]) -> None:
        """Take other keys, by the ids of actions (``Keymap.overrides``)."""
        self._own_keys = self._bindings.copy()
        self._own_keys.apply_keymap(overrides)

    def set_text(self, text: str) -> None:
        """Replace the text (undo brings the old one back); the cursor goes to the end."""
        self.replace(self._safe(text), self.document.start, self.document.end)
        self.move_cursor(self.document.end)

    def begin(self, text: str) -> None:
        """Another session's text; what was written for the one before can't be brought back here."""
        self.set_text(text)
        self.history.clear()

    def take(self) -> str:
        """The text for sending; the prompt is empty afterwards, undo brings it back."""
        text = self.full_text
        self.set_text("")
        return text

    def put_back(self, text: str) -> None:
        """Give a text back that could not be sent, before what was written since."""
        written = self.full_text
        self.set_text(f"{text}\n{written}" if written.strip() else text)

    def insert_text(self, text: str) -> None:
        """Insert as if pasted: cleaned, one block, folded when it is large."""
        self.replace(self._safe(text), *self.selection, maintain_selection_offset=False)
        self.scroll_cursor_visible()

    async def _on_paste(self, event: events.Paste) -> None:
        event.stop()
        event.prevent_default()
        from milk_tui.core.attachments import as_mention, pasted_image

        image = pasted_image(event.text)
        self.history.checkpoint()
        self.insert_text(f"{as_mention(image)} " if image else event.text)
        self.history.checkpoint()

    async def _on_key(self, event: events.Key) -> None:
        if event.character in JOINERS:
            self.replace(event.character, *self.selection, maintain_selection_offset=False)
        elif not (event.key == "tab" and self._complete("tab")) and not await self._run_own(event.key):
            await super()._on_key(event)
            return
        event.stop()
        event.prevent_default()

    async def _run_own(self, key: str) -> bool:
        """Do what a key means in the prompt; False when it means nothing here or had nothing to do."""
        for binding in self._own_keys.key_to_bindings.get(key, ()):
            if "." not in binding.action and await self.app.run_action(binding.action, self):
                return True
        return False

    def on_text_area_changed(self) -> None:
        word = self.word
        if word != self._word:
            self._word = word
            self.post_message(self.WordTyped(word))

    def action_send(self) -> None:
        if not self._complete("enter") and self.full_text.strip():
            self.post_message(self.Submitted(self.take()))

    def action_newline(self) -> None:
        self.replace("\n", *self.selection, maintain_selection_offset=False)
        self.scroll_cursor_visible()

    def action_cursor_up(self, select: bool = False) -> None:
        if not select and self._complete("up"):
            return
        if not select and self.navigator.is_first_wrapped_line(self.cursor_location):
            self._recall(self.past.older(self.full_text))
        else:
            super().action_cursor_up(select)

    def action_cursor_down(self, select: bool = False) -> None:
        if not select and self._complete("down"):
            return
        if not select and self.navigator.is_last_wrapped_line(self.cursor_location):
            self._recall(self.past.newer(self.full_text))
        else:
            super().action_cursor_down(select)

    def action_delete_left(self) -> None:
        row, column = self.cursor_location
        length = 0 if self.selected_text else self._folds.token_before(self.document.get_line(row), column)
        if length:
            self.delete((row, column - length), (row, column), maintain_selection_offset=False)
        else:
            super().action_delete_left()

    def _safe(self, text: str) -> str:
        """The text without terminal escapes, folded when it is large."""
        from milk_tui.core.text import clean

        return self._folds.fold(clean(text))

    def _recall(self, text: str | None) -> None:
        if text is not None:
            self.history.checkpoint()
            self.set_text(text)
