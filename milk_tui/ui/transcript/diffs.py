"""A unified diff as coloured rows: under each other, or old and new side by side where there is room."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.style import Style

from milk_tui.ui.transcript.palette import Palette
from milk_tui.ui.transcript.rows import NOWHERE, Piece, Row, cells, extent, visible, wrap

SIDE_BY_SIDE = 110
"""Cells from which on both sides are shown."""
MAX_LINE = 2_000
_BETWEEN = " │ "

_Line = tuple[str, int]
"""A line of the diff and its place in the source."""
_Pair = tuple[_Line | None, _Line | None]


def diff_rows(palette: Palette, source: str, width: int) -> list[Row]:
    """The rows of some lines of a diff."""
    lines: list[_Line] = []
    x = 0
    for text in source.split("\n"):
        lines.append((text, x))
        x += len(text) + 1
    if lines and not lines[-1][0]:
        lines.pop()
    if width < SIDE_BY_SIDE:
        return [row for line in lines for row in _unified(palette, line, width)]
    return [row for group in _groups(lines) for row in _beside(palette, group, width)]


def _unified(palette: Palette, line: _Line, width: int) -> list[Row]:
    text, x = line
    ground = palette("fence")
    style = _style(palette, text)
    rows = []
    for part in wrap(visible(text[:MAX_LINE], style, x), max(width, 4)) or [[]]:
        begin, end = extent(part, x)
        rows.append(Row(part, ground, begin, end))
    return rows


def _style(palette: Palette, text: str) -> Style:
    if text.startswith(("+++", "---", "diff ", "index ", "\\")):
        return palette("fence", "muted")
    if text.startswith("@@"):
        return palette("fence", "label")
    if text.startswith("+"):
        return palette("fence", "inserted")
    if text.startswith("-"):
        return palette("fence", "deleted")
    return palette("fence")


def _groups(lines: Sequence[_Line]) -> Iterator[_Line | list[_Pair]]:
    """Lines that stand for themselves, and runs of old and new lines as pairs."""
    old: list[_Line] = []
    new: list[_Line] = []
    for text, x in lines:
        if text.startswith("-") and not text.startswith("---"):
            if new:
                yield _paired(old, new)
                old, new = [], []
            old.append((text, x))
        elif text.startswith("+") and not text.startswith("+++"):
            new.append((text, x))
        else:
            if old or new:
                yield _paired(old, new)
                old, new = [], []
            yield [((text, x), (text, x))] if text.startswith(" ") or not text else (text, x)
    if old or new:
        yield _paired(old, new)


def _paired(old: Sequence[_Line], new: Sequence[_Line]) -> list[_Pair]:
    number = max(len(old), len(new))
    return [(old[at] if at < len(old) else None, new[at] if at < len(new) else None) for at in range(number)]


def _beside(palette: Palette, group: _Line | list[_Pair], width: int) -> list[Row]:
    if isinstance(group, tuple):
        return _unified(palette, group, width)
    half = (width - len(_BETWEEN)) // 2
    ground = palette("fence")
    rows: list[Row] = []
    for left, right in group:
        same = left is not None and left == right
        first = _side(palette, left, half)
        second = _side(palette, right, half)
        for at in range(max(len(first), len(second))):
            before = first[at] if at < len(first) else []
            after = second[at] if at < len(second) else []
            if same:
                after = [(text, style, NOWHERE) for text, style, _ in after]
            gap = " " * (half - sum(cells(text) for text, _, _ in before))
            pieces: list[Piece] = [
                *before,
                (gap, ground, NOWHERE),
                (_BETWEEN, palette("fence", "bar"), NOWHERE),
                *after,
            ]
            begin, end = _extent(pieces, (left or right or ("", 0))[1])
            rows.append(Row(pieces, ground, begin, end))
    return rows


def _extent(pieces: Sequence[Piece], default: int) -> tuple[int, int]:
    places = [(x, x + len(text)) for text, _, x in pieces if x >= 0 and text]
    return (min(places)[0], max(end for _, end in places)) if places else (default, default)


def _side(palette: Palette, line: _Line | None, width: int) -> list[list[Piece]]:
    if line is None:
        return [[]]
    text, x = line
    return wrap(visible(text[:MAX_LINE], _style(palette, text), x), max(width, 4)) or [[]]
