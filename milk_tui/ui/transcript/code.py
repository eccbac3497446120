"""Code as rows: a bar at the left, colours where they are known, long lines wrapped with a mark."""

from __future__ import annotations

from collections.abc import Sequence

from milk_tui.ui.transcript.colours import MAX_LINE, Spans
from milk_tui.ui.transcript.palette import Palette
from milk_tui.ui.transcript.rows import NOWHERE, Piece, Row, cells, clip, visible, wrap

BAR = "│ "
MARK = "↪ "

CodeLine = tuple[str, int]
"""The text of a line and its place in the source."""


def code_rows(
    palette: Palette,
    lines: Sequence[CodeLine],
    width: int,
    colours: Sequence[Spans] | None = None,
    first: int = 0,
) -> list[Row]:
    """Rows of ``width`` cells. ``colours`` holds the coloured lines so far, ``first`` says where these lines begin."""
    ground = palette("fence")
    bar: Piece = (BAR, palette("fence", "bar"), NOWHERE)
    mark: Piece = (MARK, palette("fence", "bar"), NOWHERE)
    rows = []
    for number, (text, x) in enumerate(lines, first):
        spans = colours[number] if colours is not None and number < len(colours) else None
        pieces = _colour(palette, text, x, spans) if spans and len(text) <= MAX_LINE else visible(text, ground, x)
        for index, part in enumerate(wrap(pieces, max(width - 2, 2), max(width - 4, 2))):
            head = [bar, mark] if index else [bar]
            begin = next((p[2] for p in part if p[2] >= 0), x)
            end = next((p[2] + len(p[0]) for p in reversed(part) if p[2] >= 0), x)
            rows.append(Row([*head, *part], ground, begin, end))
    return rows


def label_row(palette: Palette, label: str, x: int, width: int) -> Row:
    """The row above a fence with its language."""
    pieces: list[Piece] = [(BAR, palette("fence", "bar"), NOWHERE), (label, palette("fence", "label"), NOWHERE)]
    return Row(clip(pieces, width), palette("fence"), x, x)


def language_of(info: str) -> str:
    """The language that a fence names; only a plausible name, lower case."""
    word = info.strip().split(maxsplit=1)[0] if info.strip() else ""
    word = word.strip("{}.").split(",")[0].split(":")[0].lower()
    return word if len(word) <= 24 and word.replace("+", "").replace("-", "").replace("#", "").isalnum() else ""


def _colour(palette: Palette, text: str, x: int, spans: Spans) -> list[Piece]:
    pieces: list[Piece] = []
    done = column = 0
    tabs = "\t" in text
    for length, name in spans:
        part = text[done : done + length]
        style = palette("fence", name) if name else palette("fence")
        made = visible(part, style, x + done, column)
        if tabs:
            column += sum(cells(p[0]) for p in made)
        pieces += made
        done += length
    if done < len(text):
        pieces += visible(text[done:], palette("fence"), x + done, column)
    return pieces
