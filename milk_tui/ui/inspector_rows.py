"""The bricks of a session as rows of the inspector. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from milk_tui.core.bricks import NEED_OLD_TURNS
from milk_tui.core.records import Brick, BrickKind, NeedStatus
from milk_tui.core.text import one_line
from milk_tui.ui import format as f
from milk_tui.ui.paint import Line, Piece
from milk_tui.ui.row_list import Row
from milk_tui.ui.words import ItemRow, TextRow, blank, joined, text_rows

PREVIEW_LINES = 8
LABELS = {
    BrickKind.NEED: "need",
    BrickKind.BRIEF: "brief",
    BrickKind.PRIMARY_SUMMARY: "primary's summary",
    BrickKind.ESCALATION_SUMMARY: "escalation's summary",
}
_SUMMARIES = (BrickKind.PRIMARY_SUMMARY, BrickKind.ESCALATION_SUMMARY)
_LOOKS = {BrickKind.PRIMARY_SUMMARY: "primary", BrickKind.ESCALATION_SUMMARY: "escalation"}
_NONE = {
    BrickKind.NEED: "none yet: an agent says it, or you with /need TEXT or e",
    BrickKind.BRIEF: "none: comes with an escalation, from the agent that hands over or from /escalate REASON",
    BrickKind.PRIMARY_SUMMARY: "nothing done yet: built after each of its answers",
    BrickKind.ESCALATION_SUMMARY: "nothing done yet: built after each of its answers",
}


@dataclass(frozen=True, slots=True)
class NeedAge:
    """How many turns came after the need was set."""

    turns: int


def brick_key(kind: BrickKind) -> str:
    return f"brick:{kind}"


def kind_of(key: str) -> BrickKind | None:
    """The brick that a row belongs to; ``None`` for a row of none."""
    name = key.removeprefix("brick:")
    return BrickKind(name) if name != key and name in set(BrickKind) else None


def brick_rows(bricks: Iterable[Brick], budget: int, age: NeedAge | None) -> list[Row]:
    """The four bricks, each with its numbers and the beginning of its text."""
    by_kind = {brick.kind: brick for brick in bricks}
    rows: list[Row] = []
    for kind in BrickKind:
        brick = by_kind.get(kind)
        if rows:
            rows.append(blank(f"gap:{kind}"))
        if brick is None or not brick.text:
            rows.append(ItemRow(brick_key(kind), (_label(kind),)))
            rows.append(TextRow(f"empty:{kind}", _NONE[kind], "dim", ("   ", "")))
            continue
        rows.append(ItemRow(brick_key(kind), _brick_line(brick, budget)))
        numbers = "".join(text for text, _ in _brick_numbers(brick, age))
        rows.append(TextRow(f"numbers:{kind}", numbers, "warning" if _old(brick, age) else "dim", ("   ", "")))
        rows += _preview(brick)
    return rows


def _label(kind: BrickKind) -> Piece:
    mark = {"primary": f.PRIMARY_MARK, "escalation": f.ESCALATION_MARK}.get(_LOOKS.get(kind, ""), "■")
    return (f" {mark} {LABELS[kind]}", _LOOKS.get(kind, "heading"))


def _brick_line(brick: Brick, budget: int) -> Line:
    pieces: list[Piece] = [_label(brick.kind)]
    if brick.kind in _SUMMARIES:
        size = len(brick.text)
        full = "warning" if size > 0.9 * budget else "dim"
        pieces.append((f"  {f.gauge(size / max(1, budget), 10)} {f.count(size)}/{f.count(budget)}", full))
    if brick.kind is BrickKind.NEED:
        status = brick.status or NeedStatus.OPEN
        pieces.append((f"  {status}", "good" if status is NeedStatus.OPEN else "dim"))
    return tuple(pieces)


def _old(brick: Brick, age: NeedAge | None) -> bool:
    """Whether the need is given with a label (``semantics.md`` §3)."""
    return brick.kind is BrickKind.NEED and age is not None and age.turns >= NEED_OLD_TURNS


def _brick_numbers(brick: Brick, age: NeedAge | None) -> Line:
    pieces: list[Piece] = []
    if brick.kind is BrickKind.NEED and age is not None:
        old = ", may be done already" if _old(brick, age) else ""
        pieces.append((f"{f.plural(age.turns, 'turn')} old{old}", ""))
    if brick.kind is BrickKind.BRIEF:
        pieces.append((f"delivered with leg {brick.delivered_leg}" if brick.delivered_leg else "not delivered yet", ""))
    for number, one, many in (
        (brick.collapsed, "tool call collapsed", "tool calls collapsed"),
        (brick.cut, "text cut", "texts cut"),
        (brick.dropped, "turn dropped", "turns dropped"),
    ):
        if number:
            pieces.append((f.plural(number, one, many), ""))
    pieces.append((f"version {brick.version} by {one_line(brick.author, 40)}, turn {brick.turn_id}", ""))
    return joined(pieces)


def _preview(brick: Brick) -> list[Row]:
    rows = text_rows(brick.text, prefix=f"text:{brick.kind}", indent="   ")
    if len(rows) <= PREVIEW_LINES:
        return rows
    hidden = f"… {len(rows) - PREVIEW_LINES} more lines: enter shows all"
    return [*rows[:PREVIEW_LINES], TextRow(f"more:{brick.kind}", hidden, "dim", ("   ", ""))]
