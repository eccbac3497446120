"""Lines of styled text for widgets that draw themselves: pieces of text with a named look, turned into
strips.

The looks are component classes, so that a style sheet says what they look like in every theme
(``styles/looks.tcss``). A piece of text is never markup.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar, TypeAlias

from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from rich.style import Style
from textual.content import Content
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
        "added",
        "added-ground",
        "added-words",
        "removed",
        "removed-ground",
        "removed-words",
    }
)
Piece: TypeAlias = tuple[str, str]
"""A text and the name of its look; the empty name is the widget's own style, ``look/ground`` names a ground too."""
Line: TypeAlias = tuple[Piece, ...]


class LookBook(Widget):
    """Holds the looks for every painter of an app, unseen: styling fifteen looks per widget is slow to start."""

    COMPONENT_CLASSES: ClassVar = {f"look--{look}" for look in LOOKS}

    edition = 0
    """Grows whenever the looks may have changed."""

    def __init__(self) -> None:
        super().__init__(id="look-book")
        self.display = False

    def style(self, look: str) -> Style:
        return self.get_component_rich_style(f"look--{look}")

    def notify_style_update(self) -> None:
        self.edition += 1
        super().notify_style_update()


class Painter(Widget):
    """A widget that draws lines of pieces. Without an ``App.look_book`` everything has the widget's own style."""

    _looks: dict[tuple[str, str], Style] | None = None
    _edition = -1

    def look(self, name: str, under: str = "") -> Style:
        """The style of a look on this widget, over the background of the look ``under`` when there is one."""
        book: LookBook | None = getattr(self.app, "look_book", None)
        if book is None:
            return self.rich_style
        name, _, ground = name.partition("/")
        under = under or ground
        if self._looks is None or self._edition != book.edition:
            self._looks = {}
            self._edition = book.edition
        style = self._looks.get((name, under))
        if style is None:
            style = self.rich_style
            if under:
                style += book.style(under)
            if name:
                over = book.style(name)
                turned = bool(style.reverse)
                style += Style(
                    color=None if turned else over.color,
                    bold=over.bold,
                    dim=None if turned else over.dim,
                    italic=over.italic,
                    strike=over.strike,
                    underline=over.underline,
                )
            self._looks[name, under] = style
        return style

    def notify_style_update(self) -> None:
        self._looks = None
        super().notify_style_update()

    def paint(self, line: Line, width: int, *, under: str = "") -> Strip:
        """The line in exactly ``width`` cells, with … where it had no room; ``under`` is a look for the whole row
        (cursor, flash)."""
        base = self.look("", under)
        if not line:
            return Strip.blank(width, base)
        segments: list[Segment] = []
        cut = cells(line) > width > 0 and cell_len(plain(line).rstrip()) > width
        left = width - cut
        style = base
        for text, name in line:
            if left <= 0:
                break
            size = cell_len(text)
            if size > left:
                text, size = set_cell_size(text, left), left
            style = self.look(name, under) if name else base
            segments.append(Segment(text, style))
            left -= size
        if cut:
            segments.append(Segment("…", style))
        elif left > 0:
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


_IN_FRAMES = {
    "dim": "$foreground 72%",
    "strong": "bold",
    "heading": "bold $text-primary",
    "primary": "$text-success",
    "escalation": "$text-accent",
    "pinned": "$text-warning",
    "helper": "$text-secondary",
    "error": "$text-error",
    "warning": "$text-warning",
    "good": "$text-success",
    "key": "$text-warning",
}


def to_content(line: Line) -> Content:
    """The line for a frame's edge, which a widget does not paint itself."""
    return Content.assemble(*((text, _IN_FRAMES.get(name, "")) for text, name in line))
