"""Words in an entry: which block shows them, and where in it."""

from __future__ import annotations

from typing import NamedTuple

from milk_tui.ui.transcript.document import Document
from milk_tui.ui.transcript.parts import Key

_STEPS = 2_000
"""Steps of work in which an entry's text is cut into blocks at the longest: some MB of text."""


class Match(NamedTuple):
    """``start`` and ``end`` are characters of the block's source."""

    block: int
    start: int
    end: int


def match_in(document: Document, key: Key, words: str, number: int) -> Match | None:
    """The ``number``-th place of the words in an entry whose body is there, else the last one before it; ``None`` when
    no block shows them (Markdown may have cut them in two)."""
    index = document.entries.index(key)
    for _ in range(_STEPS):
        if document.layout(index).complete or not document.work():
            break
    wanted = words.casefold()
    last: Match | None = None
    for block_number, block in enumerate(document.layout(index).blocks):
        source = block.source
        folded = source.casefold()
        if len(folded) != len(source):
            folded = source.lower() if len(source.lower()) == len(source) else source
        at = folded.find(wanted)
        while at >= 0 and wanted:
            last = Match(block_number, at, at + len(wanted))
            if number == 0:
                return last
            number -= 1
            at = folded.find(wanted, at + len(wanted))
    return last
