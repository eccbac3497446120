"""The weight of a fact over its changes, as a small plot of text. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from milk_tui.ui import format as f
from milk_tui.ui.paint import Line

ROWS = 3
_EIGHTHS = " ▁▂▃▄▅▆▇█"
_LABEL = 5
_WIDEST_STEP = 8


def weight_plot(points: Sequence[tuple[int, int]], width: int) -> list[Line]:
    """``points`` are (time in ms, weight in thousandths), oldest first; every change gets the same room.

    ``ROWS`` lines and one with the days of the first and the last change; nothing without points.
    """
    room = width - _LABEL
    if not points or room < 4:
        return []
    shown = points[-room:]
    step = min(_WIDEST_STEP, room // len(shown))
    columns = [weight for _, weight in shown for _ in range(step)]
    lines: list[Line] = []
    for row in range(ROWS):
        floor = ROWS - 1 - row
        bar = "".join(_EIGHTHS[_filled(weight, floor)] for weight in columns)
        label = "1.00 " if row == 0 else "0.00 " if row == ROWS - 1 else " " * _LABEL
        lines.append(((label, "dim"), (bar, "good")))
    lines.append(((" " * _LABEL, ""), (_days(shown, len(columns)), "dim")))
    return lines


def _filled(weight: int, floor: int) -> int:
    """Eighths of the cell on that floor, 0..8; anything above nothing shows."""
    eighths = round(weight * ROWS * 8 / 1000)
    if floor == 0 and weight > 0:
        eighths = max(eighths, 1)
    return min(8, max(0, eighths - 8 * floor))


def _days(points: Sequence[tuple[int, int]], width: int) -> str:
    first, last = f.moment(points[0][0])[:10], f.moment(points[-1][0])[:10]
    if first == last:
        return first
    return f"{first} … {last}" if width < 2 * len(first) + 3 else first + last.rjust(width - len(first))
