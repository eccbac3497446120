"""The brick inspector (F3): the four bricks, what an escalation would send now, what was sent, and how large it was."""

from __future__ import annotations

from typing import ClassVar

from textual import on, work
from textual.content import Content
from textual.dom import DOMNode

from milk_tui.core.errors import MilkError
from milk_tui.core.records import Brick, BrickKind, Receipt, Role
from milk_tui.core.text import one_line
from milk_tui.core.token_sizes import Measure, cache_use
from milk_tui.ui import format as f
from milk_tui.ui import inspector_reads as reads
from milk_tui.ui import inspector_rows as rows
from milk_tui.ui.actions import Action, Keymap, Where, bindings
from milk_tui.ui.brick_versions import VersionsDialog
from milk_tui.ui.chart_view import ChartView
from milk_tui.ui.control import Control
from milk_tui.ui.diff_screen import Compared, DiffScreen, Part
from milk_tui.ui.marked_list import MarkedList
from milk_tui.ui.paint import Line
from milk_tui.ui.panes import Pane, PanedScreen
from milk_tui.ui.receipt_dialog import ReceiptDialog
from milk_tui.ui.receipt_list import ReceiptList
from milk_tui.ui.receipt_rows import MODES, Given
from milk_tui.ui.row_list import RowList
from milk_tui.ui.segment_list import SegmentList
from milk_tui.ui.state import SessionState, Topic
from milk_tui.ui.themes import style_sheets
from milk_tui.ui.write_dialog import WriteDialog

BRICKS, PLAN, CHART, SENT = "brick-pane-all", "plan-pane", "chart-pane", "sent-pane"
_OF_PANE = {
    BRICKS: {"edit-brick", "rebuild-brick", "finish-need", "brick-versions"},
    SENT: {"mark-receipt", "compare-receipts"},
}
_ABOUT = {
    BrickKind.NEED: "What the session is about, in one line. Both agents are given it.",
    BrickKind.BRIEF: "Why the escalation agent is called. It is given this once.",
    BrickKind.PRIMARY_SUMMARY: "What the escalation agent is given of the primary's work, until that works again.",
    BrickKind.ESCALATION_SUMMARY: "What the primary is given of the escalation agent's work, until that works again.",
}


class BrickList(MarkedList):
    """The bricks; typing that is meant for the text to write waits for it."""


class InspectorScreen(PanedScreen):
    """Bricks and chart on the left, the plan and the receipts on the right."""

    CSS_PATH = style_sheets("dialogs", "inspector")
    BINDINGS: ClassVar = bindings(Where.INSPECTOR)
    HEADING: ClassVar = "brick inspector"
    WHERE = (Where.INSPECTOR,)
    LAYOUT_ID = "inspector"
    FOLLOWS = frozenset({Topic.BRICKS, Topic.PERCEPTS, Topic.PERCEPTION, Topic.KEYS})
    SOON_S = 0.12

    def __init__(
        self,
        state: SessionState,
        keymap: Keymap,
        control: Control,
        *,
        leg_id: int | None = None,
        compare: bool = False,
    ) -> None:
        """``leg_id``: show this leg's receipt at once; ``compare``: the two newest receipts."""
        super().__init__(state, keymap)
        self._control = control
        self._leg_id = leg_id
        self._compare = compare
        self._measures: list[Measure] = []
        self.bricks = BrickList(id="bricks")
        self.plan = SegmentList(id="plan", empty=" looking …")
        self.sent = ReceiptList(id="sent")
        self.chart = ChartView(id="chart")
        self.panes = (
            Pane(BRICKS, "bricks", "bricks", self.bricks),
            Pane(PLAN, "if I escalated now", "plan", self.plan),
            Pane(CHART, "context over the turns", "sizes", self.chart),
            Pane(SENT, "receipts", "receipts", self.sent),
        )

    def on_mount(self) -> None:
        for pane, hint in (
            (BRICKS, "e edit · enter versions"),
            (PLAN, "enter text"),
            (CHART, "~ estimated · ? unknown"),
            (SENT, "space mark · d difference"),
        ):
            self.frame(pane).border_subtitle = Content(hint)
        self.look()
        if self._leg_id is not None:
            self.show_receipt(self._leg_id)

    async def _look(self) -> None:
        age = await self._control.need_age()
        need = None if age is None else rows.NeedAge(age)
        self.bricks.set_rows(rows.brick_rows(self.state.bricks.values(), self.state.brick_budget, need))
        self._measures = await reads.measures(self._control, self._measures)
        page = await reads.receipts(self._control)
        self.chart.show(self._measures, self._agent_names())
        self.sent.show(page.sent, page.total, cache_use(self._measures))
        self._say_title(page.total)
        await self._look_ahead()
        if self._compare:
            self._compare = False
            self.sent.focus()
            self.action_compare_receipts()

    async def _look_ahead(self) -> None:
        """What an escalation would send now; its tokens when they are counted."""
        found = await reads.plan(self._control)
        frame = self.frame(PLAN)
        if found.plan is None:
            frame.border_title = "if I escalated now"
            self.plan.show_nothing(found.problem)
            return
        frame.border_title = Content(f"if I escalated now · {MODES[found.plan.mode]}")
        cap = self._control.context_cap
        given = Given.of_plan(found.plan)
        if self.plan.given is None or self.plan.given.texts != given.texts:
            self.plan.show(given, cap=cap)
        model = reads.model_of(self._control, Role.ESCALATION)
        self.plan.show(Given.of_plan(found.plan, await reads.count(self._control, model, given.texts)), cap=cap)

    def _agent_names(self) -> dict[Role, str]:
        return {role: one_line(self.state.agent(role).name, 24) or str(role) for role in Role}

    def _say_title(self, legs: int) -> None:
        left: Line = ((" brick inspector", "strong"), (f" · {f.plural(legs, 'leg')}", "dim"))
        if self.sent.marks:
            left = (*left, (f" · {len(self.sent.marks)} marked", "key"))
        self.title_line.say(left, (("esc back ", "dim"),))

    @on(ReceiptList.MarksChanged, "#sent")
    def marks_changed(self) -> None:
        self._say_title(self.sent.total)

    @on(RowList.Moved)
    def moved(self) -> None:
        self.offer_keys()

    def offer_keys(self) -> None:
        """Those of the pane that has the focus."""
        own = _OF_PANE.get(self.current.id, set())
        off = {action for actions in _OF_PANE.values() for action in actions} - own
        if self.current.id == BRICKS:
            kind = self._kind()
            off |= {"rebuild-brick"} if kind in (BrickKind.NEED, BrickKind.BRIEF, None) else set()
            off |= {"finish-need"} if kind is not BrickKind.NEED else set()
        self.footer.show(where=self.WHERE, off=frozenset(off | {"escape", "escalate"}))

    def key_target(self, action: Action) -> DOMNode | None:
        return self if action.where is Where.INSPECTOR else self.focused

    def _kind(self) -> BrickKind | None:
        """The brick under the cursor."""
        return rows.kind_of(self.bricks.current.key) if self.bricks.current is not None else None

    def _brick_here(self) -> BrickKind | None:
        """The brick under the cursor; that the cursor is elsewhere is said."""
        if self.current.id == BRICKS:
            return self._kind()
        self.say("this is no brick: F6 goes from pane to pane")
        return None

    @on(RowList.Chosen, "#bricks")
    def brick_chosen(self) -> None:
        self.action_brick_versions()

    def action_brick_versions(self) -> None:
        if (kind := self._brick_here()) is not None:
            self.bricks.hand_over()
            self.app.push_screen(VersionsDialog(self._control, kind))
            self.call_after_refresh(self.bricks.taken_over)

    def action_edit_brick(self) -> None:
        if (kind := self._brick_here()) is not None and self._control.conductor is not None:
            self.bricks.hand_over()
            self._write(kind)

    @work(group="dialog", exit_on_error=False)
    async def _write(self, kind: BrickKind) -> None:
        brick: Brick | None = self.state.bricks.get(str(kind))
        conductor = self._control.conductor
        assert conductor is not None
        dialog = WriteDialog(
            rows.LABELS[kind],
            brick.text if brick is not None else "",
            lambda text: conductor.bricks.edit(kind, text),
            about=_ABOUT[kind],
        )
        await self.app.push_screen(dialog, lambda kept: self.say(f"{rows.LABELS[kind]} is kept" if kept else ""))
        self.bricks.taken_over()

    def action_rebuild_brick(self) -> None:
        if (kind := self._brick_here()) is not None:
            self.rebuild(kind)

    @work(group="bricks", exit_on_error=False)
    async def rebuild(self, kind: BrickKind) -> None:
        if self._control.conductor is None:
            return
        try:
            made = await self._control.conductor.bricks.rebuild(kind)
        except MilkError as error:
            self.say(str(error), "warning")
            return
        label = rows.LABELS[kind]
        self.say(f"{label} is as it would be built" if made is None else f"{label} is version {made.version} now")

    @work(group="bricks", exit_on_error=False)
    async def action_finish_need(self) -> None:
        if self._control.conductor is None:
            return
        try:
            await self._control.conductor.finish_need()
        except MilkError as error:
            self.say(str(error), "warning")
        else:
            self.say("the need is done")

    @on(RowList.Chosen, "#sent")
    def receipt_chosen(self, event: RowList.Chosen) -> None:
        if (sent := self.sent.find(event.key)) is not None:
            self.show_receipt(sent.leg_id)

    @on(ChartView.Chosen)
    def column_chosen(self, event: ChartView.Chosen) -> None:
        self.show_receipt(event.leg_id)

    @work(group="dialog", exit_on_error=False)
    async def show_receipt(self, leg_id: int) -> None:
        """What was sent with a leg, segment by segment."""
        receipt = await self._control.receipt(leg_id)
        if receipt is None:
            self.say("nothing was sent with this answer")
            return
        sent = await reads.sent(self._control, leg_id)
        await self.app.push_screen(ReceiptDialog(self._control, receipt, sent))

    @on(ReceiptList.MoreWanted)
    def more_wanted(self) -> None:
        self.read_more()

    @work(exclusive=True, group="more", exit_on_error=False)
    async def read_more(self) -> None:
        page = await reads.receipts(self._control, before_leg=self.sent.oldest)
        self.sent.add(page.sent, cache_use(self._measures))

    def action_mark_receipt(self) -> None:
        if self.current.id == SENT:
            self.sent.toggle_mark()
            self.sent.action_move(1)
        else:
            self.say("this is no receipt: F6 goes from pane to pane")

    def action_compare_receipts(self) -> None:
        if (pair := self.sent.pair) is None:
            self.say("there are no two receipts to compare; space marks one")
            return
        old, new = self.sent.find(pair[0]), self.sent.find(pair[1])
        if old is not None and new is not None:
            self.show_difference(old.leg_id, new.leg_id)

    @work(group="dialog", exit_on_error=False)
    async def show_difference(self, older: int, newer: int) -> None:
        pair = await reads.pair(self._control, older, newer)
        if pair is not None:
            await self.app.push_screen(DiffScreen(compared(*pair)))

    async def action_back(self) -> None:
        """The first that applies: take the marks away, leave."""
        if not self.sent.clear_marks():
            self.dismiss()


def compared(old: Receipt, new: Receipt) -> Compared:
    """Two receipts, segment by segment, in the order of the newer one."""
    before = {segment.name: segment.text for segment in old.segments if segment.included}
    after = {segment.name: segment.text for segment in new.segments if segment.included}
    names = dict.fromkeys([*(segment.name for segment in new.segments), *(segment.name for segment in old.segments)])
    parts = [Part(name, before.get(name), after.get(name)) for name in names if name in before or name in after]
    return Compared("difference of two receipts", _about(old), _about(new), parts)


def _about(receipt: Receipt) -> str:
    name = one_line(receipt.agent_name, 40)
    return f"{name}, turn {receipt.turn_id}, {receipt.mode}, {f.count(receipt.chars)} chars"
