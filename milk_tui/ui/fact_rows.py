"""Facts as rows of a list: groups, order, and what stands in each line. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rich.cells import cell_len

from milk_tui.core.records import Consumer, Percept, PerceptScope, PerceptStatus
from milk_tui.core.text import one_line
from milk_tui.ui import format as f
from milk_tui.ui.paint import Line, Piece
from milk_tui.ui.row_list import Heading, Row

_GONE = frozenset({PerceptStatus.SUPERSEDED, PerceptStatus.FORGOTTEN})
_LONGEST = 2_000
_TEXT_ROWS = 2

_CONSUMERS = {Consumer.PRIMARY: "primary", Consumer.ESCALATION: "escalation"}


@dataclass(frozen=True, slots=True)
class FactRow:
    """A fact: its text on up to two lines, then id, producer, weight and whom it is for."""

    percept: Percept
    text: str
    selectable: bool = True

    @property
    def key(self) -> str:
        return self.percept.id

    def height(self, width: int) -> int:
        return 2 if cell_len(self.text) <= width - 2 else 3

    def lines(self, width: int) -> Sequence[Line]:
        gone = self.percept.status in _GONE
        look = "struck" if gone else ""
        mark: Piece = (f"{f.PIN_MARK} ", "pinned") if self.percept.pinned and not gone else ("  ", "")
        first, *rest = f.wrap(self.text, width - 2, _TEXT_ROWS)
        lines: list[Line] = [(mark, (first, look))]
        lines += [(("  ", ""), (row, look)) for row in rest]
        lines.append(tuple(self._meta(width)))
        return lines

    def _meta(self, width: int) -> list[Piece]:
        percept = self.percept
        producer = str(percept.producer)
        pieces: list[Piece] = [
            (f"  {percept.short_id} ", "dim"),
            (f.PRODUCER_MARKS[producer], producer if producer in f.ROLE_MARKS else "dim"),
        ]
        if width >= 36:
            pieces.append((f" {f.fit(percept.agent_name or producer, 12)}", "dim"))
        if percept.status not in _GONE:
            pieces.append((f" {f.gauge(percept.weight / 1000, 4)} {f.weight(percept.weight)}", "dim"))
        if (only := _CONSUMERS.get(percept.consumer)) is not None:
            pieces.append((f" →{f.ROLE_MARKS[only]}", only))
        if note := self._note():
            pieces.append((f" {note}", "warning"))
        return pieces

    def _note(self) -> str:
        match self.percept.status:
            case PerceptStatus.STAGED:
                return "new"
            case PerceptStatus.SUPERSEDED:
                by = self.percept.superseded_by
                return f"→ #{by.replace('-', '')[:6]}" if by else "superseded"
            case PerceptStatus.FORGOTTEN:
                return "forgotten, u undoes"
            case PerceptStatus.SUSPECT:
                return "unsure"
            case PerceptStatus.QUARANTINED:
                return "held back"
            case _:
                return "interrupted" if self.percept.note else ""


def rows(percepts: Iterable[Percept]) -> list[Row]:
    """All facts in their groups: pinned, then the session's, then the global ones, the weightiest first."""
    groups: dict[str, list[Percept]] = {"pinned": [], "session": [], "global": []}
    for percept in percepts:
        if percept.pinned and percept.status not in _GONE:
            groups["pinned"].append(percept)
        else:
            groups["global" if percept.scope is PerceptScope.GLOBAL else "session"].append(percept)
    result: list[Row] = []
    for name, members in groups.items():
        if not members:
            continue
        members.sort(key=lambda p: (p.status in _GONE, -p.weight, -p.updated_ms))
        alive = sum(p.status not in _GONE for p in members)
        mark: Line = ((f"{f.PIN_MARK} ", "pinned"),) if name == "pinned" else ()
        result.append(Heading(f"group:{name}", (*mark, (f"{name.upper()} ", "heading"), (str(alive), "dim"))))
        result += [FactRow(percept, shown(percept)) for percept in members]
    return result


def found(hits: Iterable[Percept], words: str) -> list[Row]:
    """What a search gave, best first."""
    matches: list[Row] = [FactRow(percept, shown(percept)) for percept in hits]
    title = f"{f.plural(len(matches), 'fact')} for “{one_line(words, 40)}”"
    return [Heading("group:found", ((title, "heading"),)), *matches]


def shown(percept: Percept) -> str:
    """The fact on one line, harmless to draw."""
    return one_line(percept.content, _LONGEST)
