"""The transcript as the screen uses it: entries in, messages out, keys and mouse."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from time import monotonic

from textual import events
from textual.geometry import Offset
from textual.timer import Timer

from milk_tui.core.records import ToolStatus
from milk_tui.ui.transcript import messages
from milk_tui.ui.transcript.blocks import Block
from milk_tui.ui.transcript.live import Live
from milk_tui.ui.transcript.parts import UNDO, BodySource, Entry, EntryBody, Fact, Key, Progress, TakeBack, Tool
from milk_tui.ui.transcript.selection import Place, key_of, word_at
from milk_tui.ui.transcript.walk import Walk, links_of

REPAINT_S = 1 / 15
"""Seconds between two repaints while text is streamed; four times its cost when a repaint is expensive."""
_OUT_OF_SIGHT_S = 0.5
_COST_FACTOR = 4


class Transcript(Walk):
    """Shows the entries of a session. See ``parts`` for what they are made of, ``messages`` for what it tells."""

    DEFAULT_CSS = """
    Transcript {
        height: 1fr;
        overflow-x: hidden;
        overflow-y: scroll;
        scrollbar-size-vertical: 1;
    }
    """

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._dirty: dict[Key, None] = {}
        self._timer: Timer | None = None
        self._next_s = 0.0
        self._pressed: Offset | None = None

    def on_mount(self) -> None:
        self.settle()
        for key in list(self._dirty):
            self._touch(key)

    def load(self, entries: Iterable[Entry], source: BodySource | None = None) -> None:
        """Shows another list of entries, at its end. Bodies come from ``source`` as they come into view."""
        self.document.load(entries, source)
        self._dirty.clear()
        self.cursor = None
        self._anchor = None
        self._window = []
        self._set_following(True)
        self.settle()

    def append(
        self, entry: Entry, body: EntryBody | None = None, *, before: Key | None = None, live: bool = False
    ) -> None:
        """Adds an entry at the end, or in front of another one; ``live`` when its leg runs and has said nothing yet.

        Raises ``ValueError`` when its key is there already.
        """
        if before is not None and self._selected is not None:
            self.screen.clear_selection()
        self.document.add(entry, body, before)
        if live:
            self.document.start(entry.key)
        self.note_new(entry.key)
        self.settle()

    def remove_entry(self, key: Key) -> None:
        """Takes an entry out; a key that is not there is no error."""
        if key in self.document.entries:
            if self._selected is not None:
                self.screen.clear_selection()
            self.document.remove(key)
            self._dirty.pop(key, None)
            self._new.discard(key)
            self.settle()

    def update(self, key: Key, body: EntryBody | None = None) -> None:
        """The entry says something else now: ``body``, or what the source has."""
        if key not in self.document.entries:
            return
        if body is None:
            self.document.renew([key])
        else:
            self.document.finish(key, body)
        self.settle()

    def bodies_loaded(self, keys: Iterable[Key]) -> None:
        """The source has bodies that were requested."""
        self.document.renew(keys)
        self.settle()

    def __contains__(self, key: Key) -> bool:
        return key in self.document.entries

    def stream_text(self, key: Key, delta: str) -> None:
        self._tell(key, lambda live: live.text(delta))

    def stream_thinking(self, key: Key, delta: str) -> None:
        self._tell(key, lambda live: live.thinking(delta))

    def replace_text(self, key: Key, text: str) -> None:
        """The whole answer so far is ``text``; what was streamed before is gone."""
        self._tell(key, lambda live: live.replace_text(text))

    def tool_started(self, key: Key, tool: Tool) -> None:
        self._tell(key, lambda live: live.tool_started(tool))

    def tool_output(self, key: Key, tool_id: Hashable, text: str) -> None:
        self._tell(key, lambda live: live.tool_output(tool_id, text))

    def tool_finished(
        self, key: Key, tool_id: Hashable, status: ToolStatus, result: str = "", note: str = "", took: str = ""
    ) -> None:
        self._tell(key, lambda live: live.tool_finished(tool_id, status, result, note, took))

    def add_fact(self, key: Key, fact: Fact) -> None:
        self._tell(key, lambda live: live.fact(fact))

    def progress(self, key: Key, progress: Progress | None) -> None:
        """What the leg waits for, in its last row, until text arrives; ``None`` takes it away."""
        self._tell(key, lambda live: live.progress(progress))

    def _tell(self, key: Key, what: Callable[[Live], None]) -> None:
        """Passes on what a running leg says; what comes for an entry that is not in the list is dropped."""
        if key in self.document.entries:
            what(self.document.start(key))
            self._touch(key)

    def finish(self, key: Key, body: EntryBody) -> None:
        """The leg has ended and the entry is ``body`` from now on."""
        self._dirty.pop(key, None)
        if key in self.document.entries:
            self.document.finish(key, body)
            self.note_new(key)
            self.settle()

    def _touch(self, key: Key) -> None:
        self._dirty[key] = None
        self.note_new(key)
        if self._timer is None and self.is_attached:
            self._timer = self.set_timer(max(self._next_s - monotonic(), 0.001), self._tick)

    def _tick(self) -> None:
        """Takes in what was streamed since the last time; the next time is not before four times the cost of it."""
        self._timer = None
        began = monotonic()
        dirty = list(self._dirty)
        self._dirty.clear()
        for key in dirty:
            self.document.refresh(key)
        self.settle()
        rest = max(REPAINT_S, _COST_FACTOR * (monotonic() - began))
        if not self._following and not self._is_in_view(dirty):
            rest = max(rest, _OUT_OF_SIGHT_S)
        self._next_s = began + rest
        for key in dirty:
            if key in self.document.live and self.document.live[key].behind:
                self._touch(key)

    def _is_in_view(self, keys: Iterable[Key]) -> bool:
        shown = {self.document.entries.items[line[0]].key for line in self._window}
        return not shown.isdisjoint(keys)

    async def _on_mouse_down(self, event: events.MouseDown) -> None:
        self._pressed = event.screen_offset

    async def _on_click(self, event: events.Click) -> None:
        """One click: cursor, fold, link. Two: the word. Three: the block."""
        event.prevent_default()
        if event.screen_offset != self._pressed or not 0 <= event.y < len(self._window):
            return
        index, number, row, block, _ = self._window[event.y]
        key = self.document.entries.items[index].key
        self.cursor = (key, number)
        self.refresh()
        if event.chain == 1:
            if event.style.link:
                self.post_message(messages.LinkClicked(event.style.link, self._link_text(block, event.style.link)))
            elif row < block.rows and self._is_meant(block, event.x, event.y):
                self._activate(key, block)
            return
        place = self._place_at(event.x, event.y)
        if event.chain == 2 and place is not None:
            first, last = word_at(block.source, place)
            self.select(Place(key_of(index, number), first), Place(key_of(index, number), last))
        elif event.chain == 3:
            self._select_whole(index, number, block)

    def _link_text(self, block: Block, href: str) -> str:
        return next((text for link, text in links_of(self.document.rows.of(block)) if link == href), "")

    def _is_meant(self, block: Block, x: int, y: int) -> bool:
        """A click on the words of a fact takes nothing back: only one on what says so does."""
        if not isinstance(block.fold, TakeBack):
            return True
        place = self._place_at(x, y)
        return place is not None and place >= len(block.source) - len(UNDO)

    def _place_at(self, x: int, y: int) -> int | None:
        cell = 0
        for segment in self.render_line(y):
            if cell <= x < cell + segment.cell_length:
                offset = segment.style.meta.get("offset") if segment.style is not None else None
                if offset is None:
                    return None
                taken, inside = 0, x - cell
                while taken < len(segment.text) and len(segment.text[: taken + 1]) <= inside:
                    taken += 1
                return int(offset[0]) + taken
            cell += segment.cell_length
        return None

    def _select_whole(self, index: int, number: int, block: Block) -> None:
        """Selects the whole thing of which the block may be a slice."""
        blocks = self.document.layout(index).blocks
        same = [i for i, b in enumerate(blocks) if b.whole is block.whole and b.span == block.span]
        first, last = min(same, default=number), max(same, default=number)
        self.select(Place(key_of(index, first), 0), Place(key_of(index, last), len(blocks[last].source)))
