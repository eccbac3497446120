"""Cutting Markdown into top-level blocks while it arrives.

Only complete lines decide: everything before the last top-level block of the complete lines is closed, whatever
comes later (``textual-notes.md`` §3). A closed block never changes again, so it is drawn once. An open fence is not
parsed again, only searched for its closing line; an open list is cut at its items.

Blocks above ``MAX_BLOCK`` characters are cut whatever they are: nothing that a model writes may cost more than a
bounded step.
"""

from __future__ import annotations

import re
from copy import copy
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

MAX_BLOCK = 48_000
_CHUNK = 6_000


class Kind(StrEnum):
    PARAGRAPH = "paragraph"
    HEADING = "heading"
    RULE = "hr"
    FENCE = "fence"
    CODE = "code_block"
    QUOTE = "blockquote"
    TABLE = "table"
    HTML = "html_block"
    ITEM = "list_item"
    PIECE = "piece"
    """A part of a block that was too large."""


@dataclass(slots=True, eq=False)
class ListInfo:
    """What the items of one list have in common; ``loose`` may become true while the list still grows."""

    ordered: bool
    start: int
    loose: bool = False


@dataclass(frozen=True, slots=True)
class Span:
    """One block: ``text[start:end]``, without the line end behind it. ``number`` counts a list's items from 0."""

    start: int
    end: int
    kind: Kind
    list: ListInfo | None = None
    number: int = 0


IN_LIST = "milk_in_list"
"""In a parser's environment: the text begins with an item of a list that began before it, whatever follows."""


@cache
def parser(inline: bool) -> MarkdownIt:
    """The one set of Markdown options of the transcript; ``inline=False`` finds blocks only, three times as fast.

    A tag that was not captured is text (``semantics.md`` §1), not a link in angle brackets.
    """
    from markdown_it import MarkdownIt
    from markdown_it.rules_block import StateBlock, table

    from milk_tui.engine.markdown_bounds import bounded

    def table_that_is_no_item(state: StateBlock, start: int, end: int, silent: bool) -> bool:
        item = start == 0 and state.level == 0 and state.env.get(IN_LIST)
        return not item and table(state, start, end, silent)

    made = bounded(MarkdownIt("commonmark")).enable(["table", "strikethrough"])
    made.block.ruler.at("table", table_that_is_no_item, {"alt": ["paragraph", "reference"]})
    made.disable(["text_join"] if inline else ["inline", "text_join"])
    may_link = made.validateLink
    made.validateLink = lambda url: may_link(url) and not url.lower().startswith("milk:")  # type: ignore[method-assign]
    return made


def split_closed(text: str) -> tuple[list[Span], int]:
    """The closed blocks of a text that may go on, and where the rest begins."""
    splitter = Splitter()
    splitter.feed(text)
    splitter.advance()
    return splitter.spans, splitter.tail


class Splitter:
    """``feed`` the text in any pieces, ``advance`` to close what can be closed.

    ``spans`` only grows; ``text[tail:]`` is what may still change. ``env`` holds the reference definitions.
    """

    def __init__(self) -> None:
        self.text = ""
        self.tail = 0
        self.spans: list[Span] = []
        self.env: dict[str, Any] = {}
        self._list: ListInfo | None = None
        self._number = 0
        self._fence: re.Pattern[str] | None = None
        self._scanned = 0

    @property
    def in_fence(self) -> bool:
        """True when the tail is an open fence."""
        return self._fence is not None

    @property
    def done(self) -> bool:
        return self.tail >= len(self.text)

    def feed(self, text: str) -> None:
        self.text += text

    def advance(self, *, final: bool = False, limit: int | None = None) -> bool:
        """Closes what can be closed, ``final``: everything. False when it stopped after ``limit`` characters."""
        complete = len(self.text) if final else self.text.rfind("\n", self.tail) + 1
        began = self.tail
        while self.tail < complete:
            if limit is not None and self.tail - began >= limit:
                return False
            if self._fence is not None:
                if not self._search_fence_end(complete, final):
                    break
            elif not self._step(complete, final):
                break
        if len(self.text) - self.tail > MAX_BLOCK and self._fence is None:
            self._cut_long_line()
        return True

    def tail_spans(self) -> list[Span]:
        """The tail's blocks as they would be if the text ended here."""
        if self._fence is not None:
            return [Span(self.tail, len(self.text), Kind.FENCE)]
        rest = Splitter()
        rest.env = {name: copy(value) for name, value in self.env.items()}
        rest.text = self.text
        rest.tail = self.tail
        rest._number = self._number
        known = self._list
        mine = rest._list = ListInfo(known.ordered, known.start, known.loose) if known is not None else None
        rest.advance(final=True)
        if mine is None or known is None or mine.loose != known.loose:
            return rest.spans
        return [replace(span, list=known) if span.list is mine else span for span in rest.spans]

    def _step(self, complete: int, final: bool) -> bool:
        """Parses enough complete lines to move on; False when the last block stays open."""
        size = _CHUNK
        while True:
            stop = complete
            if complete - self.tail > size:
                stop = self.text.rfind("\n", self.tail, self.tail + size) + 1
                if stop <= self.tail:
                    stop = self.text.find("\n", self.tail + size, complete) + 1 or complete
            before = self.tail
            self._parse(stop, final and stop == complete)
            if self.tail > before:
                return stop < complete or self._fence is not None or self.tail >= complete
            if self._fence is not None:
                return True
            if stop - before >= MAX_BLOCK:
                self._close(before, stop, Kind.PIECE)
                self.tail = stop
                return True
            if stop == complete:
                return False
            size *= 8

    def _parse(self, stop: int, final: bool) -> None:
        base = self.tail
        chunk = self.text[base:stop]
        self.env[IN_LIST] = self._list is not None and self._number > 0
        tokens = parser(False).parse(chunk, self.env)
        starts = [base]
        for line in chunk.split("\n"):
            starts.append(starts[-1] + len(line) + 1)
        tops = [i for i, t in enumerate(tokens) if t.level == 0 and t.map and t.nesting >= 0]
        if not tops:
            blank = _BLANK_LINES.match(chunk)
            self.tail = stop if final or not chunk.strip() else base + (blank.end() if blank else 0)
        for i in tops:
            last = i == tops[-1]
            token = tokens[i]
            assert token.map is not None
            start, end = starts[token.map[0]], min(starts[token.map[1]], stop)
            if token.type in ("bullet_list_open", "ordered_list_open"):
                self._items(tokens, i, starts, end, close=final or not last)
                if last and final:
                    self.tail = stop
                continue
            self._list = None
            if last and not final and not self._is_closed(token, start, end):
                self.tail = start
                if token.type == "fence" and not self._may_be_a_table(token, start, end):
                    self._open_fence(token.markup, end)
                return
            self._close(start, end, Kind(token.type.removesuffix("_open")))
            self.tail = stop if last and final else end

    def _is_closed(self, token: Token, start: int, end: int) -> bool:
        """True for a last block that no further line can change."""
        if token.type in ("heading_open", "hr"):
            return not self._may_be_a_table(token, start, end)
        if token.type != "fence" or not token.map or token.map[1] - token.map[0] < 2:
            return False
        last = self.text.rfind("\n", start, end - 1) + 1
        return bool(_fence_end(token.markup).match(self.text, last, end))

    def _may_be_a_table(self, token: Token, start: int, end: int) -> bool:
        """True for a block of one line with a bar: the line that follows may make it the head of a table."""
        assert token.map is not None
        return token.map[1] - token.map[0] < 2 and "|" in self.text[start:end]

    def _open_fence(self, markup: str, scanned: int) -> None:
        self._fence = _fence_end(markup)
        self._scanned = scanned

    def _search_fence_end(self, complete: int, final: bool) -> bool:
        assert self._fence is not None
        found = self._fence.search(self.text, self._scanned, complete)
        if found is None and not final:
            self._scanned = complete
            return False
        end = found.end() if found else complete
        self._close(self.tail, end, Kind.FENCE)
        self.tail = min(end + 1, complete) if found else complete
        self._fence = None
        return True

    def _items(self, tokens: list[Token], i: int, starts: list[int], end: int, *, close: bool) -> None:
        ordered = tokens[i].type == "ordered_list_open"
        if self._list is None or i > 0 or self._list.ordered is not ordered:
            first = tokens[i].attrs.get("start", 1) if ordered else 1
            self._list, self._number = ListInfo(ordered, int(first)), 0
        info = self._list
        opens = []
        for token in tokens[i + 1 :]:
            if token.level == 0:
                break
            if token.level == 1 and token.type == "list_item_open" and token.map:
                opens.append(starts[token.map[0]])
            elif token.level == 2 and token.type == "paragraph_open" and not token.hidden:
                info.loose = True
        for start, following in zip(opens, [*opens[1:], end], strict=True):
            if following == end and not close:
                self.tail = start
                return
            self._close(start, following, Kind.ITEM, info, self._number)
            self._number += 1
        self.tail = end
        self._list = None

    def _close(self, start: int, end: int, kind: Kind, info: ListInfo | None = None, number: int = 0) -> None:
        end -= end > start and self.text[end - 1] == "\n"
        self.spans.append(Span(start, end, kind, info, number))

    def _cut_long_line(self) -> None:
        """A line without an end: closes all of it but the last piece."""
        while len(self.text) - self.tail > MAX_BLOCK:
            stop = self.tail + _CHUNK
            stop = self.text.rfind(" ", self.tail + _CHUNK // 2, stop) + 1 or stop
            self._close(self.tail, stop, Kind.PIECE)
            self.tail = stop
            self._list = None


_BLANK_LINES = re.compile(r"(?:[ \t]*\n)+")
"""Before a reference definition, which is no block: what comes later doesn't change them."""


@lru_cache(64)
def _fence_end(markup: str) -> re.Pattern[str]:
    return re.compile(rf"^ {{0,3}}{re.escape(markup[0])}{{{len(markup)},}}[ \t]*$", re.MULTILINE)
