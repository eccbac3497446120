"""One entry laid out: its blocks and where each one begins."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from milk_tui.ui.transcript.blocks import Block
from milk_tui.ui.transcript.growing import MarkdownText
from milk_tui.ui.transcript.parts import Key, Part, part_chars


@dataclass(frozen=True, slots=True)
class Spot:
    """A row of the transcript: the entry's place in the list, the block's in the entry, the row's in the block (the
    gap behind it counts)."""

    index: int
    block: int
    row: int


@dataclass(frozen=True, slots=True)
class Anchor:
    """A row that can be found again after anything changed: by what it shows, not by where it is."""

    key: Key
    part: int
    place: int
    """Where its first character stands in the part's text."""
    block: int
    row: int
    rows: int
    """Rows of its block, without the gap."""


BLOCK_CHARS = 400
"""What a block costs beside its text, in characters of memory."""


class Layout:
    """``tops[i]`` is the row of block ``i`` within the entry; the last one is the entry's height."""

    __slots__ = ("blocks", "chars", "parts", "texts", "tops", "used")

    def __init__(self, parts: Sequence[Part] = (), texts: Sequence[MarkdownText] = ()) -> None:
        self.parts = parts
        self.texts = texts
        self.chars = 0
        self.used = 0
        self.blocks: Sequence[Block] = ()
        self.tops = [0]

    @property
    def height(self) -> int:
        return self.tops[-1]

    @property
    def complete(self) -> bool:
        return all(text.complete for text in self.texts)

    def set(self, blocks: Sequence[Block], width: int) -> None:
        """Other blocks; those that were measured for this width stay measured."""
        self.blocks = blocks
        self.chars = sum([part_chars(part) for part in self.parts]) + BLOCK_CHARS * len(blocks)
        for block in blocks:
            if block.width != width:
                block.guess(width)
        self.update()

    def update(self) -> None:
        """Counts again after rows became known."""
        self.tops = list(accumulate([block.rows + block.gap for block in self.blocks], initial=0))

    def locate(self, row: int) -> tuple[int, int]:
        """``(block, row within it)`` of a row of the entry."""
        row = min(max(row, 0), max(self.height - 1, 0))
        block = min(bisect_right(self.tops, row) - 1, len(self.blocks) - 1)
        return block, row - self.tops[block]

    def find(self, part: int, place: int) -> int:
        """The block that shows a place of a part's text, or the nearest one before it."""
        found = 0
        for number, block in enumerate(self.blocks):
            if (block.part, block.start) > (part, place):
                break
            found = number
        return found
