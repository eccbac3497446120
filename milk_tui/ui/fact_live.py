"""Facts in a list that lives: in groups or as a view, marked, flashing where they change, quick with thousands."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from textual import work
from textual.message import Message
from textual.timer import Timer

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
FEW = 100
"""Changed facts that are looked up before the next frame."""
REBUILD_S = 0.05
"""The least time between two lists: changes that come faster are shown together."""


class View(Protocol):
    """Some of the facts, in an order of their own."""

    def rows(self, book: FactBook) -> list[Row]: ...

    def scores(self) -> Mapping[str, float]:
        """What is shown instead of the facts' weights."""


class LiveFacts(RowList):
    """The rows; what can be done with them is the subclass's."""

    @dataclass
    class MarksChanged(Message):
        """Facts were marked or unmarked."""

        list: LiveFacts

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

    def move_group(self, step: int) -> bool:
        """To the first fact of the next group, or to the one before; False when there is none."""
        at = max(0, self.cursor)
        starts = [i + 1 for i, row in enumerate(self._rows) if not row.selectable and row.key.startswith("group:")]
        later = [start for start in starts if start > at]
        earlier = [start for start in starts if start < at]
        if step > 0 and later:
            self.action_move(later[0] - at)
        elif step < 0 and earlier:
            self.action_move(earlier[-1] - at)
        else:
            return False
        return True

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
        while self._late:
            self._look_up(self._late.pop() for _ in range(min(len(self._late), FEW)))
            await sleep(0)
        self._late = None
        self._build()

    def _take(self, changed: set[str]) -> None:
        """Look changed facts up again."""
        if self._late is not None:
            self._late |= changed
            return
        self._look_up(changed)
        if changed:
            self._renew()

    def _look_up(self, changed: Iterable[str]) -> None:
        assert self._source is not None
        for id_ in changed:
            percept = self._source.get(id_)
            if percept is None:
                self.book.drop(id_)
                self.marks.pop(id_, None)
            elif self.book.put(percept):
                self._gone.add(id_)

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
        self.set_rows(self._book.rows(self.text_width)[0] if self._view is None else self._view.rows(self._book))
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
