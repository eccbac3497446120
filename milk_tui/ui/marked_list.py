"""A list, newest first, in which two rows can be marked to be compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from textual.message import Message

from milk_tui.ui.in_order import InOrder
from milk_tui.ui.paint import Line
from milk_tui.ui.row_list import Row, RowList

MARKS = ("①", "②")


class MarkedList(InOrder, RowList):
    """Rows leave their first two cells free for the mark. A third mark takes the place of the first."""

    @dataclass
    class MarksChanged(Message):
        list: MarkedList

        @property
        def control(self) -> MarkedList:
            return self.list

    marks: tuple[str, ...] = ()
    """Keys of the marked rows, in the order of their marks."""

    def toggle_mark(self) -> None:
        """Mark the row under the cursor, or take its mark away."""
        if (row := self.current) is None:
            return
        if row.key in self.marks:
            self.marks = tuple(key for key in self.marks if key != row.key)
        else:
            self.marks = (*self.marks, row.key)[-len(MARKS) :]
        self.post_message(self.MarksChanged(self))
        self.refresh()

    def clear_marks(self) -> bool:
        """True when there were some."""
        had, self.marks = bool(self.marks), ()
        if had:
            self.post_message(self.MarksChanged(self))
            self.refresh()
        return had

    @property
    def pair(self) -> tuple[str, str] | None:
        """What is to be compared, the older one first: the marked rows; the marked one and the one under the cursor;
        without marks the one under the cursor and the one before it. ``None`` when there are no two."""
        current = self.current.key if self.current else ""
        keys = self.marks if len(self.marks) == 2 else tuple(dict.fromkeys((*self.marks, current)))
        keys = tuple(filter(None, keys))
        if len(keys) == 1:
            keys = tuple(filter(None, (*keys, self.before(keys[0]))))
        if len(keys) != 2:
            return None
        at = {row.key: index for index, row in enumerate(self.rows) if row.key in keys}
        older, newer = sorted(keys, key=lambda key: -at.get(key, -1))
        return older, newer

    def before(self, key: str) -> str:
        """The row that the one is compared with when no other is marked: the next older one. Empty: there is none."""
        found = False
        for row in self.rows:
            if found and row.selectable:
                return row.key
            found = found or row.key == key
        return ""

    def last_shown_with(self, index: int) -> int:
        """What stands under a row belongs to it, up to the next one that can have the cursor."""
        after = self._next(index + 1, 1)
        return len(self.rows) - 1 if after is None else after - 1

    def lines_of(self, row: Row, width: int) -> Sequence[Line]:
        lines = row.lines(width)
        if row.key not in self.marks or not lines:
            return lines
        (first, look), *rest = lines[0]
        return [((MARKS[self.marks.index(row.key)], "key"), (first[1:], look), *rest), *lines[1:]]
