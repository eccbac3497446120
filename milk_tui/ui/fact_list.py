"""The list of facts, for the sidebar and for the full screen: what it can do is said upwards."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from textual.message import Message
from textual.timer import Timer

from milk_tui.ui.actions import Where, bindings
from milk_tui.ui.row_list import RowList

if TYPE_CHECKING:
    from milk_tui.core.records import Percept

FLASH_S = 3.0


class FactList(RowList):
    """Facts in groups, or those that a search found."""

    @dataclass
    class Asked(Message):
        """Something is to be done with a fact: ``pin`` · ``forget`` · ``restore`` · ``details``."""

        what: str
        percept: Percept

    @dataclass
    class FilterAsked(Message):
        """The person wants to filter."""

    BINDINGS: ClassVar = bindings(Where.PERCEPTS)

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id, empty="nothing remembered yet")
        self._percepts: Mapping[str, Percept] = {}
        self._hits: Sequence[Percept] | None = None
        self._words = ""
        self._flashes: set[str] = set()
        self._timer: Timer | None = None
        self.flashes = True

    @property
    def percept(self) -> Percept | None:
        """The fact under the cursor."""
        return getattr(self.current, "percept", None)

    def show(self, percepts: Mapping[str, Percept], changed: Iterable[str] = ()) -> None:
        """Show these facts; ``changed`` flash for a moment."""
        self._percepts = percepts
        self._build()
        changed = set(changed) if self.flashes else set()
        if changed:
            self._flash(changed)

    def show_found(self, words: str, hits: Sequence[Percept] | None) -> None:
        """Show only what a search found, best first; ``None`` shows all again."""
        self._words = words
        self._hits = hits
        self._build()
        if hits is not None:
            self.scroll_home(animate=False)
            self.action_edge(0)

    def _build(self) -> None:
        if self._hits is None and not self._percepts:
            self.set_rows(())
            return
        from milk_tui.ui import fact_rows

        if self._hits is None:
            self.set_rows(fact_rows.rows(self._percepts.values()))
        else:
            hits = (self._percepts.get(percept.id, percept) for percept in self._hits)
            self.set_rows(fact_rows.found(hits, self._words))

    def _flash(self, keys: set[str]) -> None:
        """Let rows flash; one timer ends the flash of all, however many come."""
        self._flashes |= keys
        self.flash(self._flashes)
        if self._timer is not None:
            self._timer.stop()
        self._timer = self.set_timer(FLASH_S, self._end_flash)

    def _end_flash(self) -> None:
        self._flashes.clear()
        self._timer = None
        self.flash(())

    def _ask(self, what: str) -> None:
        if (percept := self.percept) is not None:
            self.post_message(self.Asked(what, percept))

    def on_row_list_chosen(self, event: RowList.Chosen) -> None:
        event.stop()
        self._ask("details")

    def action_pin_fact(self) -> None:
        self._ask("pin")

    def action_forget_fact(self) -> None:
        self._ask("forget")

    def action_restore_fact(self) -> None:
        self._ask("restore")

    def action_fact_details(self) -> None:
        self._ask("details")

    def action_filter_facts(self) -> None:
        self.post_message(self.FilterAsked())
