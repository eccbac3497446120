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
from milk_tui.ui.bar_cells import LABEL, UNKNOWN, Look, axis, bar, glyph, level, turns
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


def columns(kind: Kind, legs: Sequence[LegFigures], look: Look) -> list[Span]:
    return spans(legs, look.room, kind.value)


def plot(kind: Kind, found: Sequence[Span], look: Look) -> list[Line]:
    """The lines, at most ``look.height``; nothing without columns. The last one is the axis of the turns."""
    roles = [role for role in Role if any(role in span.values for span in found)]
    if not roles or look.height < 3:
        return []
    rows = (look.height - 1) // len(roles) - 1
    if rows < 1:
        roles, rows = roles[:1], look.height - 2
    known = [number for span in found for number in span.values.values() if number is not None]
    top = kind.top or max(known, default=0.0)
    lines: list[Line] = []
    for role in roles:
        lines.append(_heading(kind, role, found, look))
        lines += [_row(kind, role, found, look, row, rows, top) for row in range(rows)]
    return [*lines, axis(found, look)][: look.height]


def _heading(kind: Kind, role: Role, found: Sequence[Span], look: Look) -> Line:
    room = max(8, look.width - len(kind.unit) - 3)
    name: Piece = (f.fit(f"{look.mark(role)} {look.names.get(role, role)}", room), str(role))
    own = [span.values[role] for span in found if role in span.values]
    unknown = all(number is None for number in own)
    said = f"  {kind.unit}" + (": nobody reports it" if unknown else "")
    return (name, (said, "dim"))


def _row(kind: Kind, role: Role, found: Sequence[Span], look: Look, row: int, rows: int, top: float) -> Line:
    floor = rows - 1 - row
    label = kind.shown(top) if row == 0 else kind.shown(0.0) if floor == 0 else ""
    if rows == 1:
        label = kind.shown(top)
    pieces: list[Piece] = [(f"{f.fit(label, LABEL - 1):>{LABEL - 1}} ", "dim")]
    step = look.step(len(found))
    for at, span in enumerate(found):
        style = "key" if at == look.cursor else str(role)
        if role not in span.values:
            pieces.append((" " * step, ""))
        elif (number := span.values[role]) is None:
            pieces.append((bar(UNKNOWN if floor == 0 else " ", step, once=True), "dim"))
        else:
            eighths = level(number / top if top else 0.0, rows, floor)
            pieces.append((bar(glyph(eighths, plain=look.plain), step), style))
    return tuple(pieces)


def told(kind: Kind, span: Span, names: Mapping[Role, str]) -> Line:
    """What a column says, in words."""
    pieces: list[Piece] = [(turns(span), "strong")]
    for role in Role:
        if role in span.values:
            number = span.values[role]
            pieces.append((f"  {f.ROLE_MARKS[role]} {names.get(role, role)}", str(role)))
            pieces.append((f" {UNKNOWN if number is None else kind.shown(number)}", ""))
    if span.turns > 1:
        pieces.append((f"  mean of {span.turns}" if kind.top is None else f"  over {span.turns}", "dim"))
    return tuple(pieces)
