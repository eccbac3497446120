"""The blocks of a Markdown text, whole or while it is streamed.

Closed blocks are made once and stay the same objects; only the tail's blocks are made again.
"""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise

from milk_tui.ui.transcript.blocks import (
    MAX_INLINE,
    MAX_MARKDOWN,
    Block,
    Fence,
    Marked,
    Plain,
    Slice,
    Source,
    gap,
    plain_blocks,
    slices,
    space,
)
from milk_tui.ui.transcript.splitter import Kind, ListInfo, Span, Splitter
from milk_tui.ui.transcript.table import wanted_columns

_OPENING = re.compile(r"( {0,3})(`{3,}|~{3,})([^\n]*)\n?")
TABLE_ROWS = 40
_SMALL = frozenset({Kind.PARAGRAPH, Kind.HEADING, Kind.RULE, Kind.ITEM})
_MANY = 3_000
"""Blocks of one text, after which small ones are put together in batches."""
_BATCH = 64
_BATCH_CHARS = 4_000
_CLOSING = re.compile(r" {0,3}(?:`{3,}|~{3,})[ \t]*$")


class MarkdownText:
    """``feed`` and ``advance`` as the splitter; ``blocks`` is what there is to show."""

    def __init__(self, text: str = "") -> None:
        self._splitter = Splitter()
        self._splitter.feed(text)
        self._closed: list[Block] = []
        self._batch: list[Span] = []
        self._spans = 0
        self._references = 0
        self._last_list: ListInfo | None = None
        self._was_loose = False
        self._fence: _OpenFence | None = None
        self._part = 0
        self._caught_up = True
        self._complete = False

    @property
    def text(self) -> str:
        return self._splitter.text

    @property
    def complete(self) -> bool:
        """True when all of the text is cut into its blocks for good."""
        return self._complete

    @property
    def caught_up(self) -> bool:
        """False while ``advance`` has to go on with what it was given."""
        return self._caught_up

    def feed(self, text: str) -> None:
        self._splitter.feed(text)

    def advance(self, *, final: bool = False, limit: int | None = None) -> bool:
        """Cuts what can be cut; False when ``limit`` characters were not enough."""
        done = self._caught_up = self._splitter.advance(final=final, limit=limit)
        self._complete = final and done
        spans = self._splitter.spans
        for span in spans[self._spans :]:
            self._close(span)
        self._spans = len(spans)
        self._mark_changed()
        return done

    def blocks(self, part: int = 0) -> list[Block]:
        """The closed blocks, and the tail's as they are now (a tail that waits to be cut is shown as it is)."""
        if part != self._part:
            self._part = part
            for block in self._closed:
                block.part = part
        open_ones = self._batch_blocks() + self._tail()
        for block in open_ones:
            block.part = part
        if not open_ones:
            return self._closed
        if self._closed:
            self._closed[-1].gap = gap(self._closed[-1], open_ones[0])
        space(open_ones)
        return self._closed + open_ones

    def _tail(self) -> list[Block]:
        splitter = self._splitter
        text, tail = splitter.text, splitter.tail
        if splitter.done:
            return []
        if not self._caught_up:
            return plain_blocks(self, tail, len(text), Plain(), "text")
        if splitter.in_fence:
            if self._fence is None or self._fence.start != tail:
                self._fence = _OpenFence(self, tail)
            return self._fence.grow()
        return [block for span in splitter.tail_spans() for block in self._blocks_of(span, growing=True)]

    def _close(self, span: Span) -> None:
        """Makes the span's blocks; in a text of very many small ones, one block for a batch of them."""
        batch = self._batch
        if batch and (
            batch[-1].list is not span.list
            or span.kind not in _SMALL
            or span.end - batch[0].start > _BATCH_CHARS
            or len(batch) == _BATCH
        ):
            self._add(self._batch_blocks())
            batch.clear()
        if span.kind in _SMALL and span.end - span.start < _BATCH_CHARS and len(self._closed) > _MANY:
            batch.append(span)
        else:
            self._add(self._blocks_of(span, growing=False))

    def _add(self, blocks: list[Block]) -> None:
        for block in blocks:
            block.part = self._part
        if self._closed and blocks:
            self._closed[-1].gap = gap(self._closed[-1], blocks[0])
        space(blocks)
        self._closed += blocks

    def _batch_blocks(self) -> list[Block]:
        if not self._batch:
            return []
        first, last = self._batch[0], self._batch[-1]
        return self._blocks_of(replace(first, end=last.end), growing=False)

    def _blocks_of(self, span: Span, *, growing: bool) -> list[Block]:
        text = self._splitter.text
        if span.kind is Kind.FENCE:
            fence, self._fence = self._fence, None
            if fence is None or fence.start != span.start:
                fence = _OpenFence(self, span.start)
            return fence.grow() if growing else fence.close(span.end)
        if span.kind is Kind.TABLE and text.count("\n", span.start, span.end) > TABLE_ROWS:
            return self._table(span)
        if span.kind is Kind.PIECE or span.end - span.start > MAX_INLINE.get(span.kind, MAX_MARKDOWN):
            return plain_blocks(self, span.start, span.end, Plain(), "text")
        shape = Marked(span.kind, self._splitter.env, span.list, span.number, growing)
        role = "item" if span.list is not None else "text"
        bounds = (span.start, span.end)
        return [Block(text[span.start : span.end], shape, role, self, span.start, bounds, thing=span.list)]

    def _table(self, span: Span) -> list[Block]:
        """A long table in slices that have the same columns."""
        text = self._splitter.text
        starts = [span.start]
        for line in text[span.start : span.end].split("\n"):
            starts.append(starts[-1] + len(line) + 1)
        columns = wanted_columns([text[a : b - 1] for a, b in pairwise(starts)])
        head = text[span.start : starts[2] - 1]
        thing = object()
        blocks: list[Block] = []
        for first in range(0, len(starts) - 1, TABLE_ROWS):
            last = min(first + TABLE_ROWS, len(starts) - 1)
            a, b = starts[first], starts[last] - 1
            shape = Marked(span.kind, self._splitter.env, head=head if first else "", columns=columns)
            blocks.append(Block(text[a:b], shape, "text", self, a, (span.start, span.end), thing=thing))
        return blocks

    def _mark_changed(self) -> None:
        """Marks closed blocks that a later line changed: references that are known now, a list that became loose."""
        references = len(self._splitter.env.get("references", ()))
        if references > self._references:
            self._references = references
            for block in self._closed:
                if "[" in block.source:
                    block.stamp += 1
                    block.exact = False
        info = self._closed[-1].thing if self._closed else None
        if not isinstance(info, ListInfo):
            return
        if info is self._last_list and info.loose and not self._was_loose:
            first = len(self._closed)
            while first and self._closed[first - 1].thing is info:
                first -= 1
                self._closed[first].stamp += 1
                self._closed[first].exact = False
            space(self._closed[first:])
        self._last_list, self._was_loose = info, info.loose


class _OpenFence:
    """A fence that grows: slices that are full stay, the last one is made again."""

    def __init__(self, whole: Source, start: int) -> None:
        self.start = start
        self._whole = whole
        text = whole.text
        found = _OPENING.match(text, start)
        self._body = self._at = found.end() if found else start
        self._fence = Fence(found[3].strip() if found else "", indent=len(found[1]) if found else 0)
        self._full: list[Block] = []
        self._line = 0

    def grow(self) -> list[Block]:
        """The blocks when the fence goes up to the end of the text and stays open."""
        text = self._whole.text
        found = _OPENING.match(text, self.start)
        if found is not None and not self._full:
            self._body = self._at = found.end()
            self._fence.info = found[3].strip()
        self._fence.open = True
        return self._slices(text, len(text), len(text))

    def close(self, end: int) -> list[Block]:
        """The blocks of the fence that ends, with its closing line if there is one, at ``end``."""
        text = self._whole.text
        last = text.rfind("\n", self.start, end)
        body_end = end
        if last >= self._body - 1 and _CLOSING.match(text[last + 1 : end]):
            body_end = max(last, self._body)
        lines = text[self._body : body_end].split("\n")
        blocks = self._slices(text, body_end, end)
        self._fence.complete("\n".join([_unindent(line, self._fence.indent) for line in lines]))
        for block in blocks:
            block.span = (self.start, end)
            block.stamp += 1
        return blocks

    def _slices(self, text: str, body_end: int, end: int) -> list[Block]:
        cuts = list(slices(text, self._at, max(body_end, self._at)))
        for a, b in cuts[:-1]:
            self._full.append(self._block(text, a, b, b))
            self._line += text.count("\n", a, b + 1)
        self._at = cuts[-1][0]
        return [*self._full, self._block(text, self._at, cuts[-1][1], end)]

    def _block(self, text: str, a: int, b: int, end: int) -> Block:
        begin = a if self._full else self.start
        top = not self._full and bool(self._fence.title)
        shape = Slice(self._fence, self._line, a - begin, b - begin, top=top)
        bounds = (self.start, end)
        return Block(text[begin:end], shape, "text", self._whole, begin, bounds, thing=self._fence)


def _unindent(line: str, indent: int) -> str:
    spaces = len(line) - len(line.lstrip(" "))
    return line[min(indent, spaces) :]
