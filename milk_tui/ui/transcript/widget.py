"""The transcript as the screen uses it: entries in, messages out, keys and mouse."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from time import monotonic
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Offset
from textual.timer import Timer

from milk_tui.core.records import ToolStatus
from milk_tui.ui.transcript import messages
from milk_tui.ui.transcript.blocks import Block
from milk_tui.ui.transcript.layout import Spot
from milk_tui.ui.transcript.live import Live
from milk_tui.ui.transcript.parts import BodySource, Entry, EntryBody, EntryKind, Fact, Key, Progress, Tool
from milk_tui.ui.transcript.searching import match_in
from milk_tui.ui.transcript.selection import Place, key_of, word_at
from milk_tui.ui.transcript.view import View

REPAINT_S = 1 / 15
"""Seconds between two repaints while text is streamed; four times its cost when a repaint is expensive."""
_OUT_OF_SIGHT_S = 0.5
_COST_FACTOR = 4


class Transcript(View):
    """Shows the entries of a session. See ``parts`` for what they are made of, ``messages`` for what it tells."""

    FollowChanged = messages.FollowChanged
    LinkClicked = messages.LinkClicked
    CopyRequested = messages.CopyRequested
    ReceiptRequested = messages.ReceiptRequested

    DEFAULT_CSS = """
    Transcript {
        height: 1fr;
        overflow-x: hidden;
        overflow-y: scroll;
        scrollbar-size-vertical: 1;
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "rows(-1)", "Up", id="transcript.up", show=False),
        Binding("down", "rows(1)", "Down", id="transcript.down", show=False),
        Binding("pageup", "pages(-1)", "Page up", id="transcript.page-up", show=False),
        Binding("pagedown", "pages(1)", "Page down", id="transcript.page-down", show=False),
        Binding("home", "first", "Beginning", id="transcript.home", show=False),
        Binding("end", "follow", "Follow", id="transcript.end", show=False, tooltip="Go to the end and stay there"),
        Binding("left_square_bracket,ctrl+up", "prompt(-1)", "Previous prompt", id="transcript.previous-prompt"),
        Binding("right_square_bracket,ctrl+down", "prompt(1)", "Next prompt", id="transcript.next-prompt"),
        Binding("k", "block(-1)", "Block above", id="transcript.block-up", show=False),
        Binding("j", "block(1)", "Block below", id="transcript.block-down", show=False),
        Binding("enter,space", "toggle_fold", "Fold", id="transcript.fold", tooltip="Open or fold this block"),
        Binding("y", "copy_block", "Copy block", id="transcript.copy", tooltip="Copy the source of this block"),
    ]

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

    def show_entry(self, key: Key) -> None:
        """Reads with the entry at the top; a key that is not there is no error."""
        if key in self.document.entries:
            self.cursor = (key, 0)
            self.read_at(Spot(self.document.entries.index(key), 0, 0))
            self.refresh()

    def show_match(self, key: Key, words: str, number: int) -> None:
        """Reads where an entry says these words for the ``number``-th time, and selects them; where no block shows
        them, at the entry."""
        if key not in self.document.entries:
            return
        match = match_in(self.document, key, words, number)
        if match is None:
            self.show_entry(key)
            return
        index = self.document.entries.index(key)
        self.cursor = (key, match.block)
        self.read_at(Spot(index, match.block, 0))
        self.scroll_rows(-(self.scrollable_content_region.height // 3))
        place = key_of(index, match.block)
        self.select(Place(place, match.start), Place(place, match.end))

    def action_rows(self, rows: int) -> None:
        self.scroll_rows(rows)
        self._keep_cursor_in_view()

    def action_pages(self, pages: int) -> None:
        self.scroll_rows(pages * max(self.scrollable_content_region.height - 1, 1))
        self._keep_cursor_in_view()

    def action_first(self) -> None:
        if len(self.document.entries):
            self.cursor = (self.document.entries.items[0].key, 0)
            self.read_at(Spot(0, 0, 0))
            self.refresh()

    def action_follow(self) -> None:
        self.follow()
        self._keep_cursor_in_view()

    def action_prompt(self, step: int) -> None:
        """Goes to the previous or next prompt of the person; behind the last one, to the end."""
        top = self.top()
        if top is None:
            return
        entries = self.document.entries
        here = top.index
        if self.cursor is not None and self.cursor[0] in entries:
            at = entries.index(self.cursor[0])
            here = at if any(line[0] == at for line in self._window) else here
        found = entries.neighbour(here, EntryKind.PROMPT, step)
        if found is not None:
            self.show_entry(entries.items[found].key)
        elif step > 0:
            self.action_follow()

    def action_block(self, step: int) -> None:
        """Moves the cursor to the block above or below and brings it into view."""
        if not self._window:
            return
        entries = self.document.entries
        if self.cursor is None or self.cursor[0] not in entries:
            self._keep_cursor_in_view()
            return
        index, number = entries.index(self.cursor[0]), self.cursor[1] + step
        if number < 0:
            index -= 1
            number = len(self.document.layout(index).blocks) - 1 if index >= 0 else 0
        elif number >= len(self.document.layout(index).blocks):
            index, number = index + 1, 0
        if 0 <= index < len(entries):
            self.cursor = (entries.items[index].key, number)
            self._show_block(index, number)
        self.refresh()

    def _show_block(self, index: int, number: int) -> None:
        """Scrolls as little as needed to see the block, or its beginning when it is higher than the view."""
        top, height = self.top(), self.scrollable_content_region.height
        if top is None:
            return
        block = self.document.layout(index).blocks[number]
        self.document.rows.of(block)
        first, row = self.document.top(Spot(index, number, 0)), self.document.top(top)
        last = first + min(block.rows, height) - 1
        if first < row:
            self.scroll_rows(first - row)
        elif last >= row + height:
            self.scroll_rows(last - row - height + 1)

    def _keep_cursor_in_view(self) -> None:
        """The cursor stays on a block that can be seen."""
        if not self._window:
            return
        shown = [(self.document.entries.items[line[0]].key, line[1]) for line in self._window]
        if self.cursor not in shown:
            known = self.cursor is not None and self.cursor[0] in self.document.entries
            above = known and self.document.entries.index(self.cursor[0]) < self._window[0][0]  # type: ignore[index]
            self.cursor = shown[0] if above else shown[-1]
        self.refresh()

    def action_toggle_fold(self) -> None:
        if (found := self._cursor_block()) is not None:
            self._activate(self.cursor[0], found)  # type: ignore[index]

    def action_copy_block(self) -> None:
        if (block := self._cursor_block()) is not None and block.text.strip():
            self.post_message(self.CopyRequested(block.text.rstrip("\n")))

    def _cursor_block(self) -> Block | None:
        if self.cursor is None or self.cursor[0] not in self.document.entries:
            self._keep_cursor_in_view()
        if self.cursor is None:
            return None
        blocks = self.document.layout(self.document.entries.index(self.cursor[0])).blocks
        return blocks[min(self.cursor[1], len(blocks) - 1)]

    def _activate(self, key: Key, block: Block) -> None:
        if block.fold == "receipt":
            self.post_message(self.ReceiptRequested(key))
        elif (fold := block.fold) is not None:
            self.change_in_place(lambda: self.document.toggle(key, fold))

    def on_focus(self, event: events.Focus) -> None:
        self._keep_cursor_in_view()

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
                self.post_message(self.LinkClicked(event.style.link))
            elif row < block.rows:
                self._activate(key, block)
            return
        place = self._place_at(event.x, event.y)
        if event.chain == 2 and place is not None:
            first, last = word_at(block.source, place)
            self.select(Place(key_of(index, number), first), Place(key_of(index, number), last))
        elif event.chain == 3:
            self._select_whole(index, number, block)

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
