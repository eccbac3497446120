"""Facts as rows of a list: what stands in each line, wide or narrow. Pure.

Where there is room a fact is a table's row: id, text on up to two lines, weight, producer, reader. In a narrow list the
text comes first and the rest on a line below it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from msgspec import Struct
from rich.cells import cell_len

from milk_tui.core import forgetting
from milk_tui.core.records import Consumer, Percept, PerceptionEntry, PerceptStatus
from milk_tui.core.text import one_line
from milk_tui.ui import format as f
from milk_tui.ui.paint import Line, Piece, cells

GONE = frozenset({PerceptStatus.SUPERSEDED, PerceptStatus.FORGOTTEN})
_UNDECIDED = frozenset({PerceptStatus.SUSPECT, PerceptStatus.QUARANTINED})
WIDE = 64
"""Cells from which on a list is a table."""
NAMES = 96
"""Cells from which on the producer's name stands in the table."""
_LONGEST = 2_000
_TEXT_ROWS = 2
_GUTTER = 4
_ID = 8
_WEIGHT = 10
_NAME = 12
_READER = 3

_PRODUCERS = {"user": "you", "system": "milk"}
_CONSUMERS = {Consumer.PRIMARY: "primary", Consumer.ESCALATION: "escalation"}
_NOTES = {
    PerceptStatus.STAGED: "new",
    PerceptStatus.SUSPECT: "unsure",
    PerceptStatus.QUARANTINED: "held back",
}


@dataclass(slots=True)
class Seen:
    """What a list knows beside its facts, by their ids."""

    marks: Mapping[str, int] = field(default_factory=dict)
    """In which order facts were marked, from 1."""
    left_out: frozenset[str] = frozenset()
    """Pinned facts that don't fit."""
    scores: Mapping[str, float] = field(default_factory=dict)
    """How well facts fit what is looked for, 0..1; shown instead of their weights."""
    find: Callable[[str], Percept | None] = lambda id_: None
    """Another fact, if the list has it."""


NOTHING_SEEN = Seen()


class FactRow(Struct, gc=False):
    """A fact. ``symbol`` stands before it instead of a pin, ``note`` instead of its status."""

    percept: Percept
    key: str = ""
    """Empty: the id of the fact."""
    symbol: Piece = ("", "")
    note: str = ""
    replaced: bool = False
    cells: int = 0
    noted: int = 0
    """The width of the text with its note."""

    selectable: ClassVar = True

    def __post_init__(self) -> None:
        percept = self.percept
        self.key = self.key or percept.id
        self.replaced = percept.status is PerceptStatus.SUPERSEDED and percept.superseded_by is not None
        self.cells = _width(percept.content)
        said = "" if self.replaced or _says_nothing(percept, self.note) else self._note(NOTHING_SEEN)
        self.noted = self.cells + (len(said) + 2 if said else 0)

    @property
    def text(self) -> str:
        return shown(self.percept)

    def height(self, width: int) -> int:
        return heights((self,), width)[0]

    def lines(self, width: int, seen: Seen = NOTHING_SEEN) -> Sequence[Line]:
        return self._narrow(width, seen) if width < WIDE else self._wide(width, seen)

    @property
    def _struck(self) -> str:
        return "struck" if self.percept.status in GONE else ""

    def _wide(self, width: int, seen: Seen) -> list[Line]:
        percept, look = self.percept, self._struck
        room = width - _taken(width)
        side = self._side(width, seen)
        successor = self._successor(seen, room)
        height = self.height(width)
        rows = f.wrap(self.text, room, height - 1 if successor else height)
        note = "" if successor else self._note(seen)
        lines: list[Line] = []
        for number, row in enumerate(rows):
            head: Line = (*self._gutter(seen), (f"{percept.short_id} ", "dim")) if number == 0 else _indent()
            lines.append((*head, (f.pad(row, room), look)))
        if note:
            if cell_len(rows[-1]) + len(note) + 2 > room and len(rows) < height:
                lines.append((*_indent(), (f.pad("", room), "")))
                rows.append("")
            text = f.fit(rows[-1], room - len(note) - 2)
            gap = " " * (room - cell_len(text) - len(note))
            lines[-1] = (*lines[-1][:-1], (text, look), (gap, ""), (note, "warning"))
        if successor:
            lines.append((*_indent(), *successor))
        lines[0] = (*lines[0], *side)
        return _exactly(lines, height)

    def _gutter(self, seen: Seen) -> Line:
        order = seen.marks.get(self.percept.id)
        mark: Piece = (_mark(order), "key") if order else ("  ", "")
        return mark, self._symbol(), (" ", "")

    def _symbol(self) -> Piece:
        if self.symbol[0]:
            return self.symbol
        if self.percept.pinned and self.percept.status not in GONE:
            return f.PIN_MARK, "pinned"
        return " ", ""

    def _side(self, width: int, seen: Seen) -> Line:
        """What stands right of the text."""
        percept = self.percept
        pieces: list[Piece] = [(" ", ""), self._number(seen) or (" " * (_WEIGHT - 1), ""), (" ", "")]
        producer = str(percept.producer)
        pieces.append((f.PRODUCER_MARKS[producer], producer if producer in f.ROLE_MARKS else "dim"))
        name = f.pad(f" {percept.agent_name or _PRODUCERS.get(producer, producer)}", _NAME) if width >= NAMES else ""
        pieces.append((name, "dim"))
        if (only := _CONSUMERS.get(percept.consumer)) is not None:
            pieces.append((f" →{f.ROLE_MARKS[only]}", only))
        return tuple(pieces)

    def _number(self, seen: Seen) -> Piece | None:
        """The score where there is one, else the weight; nothing for what is gone."""
        score = seen.scores.get(self.percept.id)
        if score is not None:
            return f"{f.gauge(score, 4)} {min(score, 9.99):.2f}", "good"
        if self.percept.status in GONE:
            return None
        return f"{f.gauge(self.percept.weight / 1000, 4)} {f.weight(self.percept.weight)}", "dim"

    def _successor(self, seen: Seen, room: int) -> Line:
        by = self.percept.superseded_by
        if not self.replaced or by is None:
            return ()
        found = seen.find(by)
        said = one_line(found.content, _LONGEST) if found is not None else ""
        return (("→ ", "good"), (f.fit(f"{short_id(by)} {said}".rstrip(), room - 2), "dim"))

    def _narrow(self, width: int, seen: Seen) -> list[Line]:
        order = seen.marks.get(self.percept.id)
        mark: Piece = (_mark(order), "key") if order else (f"{self._symbol()[0]} ", self._symbol()[1])
        first, *rest = f.wrap(self.text, width - 2, _TEXT_ROWS)
        lines: list[Line] = [(mark, (first, self._struck))]
        lines += [(("  ", ""), (row, self._struck)) for row in rest]
        lines.append(tuple(self._below(width, seen)))
        return _exactly(lines, self.height(width))

    def _below(self, width: int, seen: Seen) -> list[Piece]:
        """The line under the text of a narrow row."""
        percept = self.percept
        producer = str(percept.producer)
        pieces: list[Piece] = [
            (f"  {percept.short_id} ", "dim"),
            (f.PRODUCER_MARKS[producer], producer if producer in f.ROLE_MARKS else "dim"),
        ]
        if width >= 36:
            pieces.append((f" {f.fit(percept.agent_name or _PRODUCERS.get(producer, producer), 12)}", "dim"))
        if (number := self._number(seen)) is not None:
            pieces += [(" ", ""), number]
        if (only := _CONSUMERS.get(percept.consumer)) is not None:
            pieces.append((f" →{f.ROLE_MARKS[only]}", only))
        note = "forgotten, u undoes" if percept.status is PerceptStatus.FORGOTTEN else self._note(seen)
        if note:
            pieces.append((f" {f.fit(note, width - cells(pieces) - 1)}", "warning"))
        return pieces

    def _note(self, seen: Seen) -> str:
        percept = self.percept
        if self.note:
            return self.note
        if percept.id in seen.left_out:
            return "no room"
        match percept.status:
            case PerceptStatus.SUPERSEDED:
                return f"→ {short_id(percept.superseded_by)}" if percept.superseded_by else "superseded"
            case PerceptStatus.QUARANTINED if percept.note:
                return one_line(percept.note, 40)
            case PerceptStatus.SUSPECT if forgetting.asked(percept):
                return one_line(percept.note, 40)
            case PerceptStatus.FORGOTTEN:
                return f"forgotten {f.moment(percept.updated_ms)[:10]}"
            case status if status in _NOTES:
                return _NOTES[status]
            case _:
                return "tainted" if percept.tainted else "interrupted" if percept.note else ""


def heights(rows: Sequence[FactRow], width: int) -> list[int]:
    """The lines that each row takes."""
    if width < WIDE:
        room = width - 2
        return [2 if row.cells <= room else 3 for row in rows]
    room = width - _taken(width)
    return [(1 if row.noted <= room else 2) + row.replaced for row in rows]


class ProposalRow:
    """An invariant that an agent proposed."""

    __slots__ = ("entry", "key")

    selectable = True

    def __init__(self, entry: PerceptionEntry) -> None:
        self.entry = entry
        self.key = f"proposal:{entry.key}"

    def height(self, width: int) -> int:
        return len(self._text(width)) + 1

    def lines(self, width: int) -> Sequence[Line]:
        entry, indent = self.entry, " " * _indented(width)
        by = f"proposed by {entry.writer or 'an agent'}" + (f" in turn {entry.turn_id}" if entry.turn_id else "")
        return [
            *(((indent, ""), (row, "")) for row in self._text(width)),
            ((indent, ""), (f.fit(by, width - len(indent)), "dim")),
        ]

    def _text(self, width: int) -> list[str]:
        text = f"{one_line(self.entry.key, 80)}: {one_line(self.entry.value, _LONGEST)}"
        return f.wrap(text, width - _indented(width), 3)


def bracket(index: int, number: int) -> Piece:
    """What joins the rows of a group of several."""
    if number == 1:
        return "", ""
    return "╭" if index == 0 else "╰" if index == number - 1 else "│", "warning"


def shown(percept: Percept) -> str:
    """The fact on one line, harmless to draw."""
    return percept.content if _is_plain(percept.content) else one_line(percept.content, _LONGEST)


def short_id(id_: str) -> str:
    return f"#{id_.replace('-', '')[:6]}"


def undecided(percept: Percept) -> bool:
    """True while the person may accept or reject it."""
    return percept.status in _UNDECIDED or (percept.tainted and percept.holds)


def text_place(width: int) -> tuple[int, int]:
    """Where in a row of that width the text begins, and how many cells it has: for what is written over it."""
    return (2, width - 2) if width < WIDE else (_GUTTER + _ID, width - _taken(width))


def _says_nothing(percept: Percept, note: str) -> bool:
    return percept.status is PerceptStatus.LIVE and not (note or percept.tainted or percept.note)


def _exactly(lines: list[Line], height: int) -> list[Line]:
    return [*lines, *((),) * (height - len(lines))][:height]


def _mark(order: int) -> str:
    return f"✓{order}" if order < 10 else "✓ "


def _indented(width: int) -> int:
    return 2 if width < WIDE else _GUTTER


def _indent() -> Line:
    return ((" " * (_GUTTER + _ID), ""),)


def _taken(width: int) -> int:
    """Cells of a wide row that are not the text's."""
    return _GUTTER + _ID + 1 + _WEIGHT + 1 + (_NAME if width >= NAMES else 0) + _READER


def _is_plain(text: str) -> bool:
    """True for what needs no cleaning: nearly every fact, as they are cleaned when they are stored."""
    return text.isascii() and text.isprintable() and len(text) <= _LONGEST and "  " not in text and text == text.strip()


def _width(text: str) -> int:
    return len(text) if _is_plain(text) else cell_len(one_line(text, _LONGEST))
