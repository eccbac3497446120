"""A session in a list: its title and when, what it was like, and its last words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from milk_tui.ui import format as f
from milk_tui.ui.paint import Line, Piece, cells, spread

_INDENT: Piece = ("    ", "")


@dataclass(frozen=True, slots=True)
class SessionLines:
    """Three lines, or two when nothing was said; what is too long ends in ``…``."""

    key: str
    title: str
    when: str
    about: Line
    said: str
    current: bool = False
    found: bool = False
    """``said`` is where the words that were looked for stand."""
    selectable: bool = True

    def height(self, width: int) -> int:
        return 3 if self.said else 2

    def lines(self, width: int) -> Sequence[Line]:
        when: Line = ((f"  {self.when} ", "dim"),)
        title = f.fit(self.title, max(8, width - cells(when) - 3))
        first = spread((("› " if self.current else "  ", "key"), (title, "strong")), when, width)
        second = (_INDENT, *self.about)
        if not self.said:
            return (first, second)
        label: Line = (("says ", "dim"),) if self.found else ()
        said = f.fit(self.said, width - 5 - cells(label))
        return (first, second, (_INDENT, *label, (said, "" if self.found else "dim")))
