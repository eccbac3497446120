"""What was sent with past legs: a list of any length, read a page at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from textual.message import Message

from milk_tui.core.records import LegStatus
from milk_tui.core.text import one_line
from milk_tui.core.token_sizes import CacheUse
from milk_tui.store.receipt_lists import SentLeg
from milk_tui.ui import format as f
from milk_tui.ui.chart import cache_words
from milk_tui.ui.marked_list import MarkedList
from milk_tui.ui.paint import Line, Piece, cells, spread
from milk_tui.ui.receipt_rows import tokens_words
from milk_tui.ui.row_list import Row
from milk_tui.ui.words import TextRow

NEAR_END = 20
"""Rows before the last one from which on the next page is asked for."""
ONE_LINE_FROM = 66
ALL_WORDS_FROM = 50
"""Cells for the sizes from which on they have their units."""
NAME_CELLS = 9
_ENDS = {
    LegStatus.FAILED: "failed",
    LegStatus.CANCELLED: "stopped",
    LegStatus.INTERRUPTED: "interrupted",
    LegStatus.EMPTY: "empty answer",
    LegStatus.RUNNING: "running",
}


class ReceiptList(MarkedList):
    """Newest first."""

    @dataclass
    class MoreWanted(Message):
        """The cursor comes near the end of what was read."""

        list: ReceiptList

        @property
        def control(self) -> ReceiptList:
            return self.list

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id, empty=" nothing was sent yet: each answer leaves here what its agent was given")
        self.sent: list[SentLeg] = []
        self.total = 0
        self._asked_for = -1

    @property
    def oldest(self) -> int | None:
        """The oldest leg that was read."""
        return self.sent[-1].leg_id if self.sent else None

    def show(self, sent: Sequence[SentLeg], total: int, use: CacheUse) -> None:
        """The newest page; what was read beyond it stays."""
        known = {each.leg_id for each in sent}
        older = [each for each in self.sent if each.leg_id not in known and (not sent or each.leg_id < sent[-1].leg_id)]
        self.sent, self.total = [*sent, *older], total
        self._asked_for = -1
        self.set_rows(receipt_rows(self.sent, total, use))

    def add(self, sent: Sequence[SentLeg], use: CacheUse) -> None:
        """The next page."""
        self.sent += [each for each in sent if self.oldest is None or each.leg_id < self.oldest]
        self.set_rows(receipt_rows(self.sent, self.total, use))

    def find(self, key: str) -> SentLeg | None:
        return next((each for each in self.sent if key_of(each) == key), None)

    def before(self, key: str) -> str:
        """The receipt before it of the same agent."""
        this = self.find(key)
        if this is None:
            return ""
        older = (each for each in self.sent if each.leg_id < this.leg_id and each.role is this.role)
        return next(map(key_of, older), "")

    def watch_cursor(self, old: int, new: int) -> None:
        super().watch_cursor(old, new)
        near = new >= len(self.rows) - NEAR_END
        if near and len(self.sent) < self.total and self._asked_for != len(self.sent):
            self._asked_for = len(self.sent)
            self.post_message(self.MoreWanted(self))


def key_of(sent: SentLeg) -> str:
    return f"receipt:{sent.leg_id}"


def receipt_rows(sent: Sequence[SentLeg], total: int, use: CacheUse) -> list[Row]:
    """One row a receipt, under what all of them were in sum."""
    if not sent:
        return []
    rows: list[Row] = [TextRow("receipts:sum", sum_words(total, use), "dim", (" ", ""))]
    today = f.moment(sent[0].sent_ms)[:10]
    rows += [ReceiptRow(key_of(each), each, today) for each in sent]
    if len(sent) < total:
        rows.append(TextRow("receipts:more", f"{total - len(sent):,} older ones come as you go on", "dim", ("  ", "")))
    return rows


def sum_words(total: int, use: CacheUse) -> str:
    """What the provider's cache did for the whole session."""
    words = f"{f.plural(total, 'leg')} · cache {cache_words(use.usage.cached_tokens, use.usage.cache_write_tokens)}"
    if use.share is not None:
        words += f" · {f.percent(use.share)} of what was sent"
    if use.read_unknown:
        words += f" · {f.plural(use.read_unknown, 'leg')} did not say"
    return words


@dataclass(frozen=True, slots=True)
class ReceiptRow:
    """Who, when, how much, how much of it from a cache. Two lines where one has no room."""

    key: str
    sent: SentLeg
    today: str = ""
    """The day whose receipts show their time; the others show their day."""
    selectable: bool = True

    def height(self, width: int) -> int:
        return 1 if width >= ONE_LINE_FROM else 2

    def lines(self, width: int) -> Sequence[Line]:
        left = self._who()
        if width >= ONE_LINE_FROM:
            return (spread(left, self._how_much(width - cells(left) - 1), width),)
        return (left if cells(left) <= width else left[:-1], (("    ", ""), *self._how_much(width - 4)))

    def _who(self) -> Line:
        sent = self.sent
        day, _, clock = f.moment(sent.sent_ms).partition(" ")
        end = _ENDS.get(sent.status, "")
        pieces: list[Piece] = [
            ("  ", ""),
            (f"{f.ROLE_MARKS[sent.role]} {f.pad(one_line(sent.agent_name, 40), NAME_CELLS)}", str(sent.role)),
            (f" turn {sent.turn_id:<4}", ""),
            (f" {clock if day == self.today else day[5:]} ", "dim"),
        ]
        return (*pieces, (f"{end} ", "warning")) if end else tuple(pieces)

    def _how_much(self, room: int) -> Line:
        """As much of it as there is room for; the dialog of the receipt says all."""
        sent, usage = self.sent, self.sent.usage
        chars = f.count(sent.chars + sent.thread_chars)
        tokens = tokens_words(sent.measure.context)
        read = "cache ?" if usage.cached_tokens is None else f"{f.count(usage.cached_tokens)} read"
        whole = f"cache {cache_words(usage.cached_tokens, usage.cache_write_tokens)}"
        look = "heading" if usage.cached_tokens else "dim"
        unit = " chars" if room >= ALL_WORDS_FROM else ""
        for size, cache in (
            (f"{chars}{unit} · {tokens} · ", whole),
            (f"{chars} · {tokens} · ", whole),
            (f"{chars} · {tokens} · ", read),
        ):
            if len(size) + len(cache) < room:
                return ((size, ""), (f"{cache} ", look))
        return ((f"{tokens} · ", ""), (f"{read} ", look))
