"""A value over the turns of a session, agent by agent, drawn in cells. Pure.

Each agent has a band of bars over one scale; where there are more turns than cells, neighbours share a column. What
nobody reported is a ``?``, where an agent did not work nothing stands.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from milk_tui.core.records import Role
from milk_tui.core.statistics import LegFigures, Span, Value, spans
from milk_tui.ui import format as f
from milk_tui.ui.bar_cells import LABEL, UNKNOWN, bar, glyph, level, step_of
from milk_tui.ui.paint import Line, Piece


@dataclass(frozen=True, slots=True)
class Kind:
    """What is plotted. ``top``: the upper end of the scale when it is always the same."""

    title: str
    unit: str
    """What a number is, with its measure: ``tokens per turn``."""
    value: Value
    shown: Callable[[float], str]
    top: float | None = None


@dataclass(frozen=True, slots=True)
class Frame:
    """How it is drawn. ``cursor``: the column that is pointed at; ``plain``: only ASCII."""

    width: int
    height: int
    names: Mapping[Role, str]
    cursor: int | None = None
    plain: bool = False

    @property
    def room(self) -> int:
        """Cells for bars."""
        return max(1, self.width - LABEL)


def columns(kind: Kind, legs: Sequence[LegFigures], frame: Frame) -> list[Span]:
    return spans(legs, frame.room, kind.value)


def plot(kind: Kind, found: Sequence[Span], frame: Frame) -> list[Line]:
    """The lines, at most ``frame.height``; nothing without columns. The last one is the axis of the turns."""
    roles = [role for role in Role if any(role in span.values for span in found)]
    if not roles or frame.height < 3:
        return []
    rows = (frame.height - 1) // len(roles) - 1
    if rows < 1:
        roles, rows = roles[:1], frame.height - 2
    known = [number for span in found for number in span.values.values() if number is not None]
    top = kind.top or max(known, default=0.0)
    lines: list[Line] = []
    for role in roles:
        lines.append(_heading(kind, role, found, frame))
        lines += [_row(kind, role, found, frame, row, rows, top) for row in range(rows)]
    return [*lines, _axis(found, frame)][: frame.height]


def _heading(kind: Kind, role: Role, found: Sequence[Span], frame: Frame) -> Line:
    mark = {Role.PRIMARY: "*", Role.ESCALATION: "#"}[role] if frame.plain else f.ROLE_MARKS[role]
    name: Piece = (f.fit(f"{mark} {frame.names.get(role, role)}", max(8, frame.width - len(kind.unit) - 3)), str(role))
    own = [span.values[role] for span in found if role in span.values]
    unknown = all(number is None for number in own)
    said = f"  {kind.unit}" + (": nobody reports it" if unknown else "")
    return (name, (said, "dim"))


def _row(kind: Kind, role: Role, found: Sequence[Span], frame: Frame, row: int, rows: int, top: float) -> Line:
    floor = rows - 1 - row
    label = kind.shown(top) if row == 0 else kind.shown(0.0) if floor == 0 else ""
    if rows == 1:
        label = kind.shown(top)
    pieces: list[Piece] = [(f"{f.fit(label, LABEL - 1):>{LABEL - 1}} ", "dim")]
    step = step_of(frame.room, len(found))
    for at, span in enumerate(found):
        look = "key" if at == frame.cursor else str(role)
        if role not in span.values:
            pieces.append((" " * step, ""))
        elif (number := span.values[role]) is None:
            pieces.append((bar(UNKNOWN if floor == 0 else " ", step, once=True), "dim"))
        else:
            eighths = level(number / top if top else 0.0, rows, floor)
            pieces.append((bar(glyph(eighths, plain=frame.plain), step), look))
    return tuple(pieces)


def _axis(found: Sequence[Span], frame: Frame) -> Line:
    """The first and the last turn, or where the cursor is."""
    step = step_of(frame.room, len(found))
    if frame.cursor is not None and 0 <= frame.cursor < len(found):
        at = frame.cursor * step
        name, pointer = _turns(found[frame.cursor]), "^" if frame.plain else "▲"
        if at + 2 + len(name) > frame.room:
            before = f.fit(f"{name} ", at)
            return ((" " * (LABEL + at - len(before)), ""), (before, "dim"), (pointer, "key"))
        return ((" " * (LABEL + at), ""), (pointer, "key"), (f" {name}", "dim"))
    first, last = f"turn {found[0].first}", f"turn {found[-1].last}"
    width = step * len(found)
    text = first if len(found) == 1 or width < len(first) + len(last) + 1 else first + last.rjust(width - len(first))
    return ((" " * LABEL, ""), (f.fit(text, frame.room), "dim"))


def _turns(span: Span) -> str:
    return f"turn {span.first}" if span.first == span.last else f"turns {span.first}–{span.last}"


def told(kind: Kind, span: Span, names: Mapping[Role, str]) -> Line:
    """What a column says, in words."""
    pieces: list[Piece] = [(_turns(span), "strong")]
    for role in Role:
        if role in span.values:
            number = span.values[role]
            pieces.append((f"  {f.ROLE_MARKS[role]} {names.get(role, role)}", str(role)))
            pieces.append((f" {UNKNOWN if number is None else kind.shown(number)}", ""))
    if span.turns > 1:
        pieces.append((f"  mean of {span.turns}" if kind.top is None else f"  over {span.turns}", "dim"))
    return tuple(pieces)
