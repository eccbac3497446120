"""Facts in groups and in order, kept so that a change costs the same among ten thousand as among ten. Pure.

Every shelf holds its rows sorted, with their heights for the width in use beside them: a list is put together from
shelves by copying, and only the row that changed is made and measured again.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from operator import itemgetter
from typing import TYPE_CHECKING

from milk_tui.core import pinned
from milk_tui.core.percepts import PINNED_BYTES
from milk_tui.core.records import Percept, PerceptionEntry, PerceptScope, PerceptStatus
from milk_tui.ui import format as f
from milk_tui.ui.fact_rows import GONE, FactRow, ProposalRow, bracket, heights
from milk_tui.ui.paint import Line
from milk_tui.ui.row_list import Heading, Row

if TYPE_CHECKING:
    from milk_tui.core.pinned import Room
    from milk_tui.store.percept_edges import Conflict

Order = tuple[int, ...]


class Group(StrEnum):
    """The groups of a list, in its order."""

    PINNED = "pinned"
    SUSPECT = "suspect"
    QUARANTINED = "quarantined"
    PROPOSED = "proposed"
    SESSION = "session"
    GLOBAL = "global"
    SUPERSEDED = "superseded"
    FORGOTTEN = "forgotten"


_ABOUT = {
    Group.SUSPECT: "may not both be true",
    Group.QUARANTINED: "held back until you say so",
    Group.PROPOSED: "project truths that an agent would add",
    Group.SUPERSEDED: "replaced by a newer one",
    Group.FORGOTTEN: "can be brought back",
}


_ROOMY = 56
"""Cells from which on all is said about the room of pinned facts."""
_LEFT = frozenset({Group.SUPERSEDED, Group.FORGOTTEN})
_DECIDED = frozenset({Group.SUSPECT, Group.QUARANTINED})


@dataclass(slots=True)
class Shelf:
    """One group; the three lists go together."""

    orders: list[Order] = field(default_factory=list)
    rows: list[FactRow] = field(default_factory=list)
    heights: list[int] = field(default_factory=list)

    def put(self, order: Order, row: FactRow, height: int) -> None:
        at = bisect_left(self.orders, order)
        self.orders.insert(at, order)
        self.rows.insert(at, row)
        self.heights.insert(at, height)

    def take(self, order: Order) -> None:
        at = bisect_left(self.orders, order)
        del self.orders[at], self.rows[at], self.heights[at]


class FactBook:
    """The facts of one list.

    ``all_groups`` is the browser's way: what is gone, doubted or held back has groups of its own. Without it, as in the
    sidebar, they stay in the group of their reach, what is gone last.
    """

    def __init__(self, *, all_groups: bool = False, pinned_bytes: int | None = None) -> None:
        self._pinned_bytes = pinned_bytes
        self.percepts: dict[str, Percept] = {}
        self.conflicts: Sequence[Conflict] = ()
        self.proposals: Sequence[PerceptionEntry] = ()
        self._all_groups = all_groups
        self._shelves: dict[Group, Shelf] = {group: Shelf() for group in Group}
        self._groups: dict[str, Group] = {}
        self._orders: dict[str, Order] = {}
        """Where each fact is, in two, since pairs would all be looked at in each search for garbage."""
        self._arrived: dict[str, int] = {}
        self._width = 0
        self._room: Room | None = None

    def put(self, percept: Percept) -> bool:
        """A fact is new or changed; True when it left its group for one of those that are gone, or was decided."""
        before = self._groups.get(percept.id)
        self._take(percept.id)
        self.percepts[percept.id] = percept
        self._arrived.setdefault(percept.id, len(self._arrived))
        group, order = self._place(percept)
        row = FactRow(percept)
        self._shelves[group].put(order, row, row.height(self._width))
        self._groups[percept.id], self._orders[percept.id] = group, order
        return before is not None and before is not group and (group in _LEFT or before in _DECIDED)

    def drop(self, id_: str) -> None:
        """A fact is no more."""
        self._take(id_)
        self.percepts.pop(id_, None)

    def load(self, percepts: Iterable[Percept], slice_size: int = 500) -> Iterator[None]:
        """Make the book anew of these. It is done when the iterator ends; between two of its steps the caller may let
        others work, and the book is as it was."""
        made: dict[Group, list[tuple[Order, FactRow]]] = {group: [] for group in Group}
        known: dict[str, Percept] = {}
        groups: dict[str, Group] = {}
        orders: dict[str, Order] = {}
        arrived: dict[str, int] = {}
        for number, percept in enumerate(percepts):
            known[percept.id] = percept
            arrived[percept.id] = -number
            group, order = self._place(percept, -number)
            groups[percept.id], orders[percept.id] = group, order
            made[group].append((order, FactRow(percept)))
            if number % slice_size == slice_size - 1:
                yield
        shelves: dict[Group, Shelf] = {}
        for group, pairs in made.items():
            pairs.sort(key=itemgetter(0))
            yield
            shelf = shelves[group] = Shelf([order for order, _ in pairs], [row for _, row in pairs])
            for start in range(0, len(pairs), slice_size):
                part = shelf.rows[start : start + slice_size]
                shelf.heights += heights(part, self._width)
                yield
        self.percepts, self._arrived, self._shelves = known, arrived, shelves
        self._groups, self._orders = groups, orders
        self._room = None

    def set_decisions(self, conflicts: Sequence[Conflict], proposals: Sequence[PerceptionEntry]) -> None:
        """What the person may decide: undecided pairs and proposed invariants."""
        self.conflicts, self.proposals = conflicts, proposals

    @property
    def pinned_bytes(self) -> int | None:
        """The room for pinned facts; ``None``: nothing is said about it."""
        return self._pinned_bytes

    @pinned_bytes.setter
    def pinned_bytes(self, number: int | None) -> None:
        if number != self._pinned_bytes:
            self._pinned_bytes, self._room = number, None

    @property
    def room(self) -> Room:
        """What the pinned facts take."""
        if self._room is None:
            limit = PINNED_BYTES if self.pinned_bytes is None else self.pinned_bytes
            self._room = pinned.room((row.percept for row in self._shelves[Group.PINNED].rows), limit)
        return self._room

    @property
    def held(self) -> int:
        """How many facts there are, without those that are gone."""
        gone = sum(len(shelf.orders) - bisect_left(shelf.orders, (1,)) for shelf in self._shelves.values())
        if self._all_groups:
            gone = sum(len(self._shelves[group].rows) for group in _LEFT)
        return len(self.percepts) - gone

    @property
    def undecided(self) -> int:
        """How many things wait for the person."""
        return self._undecided_facts() + len(self.proposals) + len(self._shelves[Group.QUARANTINED].rows)

    def rows(self, width: int) -> tuple[list[Row], list[int]]:
        """The whole list and the heights of its rows for that width."""
        self._measure(width)
        rows: list[Row] = []
        sizes: list[int] = []
        for group, shelf in self._shelves.items():
            members: Sequence[Row] = shelf.rows
            lines: Sequence[int] = shelf.heights
            if group in (Group.SUSPECT, Group.PROPOSED):
                members = self._doubted() if group is Group.SUSPECT else [ProposalRow(e) for e in self.proposals]
                lines = [row.height(width) for row in members]
            if members:
                heading = self._heading(group, shelf, width)._replace(apart=bool(rows))
                rows.append(heading)
                sizes.append(heading.height(width))
                rows += members
                sizes += lines
        return rows, sizes

    def conflict_of(self, key: str) -> Conflict | None:
        """The pair that a row of the list belongs to."""
        return next((pair for pair in self.conflicts if key in _pair_keys(pair)), None)

    def _take(self, id_: str) -> None:
        if (group := self._groups.pop(id_, None)) is not None:
            self._shelves[group].take(self._orders.pop(id_))
            if group is Group.PINNED:
                self._room = None

    def _place(self, percept: Percept, arrived: int | None = None) -> tuple[Group, Order]:
        last = self._arrived.get(percept.id, 0) if arrived is None else arrived
        gone = percept.status in GONE
        group = self._group(percept, gone)
        if group is Group.PINNED:
            self._room = None
        if self._all_groups and gone:
            return group, (-percept.updated_ms, -last)
        return group, (int(gone), -percept.weight, -percept.confirmed_ms, -last)

    def _group(self, percept: Percept, gone: bool) -> Group:
        if self._all_groups:
            match percept.status:
                case PerceptStatus.SUPERSEDED:
                    return Group.SUPERSEDED
                case PerceptStatus.FORGOTTEN:
                    return Group.FORGOTTEN
                case PerceptStatus.QUARANTINED:
                    return Group.QUARANTINED
                case PerceptStatus.SUSPECT if not percept.pinned:
                    return Group.SUSPECT
        if percept.pinned and not gone:
            return Group.PINNED
        return Group.GLOBAL if percept.scope is PerceptScope.GLOBAL else Group.SESSION

    def _doubted(self) -> list[FactRow]:
        """The undecided pairs, then what is doubted without another fact that speaks against it."""
        rows: list[FactRow] = []
        for pair in self.conflicts:
            new, old = _pair_keys(pair)
            newer, older = (self.percepts.get(each.id, each) for each in (pair.newer, pair.older))
            rows.append(FactRow(newer, key=new, symbol=bracket(0, 2), note="newer"))
            rows.append(FactRow(older, key=old, symbol=bracket(1, 2), note="older"))
        joined = {id_ for pair in self.conflicts for id_ in pair.ids}
        return rows + [row for row in self._shelves[Group.SUSPECT].rows if row.percept.id not in joined]

    def _undecided_facts(self) -> int:
        """Pairs count once."""
        return len(self._doubted()) - len(self.conflicts)

    def _measure(self, width: int) -> None:
        if width == self._width:
            return
        self._width = width
        for shelf in self._shelves.values():
            shelf.heights = heights(shelf.rows, width)

    def _heading(self, group: Group, shelf: Shelf, width: int) -> Heading:
        about = _ABOUT.get(group, "")
        match group:
            case Group.PINNED:
                return Heading(f"group:{group}", (*_title(group, len(shelf.rows)), *self._room_left(width)))
            case Group.SUSPECT:
                number = self._undecided_facts()
            case Group.PROPOSED:
                number = len(self.proposals)
            case Group.SUPERSEDED | Group.FORGOTTEN | Group.QUARANTINED:
                number = len(shelf.rows)
            case _:
                number = bisect_left(shelf.orders, (1,))
        return Heading(f"group:{group}", (*_title(group, number), (f"  {about}" if about else "", "dim")))

    def _room_left(self, width: int) -> Line:
        """How full the pinned facts' room is, once that matters; always in the browser."""
        room = self.room
        if self.pinned_bytes is None or not (self._all_groups or room.nearly):
            return ()
        look = "warning" if room.nearly else "dim"
        number = len(room.left_out)
        full = f"full: {number} {'is' if number == 1 else 'are'} not given" if room.full else ""
        if width < _ROOMY:
            return ((f"  {full or f'{room.used:,} of {room.limit:,} bytes'}", look),)
        bar = f.gauge(room.used / room.limit if room.limit else 1.0, 5)
        return ((f"  {bar} {room.used:,} of {room.limit:,} bytes{f' · {full}' if full else ''}", look),)


_MARKS: Mapping[Group, Line] = {
    Group.PINNED: ((f"{f.PIN_MARK} ", "pinned"),),
    Group.SUSPECT: (("? ", "warning"),),
    Group.QUARANTINED: (("! ", "warning"),),
    Group.PROPOSED: (("+ ", "key"),),
}


def _title(group: Group, number: int) -> Line:
    return (*_MARKS.get(group, ()), (f"{group.upper()} ", "heading"), (f"{number:,}", "dim"))


def _pair_keys(pair: Conflict) -> tuple[str, str]:
    key = f"pair:{pair.newer.id}:{pair.older.id}"
    return f"{key}:newer", f"{key}:older"
