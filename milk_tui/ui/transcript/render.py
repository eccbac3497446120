"""From blocks to rows, and the bounded memory of rows that were made."""

from __future__ import annotations

from collections import OrderedDict

from rich.style import Style

from milk_tui.ui.transcript.blocks import Block, DiffLines, Marked, Placeholder, Plain, Runs, Slice
from milk_tui.ui.transcript.code import CodeLine, code_rows, label_row
from milk_tui.ui.transcript.diffs import diff_rows
from milk_tui.ui.transcript.markdown import PROSE, Paper, markdown_rows
from milk_tui.ui.transcript.rows import NOWHERE, Piece, Row, cells, clip, extent, visible, wrap

KEPT_ROWS = 2_000
"""Rows kept in memory; one costs about 2 kB."""
LEAD = "  "
"""What stands left of every row: room for the cursor."""


class Rows:
    """Rows by block, the least recently shown forgotten first."""

    def __init__(self, paper: Paper, kept: int = KEPT_ROWS) -> None:
        self.paper = paper
        self._kept = kept
        self._made: OrderedDict[Block, tuple[int, list[Row]]] = OrderedDict()
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def of(self, block: Block) -> list[Row]:
        """The rows of a block, made when they are not there; ``block.rows`` is exact from now on."""
        if isinstance(block.shape, Placeholder):
            return make_rows(self.paper, block)
        found = self._made.get(block)
        if found is not None:
            if found[0] == block.stamp:
                self._made.move_to_end(block)
                return found[1]
            self._count -= len(found[1])
            del self._made[block]
        rows = make_rows(self.paper, block)
        self._made[block] = (block.stamp, rows)
        self._count += len(rows)
        block.rows, block.exact, block.width = len(rows), True, self.paper.width
        while self._count > self._kept and len(self._made) > 1:
            _, (_, old) = self._made.popitem(last=False)
            self._count -= len(old)
        return rows

    def clear(self) -> None:
        self._made.clear()
        self._count = 0

    def showing(self, code: str) -> list[Block]:
        """The kept blocks that show (a part of) this code."""
        return [block for block in self._made if _shows(block, code)]


def make_rows(paper: Paper, block: Block) -> list[Row]:
    """The rows of one block at the paper's width, each with the lead before it; at least one."""
    rows = _rows(paper, block)
    palette = paper.palette
    lead: Piece = (LEAD, palette("text"), NOWHERE)
    if block.role == "prompt":
        lead = ("▌ ", palette("prompt", "prompt-bar"), NOWHERE)
    for row in rows:
        row.pieces = [lead, *row.pieces]
    return rows


def _rows(paper: Paper, block: Block) -> list[Row]:
    match block.shape:
        case Runs() as shape:
            return _runs(paper, shape)
        case Plain() as shape:
            return _plain(paper, shape, block.source)
        case Marked() as shape:
            return markdown_rows(
                paper,
                block.source,
                shape.env,
                item_of=shape.list,
                number=shape.number,
                growing=shape.growing,
                head=shape.head,
                columns=shape.columns,
            )
        case Slice() as shape:
            return _slice(paper, shape, block.source)
        case DiffLines() as shape:
            rows = diff_rows(paper.palette, block.source, paper.width - shape.margin)
            return _indented(paper, rows, shape.margin)
        case Placeholder():
            style = paper.palette("text", "placeholder")
            fill = paper.palette("text")
            return [Row([("⋯ loading", style, NOWHERE)], fill, 0, 0)]


def _runs(paper: Paper, shape: Runs) -> list[Row]:
    palette, width = paper.palette, paper.width
    fill = palette(shape.ground)
    pieces: list[Piece] = []
    x = 0
    for text, names in shape.runs:
        pieces += visible(text, palette(shape.ground, *names), x)
        x += len(text)
    total = sum(cells(text) for text, _, _ in pieces)
    if shape.elastic is not None and total > width:
        pieces = _squeeze(paper, shape, width - total)
        total = sum(cells(text) for text, _, _ in pieces)
        if total > width:
            pieces = clip(pieces, width)
    if shape.rule and total < width:
        style = palette(shape.ground, *shape.runs[-1][1])
        pieces.append((shape.rule * (width - total), style, NOWHERE))
        return [_row(pieces, fill)]
    rows = []
    for index, part in enumerate(wrap(pieces, width, max(width - shape.hang, 2))):
        if index and shape.hang:
            part.insert(0, (" " * shape.hang, fill, NOWHERE))
        rows.append(_row(part, fill))
    return rows


def _squeeze(paper: Paper, shape: Runs, missing: int) -> list[Piece]:
    """The runs with the elastic one shortened by what is missing (a negative number of cells)."""
    pieces: list[Piece] = []
    x = 0
    for index, (text, names) in enumerate(shape.runs):
        made = visible(text, paper.palette(shape.ground, *names), x)
        if index == min(shape.elastic or 0, len(shape.runs) - 1):
            made = clip(made, max(cells(text) + missing, 2))
        pieces += made
        x += len(text)
    return pieces


def _plain(paper: Paper, shape: Plain, source: str) -> list[Row]:
    style = paper.palette(*shape.names)
    fill = paper.palette(shape.names[0])
    bar: list[Piece] = [(shape.bar, paper.palette(shape.names[0], "bar"), NOWHERE)] if shape.bar else []
    width = max(min(paper.width, PROSE) - cells(shape.bar), 4)
    rows = []
    x = 0
    for text in source.split("\n"):
        for part in wrap(visible(text, style, x), width) or [[]]:
            begin, end = extent(part, x)
            rows.append(Row([*bar, *part], fill, begin, end))
        x += len(text) + 1
    return rows


def _slice(paper: Paper, shape: Slice, source: str) -> list[Row]:
    lines: list[CodeLine] = []
    x = shape.skip
    for text in source[x : shape.end].split("\n"):
        spaces = min(shape.fence.indent, len(text) - len(text.lstrip(" ")))
        lines.append((text[spaces:], x + spaces))
        x += len(text) + 1
    colours = None
    if not shape.fence.open and shape.fence.code:
        colours = paper.colours.lines(shape.fence.language, shape.fence.code)
    rows = []
    if shape.top:
        rows.append(label_row(paper.palette, shape.fence.title, lines[0][1], paper.width - shape.margin))
    rows += code_rows(paper.palette, lines, paper.width - shape.margin, colours, shape.first)
    return _indented(paper, rows, shape.margin)


def _indented(paper: Paper, rows: list[Row], margin: int) -> list[Row]:
    if margin:
        left: Piece = (" " * margin, paper.palette("text"), NOWHERE)
        for row in rows:
            row.pieces = [left, *row.pieces]
    return rows


def _row(pieces: list[Piece], fill: Style) -> Row:
    begin, end = extent(pieces, 0)
    return Row(pieces, fill, begin, end)


def _shows(block: Block, code: str) -> bool:
    match block.shape:
        case Slice(fence=fence):
            return fence.code is code or fence.code == code
        case Marked():
            return len(code) <= len(block.source) and code[:40].split("\n")[0] in block.source
        case _:
            return False
