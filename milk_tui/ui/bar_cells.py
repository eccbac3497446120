"""Upright bars over the turns of a session, in cells: how full a cell is, which character says so, how wide a column
is, and the axis below. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from milk_tui.core.records import Role
from milk_tui.ui import format as f
from milk_tui.ui.paint import Line

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


@dataclass(frozen=True, slots=True)
class Look:
    """How bars are drawn."""

    width: int
    height: int
    names: Mapping[Role, str]
    cursor: int | None = None
    """The column that is pointed at."""
    plain: bool = False
    """Only ASCII characters."""

    @property
    def room(self) -> int:
        """Cells for bars."""
        return max(1, self.width - LABEL)

    def step(self, number: int) -> int:
        """Cells of one column."""
        return step_of(self.room, number)

    def mark(self, role: Role) -> str:
        """The sign of an agent."""
        return {Role.PRIMARY: "*", Role.ESCALATION: "#"}[role] if self.plain else f.ROLE_MARKS[role]


class Turns(Protocol):
    """Turns that share a column."""

    @property
    def first(self) -> int: ...

    @property
    def last(self) -> int: ...


def turns(column: Turns) -> str:
    return f"turn {column.first}" if column.first == column.last else f"turns {column.first}–{column.last}"


Column = TypeVar("Column", bound=Turns)


def axis(found: Sequence[Column], look: Look, name: Callable[[Column], str] = turns) -> Line:
    """The first and the last turn, or the name of the column that is pointed at."""
    step = look.step(len(found))
    if look.cursor is not None and 0 <= look.cursor < len(found):
        at, pointed = look.cursor * step, name(found[look.cursor])
        pointer = "^" if look.plain else "▲"
        if at + 2 + len(pointed) > look.room:
            before = f.fit(f"{pointed} ", at)
            return ((" " * (LABEL + at - len(before)), ""), (before, "dim"), (pointer, "key"))
        return ((" " * (LABEL + at), ""), (pointer, "key"), (f" {pointed}", "dim"))
    first, last = f"turn {found[0].first}", f"turn {found[-1].last}"
    width = step * len(found)
    text = first if len(found) == 1 or width < len(first) + len(last) + 1 else first + last.rjust(width - len(first))
    return ((" " * LABEL, ""), (f.fit(text, look.room), "dim"))
