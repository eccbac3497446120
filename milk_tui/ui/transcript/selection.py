"""What a selection covers, in words of the source.

A place is ``(key, x)``: ``key`` orders all blocks, ``x`` is a character of the block's source. Nothing in it moves
when heights are corrected, the width changes or text is streamed below.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from milk_tui.ui.transcript.blocks import Block
from milk_tui.ui.transcript.document import Document

_BLOCKS = 1 << 20
_WORD = re.compile(r"\w(?:[\w./:@#+~-]*\w)?")


class Place(NamedTuple):
    key: int
    x: int


def key_of(index: int, block: int) -> int:
    """The number of a block in the order of the transcript."""
    return index * _BLOCKS + block


def entry_of(key: int) -> int:
    return key // _BLOCKS


def word_at(text: str, x: int) -> tuple[int, int]:
    """The word (a path, a name, a number are one) around a character; that character alone between words."""
    line = text.rfind("\n", 0, x) + 1
    end = text.find("\n", x)
    for found in _WORD.finditer(text, line, end if end >= 0 else len(text)):
        if found.start() <= x < found.end():
            return found.span()
    return x, min(x + 1, len(text))


def selected_text(document: Document, first: Place, last: Place) -> str:
    """The source between two places: exact inside a text, line breaks between the parts of an entry and an empty
    line between entries. Entries that are not at hand are left out."""
    entries: list[str] = []
    for index in range(entry_of(first.key), min(entry_of(last.key), len(document.entries) - 1) + 1):
        blocks = document.layout(index).blocks
        pieces: list[str] = []
        begin: tuple[Block, int] | None = None
        before: tuple[Block, int] | None = None
        for number, block in enumerate(blocks):
            key = key_of(index, number)
            if not first.key <= key <= last.key:
                continue
            start = min(first.x, len(block.source)) if key == first.key else 0
            end = min(last.x, len(block.source)) if key == last.key else len(block.source)
            if begin is None or before is None or block.whole is not before[0].whole:
                _take(pieces, begin, before)
                begin = block, start
            before = block, max(end, start if begin[0] is block else 0)
        _take(pieces, begin, before)
        if pieces:
            entries.append("\n".join(pieces))
    return "\n\n".join(entries)


def _take(pieces: list[str], begin: tuple[Block, int] | None, end: tuple[Block, int] | None) -> None:
    if begin is None or end is None:
        return
    text = begin[0].whole.text[begin[0].start + begin[1] : end[0].start + end[1]]
    if text.strip("\n"):
        pieces.append(text.strip("\n"))
