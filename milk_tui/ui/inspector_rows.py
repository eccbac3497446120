"""Bricks, a context plan and receipts as rows of the inspector. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from milk_tui.core.records import (
    Brick,
    BrickKind,
    ContextMode,
    ContextPlan,
    NeedStatus,
    Receipt,
    Role,
    Segment,
)
from milk_tui.core.text import one_line
from milk_tui.ui import format as f
from milk_tui.ui.paint import Line, Piece
from milk_tui.ui.row_list import Heading, Row
from milk_tui.ui.words import ItemRow, TextRow, blank, joined, text_rows

PREVIEW_LINES = 8
AGED_TURNS = 4
"""From this age on a need is given with a label (``semantics.md`` §3)."""

_LABELS = {
    BrickKind.NEED: "need",
    BrickKind.BRIEF: "brief",
    BrickKind.PRIMARY_SUMMARY: "primary's summary",
    BrickKind.ESCALATION_SUMMARY: "escalation's summary",
}
_SUMMARIES = (BrickKind.PRIMARY_SUMMARY, BrickKind.ESCALATION_SUMMARY)
_NONE = {
    BrickKind.NEED: "none yet: an agent sets it, or /need TEXT",
    BrickKind.BRIEF: "none: nobody has given a reason for an escalation",
    BrickKind.PRIMARY_SUMMARY: "nothing done yet",
    BrickKind.ESCALATION_SUMMARY: "nothing done yet",
}
_MODES = {
    ContextMode.FIRST: "first: everything",
    ContextMode.RETURNING: "returning: what it missed",
    ContextMode.RESUME: "resume: its question is answered",
    ContextMode.CONTINUATION: "continuation: what changed since",
}
_ROLE_LOOKS = {Role.PRIMARY: "primary", Role.ESCALATION: "escalation"}


@dataclass(frozen=True, slots=True)
class NeedAge:
    """How many turns came after the need was set."""

    turns: int


def brick_rows(bricks: Iterable[Brick], budget: int, age: NeedAge | None) -> list[Row]:
    """The four bricks, each with its numbers and the beginning of its text."""
    by_kind = {brick.kind: brick for brick in bricks}
    rows: list[Row] = []
    for kind in BrickKind:
        brick = by_kind.get(kind)
        if rows:
            rows.append(blank(f"gap:{kind}"))
        if brick is None or not brick.text:
            rows.append(Heading(f"none:{kind}", ((_LABELS[kind], "heading"),)))
            rows.append(TextRow(f"empty:{kind}", _NONE[kind], "dim", ("  ", "")))
            continue
        rows.append(ItemRow(f"brick:{kind}", _brick_line(brick, budget), _brick_numbers(brick, age)))
        rows += _preview(brick)
    return rows


def _brick_line(brick: Brick, budget: int) -> Line:
    pieces: list[Piece] = [(_LABELS[brick.kind], "heading")]
    if brick.kind in _SUMMARIES:
        size = len(brick.text)
        full = "warning" if size > 0.9 * budget else "dim"
        pieces.append((f"  {f.gauge(size / max(1, budget), 10)} {f.count(size)}/{f.count(budget)}", full))
    return tuple(pieces)


def _brick_numbers(brick: Brick, age: NeedAge | None) -> Line:
    pieces: list[Piece] = []
    if brick.kind is BrickKind.NEED:
        pieces.append((str(brick.status or NeedStatus.OPEN), "good" if brick.status is None else "dim"))
        if age is not None:
            old = age.turns >= AGED_TURNS
            text = f"{f.plural(age.turns, 'turn')} old" + (", may be done already" if old else "")
            pieces.append((text, "warning" if old else "dim"))
    if brick.kind is BrickKind.BRIEF:
        delivered = f"delivered with leg {brick.delivered_leg}" if brick.delivered_leg else "not delivered yet"
        pieces.append((delivered, "dim"))
    for number, what in (
        (brick.collapsed, "tool calls collapsed"),
        (brick.cut, "texts cut"),
        (brick.dropped, "turns dropped"),
    ):
        if number:
            pieces.append((f"{number} {what}", "dim"))
    pieces.append((f"version {brick.version} by {brick.author}, turn {brick.turn_id}", "dim"))
    return (("  ", ""), *joined(pieces))


def _preview(brick: Brick) -> list[Row]:
    rows = text_rows(brick.text, prefix=f"text:{brick.kind}", indent="  ")
    if len(rows) <= PREVIEW_LINES:
        return rows
    hidden = f"… {len(rows) - PREVIEW_LINES} more lines: enter shows all"
    return [*rows[:PREVIEW_LINES], TextRow(f"more:{brick.kind}", hidden, "dim", ("  ", ""))]


def version_rows(versions: Sequence[Brick]) -> list[Row]:
    """Every version of a brick, newest first, whole."""
    rows: list[Row] = []
    for brick in versions:
        head = f"version {brick.version} by {brick.author}, turn {brick.turn_id}, {f.moment(brick.updated_ms)}"
        rows.append(Heading(f"version:{brick.version}", ((head, "heading"),)))
        rows += text_rows(brick.text, prefix=f"v{brick.version}")
        rows.append(blank(f"gap:{brick.version}"))
    return rows


def plan_rows(plan: ContextPlan, cap: int) -> list[Row]:
    """What an escalation would send now, segment by segment."""
    chars = plan.chars
    thread = sum(len(message.content) for message in plan.thread)
    head: Line = (
        (f"{f.gauge(chars / max(1, cap), 10)} {f.count(chars)} of {f.count(cap)} chars", "dim"),
        (f" · ~{f.count(-(-(chars + thread) // 4))} tokens", "dim"),
    )
    rows: list[Row] = [
        Heading("plan", (("IF I ESCALATED NOW", "heading"), (f"  {_MODES[plan.mode]}", "dim"))),
        Heading("plan:size", head),
    ]
    rows += [_SegmentRow(f"plan:{n}", segment) for n, segment in enumerate(plan.segments)]
    if plan.thread or plan.thread_note:
        rows.append(_thread_row("plan:thread", len(plan.thread), thread, plan.thread_note))
    return rows


def receipt_rows(receipts: Sequence[Receipt]) -> list[Row]:
    """What was sent with past legs, newest first."""
    rows: list[Row] = [Heading("receipts", (("RECEIPTS", "heading"), ("  what was sent", "dim")))]
    if not receipts:
        rows.append(TextRow("receipts:none", "nothing was sent yet", "dim", ("  ", "")))
    for receipt in receipts:
        first: Line = (
            (f"  {f.ROLE_MARKS[receipt.role]} {receipt.agent_name}", _ROLE_LOOKS[receipt.role]),
            (f"  {f.moment(receipt.sent_ms)}", "dim"),
            (f"  {f.count(receipt.chars + receipt.thread_chars)} chars", ""),
            (f" · turn {receipt.turn_id} · {receipt.mode}", "dim"),
        )
        rows.append(ItemRow(f"receipt:{receipt.leg_id}", first))
    return rows


def receipt_detail_rows(receipt: Receipt) -> list[Row]:
    """One receipt, segment by segment."""
    head = (
        f"{_MODES[receipt.mode]} · {f.count(receipt.chars)} chars"
        f" · thread {f.plural(receipt.thread_messages, 'message')}, {f.count(receipt.thread_chars)} chars"
    )
    rows: list[Row] = [TextRow("head", head, "dim"), blank("gap")]
    rows += [_SegmentRow(f"segment:{n}", segment) for n, segment in enumerate(receipt.segments)]
    if receipt.thread_messages or receipt.thread_note:
        rows.append(_thread_row("thread", receipt.thread_messages, receipt.thread_chars, receipt.thread_note))
    return rows


@dataclass(frozen=True, slots=True)
class _SegmentRow:
    """A segment: sent or not, its name and size, whether it is fixed, and why."""

    key: str
    segment: Segment
    selectable: bool = True

    def height(self, width: int) -> int:
        return 1 + len(self._why(width))

    def lines(self, width: int) -> Sequence[Line]:
        segment = self.segment
        name = segment.name.replace("_", " ")
        if not segment.included:
            first: Line = (("  □ ", "dim"), (name, "dim"), ("  left out", "dim"))
        else:
            size = f"  {f.count(segment.chars)}"
            if segment.shrunk_from is not None:
                size += f" (shrunk from {f.count(segment.shrunk_from)})"
            fixed = "  fixed" if segment.stable else ""
            first = (("  ■ ", "good"), (name, "strong"), (size, ""), (fixed, "dim"))
        return [first, *((("    ", ""), (row, "dim")) for row in self._why(width))]

    def _why(self, width: int) -> list[str]:
        return f.wrap(one_line(self.segment.why, 400), width - 4) if self.segment.why else []


def _thread_row(key: str, messages: int, chars: int, note: str) -> Row:
    text = f"thread  {f.plural(messages, 'message')}, {f.count(chars)} chars" + (f": {note}" if note else "")
    return TextRow(key, text, "", ("  ■ " if messages else "  □ ", "good" if messages else "dim"))
