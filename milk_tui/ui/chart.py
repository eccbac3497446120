"""The size of each agent's context and its cached part over the turns of a session, drawn in cells. Pure.

Every turn gets the same room; where there are more turns than cells, neighbours share a column, which shows the
largest context of them and their cached share in sum. What is not known is a ``?``, never an empty bar; what nobody
counted is hatched, and has a ``~`` as a number (``style.md``, "meters that lie").
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from milk_tui.core.records import Role
from milk_tui.core.token_sizes import Measure, cache_use
from milk_tui.ui import format as f
from milk_tui.ui.bar_cells import LABEL, UNKNOWN, Look, axis, bar, glyph, level, turns
from milk_tui.ui.paint import Line, Piece, cells

ESTIMATED = "~"
_LEAST_ROWS = 1


class Column(NamedTuple):
    """Turns that share a column."""

    first: int
    last: int
    by_role: Mapping[Role, tuple[Measure, ...]]

    def largest(self, role: Role) -> Measure | None:
        """The leg with the largest context; ``None`` when the agent did not work."""
        return max(self.by_role.get(role, ()), key=lambda measure: measure.context.number, default=None)

    def share(self, role: Role) -> float | None:
        """The cached part of what the agent was sent; ``None`` when it is not known."""
        return cache_use(self.by_role.get(role, ())).share


def columns(measures: Sequence[Measure], most: int) -> list[Column]:
    """At most ``most`` columns, oldest turn first."""
    by_turn: dict[int, list[Measure]] = {}
    for measure in measures:
        by_turn.setdefault(measure.turn_id, []).append(measure)
    numbers = sorted(by_turn)
    number = min(len(numbers), max(1, most))
    made: list[Column] = []
    for at in range(number):
        own = numbers[at * len(numbers) // number : (at + 1) * len(numbers) // number]
        by_role: dict[Role, list[Measure]] = {}
        for turn in own:
            for measure in by_turn[turn]:
                by_role.setdefault(measure.role, []).append(measure)
        made.append(Column(own[0], own[-1], {role: tuple(found) for role, found in by_role.items()}))
    return made


def chart(found: Sequence[Column], look: Look) -> list[Line]:
    """The lines of the chart, at most ``look.height`` of them; nothing without columns."""
    roles = [role for role in Role if any(column.by_role.get(role) for column in found)]
    if not roles or look.height < 3:
        return []
    rows = _rows(look.height, len(roles))
    if rows < _LEAST_ROWS:
        roles, rows = roles[:1], max(_LEAST_ROWS, look.height - 3)
    lines: list[Line] = []
    for role in roles:
        lines += _of_role(found, role, rows, look)
    return [*lines, axis(found, look, lambda column: f"turn {column.first}")][: look.height]


def _rows(height: int, roles: int) -> int:
    """Rows of bars that each agent has, beside its heading and its row of shares."""
    return (height - 1) // roles - 2


def _of_role(found: Sequence[Column], role: Role, rows: int, look: Look) -> list[Line]:
    largest = [column.largest(role) for column in found]
    sizes = [None if measure is None else measure.context for measure in largest]
    shares = [column.share(role) for column in found]
    top = max((size.number for size in sizes if size is not None), default=0)
    step = look.step(len(found))
    lines = [_heading(found, role, look)]
    for row in range(rows):
        label = f.count(top) if row == 0 else "0" if row == rows - 1 and rows > 1 else ""
        pieces: list[Piece] = [(f"{label:>{LABEL - 1}} ", "dim")]
        for at, size in enumerate(sizes):
            eighths = 0 if size is None or not top else level(size.number / top, rows, rows - 1 - row)
            cached = shares[at]
            under = cached is not None and (rows - 1 - row) + 0.5 < cached * rows * (size.number / top if size else 0)
            name = "key" if at == look.cursor else "heading" if under else str(role)
            drawn = glyph(eighths, plain=look.plain, hatched=size is not None and size.estimated)
            pieces.append((bar(drawn, step), name))
        lines.append(tuple(pieces))
    pieces = [(f"{'cached':>{LABEL - 1}} ", "dim")]
    for at, measure in enumerate(largest):
        share = shares[at]
        if measure is None:
            pieces.append((" " * step, ""))
        elif share is None:
            pieces.append((bar(UNKNOWN, step, once=True), "dim"))
        else:
            eighths = level(share, 1, 0) if share else 0
            drawn = glyph(eighths, plain=look.plain) if eighths else "0"
            pieces.append((bar(drawn, step, once=not eighths), "key" if at == look.cursor else "heading"))
    return [*lines, tuple(pieces)]


def _heading(found: Sequence[Column], role: Role, look: Look) -> Line:
    """Name, the newest size, and how much of everything that was sent came from a cache."""
    legs = [measure for column in found for measure in column.by_role.get(role, ())]
    newest = legs[-1].context
    use = cache_use(legs)
    size = f"{ESTIMATED if newest.estimated else ''}{f.count(newest.number)} tok"
    cached = UNKNOWN if use.share is None else f.percent(use.share)
    return (
        (f"{look.mark(role)} {look.names.get(role, role)}", str(role)),
        (f"  {size} now", ""),
        (f"{' | ' if look.plain else ' · '}cached {cached}", "heading" if use.share else "dim"),
    )


def told(column: Column, look: Look) -> list[Line]:
    """What a column says in words, agent by agent: sizes and whether they were counted, the cache's part."""
    lines: list[Line] = []
    for role in Role:
        legs = column.by_role.get(role, ())
        measure = column.largest(role)
        if measure is None:
            continue
        use = cache_use(legs)
        size = measure.context
        most = "at most " if len(legs) > 1 else ""
        line: Line = (
            (f"{turns(column)} ", "strong"),
            (look.names.get(role, str(role)), str(role)),
            (f" {most}{ESTIMATED if size.estimated else ''}{f.count(size.number)} tok", ""),
        )
        words = cache_words(use.usage.cached_tokens, use.usage.cache_write_tokens)
        if cells(line) + len(words) + len(" · cache ") <= look.width:
            lines.append((*line, (f" · cache {words}", "dim")))
        else:
            lines += [line, ((f"  cache {words}", "dim"),)]
    return lines


def cache_words(read: int | None, written: int | None) -> str:
    """``1.2k read, 300 written``; ``?`` for what was not reported."""
    if read is None and written is None:
        return UNKNOWN
    parts = (
        f"{UNKNOWN if read is None else f.count(read)} read",
        f"{UNKNOWN if written is None else f.count(written)} written",
    )
    return ", ".join(parts)
