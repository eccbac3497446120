"""The brick inspector (F3): the four bricks, what an escalation would send now, and what was sent."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical

from milk_tui.core.errors import MilkError
from milk_tui.core.records import BrickKind, ContextPlan, Receipt, Segment
from milk_tui.ui import inspector_rows as rows
from milk_tui.ui.actions import Keymap
from milk_tui.ui.control import Control
from milk_tui.ui.dialogs import Reader
from milk_tui.ui.row_list import Heading, Row, RowList
from milk_tui.ui.screens import FullScreen
from milk_tui.ui.state import SessionState, Topic
from milk_tui.ui.words import TextRow, blank, text_rows


class InspectorScreen(FullScreen):
    """Bricks on the left, the plan and the receipts on the right."""

    HEADING: ClassVar = "brick inspector"
    AUTO_FOCUS = "#bricks"

    def __init__(self, state: SessionState, keymap: Keymap, control: Control, *, leg_id: int | None = None) -> None:
        """``leg_id``: show this leg's receipt at once."""
        super().__init__(state, keymap)
        self._control = control
        self._leg_id = leg_id
        self._plan: ContextPlan | None = None
        self._receipts: Sequence[Receipt] = ()
        self.bricks = RowList(id="bricks")
        self.sent = RowList(id="sent", empty="looking …")

    def body(self) -> ComposeResult:
        with Horizontal(id="columns"):
            with Vertical(classes="pane") as left:
                left.border_title = "bricks"
                left.border_subtitle = "enter: whole text, versions"
                yield self.bricks
            with Vertical(classes="pane") as right:
                right.border_title = "context"
                right.border_subtitle = "enter: text"
                yield self.sent

    def state_changed(self, topics: Iterable[Topic], facts: Iterable[str] = ()) -> None:
        if set(topics) & {Topic.BRICKS, Topic.PERCEPTS, Topic.KEYS}:
            self.look()

    @work(exclusive=True, group="look", exit_on_error=False)
    async def look(self) -> None:
        """Read what the panes show."""
        age = await self._control.need_age()
        self.bricks.set_rows(
            rows.brick_rows(
                self.state.bricks.values(), self.state.brick_budget, None if age is None else rows.NeedAge(age)
            )
        )
        planned: list[Row]
        try:
            self._plan = await self._control.plan_escalation()
        except MilkError as error:
            self._plan = None
            planned = [
                Heading("plan", (("IF I ESCALATED NOW", "heading"),)),
                TextRow("plan:none", f"{error.what} {error.hint}".strip(), "warning", ("  ", "")),
            ]
        else:
            planned = rows.plan_rows(self._plan, self._control.context_cap) if self._plan else []
        self._receipts = await self._control.receipts()
        self.sent.set_rows([*planned, blank("gap"), *rows.receipt_rows(self._receipts)])
        if self._leg_id is not None:
            leg_id, self._leg_id = self._leg_id, None
            self.sent.focus()
            self.sent.go_to(f"receipt:{leg_id}")
            self.show_receipt(leg_id)

    @on(RowList.Chosen, "#bricks")
    def brick_chosen(self, event: RowList.Chosen) -> None:
        self.show_versions(BrickKind(event.key.removeprefix("brick:")))

    @on(RowList.Chosen, "#sent")
    def sent_chosen(self, event: RowList.Chosen) -> None:
        what, _, number = event.key.partition(":")
        if what == "plan" and self._plan is not None:
            self._show_segment(self._plan.segments[int(number)])
        elif what == "receipt":
            self.show_receipt(int(number))

    @work(group="dialog", exit_on_error=False)
    async def show_versions(self, kind: BrickKind) -> None:
        versions = await self._control.brick_versions(kind)
        await self.app.push_screen_wait(Reader(kind.value.replace("_", " "), rows.version_rows(versions)))

    @work(group="dialog", exit_on_error=False)
    async def show_receipt(self, leg_id: int) -> None:
        """The segments of a receipt; choosing one shows its text, closing that comes back here."""
        receipt = next((r for r in self._receipts if r.leg_id == leg_id), None)
        receipt = receipt or await self._control.receipt(leg_id)
        if receipt is None:
            self.notify("nothing was sent with this answer", markup=False)
            return
        title = f"sent to {receipt.agent_name}, turn {receipt.turn_id}"
        while True:
            reader = Reader(title, rows.receipt_detail_rows(receipt), hint="enter shows text · esc closes")
            chosen = await self.app.push_screen_wait(reader)
            if chosen is None:
                return
            segment = receipt.segments[int(chosen.partition(":")[2])]
            await self.app.push_screen_wait(_reader(segment))

    def _show_segment(self, segment: Segment) -> None:
        self.app.push_screen(_reader(segment))


def _reader(segment: Segment) -> Reader:
    text = segment.text if segment.included else f"left out: {segment.why}"
    return Reader(segment.name.replace("_", " "), text_rows(text, prefix="text"))
