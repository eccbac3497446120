"""The prompt: where the person writes. It sends messages up and knows no session.

Its keys are dealt with in the order in which they were typed. Textual looks a key up only after the widget
has passed it on: with fast typing, or over a slow line, a letter could overtake a backspace or an enter.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from textual import events
from textual.actions import SkipAction
from textual.document._document import EditResult
from textual.document._edit import Edit
from textual.message import Message
from textual.widgets import TextArea

from milk_tui.ui.actions import Where, bindings
from milk_tui.ui.choices import Kind, Word, word_at
from milk_tui.ui.in_order import focused_in, pass_on
from milk_tui.ui.prompt_text import Fold, Folds, History

JOINERS = ("\u200c", "\u200d")
"""They print nothing, so that Textual drops them as keys, but Persian words and emoji are typed with them."""

_OPENS = frozenset(
    {
        *("palette", "memory", "bricks", "perception", "sessions", "help", "settings"),
        *("search", "history-search", "queue"),
    }
)
"""Actions after which something else gets the keyboard, a moment later: what is typed then is for that."""
LOOK_S = 0.02
AT_MOST_LOOKS = 50
"""How often it is looked whether something else has the keyboard; then what was typed is the prompt's."""


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

    @dataclass
    class Said(Message):
        """Something to say under the text."""

        text: str

    @dataclass
    class Paged(Message):
        """A page of the conversation up or down: the prompt itself is all in view."""

        pages: int

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
        self.directory: Callable[[], str] = str
        """Where paths are seen from."""
        self.past = History()
        self._folds = Folds()
        self._word: Word | None = None
        self._own_keys = self._bindings
        self._held: list[events.Key] | None = None
        """Keys for what is about to open; ``None`` while they are the prompt's own."""

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
        from milk_tui.core.text import clean

        self.replace(self._folds.fold_again(clean(text)), self.document.start, self.document.end)
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

    def edit(self, edit: Edit) -> EditResult:
        """A paste that is shown as one word is taken away as a whole, and opened by whoever writes in it."""
        fold = self._fold_inside(edit.top, edit.bottom)
        if fold is None:
            return super().edit(edit)
        row = edit.top[0]
        if edit.top == edit.bottom:
            self._open(row, fold)
            return EditResult(self.cursor_location, "")
        edges = [self._outside(edit.top, before=True), self._outside(edit.bottom, before=False)]
        return super().edit(Edit(edit.text, edges[0], edges[1], edit.maintain_selection_offset))

    def _fold_inside(self, *places: tuple[int, int]) -> Fold | None:
        """The paste in whose word one of the places is."""
        for row, column in places:
            for fold in self._folds.in_line(self.document.get_line(row)):
                if fold.start < column < fold.end:
                    return fold
        return None

    def _outside(self, place: tuple[int, int], *, before: bool) -> tuple[int, int]:
        fold = self._fold_inside(place)
        return place if fold is None else (place[0], fold.start if before else fold.end)

    def _open(self, row: int, fold: Fold) -> None:
        """Put the text of a paste where its word stands."""
        if not fold.opens:
            self.post_message(self.Said("this paste is too long to be edited here; F5 opens it in your editor"))
            return
        self.history.checkpoint()
        edit = Edit(fold.text, (row, fold.start), (row, fold.end), False)
        super().edit(edit)
        self.move_cursor((row, fold.start))
        self.history.checkpoint()

    def action_open_paste(self) -> None:
        """Open the paste whose word the cursor touches."""
        row, column = self.cursor_location
        for fold in self._folds.in_line(self.document.get_line(row)):
            if fold.start <= column <= fold.end:
                self._open(row, fold)
                return
        raise SkipAction()

    async def _on_paste(self, event: events.Paste) -> None:
        event.stop()
        event.prevent_default()
        self.history.checkpoint()
        begin = self._outside(min(self.selection), before=True)
        self.insert_text(event.text)
        self.history.checkpoint()
        mentions = await self._mentions(event.text, begin)
        if mentions is not None:
            self.replace(mentions, begin, self.cursor_location, maintain_selection_offset=False)
            self.history.checkpoint()
        elif self._folds.in_line(self.document.get_line(self.cursor_location[0])):
            self.post_message(self.Said("pasted as one word: tab opens it, F5 in your editor, backspace takes it out"))

    async def _mentions(self, text: str, begin: tuple[int, int]) -> str | None:
        """The mentions that were pasted; not where a command or a mention is written already."""
        row, column = begin
        before = self.document.get_line(row)[:column]
        first = self.document.get_line(0) if row else before
        if before.endswith(("@", '"', "`")) or first.startswith(("!", "/")):
            return None
        from milk_tui.ui.pasting import as_mentions

        return await as_mentions(text, self.directory())

    async def _on_key(self, event: events.Key) -> None:
        if self._held is not None:
            self._held.append(event)
        elif event.character in JOINERS:
            self.replace(event.character, *self.selection, maintain_selection_offset=False)
        elif not (event.key == "tab" and self._complete("tab")) and not await self._run_own(event.key):
            await super()._on_key(event)
            opens = self._opens(event.key)
            if event.is_printable or event.key == "enter" or not await self.app._check_bindings(event.key):
                return
            if opens:
                self._held = []
                self.set_timer(LOOK_S, self._give_held)
        event.stop()
        event.prevent_default()

    def _opens(self, key: str) -> bool:
        """True when the key means an action after which something else has the keyboard."""
        return any(
            binding.id in _OPENS
            for _, bindings in self.screen._modal_binding_chain
            for binding in bindings.key_to_bindings.get(key, ())
        )

    def _give_held(self, looks: int = 1) -> None:
        """Keys that were held go to what has the keyboard now; when that is still the prompt, they are its own."""
        focused = focused_in(self.app)
        if focused in (self, None) and looks < AT_MOST_LOOKS:
            self.set_timer(LOOK_S, partial(self._give_held, looks + 1))
            return
        held, self._held = self._held or [], None
        for event in held:
            pass_on(event, focused or self)

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

    def action_cursor_left(self, select: bool = False) -> None:
        super().action_cursor_left(select)
        self._jump(before=True, select=select)

    def action_cursor_right(self, select: bool = False) -> None:
        super().action_cursor_right(select)
        self._jump(before=False, select=select)

    def action_cursor_word_left(self, select: bool = False) -> None:
        super().action_cursor_word_left(select)
        self._jump(before=True, select=select)

    def action_cursor_word_right(self, select: bool = False) -> None:
        super().action_cursor_word_right(select)
        self._jump(before=False, select=select)

    def _jump(self, *, before: bool, select: bool) -> None:
        """Over the word of a paste, not through it."""
        place = self._outside(self.cursor_location, before=before)
        if place != self.cursor_location:
            self.move_cursor(place, select=select)

    def action_page_up(self) -> None:
        self._page(-1)

    def action_page_down(self) -> None:
        self._page(1)

    def _page(self, step: int) -> None:
        """In a prompt of more rows than are seen the cursor moves, else the conversation."""
        if self.wrapped_document.height > self.scrollable_content_region.height:
            (self.action_cursor_page_down if step > 0 else self.action_cursor_page_up)()
        else:
            self.post_message(self.Paged(step))

    def _safe(self, text: str) -> str:
        """The text without terminal escapes, folded when it is large."""
        from milk_tui.core.text import clean

        return self._folds.fold(clean(text))

    def _recall(self, text: str | None) -> None:
        if text is not None:
            self.history.checkpoint()
            self.set_text(text)
