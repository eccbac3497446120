"""Tables as rows: as wide as they need to be, narrowed to fit by wrapping their cells."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from milk_tui.ui.transcript.palette import Palette
from milk_tui.ui.transcript.rows import NOWHERE, Piece, Row, cells, extent, wrap

_BETWEEN = " │ "
_LEAST = 5
_PIPE = re.compile(r"(?<!\\)\|")
_MARKUP = re.compile(r"[`*~]+|!?\[(?=[^\]]*\]\()|\]\([^)]*\)")


@dataclass(frozen=True, slots=True)
class Cell:
    lines: list[list[Piece]]
    align: str = "left"

    @property
    def cells(self) -> int:
        return max((sum(cells(text) for text, _, _ in line) for line in self.lines), default=0)


def table_rows(palette: Palette, table: Sequence[Sequence[Cell]], width: int, wanted: Sequence[int] = ()) -> list[Row]:
    """``table`` is the head and the rows below it. Columns that find no room are left out and marked with ``…``.

    ``wanted`` says how wide the columns want to be when that is not for these rows to decide.
    """
    if not table or not table[0]:
        return []
    shown = len(table[0])
    most = max(1, (width + len(_BETWEEN)) // (_LEAST + len(_BETWEEN)))
    cut = shown > most
    if cut:
        shown = max(1, most - 1)
    room = width - len(_BETWEEN) * (shown - 1) - (4 if cut else 0)
    natural = [
        wanted[i] if i < len(wanted) else max(row[i].cells for row in table if i < len(row)) for i in range(shown)
    ]
    widths = fit(natural, room)
    rows: list[Row] = []
    tall = False
    for number, line in enumerate(table):
        made = _table_row(palette, line[:shown], widths, cut)
        if number == 1 or (number > 1 and (tall or len(made) > 1)):
            rows.append(_rule(palette, widths, cut, rows[-1].end, "─" if number == 1 else "┄"))
        tall = len(made) > 1
        rows += made
    if len(table) == 1:
        rows.append(_rule(palette, widths, cut, rows[-1].end, "─"))
    return rows


def wanted_columns(lines: Sequence[str]) -> tuple[int, ...]:
    """How wide the columns of a table's source want to be, its markup not counted; close, and cheap for many rows."""
    widths: list[int] = []
    for number, line in enumerate(lines):
        if number == 1:
            continue
        row = _MARKUP.sub("", line.strip().removeprefix("|").removesuffix("|"))
        for column, cell in enumerate(_PIPE.split(row)):
            size = cells(cell.strip())
            if column == len(widths):
                widths.append(size)
            elif size > widths[column]:
                widths[column] = size
    return tuple(max(width, 1) for width in widths)


def fit(wanted: Sequence[int], room: int) -> list[int]:
    """Column widths that sum to at most ``room`` where that is possible: the widest columns give way first."""
    if sum(wanted) <= room:
        return [max(width, 1) for width in wanted]
    widths = [0] * len(wanted)
    left, open_columns = room, sorted(range(len(wanted)), key=lambda i: wanted[i])
    while open_columns:
        share = left // len(open_columns)
        column = open_columns.pop(0)
        widths[column] = max(1, min(wanted[column], share))
        left -= widths[column]
    return widths


def _table_row(palette: Palette, row: Sequence[Cell], widths: Sequence[int], cut: bool) -> list[Row]:
    style = palette("text")
    line = palette("text", "border")
    columns: list[list[list[Piece]]] = []
    for cell, width in zip(row, widths, strict=False):
        columns.append([part for pieces in cell.lines for part in wrap(pieces, width)])
    rows = []
    for index in range(max((len(column) for column in columns), default=1)):
        pieces: list[Piece] = []
        for number, width in enumerate(widths):
            if number:
                pieces.append((_BETWEEN, line, NOWHERE))
            column = columns[number] if number < len(columns) else []
            part = column[index] if index < len(column) else []
            free = width - sum(cells(text) for text, _, _ in part)
            align = row[number].align if number < len(row) else "left"
            before = {"right": free, "center": free // 2}.get(align, 0)
            if before > 0:
                pieces.append((" " * before, style, NOWHERE))
            pieces += part
            if free - before > 0:
                pieces.append((" " * (free - before), style, NOWHERE))
        if cut:
            pieces.append((" │ …" if index == 0 else " │  ", line, NOWHERE))
        begin, end = extent(pieces, 0)
        rows.append(Row(pieces, style, begin, end))
    return rows


def _rule(palette: Palette, widths: Sequence[int], cut: bool, x: int, line: str) -> Row:
    style = palette("text", "border")
    text = f"{line}┼{line}".join(line * width for width in widths)
    if cut:
        text += f"{line}┼{line}{line}"
    return Row([(text, style, NOWHERE)], palette("text"), x, x)
