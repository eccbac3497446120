"""Blocks: the pieces of an entry that are drawn, measured and remembered one by one.

A block is bounded: whatever a text is, no block shows more than ``SLICE_LINES`` lines or ``SLICE_CHARS`` characters
of it (Markdown blocks: ``MAX_INLINE``), so that making its rows is a bounded step.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Protocol

from milk_tui.ui.transcript.code import language_of
from milk_tui.ui.transcript.colours import MAX_CODE, MAX_LINE
from milk_tui.ui.transcript.splitter import Kind, ListInfo

SLICE_LINES = 50
SLICE_CHARS = 4_000
MAX_INLINE = {Kind.PARAGRAPH: 6_000, Kind.HEADING: 2_000}
MAX_MARKDOWN = 12_000

Names = tuple[str, ...]
Run = tuple[str, Names]
"""A piece of a line that the program itself writes: text and the palette's names."""


@dataclass(frozen=True, slots=True)
class Runs:
    """A line of the program's own. ``elastic`` is the run that is shortened when the row is too narrow; without it
    the line wraps under ``hang``. ``rule`` fills the rest of a single row."""

    runs: tuple[Run, ...]
    hang: int = 0
    elastic: int | None = None
    rule: str = ""
    ground: str = "text"


@dataclass(frozen=True, slots=True)
class Plain:
    """Text as it is, wrapped. ``bar`` stands left of every row."""

    names: Names = ("text",)
    bar: str = ""


@dataclass(frozen=True, slots=True)
class Marked:
    """One block of Markdown."""

    kind: Kind
    env: dict[str, Any]
    list: ListInfo | None = None
    number: int = 0
    growing: bool = False
    head: str = ""
    """The two first lines of the table of which these are some more rows."""
    columns: tuple[int, ...] = ()
    """How wide the columns of the whole table want to be."""


@dataclass(slots=True, eq=False)
class Fence:
    """A whole piece of code, of which blocks show slices. ``open`` while it is streamed: no colours yet."""

    info: str = ""
    label: str = ""
    """What stands above it; the language when empty."""
    indent: int = 0
    open: bool = False
    code: str = ""
    """The code without its fence lines; set when it is complete."""

    @property
    def language(self) -> str:
        return language_of(self.info)

    @property
    def title(self) -> str:
        return self.label or self.language

    def complete(self, code: str) -> None:
        self.open = False
        if len(code) <= MAX_CODE and all(len(line) <= MAX_LINE for line in code.split("\n")):
            self.code = code


@dataclass(frozen=True, slots=True)
class Slice:
    """Some lines of a fence. ``margin`` is how far it stands in; ``top`` draws the language above."""

    fence: Fence
    first: int
    """The number of its first line."""
    skip: int = 0
    """Characters of the block's source before its first line (the opening fence line)."""
    end: int | None = None
    """Where its last line ends in the block's source (the closing fence line is behind)."""
    top: bool = False
    margin: int = 0


@dataclass(frozen=True, slots=True)
class DiffLines:
    """Some lines of a unified diff. ``margin`` is how far they stand in."""

    margin: int = 0


@dataclass(frozen=True, slots=True)
class Placeholder:
    """Stands for an entry whose body is not there yet, as high as it was guessed."""


Shape = Runs | Plain | Marked | Slice | DiffLines | Placeholder


class Source(Protocol):
    """Whoever keeps a text that may still grow."""

    @property
    def text(self) -> str: ...


@dataclass(frozen=True, slots=True)
class Held:
    """A text that is all there."""

    text: str


@dataclass(slots=True, eq=False)
class Block:
    """``source`` is ``whole.text[start:start + len(source)]``; ``span`` is the whole thing it is a slice of.

    ``rows`` is exact for the current width when ``exact``, else a guess; ``gap`` rows follow. ``stamp`` changes when
    rows that were made before are no longer right.
    """

    source: str
    shape: Shape
    role: str
    """What it is for spacing: head · banner · prompt · text · item · tool · detail · note · usage."""
    whole: Source
    start: int = 0
    span: tuple[int, int] = (0, 0)
    part: int = 0
    fold: Hashable = None
    rows: int = 1
    exact: bool = False
    gap: int = 0
    stamp: int = 0
    width: int = 0
    """The width that ``rows`` is for."""
    thing: object = field(default=None)
    """Equal for blocks without a gap between them: slices of one text, items of one tight list."""

    @property
    def height(self) -> int:
        return self.rows + self.gap

    @property
    def text(self) -> str:
        """The source of the whole thing that this block shows a part of."""
        first, last = self.span
        return self.whole.text[first:last] if last > first else self.source

    def guess(self, width: int) -> None:
        """Forgets the exact rows and estimates them for a width."""
        self.width = width
        self.exact = False
        self.rows = self._estimate(width)

    def _estimate(self, width: int) -> int:
        match self.shape:
            case Slice(skip=skip, end=end, top=top):
                lines = self.source.count("\n", skip, len(self.source) if end is None else end) + 1
                return lines + top
            case Marked(kind=Kind.TABLE):
                return self.source.count("\n") + 1
            case Marked(kind=Kind.PARAGRAPH | Kind.HEADING):
                return -(-len(self.source) // width) or 1
            case Runs(elastic=int()):
                return 1
            case _:
                lines = self.source.count("\n") + 1
                return max(lines, -(-len(self.source) // width))


def slices(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """``text[start:end]`` in slices of whole lines, cut inside a line only when it is too long; the line ends
    between slices belong to none."""
    while True:
        stop = start
        for _ in range(SLICE_LINES):
            line_end = text.find("\n", stop, end)
            if line_end < 0:
                line_end = end
            if line_end - start > SLICE_CHARS:
                if stop == start:
                    cut = text.rfind(" ", start + SLICE_CHARS // 2, start + SLICE_CHARS) + 1
                    yield start, cut or start + SLICE_CHARS
                    start = stop = cut or start + SLICE_CHARS
                break
            stop = line_end + 1
            if line_end == end:
                yield start, end
                return
        if stop > start:
            yield start, stop - 1
            start = stop


def plain_blocks(whole: Source, start: int, end: int, shape: Plain, role: str) -> list[Block]:
    """Blocks that show a text as it is."""
    thing = object()
    text = whole.text
    return [Block(text[a:b], shape, role, whole, a, (start, end), thing=thing) for a, b in slices(text, start, end)]


def code_blocks(text: str, fence: Fence, role: str, margin: int = 0) -> list[Block]:
    """Blocks that show a whole text as code."""
    fence.complete(text)
    whole = Held(text)
    blocks: list[Block] = []
    line = 0
    for a, b in slices(text, 0, len(text)):
        shape = Slice(fence, line, top=not blocks and bool(fence.title), margin=margin)
        blocks.append(Block(text[a:b], shape, role, whole, a, (0, len(text)), thing=fence))
        line += text.count("\n", a, b + 1)
    return blocks


def diff_blocks(text: str, role: str, margin: int = 0) -> list[Block]:
    """Blocks that show a whole unified diff."""
    whole = Held(text)
    thing = object()
    shape = DiffLines(margin)
    return [Block(text[a:b], shape, role, whole, a, (0, len(text)), thing=thing) for a, b in slices(text, 0, len(text))]


def gap(block: Block, following: Block) -> int:
    """Empty rows between two blocks of an entry."""
    if block.thing is not None and block.thing is following.thing:
        return int(isinstance(block.thing, ListInfo) and block.thing.loose)
    match block.role, following.role:
        case "head", _:
            return 0
        case "tool" | "detail", "tool" | "detail":
            return 0
        case "note", "note" | "usage":
            return 0
        case _:
            return 1


def space(blocks: Sequence[Block]) -> None:
    """Sets the gaps between blocks that follow each other; behind the last one there is one row."""
    for block, following in pairwise(blocks):
        block.gap = gap(block, following)
    if blocks:
        blocks[-1].gap = 1
