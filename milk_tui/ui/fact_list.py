"""The list of facts, for the sidebar and for the browser: what it can do is said upwards."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Protocol

from textual import events, work
from textual.message import Message
from textual.timer import Timer

from milk_tui.ui.actions import Where, bindings
from milk_tui.ui.row_list import RowList

if TYPE_CHECKING:
    from milk_tui.core.records import Percept, PerceptionEntry
    from milk_tui.store.percept_edges import Conflict
    from milk_tui.ui.fact_book import FactBook
    from milk_tui.ui.fact_rows import Seen
    from milk_tui.ui.paint import Line
    from milk_tui.ui.row_list import Row

FLASH_S = 3.0
AT_ONCE = 600
"""Facts that are put in order before the next frame; more are done in slices between frames."""
REBUILD_S = 0.05
"""The least time between two lists: changes that come faster are shown together."""


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


class View(Protocol):
    """Some of the facts, in an order of their own."""

    def rows(self, book: FactBook) -> list[Row]: ...

    def scores(self) -> Mapping[str, float]:
        """What is shown instead of the facts' weights."""


class FactList(RowList):
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
    class FilterAsked(Message):
        """The person wants to filter."""

    @dataclass
    class MarksChanged(Message):
        """Facts were marked or unmarked."""

        list: FactList

    BINDINGS: ClassVar = bindings(Where.PERCEPTS)

    def __init__(self, *, id: str, all_groups: bool = False) -> None:
        super().__init__(id=id, empty="nothing remembered yet")
        self.flashes = True
        self.pinned_bytes: int | None = None
        """The room for pinned facts; ``None``: nothing is said about it."""
        self.marks: dict[str, int] = {}
        """Marked facts and in which order they were marked, from 1."""
        self._all_groups = all_groups
        self._book: FactBook | None = None
        self._source: Mapping[str, Percept] | None = None
        self._late: set[str] | None = None
        """Facts that changed while all are put in order; ``None`` when that is done."""
        self._waiting: list[Percept] = []
        """Facts to be put in order."""
        self._view: View | None = None
        self._seen: Seen | None = None
        self._gone: set[str] = set()
        """Facts that left their group: the cursor does not go with them."""
        self._heir: Row | None = None
        self._flashes: set[str] = set()
        self._flash_timer: Timer | None = None
        self._rest: Timer | None = None
        self._stale = False

    @property
    def book(self) -> FactBook:
        """The facts; its module is imported with the first of them."""
        if self._book is None:
            from milk_tui.ui.fact_book import FactBook

            self._book = FactBook(all_groups=self._all_groups)
        return self._book

    @property
    def percept(self) -> Percept | None:
        """The fact under the cursor."""
        return getattr(self.current, "percept", None)

    @property
    def targets(self) -> tuple[Percept, ...]:
        """The marked facts in the order of their marks, else the one under the cursor."""
        if self.marks and self._book is not None:
            marked = sorted(self.marks, key=self.marks.__getitem__)
            return tuple(self._book.percepts[id_] for id_ in marked if id_ in self._book.percepts)
        return (self.percept,) if self.percept is not None else ()

    @property
    def pair(self) -> Conflict | None:
        """The undecided pair of the row under the cursor."""
        if self._book is None or self.current is None:
            return None
        return self._book.conflict_of(self.current.key)

    @property
    def proposal(self) -> str:
        """The key of the proposed invariant under the cursor."""
        entry = getattr(self.current, "entry", None)
        return entry.key if entry is not None else ""

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

    @property
    def cursor_row(self) -> int:
        """The line of the cursor's row, counted from the first that is seen."""
        return self._top(max(0, self.cursor)) - round(self.scroll_offset.y)

    @property
    def view(self) -> View | None:
        return self._view

    def show(self, percepts: Mapping[str, Percept], changed: Iterable[str] = ()) -> None:
        """Show these facts. Those that ``changed`` are looked up again and flash; of another mapping all are new."""
        changed = set(changed)
        if percepts is not self._source:
            self._source = percepts
            self._load(percepts)
        else:
            self._take(changed)
        if changed and self.flashes:
            self._flash(changed)

    def show_decisions(self, conflicts: Sequence[Conflict], proposals: Sequence[PerceptionEntry]) -> None:
        """Show what the person may decide."""
        self.book.set_decisions(conflicts, proposals)
        self._renew()

    def show_view(self, view: View | None, *, marks: Iterable[str] | None = None) -> None:
        """Show a view, its first row under the cursor; ``None`` shows all groups again. ``marks`` replace those there
        are."""
        before = self.percept
        self._view = view
        if marks is not None:
            self.marks = {id_: order for order, id_ in enumerate(marks, 1)}
            self.post_message(self.MarksChanged(self))
        self._build()
        if view is not None:
            self.scroll_home(animate=False)
            self.action_edge(0)
        elif before is not None:
            self.go_to(before.id)

    def move_group(self, step: int) -> None:
        """To the first fact of the next group, or to the one before."""
        at = max(0, self.cursor)
        starts = [i + 1 for i, row in enumerate(self._rows) if not row.selectable and row.key.startswith("group:")]
        later = [start for start in starts if start > at]
        earlier = [start for start in starts if start < at]
        if step > 0 and later:
            self.action_move(later[0] - at)
        elif step < 0 and earlier:
            self.action_move(earlier[-1] - at)

    def clear_marks(self) -> bool:
        """True when there were some."""
        if not self.marks:
            return False
        self.marks = {}
        self.post_message(self.MarksChanged(self))
        self.refresh()
        return True

    def heights(self, width: int) -> Sequence[int]:
        if self._view is None and self._book is not None and self._rows:
            return self._book.rows(width)[1]
        return super().heights(width)

    def lines_of(self, row: Row, width: int) -> Sequence[Line]:
        from milk_tui.ui.fact_rows import FactRow

        if isinstance(row, FactRow):
            return row.lines(width, self._seen_now())
        return row.lines(width)

    def _load(self, percepts: Mapping[str, Percept]) -> None:
        if not percepts and self._book is None:
            return
        facts = list(percepts.values())
        self.marks = {id_: order for id_, order in self.marks.items() if id_ in percepts}
        if len(facts) <= AT_ONCE:
            self._late = None
            self.workers.cancel_group(self, "load")
            for _ in self.book.load(facts):
                pass
            self._build()
        else:
            self._late = set()
            self._waiting = facts
            self._load_in_slices()

    @work(group="load", exclusive=True, exit_on_error=False)
    async def _load_in_slices(self) -> None:
        """The facts are no argument: a worker describes itself by its arguments."""
        from asyncio import sleep

        facts, self._waiting = self._waiting, []
        for _ in self.book.load(facts):
            await sleep(0)
        late, self._late = self._late or set(), None
        self._take(late)
        self._build()

    def _take(self, changed: set[str]) -> None:
        """Look changed facts up again."""
        if self._late is not None:
            self._late |= changed
            return
        assert self._source is not None
        for id_ in changed:
            percept = self._source.get(id_)
            if percept is None:
                self.book.drop(id_)
                self.marks.pop(id_, None)
            elif self.book.put(percept):
                self._gone.add(id_)
        if changed:
            self._renew()

    def _renew(self) -> None:
        """Build the list, but not more often than eyes can follow."""
        if self._rest is not None:
            self._stale = True
            return
        self._build()
        self._rest = self.set_timer(REBUILD_S, self._rested)

    def _rested(self) -> None:
        self._rest = None
        if self._stale:
            self._stale = False
            self._renew()

    def _build(self) -> None:
        if self._book is None:
            self.set_rows(())
            return
        self._book.pinned_bytes = self.pinned_bytes
        self._seen = None
        self._heir = self._find_heir() if self._view is None else None
        self.set_rows(self._book.rows(self.size.width)[0] if self._view is None else self._view.rows(self._book))
        self._gone.clear()

    def _seen_now(self) -> Seen:
        if self._seen is None:
            from milk_tui.ui.fact_rows import Seen

            book = self.book
            self._seen = Seen(
                left_out=book.room.left_out if book.pinned_bytes is not None else frozenset(),
                scores=self._view.scores() if self._view is not None else {},
                find=book.percepts.get,
            )
        self._seen.marks = self.marks
        return self._seen

    def _find_cursor(self, current: Row | None, before: int) -> int:
        return super()._find_cursor(self._heir or current, before)

    def _find_heir(self) -> Row | None:
        """The row that has the cursor next, when the one that has it leaves its group: the nearest that stays."""
        if self.current is None or self.current.key not in self._gone:
            return None
        order = [*range(self.cursor + 1, len(self._rows)), *range(self.cursor - 1, -1, -1)]
        near = (self._rows[index] for index in order)
        return next((row for row in near if row.selectable and row.key not in self._gone), None)

    def _under(self, index: int, row: Row) -> str:
        under = super()._under(index, row)
        percept = getattr(row, "percept", None)
        return under or ("flash" if percept is not None and percept.id in self._flashes else "")

    def _flash(self, keys: set[str]) -> None:
        """Let rows flash; one timer ends the flash of all, however many come."""
        self._flashes |= keys
        self.refresh()
        if self._flash_timer is not None:
            self._flash_timer.stop()
        self._flash_timer = self.set_timer(FLASH_S, self._end_flash)

    def _end_flash(self) -> None:
        self._flashes.clear()
        self._flash_timer = None
        self.refresh()

    def _ask(self, what: str) -> None:
        targets, proposal = self.targets, self.proposal
        if targets or proposal:
            pair = self.pair if not self.marks else None
            self.post_message(self.Asked(what, self, targets, pair, "" if self.marks else proposal))

    def _ask_here(self, what: str) -> None:
        """About the fact under the cursor alone."""
        if (percept := self.percept) is not None:
            self.post_message(self.Asked(what, self, (percept,), self.pair))

    def on_row_list_chosen(self, event: RowList.Chosen) -> None:
        event.stop()
        self._ask_here("details")

    def on_click(self, event: events.Click) -> None:
        super().on_click(event)
        percept = getattr(self.row_at(event.y), "percept", None)
        if event.x < 2 and event.chain == 1 and percept is not None:
            self._toggle(percept)

    def action_mark_fact(self) -> None:
        if (percept := self.percept) is not None:
            self._toggle(percept)
            self.action_move(1)

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
        self.post_message(self.Asked("merge", self, self._two()))

    def action_supersede_fact(self) -> None:
        self.post_message(self.Asked("supersede", self, self._two()))

    def _two(self) -> tuple[Percept, ...]:
        """The marked facts, and the one under the cursor after a single mark."""
        marked = self.targets
        if len(self.marks) == 1 and self.percept is not None and self.percept.id not in self.marks:
            return (*marked, self.percept)
        return marked if self.marks else ()

    def action_explain_fact(self) -> None:
        self._ask_here("explain")

    def action_fact_details(self) -> None:
        self._ask_here("details")

    def action_filter_facts(self) -> None:
        self.post_message(self.FilterAsked())
