"""A difference as rows of a list: two columns where there is room, else one under the other. Pure.

What changed is marked with ``-`` and ``+``, not by colour alone. Long runs of equal lines are folded; the row that
stands for them can be chosen.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rich.cells import cell_len, get_character_cell_size

from milk_tui.ui import format as f
from milk_tui.ui.diff_lines import Change, Difference, Pair, Side, Span
from milk_tui.ui.paint import Line, Piece
from milk_tui.ui.row_list import Row
from milk_tui.ui.words import TextRow

SIDE_BY_SIDE_FROM = 120
"""Columns of the terminal from which on two texts stand side by side."""
CONTEXT = 2
"""Equal lines that are shown around a change."""
FEWEST_FOLDED = 4
_NUMBER = 5
_MIDDLE = " │ "


def difference_rows(
    found: Difference, *, prefix: str, side_by_side: bool, is_open: Callable[[str], bool] = lambda key: False
) -> list[Row]:
    """The rows of one difference. ``prefix`` makes the keys; ``is_open`` says which folded runs are to be shown."""
    rows: list[Row] = []
    row = SideBySide if side_by_side else Unified
    for start, pairs in _runs(found.pairs):
        numbered = [(start + i, pair) for i, pair in enumerate(pairs)]
        fold = f"{prefix}:{start}:fold"
        head = CONTEXT if start else 0
        tail = len(pairs) - (CONTEXT if start + len(pairs) < len(found.pairs) else 0)
        if pairs[0].change is not Change.SAME or tail - head < FEWEST_FOLDED or is_open(fold):
            head = tail = len(pairs)
        rows += [row(f"{prefix}:{at}", pair) for at, pair in numbered[:head]]
        if tail > head:
            rows.append(_fold(fold, tail - head))
            rows += [row(f"{prefix}:{at}", pair) for at, pair in numbered[tail:]]
    if found.left_out:
        rows.append(TextRow(f"{prefix}:cut", f"… {f.plural(found.left_out, 'line')} more than is compared", "dim"))
    return rows


def _fold(key: str, hidden: int) -> Row:
    return TextRow(key, f"⋯ {f.plural(hidden, 'equal line')}: enter shows them", "dim", (" " * _NUMBER, ""), True)


def _runs(pairs: Sequence[Pair]) -> list[tuple[int, Sequence[Pair]]]:
    """Equal lines and changes in turn, each with the place where it begins."""
    runs: list[tuple[int, Sequence[Pair]]] = []
    start = 0
    for at in range(1, len(pairs) + 1):
        same = at < len(pairs) and (pairs[at].change is Change.SAME) == (pairs[start].change is Change.SAME)
        if not same:
            runs.append((start, pairs[start:at]))
            start = at
    return runs if pairs else []


@dataclass(frozen=True, slots=True)
class Unified:
    """The old line, and under it the new one."""

    key: str
    pair: Pair
    selectable: bool = False

    def height(self, width: int) -> int:
        return len(self.lines(width))

    def lines(self, width: int) -> Sequence[Line]:
        pair = self.pair
        if pair.change is Change.SAME:
            assert pair.new is not None
            return _side(pair.new, "same", width)
        old = _side(pair.old, "removed", width) if pair.old else []
        return [*old, *(_side(pair.new, "added", width) if pair.new else [])]


@dataclass(frozen=True, slots=True)
class SideBySide:
    """The old line on the left, the new one on the right."""

    key: str
    pair: Pair
    selectable: bool = False

    def height(self, width: int) -> int:
        return len(self.lines(width))

    def lines(self, width: int) -> Sequence[Line]:
        half = max(8, (width - len(_MIDDLE)) // 2)
        pair, same = self.pair, self.pair.change is Change.SAME
        left = _side(pair.old, "same" if same else "removed", half) if pair.old else []
        right = _side(pair.new, "same" if same else "added", half) if pair.new else []
        blank: Line = ((" " * half, ""),)
        return [
            (*(left[i] if i < len(left) else blank), (_MIDDLE, "dim"), *(right[i] if i < len(right) else blank))
            for i in range(max(len(left), len(right)))
        ]


_MARKS = {"same": " ", "removed": "-", "added": "+"}


def _side(side: Side, kind: str, width: int) -> list[Line]:
    """One line of a text in exactly ``width`` cells a row."""
    ground = "" if kind == "same" else f"/{kind}-ground"
    look = "dim" if kind == "same" else kind
    room = max(1, width - _NUMBER - 2)
    lines: list[Line] = []
    for number, pieces in enumerate(_wrapped(side.text, side.spans, room)):
        label = f"{side.number:>{_NUMBER - 1}} " if number == 0 else " " * _NUMBER
        mark = _MARKS[kind] if number == 0 else " "
        words: list[Piece] = [
            (text, f"{f'{kind}-words' if marked else ('' if kind == 'same' else look)}{ground}")
            for text, marked in pieces
        ]
        left = room - sum(cell_len(text) for text, _ in pieces)
        lines.append(((label, f"dim{ground}"), (f"{mark} ", f"{look}{ground}"), *words, (" " * left, ground)))
    return lines


def _wrapped(text: str, spans: Sequence[Span], width: int) -> list[list[tuple[str, bool]]]:
    """The text in rows of at most ``width`` cells, in pieces that are marked or not."""
    rows: list[list[tuple[str, bool]]] = []
    for start, stop in _breaks(text, width):
        pieces: list[tuple[str, bool]] = []
        at = start
        for first, last in spans:
            first, last = max(first, start), min(last, stop)
            if first >= last:
                continue
            if first > at:
                pieces.append((text[at:first], False))
            pieces.append((text[first:last], True))
            at = last
        if at < stop or not pieces:
            pieces.append((text[at:stop], False))
        rows.append(pieces)
    return rows


def _breaks(text: str, width: int) -> list[Span]:
    """Where rows begin and end: between words where that is possible, and nothing is lost."""
    found: list[Span] = []
    start = 0
    while start < len(text):
        stop = _reach(text, start, width)
        if stop < len(text) and (space := text.rfind(" ", start + 1, stop)) > start + (stop - start) // 3:
            stop = space + 1
        found.append((start, stop))
        start = stop
    return found or [(0, 0)]


def _reach(text: str, start: int, width: int) -> int:
    """The end of what fits from ``start`` on; at least one character."""
    if text[start : start + width].isascii():
        return min(len(text), start + width)
    used, at = 0, start
    while at < len(text):
        used += get_character_cell_size(text[at])
        if used > width:
            break
        at += 1
    return max(at, start + 1)
