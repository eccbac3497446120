"""Some of the facts in an order of their own: what a filter found, and what a clean-up proposes. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from milk_tui.core.cleanup import Candidates, CleanUp
from milk_tui.core.text import one_line
from milk_tui.ui import format as f
from milk_tui.ui.fact_rows import FactRow, bracket
from milk_tui.ui.paint import Line
from milk_tui.ui.row_list import Heading, Row

if TYPE_CHECKING:
    from milk_tui.core.records import Percept
    from milk_tui.ui.fact_book import FactBook

GIVEN_MARK = "▸"

CLEAN_UPS: Mapping[CleanUp, str] = {
    CleanUp.NEVER_RECALLED: "a week old or more, and no agent was ever given them",
    CleanUp.LOOK_ALIKES: "near copies: the same words, no other value",
    CleanUp.CONFLICTS: "pairs that may not both be true",
    CleanUp.EXPIRED: "their time is over, and nothing took their place",
}


@dataclass(frozen=True, slots=True)
class FoundView:
    """What the words found, best first; what an agent would be given for them has a mark."""

    words: str
    hits: Sequence[tuple[Percept, float]]
    given: frozenset[str] = frozenset()
    agent: str = ""
    """Whose recall the marks show; empty: nobody's."""
    engine: str = ""

    def rows(self, book: FactBook) -> list[Row]:
        rows: list[Row] = [Heading("group:found", self._title())]
        for percept, _ in self.hits:
            mark = (GIVEN_MARK, "good") if percept.id in self.given else ("", "")
            rows.append(FactRow(book.percepts.get(percept.id, percept), symbol=mark))
        return rows

    def scores(self) -> Mapping[str, float]:
        return {percept.id: score for percept, score in self.hits}

    def _title(self) -> Line:
        title: list[tuple[str, str]] = [
            (f"{f.plural(len(self.hits), 'fact')} for “{one_line(self.words, 40)}”", "heading")
        ]
        if self.agent:
            number = len(self.given)
            given = f"{GIVEN_MARK} {number}" if number else "nothing"
            title += [(f"  {self.agent} would be given ", "dim"), (given, "good" if number else "dim")]
        if self.engine:
            title.append((f" · {self.engine}", "dim"))
        return tuple(title)


@dataclass(frozen=True, slots=True)
class CleanUpView:
    """What one kind of clean-up proposes; facts that belong together are joined by a bracket."""

    candidates: Candidates

    def rows(self, book: FactBook) -> list[Row]:
        kind = self.candidates.kind
        number = f.plural(len(self.candidates.percepts), "fact")
        title: Line = ((f"{kind.upper()} ", "heading"), (f"{number} · {CLEAN_UPS[kind]}", "dim"))
        rows: list[Row] = [Heading("group:clean-up", title)]
        for number_, group in enumerate(self.candidates.groups):
            for index, percept in enumerate(group):
                now = book.percepts.get(percept.id, percept)
                rows.append(FactRow(now, key=f"{number_}:{percept.id}", symbol=bracket(index, len(group))))
        return rows

    def scores(self) -> Mapping[str, float]:
        return {}
