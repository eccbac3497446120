"""Moving through the transcript by keys, and what is done with the block that the cursor is on."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType

from milk_tui.ui.actions import Where, bindings
from milk_tui.ui.transcript import messages
from milk_tui.ui.transcript.blocks import Block, Runs, Slice
from milk_tui.ui.transcript.layout import Spot
from milk_tui.ui.transcript.parts import Entry, EntryKind, Key, Markdown, Prompt, TakeBack
from milk_tui.ui.transcript.rows import Row
from milk_tui.ui.transcript.searching import match_in
from milk_tui.ui.transcript.selection import Place, key_of
from milk_tui.ui.transcript.view import View


def _is_prompt(entry: Entry) -> bool:
    return entry.kind is EntryKind.PROMPT


def _is_escalation(entry: Entry) -> bool:
    return entry.escalated


class Walk(View):
    """A view with a cursor on one block."""

    FollowChanged = messages.FollowChanged
    LinkClicked = messages.LinkClicked
    LinksRequested = messages.LinksRequested
    CopyRequested = messages.CopyRequested
    ReceiptRequested = messages.ReceiptRequested
    TakeBackRequested = messages.TakeBackRequested
    QuoteRequested = messages.QuoteRequested
    OpenRequested = messages.OpenRequested
    AskOtherRequested = messages.AskOtherRequested
    ForkRequested = messages.ForkRequested
    MatchWanted = messages.MatchWanted
    NothingThere = messages.NothingThere

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "rows(-1)", "Up", id="transcript.up", show=False),
        Binding("down", "rows(1)", "Down", id="transcript.down", show=False),
        Binding("pageup", "pages(-1)", "Page up", id="transcript.page-up", show=False),
        Binding("pagedown", "pages(1)", "Page down", id="transcript.page-down", show=False),
        Binding("home", "first", "Beginning", id="transcript.home", show=False),
        Binding("end", "follow", "Follow", id="transcript.end", show=False, tooltip="Go to the end and stay there"),
        *bindings(Where.CONVERSATION),
    ]

    def show_entry(self, key: Key) -> None:
        """Reads with the entry at the top; a key that is not there is no error."""
        if key in self.document.entries:
            self.cursor = (key, 0)
            self.read_at(Spot(self.document.entries.index(key), 0, 0))
            self.refresh()

    def show_match(self, key: Key, words: str, number: int, *, thinking: bool = False, tool: Hashable = None) -> None:
        """Reads where an entry (what was thought in it, a call) says these words the ``number``-th time, and selects
        them; where no block shows them, at the entry."""
        if key not in self.document.entries:
            return
        match = match_in(self.document, key, words, number, thinking=thinking, tool=tool)
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

    def action_previous_prompt(self) -> None:
        self._go(-1, _is_prompt)

    def action_next_prompt(self) -> None:
        """To the next prompt of the person; behind the last one, to the end."""
        if not self._go(1, _is_prompt):
            self.action_follow()

    def action_previous_escalation(self) -> None:
        self._go(-1, _is_escalation)

    def action_next_escalation(self) -> None:
        self._go(1, _is_escalation)

    def _go(self, step: int, wanted: Callable[[Entry], bool]) -> bool:
        """To the next entry of a kind from the cursor on, or from the top when the cursor is out of sight."""
        top = self.top()
        if top is None:
            return False
        entries = self.document.entries
        here = top.index
        if self.cursor is not None and self.cursor[0] in entries:
            at = entries.index(self.cursor[0])
            here = at if any(line[0] == at for line in self._window) else here
        found = entries.neighbour(here, wanted, step)
        if found is not None:
            self.show_entry(entries.items[found].key)
        return found is not None

    def action_next_match(self) -> None:
        self.post_message(messages.MatchWanted(1))

    def action_previous_match(self) -> None:
        self.post_message(messages.MatchWanted(-1))

    def action_block_above(self) -> None:
        self._move_cursor(-1)

    def action_block_below(self) -> None:
        self._move_cursor(1)

    def _move_cursor(self, step: int) -> None:
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
            self.post_message(messages.CopyRequested(block.text.rstrip("\n")))

    def action_copy_code(self) -> None:
        """The code that the cursor is on, else the next one below it in the entry."""
        code = self._code()
        if code is None:
            self.post_message(messages.NothingThere("there is no code from here on"))
        else:
            self.post_message(messages.CopyRequested(code))

    def _code(self) -> str | None:
        block = self._cursor_block()
        if block is None or self.cursor is None:
            return None
        blocks = self.document.layout(self.document.entries.index(self.cursor[0])).blocks
        for each in blocks[blocks.index(block) :]:
            if isinstance(each.shape, Slice):
                return code_of(each.text)
        return None

    def action_links(self) -> None:
        """The links of the block, then the others of its entry, then those in view."""
        block = self._cursor_block()
        if block is None or self.cursor is None:
            return
        blocks = self.document.layout(self.document.entries.index(self.cursor[0])).blocks
        found: dict[str, str] = {}
        for each in (block, *blocks, *(line[3] for line in self._window)):
            for href, text in links_of(self.document.rows.of(each)):
                found.setdefault(href, text)
        if found:
            self.post_message(messages.LinksRequested(tuple((text, href) for href, text in found.items())))
        else:
            self.post_message(messages.NothingThere("there is no link here"))

    def action_copy_answer(self) -> None:
        if text := self._whole():
            self.post_message(messages.CopyRequested(text))

    def action_quote_block(self) -> None:
        """The block; all that was said where the block is only a line about it."""
        block = self._cursor_block()
        if block is None:
            return
        about = isinstance(block.shape, Runs) and block.role not in ("tool", "detail")
        text = self._whole() if about else block.text.strip("\n")
        if text.strip():
            self.post_message(messages.QuoteRequested(text))

    def action_open_block(self) -> None:
        if text := self._whole():
            self.post_message(messages.OpenRequested(text))

    def action_ask_other(self) -> None:
        if self._cursor_block() is not None and self.cursor is not None:
            self.post_message(messages.AskOtherRequested(self.cursor[0]))

    def action_fork_here(self) -> None:
        if self._cursor_block() is not None and self.cursor is not None:
            self.post_message(messages.ForkRequested(self.cursor[0]))

    def _whole(self) -> str:
        """The prompt or the answer that the cursor is in, as it was said."""
        if self._cursor_block() is None or self.cursor is None:
            return ""
        layout = self.document.layout(self.document.entries.index(self.cursor[0]))
        return "\n\n".join(part.text for part in layout.parts if isinstance(part, Prompt | Markdown)).strip()

    def _cursor_block(self) -> Block | None:
        if self.cursor is None or self.cursor[0] not in self.document.entries:
            self._keep_cursor_in_view()
        if self.cursor is None:
            return None
        blocks = self.document.layout(self.document.entries.index(self.cursor[0])).blocks
        return blocks[min(self.cursor[1], len(blocks) - 1)]

    def _activate(self, key: Key, block: Block) -> None:
        if block.fold == "receipt":
            self.post_message(messages.ReceiptRequested(key))
        elif isinstance(block.fold, TakeBack):
            self.post_message(messages.TakeBackRequested(block.fold.fact))
        elif (fold := block.fold) is not None:
            self.change_in_place(lambda: self.document.toggle(key, fold))

    def on_focus(self, event: events.Focus) -> None:
        self._keep_cursor_in_view()


def links_of(rows: Iterable[Row]) -> list[tuple[str, str]]:
    """Address and text of the links that rows show; a text that wraps is put together again."""
    found: list[tuple[str, str]] = []
    before = ""
    for row in rows:
        space = " "
        for text, style, x in row.pieces:
            href = style.link or ""
            if href and href == before:
                found[-1] = (href, f"{found[-1][1].rstrip()}{space}{text}")
            elif href:
                found.append((href, text))
            if href or x >= 0:
                before, space = href, ""
    return found


def code_of(source: str) -> str:
    """Code without the fence around it; an indented block loses its indent."""
    lines = source.strip("\n").split("\n")
    fence = lines[0].lstrip()[:3]
    if fence in ("```", "~~~"):
        indent = len(lines[0]) - len(lines[0].lstrip())
        closed = lines[-1].strip().startswith(fence) and len(lines) > 1
        inside = lines[1:-1] if closed else lines[1:]
        return "\n".join(line[min(indent, len(line) - len(line.lstrip())) :] for line in inside)
    return "\n".join(line.removeprefix("    ") for line in lines)
