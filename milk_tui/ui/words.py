"""Rows of plain text for lists and dialogs: wrapped to the width they are drawn in."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from milk_tui.core.text import clean
from milk_tui.ui import format as f
from milk_tui.ui.paint import Line, Piece
from milk_tui.ui.row_list import Row

LONGEST_LINE = 20_000
"""Characters of one line that are shown."""
MOST_LINES = 5_000
DEEPEST = 24
"""Cells of a line's own indentation that are kept."""


@dataclass(frozen=True, slots=True)
class TextRow:
    """A line of text, wrapped between words; ``mark`` stands before its first row."""

    key: str
    text: str
    look: str = ""
    mark: Piece = ("", "")
    selectable: bool = False

    def height(self, width: int) -> int:
        return len(self._wrapped(width))

    def lines(self, width: int) -> Sequence[Line]:
        indent = " " * len(self.mark[0])
        return [
            (self.mark if index == 0 else (indent, ""), (row, self.look))
            for index, row in enumerate(self._wrapped(width))
        ]

    def _wrapped(self, width: int) -> list[str]:
        return f.wrap(self.text, width - len(self.mark[0]))


@dataclass(frozen=True, slots=True)
class ItemRow:
    """An entry that can be chosen: a line, and under it a dim one that may be empty."""

    key: str
    first: Line
    second: Line = ()
    selectable: bool = True

    def height(self, width: int) -> int:
        return 2 if self.second else 1

    def lines(self, width: int) -> Sequence[Line]:
        return (self.first, self.second) if self.second else (self.first,)


def text_rows(text: str, *, prefix: str, look: str = "", indent: str = "") -> list[Row]:
    """A text of many lines as rows, cleaned; ``prefix`` makes the keys. What is too long is cut, and said."""
    lines = clean(text).expandtabs(4).split("\n")
    rows: list[Row] = []
    for number, line in enumerate(lines[:MOST_LINES]):
        words = line.lstrip()[:LONGEST_LINE]
        space = indent + " " * min(len(line) - len(line.lstrip()), DEEPEST)
        rows.append(TextRow(f"{prefix}:{number}", words, look, (space, "")))
    hidden = sum(len(line) for line in lines) - sum(len(line[:LONGEST_LINE]) for line in lines[:MOST_LINES])
    if hidden:
        rows.append(TextRow(f"{prefix}:cut", f"… {hidden:,} more characters", "dim", (indent, "")))
    return rows


def blank(key: str) -> Row:
    return TextRow(key, "")


def joined(pieces: Iterable[Piece], separator: str = " · ") -> Line:
    """Pieces with a dim separator between them; empty ones left out."""
    result: list[Piece] = []
    for piece in pieces:
        if piece[0]:
            if result:
                result.append((separator, "dim"))
            result.append(piece)
    return tuple(result)
