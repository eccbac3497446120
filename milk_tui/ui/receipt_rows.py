"""What an agent is given, or was given, as rows: segment by segment, sizes first. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from milk_tui.core.records import ContextMode, ContextPlan, Message, Receipt, Segment
from milk_tui.core.text import one_line
from milk_tui.core.token_sizes import Tokens, estimate
from milk_tui.ui import format as f
from milk_tui.ui.paint import Line, Piece, cells, spread
from milk_tui.ui.row_list import Row
from milk_tui.ui.words import TextRow, text_rows

MODES = {
    ContextMode.FIRST: "first: everything",
    ContextMode.RETURNING: "returning: what it missed",
    ContextMode.RESUME: "resume: its question is answered",
    ContextMode.CONTINUATION: "continuation: what changed since",
}
NAME_CELLS = 20
BAR_CELLS = 12
BAR_FROM = 66
"""Cells from which on a segment has a bar."""
SHARE_MARKS = (("fixed", "█", "good"), ("changing", "▓", "key"), ("thread", "░", "dim"))
_INDENT = "     "


@dataclass(frozen=True, slots=True)
class Given:
    """What an agent is given, whether it was sent or is only planned."""

    mode: ContextMode
    segments: Sequence[Segment]
    thread_messages: int = 0
    thread_chars: int = 0
    thread_note: str = ""
    thread: Sequence[Message] = ()
    """Only where it is still known: receipts keep its size."""
    tokens: Mapping[str, Tokens] = field(default_factory=dict)
    """By text; what is not there was not counted."""

    @classmethod
    def of_plan(cls, plan: ContextPlan, tokens: Mapping[str, Tokens] | None = None) -> Given:
        return cls(
            mode=plan.mode,
            segments=plan.segments,
            thread_messages=len(plan.thread),
            thread_chars=sum(len(message.content) for message in plan.thread),
            thread_note=plan.thread_note,
            thread=plan.thread,
            tokens=tokens or {},
        )

    @classmethod
    def of_receipt(cls, receipt: Receipt, tokens: Mapping[str, Tokens] | None = None) -> Given:
        return cls(
            mode=receipt.mode,
            segments=receipt.segments,
            thread_messages=receipt.thread_messages,
            thread_chars=receipt.thread_chars,
            thread_note=receipt.thread_note,
            tokens=tokens or {},
        )

    @property
    def chars(self) -> int:
        return sum(segment.chars for segment in self.segments if segment.included)

    @property
    def texts(self) -> list[str]:
        """What there is to count."""
        return [segment.text for segment in self.segments if segment.included]

    def size(self, segment: Segment) -> Tokens:
        return self.tokens.get(segment.text) or estimate(segment.chars)

    @property
    def sum_of_tokens(self) -> Tokens:
        """Segments and thread; the thread is estimated."""
        total = Tokens(0, estimated=False)
        for segment in self.segments:
            if segment.included:
                total = total.plus(self.size(segment))
        return total.plus(estimate(self.thread_chars)) if self.thread_chars else total


def tokens_words(tokens: Tokens) -> str:
    """``312 tok``; an estimate has a ``~``."""
    return f"{'~' if tokens.estimated else ''}{f.count(tokens.number)} tok"


def head_rows(given: Given, cap: int | None, prefix: str) -> list[Row]:
    """How much it is in all, and of what. ``cap``: what segments may have together."""
    of_cap = f" of {f.count(cap)}" if cap else ""
    gauge = f"{f.gauge(given.chars / max(1, cap), 10)} " if cap else ""
    words = f"{gauge}{f.count(given.chars)}{of_cap} chars · {tokens_words(given.sum_of_tokens)} in all"
    return [TextRow(f"{prefix}:size", words, "dim", (" ", "")), _Shares(f"{prefix}:shares", given)]


def segment_rows(given: Given, prefix: str, opened: frozenset[str] | set[str] = frozenset()) -> list[Row]:
    """Every segment, the ones in ``opened`` (by key) with their text; then the thread."""
    largest = max((segment.chars for segment in given.segments if segment.included), default=0)
    rows: list[Row] = []
    for number, segment in enumerate(given.segments):
        key = f"{prefix}:{number}"
        rows.append(SegmentRow(key, segment, given.size(segment), largest, key in opened))
        if key in opened:
            text = segment.text or "(there is no text)"
            rows += text_rows(text, prefix=f"{key}:text", indent=_INDENT)
    if given.thread_messages or given.thread_note:
        key = f"{prefix}:thread"
        rows.append(_ThreadRow(key, given, key in opened))
        if key in opened:
            rows += _thread_text(given, key)
    return rows


def _thread_text(given: Given, key: str) -> list[Row]:
    if not given.thread:
        return [TextRow(f"{key}:text", "the thread itself is the conversation above this answer", "dim", (_INDENT, ""))]
    rows: list[Row] = []
    for number, message in enumerate(given.thread):
        called = ", ".join(call.name for call in message.tool_calls)
        head = message.role + (f" calls {one_line(called, 200)}" if called else "")
        rows.append(TextRow(f"{key}:head:{number}", head, "heading", (_INDENT, "")))
        if message.content:
            rows += text_rows(message.content, prefix=f"{key}:text:{number}", indent=_INDENT)
    return rows


def _sizes(chars: int, tokens: Tokens, width: int, *, fixed: bool = False) -> Line:
    """Characters and tokens, and whether it stays as it is; fewer words where there is less room."""
    if width < BAR_FROM:
        return ((f"{f.count(chars)} · {tokens_words(tokens)}", ""), (" fixed" if fixed and width >= 44 else "", "good"))
    return (
        (f"{f.count(chars)} chars  {tokens_words(tokens):>10} ", ""),
        ("fixed " if fixed else " " * 6, "good"),
    )


@dataclass(frozen=True, slots=True)
class SegmentRow:
    """A segment: given or not, how large, whether it stays as it is, and why it is in or out."""

    key: str
    segment: Segment
    tokens: Tokens
    largest: int
    opened: bool = False

    @property
    def selectable(self) -> bool:
        return True

    def height(self, width: int) -> int:
        return 1 + len(self._why(width))

    def lines(self, width: int) -> Sequence[Line]:
        return [self._first(width), *((("    ", ""), (row, "dim")) for row in self._why(width))]

    def _first(self, width: int) -> Line:
        segment = self.segment
        name = one_line(segment.name.replace("_", " "), 60)
        if not segment.included:
            return ((" □ ", "dim"), (name, "dim"), ("  left out", "dim"))
        left: list[Piece] = [(" ▾ " if self.opened else " ■ ", "good" if segment.stable else "key")]
        right = _sizes(segment.chars, self.tokens, width, fixed=segment.stable)
        if width >= BAR_FROM:
            bar = f.gauge(segment.chars / max(1, self.largest), BAR_CELLS)
            left += [(f.pad(name, NAME_CELLS), "strong"), (f" {bar}", "dim")]
        else:
            left.append((f.fit(name, width - 4 - cells(right)), "strong"))
        return spread(tuple(left), right, width)

    def _why(self, width: int) -> list[str]:
        segment = self.segment
        why = one_line(segment.why, 400)
        if segment.shrunk_from is not None:
            shrunk = f"shrunk from {f.count(segment.shrunk_from)} chars"
            why = f"{shrunk}: {why}" if why else shrunk
        return f.wrap(why, width - 5) if why else []


@dataclass(frozen=True, slots=True)
class _ThreadRow:
    """The agent's own turns, and what left them."""

    key: str
    given: Given
    opened: bool
    selectable: bool = True

    def height(self, width: int) -> int:
        return 1 + len(self._note(width))

    def lines(self, width: int) -> Sequence[Line]:
        given = self.given
        if not given.thread_messages:
            first: Line = ((" □ ", "dim"), ("thread", "dim"))
        else:
            sizes = _sizes(given.thread_chars, estimate(given.thread_chars), width)
            name = f.fit(f"thread, {f.plural(given.thread_messages, 'message')}", width - 4 - cells(sizes))
            first = spread(((" ▾ " if self.opened else " ■ ", "dim"), (name, "strong")), sizes, width)
        return [first, *((("    ", ""), (row, "dim")) for row in self._note(width))]

    def _note(self, width: int) -> list[str]:
        note = one_line(self.given.thread_note, 400)
        return f.wrap(note, width - 5) if note else []


@dataclass(frozen=True, slots=True)
class _Shares:
    """One bar: what stays as it is, what changes with every turn, what is the thread."""

    key: str
    given: Given
    selectable: bool = False

    def height(self, width: int) -> int:
        return 2

    def lines(self, width: int) -> Sequence[Line]:
        included = [segment for segment in self.given.segments if segment.included]
        fixed = sum(segment.chars for segment in included if segment.stable)
        changing = sum(segment.chars for segment in included if not segment.stable)
        parts = (fixed, changing, self.given.thread_chars)
        total = sum(parts)
        if not total:
            return [((" nothing is given", "dim"),), ()]
        room = max(3, width - 2)
        bar: list[Piece] = [(" ", "")]
        legend: list[Piece] = []
        ends = [round(sum(parts[: n + 1]) / total * room) for n in range(len(parts))]
        for (name, mark, look), part, start, end in zip(SHARE_MARKS, parts, (0, *ends), ends, strict=False):
            bar.append((mark * (end - start), look))
            if part:
                legend += [(f" {mark}", look), (f" {name} {round(100 * part / total)}%", "dim")]
        if cells(legend) > width:
            legend = [(text if look != "dim" else text.lstrip(), look) for text, look in legend]
        return [tuple(bar), tuple(legend)]
