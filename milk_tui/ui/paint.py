"""Lines of styled text for widgets that draw themselves: pieces of text with a named look, turned into
strips.

The looks are component classes, so that a style sheet says what they look like in every theme
(``styles/looks.tcss``). A piece of text is never markup.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip
from textual.widget import Widget

LOOKS = frozenset(
    {
        "dim",
        "strong",
        "heading",
        "primary",
        "escalation",
        "pinned",
        "helper",
        "struck",
        "error",
        "warning",
        "good",
        "key",
        "flash",
        "cursor",
        "cursor-blurred",
    }
)
COMPONENTS = {f"look--{look}" for look in LOOKS}

Piece: TypeAlias = tuple[str, str]
"""A text and the name of its look; the empty name is the widget's own style."""
Line: TypeAlias = tuple[Piece, ...]


class Painter(Widget):
    """A widget that draws lines of pieces."""

    COMPONENT_CLASSES = COMPONENTS

    def look(self, name: str) -> Style:
        """The style of a look on this widget's background; several names are laid over each other."""
        if not name:
            return self.rich_style
        return self.get_component_rich_style(*(f"look--{part}" for part in name.split()), partial=True)

    def paint(self, line: Line, width: int, *, under: str = "") -> Strip:
        """The line in exactly ``width`` cells; ``under`` is a look for the whole row (cursor, flash)."""
        base = self.rich_style
        if under:
            base = base + self.look(under)
        segments: list[Segment] = []
        left = width
        for text, name in line:
            if left <= 0:
                break
            cells = cell_len(text)
            if cells > left:
                text, cells = set_cell_size(text, left), left
            segments.append(Segment(text, base + self.look(name) if name else base))
            left -= cells
        if left > 0:
            segments.append(Segment(" " * left, base))
        return Strip(segments, width)


def cells(line: Iterable[Piece]) -> int:
    """The width of a line."""
    return sum(cell_len(text) for text, _ in line)


def spread(left: Line, right: Line, width: int) -> Line:
    """``left`` and ``right`` at the two ends of a row; ``right`` gives way when there is no room."""
    gap = width - cells(left) - cells(right)
    if gap < 1:
        return left
    return (*left, (" " * gap, ""), *right)


def plain(line: Iterable[Piece]) -> str:
    return "".join(text for text, _ in line)
