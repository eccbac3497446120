"""Searching in the conversation: the bar, the places of the words, and the way from one to the next."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from textual.widget import Widget

from milk_tui.ui import format as f
from milk_tui.ui.search_bar import AFTER_S, SearchBar

if TYPE_CHECKING:
    from collections.abc import Sequence

    from milk_tui.store.message_places import Place
    from milk_tui.ui.control import Control
    from milk_tui.ui.conversation import Conversation


class SearchHost:
    """One search at a time. Begins at the newest place: what a person looks for was said of late more often."""

    def __init__(self, pane: Widget, control: Control, conversation: Conversation) -> None:
        self._pane = pane
        self._control = control
        self._conversation = conversation
        self.bar: SearchBar | None = None
        self._words = ""
        self._places: Sequence[Place] = ()
        self._at = -1
        self._last = ""
        """What was looked for last, also when the bar is gone."""

    @property
    def open(self) -> bool:
        return self.bar is not None

    async def begin(self, words: str = "") -> None:
        """Show the bar, or go back to it."""
        if self.bar is None:
            self.bar = SearchBar()
            await self._pane.mount(self.bar)
        if words:
            self.bar.input.value = words
        self.bar.input.focus()

    async def close(self) -> bool:
        """False when there was no bar. What is read stays where it is."""
        if self.bar is None:
            return False
        bar, self.bar = self.bar, None
        self._conversation.transcript.screen.clear_selection()
        await bar.remove()
        self._conversation.transcript.focus()
        return True

    async def look(self, words: str) -> None:
        """Find the words when the typing rests. Raises MilkError."""
        await asyncio.sleep(AFTER_S)
        await self._look(words)

    async def _look(self, words: str) -> None:
        if self.bar is None or self.bar.words != words:
            return
        self._words, self._places, self._at = words, (), -1
        self._last = words if words.strip() else self._last
        self._places = await self._find(words)
        if self._places:
            await self._go(len(self._places) - 1)
        else:
            self._say()

    async def step(self, by: int) -> None:
        """To a place before or after, around the ends. Raises MilkError."""
        if self.bar is not None and self.bar.words != self._words:
            await self._look(self.bar.words)
        elif self._places:
            await self._go((self._at + by) % len(self._places))

    async def again(self, by: int) -> str:
        """A place further from where the last search was, without its bar; what to say about it. Raises MilkError."""
        if self.bar is not None:
            await self.step(by)
            return ""
        if not self._last:
            return "nothing was searched for yet"
        self._words, self._places = self._last, await self._find(self._last)
        if not self._places:
            return f"nowhere: {self._last}"
        await self._go((self._at + by) % len(self._places))
        return f"{self._at + 1:,} of {f.plural(len(self._places), 'place')}: {self._last}"

    async def _find(self, words: str) -> Sequence[Place]:
        workspace, session_id = self._control.workspace, self._control.session_id
        if workspace is None or not words.strip():
            return ()
        from milk_tui.store import message_places

        return await workspace.store.read(lambda conn: message_places.find(conn, session_id, words))

    async def _go(self, at: int) -> None:
        self._at = at
        self._say()
        await self._conversation.go_to_place(self._places[at], self._words)

    def _say(self) -> None:
        if self.bar is None:
            return
        if not self._words.strip():
            self.bar.say("")
        elif not self._places:
            self.bar.say("nowhere")
        else:
            self.bar.say(f"{self._at + 1:,} of {f.plural(len(self._places), 'place')} · ↑ ↓")
