"""The themes to choose from: the program's own first."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from textual.theme import Theme

from milk_tui.ui.row_list import Row
from milk_tui.ui.themes import THEMES
from milk_tui.ui.words import ItemRow


def theme_rows(themes: Mapping[str, Theme], current: str) -> Callable[[str], Sequence[Row]]:
    """A function from words to the themes whose names hold them."""
    own = [theme.name for theme in THEMES]
    names = [*own, *sorted(name for name in themes if name not in own)]

    def rows(words: str) -> list[Row]:
        return [
            ItemRow(
                name,
                (
                    (f"{'›' if name == current else ' '} {name}", "strong" if name in own else ""),
                    ("  dark" if themes[name].dark else "  light", "dim"),
                ),
            )
            for name in names
            if all(word in name for word in words.casefold().split())
        ]

    return rows
