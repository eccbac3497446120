"""The memory browser (F2): every fact in reach, in groups, live; found, explained, corrected and cleaned up."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.dom import DOMNode
from textual.timer import Timer
from textual.widgets import Static

from milk_tui.ui import fact_details, fact_reads
from milk_tui.ui import format as f
from milk_tui.ui.actions import Action, Keymap, Where, bindings
from milk_tui.ui.control import Control
from milk_tui.ui.fact_host import FactHost
from milk_tui.ui.fact_list import FactList
from milk_tui.ui.fact_pane import FactPane
from milk_tui.ui.fact_views import CleanUpView
from milk_tui.ui.paint import Line
from milk_tui.ui.row_list import RowList
from milk_tui.ui.screens import FullScreen
from milk_tui.ui.state import SessionState, Topic
from milk_tui.ui.themes import style_sheets

if TYPE_CHECKING:
    from milk_tui.core.records import Percept
    from milk_tui.ui.fact_reads import Trace

PREVIEW_S = 0.08
"""Seconds that the cursor rests on a fact before it is shown beside the list."""
DECISIONS_S = 0.1


class MemoryScreen(FullScreen):
    """The list, and beside it, where there is room, everything about the fact under the cursor."""

    CSS_PATH = style_sheets("dialogs", "memory")
    BINDINGS: ClassVar = bindings(Where.MEMORY)
    HEADING = "memory"
    WHERE = (Where.PERCEPTS, Where.MEMORY)
    AUTO_FOCUS = "#all-facts"

    def __init__(
        self, state: SessionState, keymap: Keymap, control: Control, host: FactHost, *, words: str = ""
    ) -> None:
        """``words``: filter by these at first."""
        super().__init__(state, keymap)
        self._control = control
        self._host = host
        self._words = words
        self._facts: dict[str, Percept] = dict(state.percepts)
        self._late: set[str] = set()
        """Facts that changed since the whole memory was asked for."""
        self._trace: Trace | None = None
        self._waits: dict[str, Timer] = {}
        self.pane = FactPane(list_id="all-facts", id="all-fact-pane", all_groups=True)
        self.pane.facts.pinned_bytes = state.pinned_bytes
        self.card = RowList(id="fact-card", empty="no fact is under the cursor")

    def body(self) -> ComposeResult:
        with Horizontal(id="memory"):
            yield self.pane
            with Vertical(id="fact-card-pane", classes="pane") as pane:
                pane.border_title = "fact"
                pane.border_subtitle = "enter goes there"
                yield self.card
        yield Static(id="memory-note", markup=False)

    def on_mount(self) -> None:
        self.pane.facts.show(self._facts)
        self.read()
        if self._words:
            self.call_after_refresh(self.pane.open_filter, words=self._words)

    @work(group="read", exclusive=True, exit_on_error=False)
    async def read(self) -> None:
        """The whole memory as it is stored: what the main screen does not show, and what other programs did."""
        if self._control.conductor is None:
            return
        self._late = set()
        shelves = await self._control.conductor.memory.shelves()
        found = (*shelves.held, *shelves.quarantined, *shelves.superseded, *shelves.forgotten)
        self._facts = {percept.id: percept for percept in found}
        self._renew(self._late)
        self.pane.facts.show(self._facts)
        self.pane.facts.show_decisions(shelves.conflicts, shelves.proposals)
        self._say_title()

    def state_changed(self, topics: Iterable[Topic], facts: Iterable[str] = ()) -> None:
        changed = set(facts)
        self._late |= changed
        self._renew(changed)
        if changed:
            self.pane.facts.show(self._facts, changed)
        if changed or Topic.PERCEPTION in set(topics):
            self._soon("decisions", DECISIONS_S, self.read_decisions)
        if self._trace is not None and self._trace.percept.id in changed:
            self._soon("preview", PREVIEW_S, self.preview)
        self._say_title()

    def _renew(self, changed: Iterable[str]) -> None:
        """Take facts over as the state has them."""
        for id_ in changed:
            if (percept := self.state.percepts.get(id_)) is not None:
                self._facts[id_] = percept
            else:
                self._facts.pop(id_, None)

    @work(group="decisions", exclusive=True, exit_on_error=False)
    async def read_decisions(self) -> None:
        if self._control.conductor is not None:
            conflicts, proposals = await self._control.conductor.memory.undecided()
            self.pane.facts.show_decisions(conflicts, proposals)
            self._say_title()

    def say(self, text: str, severity: str = "information") -> None:
        """Say something where the person looks: over the keys."""
        note = self.query_one("#memory-note", Static)
        note.update(Content(text))
        note.set_class(severity != "information", "-warning")
        note.display = bool(text)
        self._offer_keys()

    @on(RowList.Moved, "#all-facts")
    def moved(self) -> None:
        self._offer_keys()
        self._soon("preview", PREVIEW_S, self.preview)

    @on(FactList.MarksChanged)
    def marks_changed(self) -> None:
        self._say_title()
        self._offer_keys()

    @on(FactList.Asked)
    def asked(self, event: FactList.Asked) -> None:
        """Details are beside the list where there is room."""
        if event.what == "details" and self.card.region.area:
            event.stop()
            self.set_focus(self.card)
            self.pane.facts.taken_over()

    @work(group="preview", exclusive=True, exit_on_error=False)
    async def preview(self) -> None:
        """Show everything about the fact under the cursor."""
        percept = self.pane.facts.percept
        if not self.card.region.area:
            return
        pane = self.query_one("#fact-card-pane")
        if percept is None:
            self._trace = None
            self.card.set_rows(())
            pane.border_title = "fact"
            return
        same = self._trace is not None and self._trace.percept.id == percept.id
        self._trace = await fact_reads.trace(self._control, percept)
        pane.border_title = Content(f"fact {percept.short_id}")
        self.card.set_rows(fact_details.detail_rows(self._trace, self.card.text_width))
        if not same:
            self.card.scroll_home(animate=False)
            self.card.action_edge(0)

    @on(RowList.Chosen, "#fact-card")
    def card_chosen(self, event: RowList.Chosen) -> None:
        event.stop()
        if self._trace is None:
            return
        if (going := fact_details.destination(self._trace, event.key)) is not None:
            self.post_message(going)
        elif (other := fact_details.fact_of(self._trace, event.key)) is not None:
            self.go_to_fact(other)

    @work(group="go", exit_on_error=False)
    async def go_to_fact(self, percept: Percept) -> None:
        """Put the cursor on a fact of the list; one that is not in it is shown by itself."""
        await self.pane.close_filter()
        self.pane.facts.show_view(None)
        if self.pane.facts.go_to(percept.id):
            self.pane.facts.focus()
        else:
            await self._host.show(percept)

    async def action_back(self) -> None:
        """The first that applies: leave the writing, the card, the filter, the clean-up, the marks, the browser."""
        facts = self.pane.facts
        if await self.pane.close_edit():
            return
        if self.card.has_focus:
            self.set_focus(facts)
        elif await self.pane.close_filter():
            self._offer_keys()
        elif facts.view is not None:
            facts.show_view(None, marks=())
        elif not facts.clear_marks():
            self.dismiss()

    def action_clean_up(self) -> None:
        """Look at what could be forgotten."""
        self.pane.facts.hand_over()
        self.clean_up()

    @work(group="dialog", exit_on_error=False)
    async def clean_up(self) -> None:
        from milk_tui.ui.browser_cleanup import choose, look

        if self._control.conductor is None:
            return
        self.say("looking through memory …")
        found = await look(self._control.conductor.memory)
        self.say("")
        candidates = await choose(self.app, found)
        self.pane.facts.taken_over()
        if candidates is not None:
            await self.pane.close_filter()
            marks = [percept.id for percept in candidates.percepts if percept.id in candidates.marked]
            self.pane.facts.show_view(CleanUpView(candidates), marks=marks)
            self.pane.facts.focus()
            self.say("space changes a mark, forget takes all that are marked, undo brings all of them back")

    def action_asked_agent(self) -> None:
        """Show what the other agent would be given."""
        self._host.asked_role = self._host.asked_role.other
        if self.pane.words.strip():
            self.post_message(FactPane.FilterChanged(self.pane, self.pane.words))
        agent = self.state.agent(str(self._host.asked_role))
        self.say(f"a filter shows what {agent.name or agent.role} would be given")

    def action_next_group(self) -> None:
        if not self.pane.facts.move_group(1):
            self.say("this is the last group")

    def action_previous_group(self) -> None:
        if not self.pane.facts.move_group(-1):
            self.say("this is the first group")

    def key_target(self, action: Action) -> DOMNode | None:
        return self if action.where is Where.MEMORY else self.pane.facts

    def move_pane(self, step: int) -> None:
        panes = [self.pane.facts, *([self.card] if self.card.region.area else [])]
        at = next((i for i, pane in enumerate(panes) if pane.has_focus), -1)
        panes[(at + step) % len(panes)].focus()

    def _say_title(self) -> None:
        facts = self.pane.facts
        left: Line = ((" memory", "strong"), (f" · {f.plural(facts.book.held, 'fact')}", "dim"))
        right: Line = (("esc back ", "dim"),)
        if undecided := facts.book.undecided:
            left = (*left, (f" · {undecided} to decide", "warning"))
        if facts.marks:
            left = (*left, (f" · ✓ {len(facts.marks):,} marked", "key"))
        self.title_line.say(left, right)

    def on_descendant_focus(self) -> None:
        self._offer_keys()

    def _offer_keys(self) -> None:
        """Keys that would do nothing here are not offered: letters do nothing while something is written."""
        off = {"escape", "escalate"} | self.pane.facts.idle_keys
        if not self.pane.words:
            off |= {"asked-agent"}
        in_list = self.focused in (self.pane.facts, self.card, None)
        self.footer.show(where=self.WHERE if in_list else (), off=frozenset(off))

    def _soon(self, what: str, seconds: float, do: Callable[[], object]) -> None:
        """Do it once, a moment after the last time that it was wanted."""
        if (timer := self._waits.get(what)) is not None:
            timer.stop()
        self._waits[what] = self.set_timer(seconds, do)
