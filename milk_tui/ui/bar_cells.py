"""Upright bars in cells: how full a cell is, which character says so, and how wide a column is. Pure."""

from __future__ import annotations

LABEL = 7
"""Cells before the bars."""
WIDEST = 4
UNKNOWN = "?"
_EIGHTHS = " ▁▂▃▄▅▆▇█"
_ASCII = " ...::::#"
_HATCHED, _HATCHED_ASCII = "▒", "="


def level(fraction: float, rows: int, floor: int) -> int:
    """Eighths of the cell on that floor, 0..8; anything above nothing shows."""
    eighths = round(min(1.0, fraction) * rows * 8)
    if floor == 0 and fraction > 0:
        eighths = max(eighths, 1)
    return min(8, max(0, eighths - 8 * floor))


def glyph(eighths: int, *, plain: bool, hatched: bool = False) -> str:
    """The character for a cell that is so full; ``plain``: an ASCII one."""
    if hatched and eighths == 8:
        return _HATCHED_ASCII if plain else _HATCHED
    return (_ASCII if plain else _EIGHTHS)[eighths]


def bar(character: str, step: int, *, once: bool = False) -> str:
    """The character over the column's cells; columns of more than two cells keep one free between them."""
    wide = step - 1 if step > 2 else step
    return f"{character if once else character * wide:<{step}}"


def step_of(room: int, columns: int) -> int:
    """Cells of one column where so many share the room."""
    return max(1, min(WIDEST, room // max(1, columns)))
