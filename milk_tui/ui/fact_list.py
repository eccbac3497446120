"""The list of facts, for the sidebar and for the browser: what it can do is said upwards."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from textual import events
from textual.message import Message

from milk_tui.ui.actions import Where, bindings
from milk_tui.ui.fact_live import LiveFacts
from milk_tui.ui.in_order import InOrder

if TYPE_CHECKING:
    from milk_tui.core.records import Percept
    from milk_tui.store.percept_edges import Conflict

_UNMARKS = frozenset({"forget", "accept", "reject", "promote"})
"""What is done with marked facts once and for all: their marks go with it."""
_DECIDES = frozenset({"accept", "reject"})
_NEED_A_FACT = frozenset(
    {
        "pin-fact",
        "edit-fact",
        "forget-fact",
        "heavier-fact",
        "lighter-fact",
        "readers-of-fact",
        "promote-fact",
        "mark-fact",
        "explain-fact",
        "fact-details",
    }
)


class FactList(InOrder, LiveFacts):
    """Facts in groups, or a view of some of them; facts can be marked."""

    @dataclass
    class Asked(Message):
        """Something is to be done with facts: the marked ones, else the one under the cursor."""

        what: str
        """pin · edit · forget · restore · heavier · lighter · readers · promote · accept · reject · merge · supersede ·
        explain · details"""
        list: FactList
        percepts: tuple[Percept, ...]
        pair: Conflict | None = None
        """The undecided pair that the row belongs to."""
        proposal: str = ""
        """The key of the proposed invariant that the row is."""

        @property
        def percept(self) -> Percept:
            return self.percepts[0]

    @dataclass
    class Said(Message):
        """Why nothing is done."""

        text: str

    @dataclass
    class FilterAsked(Message):
        """The person wants to filter."""

    BINDINGS: ClassVar = bindings(Where.PERCEPTS)

    @property
    def targets(self) -> tuple[Percept, ...]:
        """The marked facts in the order of their marks, else the one under the cursor."""
        if self.marks and self._book is not None:
            marked = sorted(self.marks, key=self.marks.__getitem__)
            return tuple(self._book.percepts[id_] for id_ in marked if id_ in self._book.percepts)
        return (self.percept,) if self.percept is not None else ()

    @property
    def idle_keys(self) -> frozenset[str]:
        """The ids of actions that would do nothing where the cursor is."""
        from milk_tui.ui.fact_rows import undecided

        percept, off = self.percept, set()
        if not (self.proposal or self.pair or (percept is not None and undecided(percept))):
            off |= {"accept-fact", "reject-fact"}
        if not self.marks:
            off |= {"merge-facts", "supersede-fact"}
        if percept is None:
            off |= _NEED_A_FACT
        return frozenset(off)

    def _ask(self, what: str) -> None:
        targets, proposal = self.targets, "" if self.marks else self.proposal
        if targets or (proposal and what in _DECIDES):
            self.post_message(self.Asked(what, self, targets, None if self.marks else self.pair, proposal))
        else:
            self._say_why_not()
        if what in _UNMARKS:
            self.clear_marks()

    def _ask_here(self, what: str) -> None:
        """About the fact under the cursor alone; what is typed next is for what then comes up."""
        if (percept := self.percept) is not None:
            self.hand_over()
            self.post_message(self.Asked(what, self, (percept,), self.pair))
        else:
            self._say_why_not()

    def _say_why_not(self) -> None:
        """There is no fact to do it with."""
        why = f"{self.proposal} is proposed, and no fact: yes or no" if self.proposal else "no fact is under the cursor"
        self.post_message(self.Said(why))

    def action_choose(self) -> None:
        self._ask_here("details")

    def on_click(self, event: events.Click) -> None:
        """Before a fact: mark it. The rest is the row list's own."""
        percept = getattr(self.row_at(event.y), "percept", None)
        if event.x < 2 and event.chain == 1 and percept is not None:
            self._toggle(percept)

    def action_mark_fact(self) -> None:
        if (percept := self.percept) is not None:
            self._toggle(percept)
            self.action_move(1)
        else:
            self._say_why_not()

    def _toggle(self, percept: Percept) -> None:
        if percept.id in self.marks:
            del self.marks[percept.id]
            self.marks = {id_: order for order, id_ in enumerate(self.marks, 1)}
        else:
            self.marks[percept.id] = len(self.marks) + 1
        self.post_message(self.MarksChanged(self))
        self.refresh()

    def action_pin_fact(self) -> None:
        self._ask("pin")

    def action_edit_fact(self) -> None:
        self._ask_here("edit")

    def action_forget_fact(self) -> None:
        self._ask("forget")

    def action_restore_fact(self) -> None:
        self.post_message(self.Asked("restore", self, self.targets))

    def action_heavier_fact(self) -> None:
        self._ask("heavier")

    def action_lighter_fact(self) -> None:
        self._ask("lighter")

    def action_readers_of_fact(self) -> None:
        self._ask("readers")

    def action_promote_fact(self) -> None:
        self._ask("promote")

    def action_accept_fact(self) -> None:
        self._ask("accept")

    def action_reject_fact(self) -> None:
        self._ask("reject")

    def action_merge_facts(self) -> None:
        self._ask_two("merge")

    def action_supersede_fact(self) -> None:
        self._ask_two("supersede")

    def _ask_two(self, what: str) -> None:
        """About the marked facts, and the one under the cursor after a single mark."""
        facts = self.targets if self.marks else ()
        if len(facts) == 1 and self.percept is not None and self.percept.id not in self.marks:
            facts = (*facts, self.percept)
        self.post_message(self.Asked(what, self, facts))
        if len(facts) == 2:
            self.clear_marks()

    def action_explain_fact(self) -> None:
        self._ask_here("explain")

    def action_fact_details(self) -> None:
        self._ask_here("details")

    def action_filter_facts(self) -> None:
        self.hand_over()
        self.post_message(self.FilterAsked())
