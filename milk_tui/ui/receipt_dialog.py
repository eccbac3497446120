"""One receipt: what was sent, segment by segment, and what the provider reported of it."""

from __future__ import annotations

from typing import ClassVar

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen

from milk_tui.core.records import Receipt
from milk_tui.core.text import one_line
from milk_tui.store.receipt_lists import SentLeg
from milk_tui.ui import format as f
from milk_tui.ui import inspector_reads as reads
from milk_tui.ui.chart import cache_words
from milk_tui.ui.control import Control
from milk_tui.ui.on_top import OnTop
from milk_tui.ui.receipt_rows import MODES, Given
from milk_tui.ui.row_list import Row
from milk_tui.ui.segment_list import SegmentList
from milk_tui.ui.themes import style_sheets
from milk_tui.ui.words import TextRow


class ReceiptDialog(OnTop, ModalScreen[None]):
    """Enter on a segment shows its text."""

    CSS_PATH = style_sheets("dialogs", "inspector")
    BINDINGS: ClassVar = [
        Binding("escape,q", "close", "Close", show=False),
        Binding("a", "all", "All texts", show=False),
    ]

    def __init__(self, control: Control, receipt: Receipt, sent: SentLeg | None) -> None:
        super().__init__(classes="dialog")
        self._control = control
        self._receipt = receipt
        self._sent = sent
        self.segments = SegmentList(id="receipt-segments")

    def compose(self) -> ComposeResult:
        receipt = self._receipt
        with Vertical(classes="dialog-box pane -full-box") as box:
            name = one_line(receipt.agent_name, 40)
            box.border_title = Content(f"sent to {name}, turn {receipt.turn_id} · {MODES[receipt.mode]}")
            box.border_subtitle = "enter text · a all texts · esc closes"
            yield self.segments

    def on_mount(self) -> None:
        self._show(Given.of_receipt(self._receipt))
        self.count()

    @work(exclusive=True, exit_on_error=False)
    async def count(self) -> None:
        given = Given.of_receipt(self._receipt)
        model = self._sent.model if self._sent is not None else ""
        self._show(Given.of_receipt(self._receipt, await reads.count(self._control, model, given.texts)))

    def _show(self, given: Given) -> None:
        above: tuple[Row, ...] = ()
        if self._sent is not None:
            above = (TextRow("reported", reported_words(self._sent), "", (" ", "")),)
        self.segments.show(given, above=above)

    def action_all(self) -> None:
        self.segments.open_all()

    def action_close(self) -> None:
        self.dismiss(None)


def reported_words(sent: SentLeg) -> str:
    """When it was sent, and what the provider said of it."""
    usage = sent.usage
    words = f"{f.moment(sent.sent_ms)} · {one_line(sent.model, 60)} · "
    if not usage.known:
        return f"{words}the provider reported no tokens"
    requests = " in all requests" if sent.tools else ""
    given = "?" if usage.input_tokens is None else f.count(usage.input_tokens)
    said = "?" if usage.output_tokens is None else f.count(usage.output_tokens)
    cache = cache_words(usage.cached_tokens, usage.cache_write_tokens)
    return f"{words}reported {given} tokens in, {said} out{requests} · cache {cache}"
