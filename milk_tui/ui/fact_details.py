"""Everything about one fact: its text, where it is from, its weight over time, what it has to do with others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.cells import cell_len
from textual.message import Message

from milk_tui.core import forgetting
from milk_tui.core.records import PerceptStatus
from milk_tui.core.text import one_line
from milk_tui.ui import fact_reads
from milk_tui.ui import format as f
from milk_tui.ui.dialogs import Reader
from milk_tui.ui.fact_plot import weight_plot
from milk_tui.ui.paint import Line, spread
from milk_tui.ui.row_list import Heading, Row
from milk_tui.ui.words import ItemRow, TextRow, blank, text_rows

if TYPE_CHECKING:
    from textual.app import App

    from milk_tui.core.records import Percept
    from milk_tui.store.percept_edges import Link
    from milk_tui.store.percept_events import PerceptEvent
    from milk_tui.ui.control import Control
    from milk_tui.ui.fact_reads import Trace

SAID, GIVEN, FACT = "said", "given", "fact:"

_STATUS = {
    PerceptStatus.STAGED: "being said now",
    PerceptStatus.LIVE: "holds",
    PerceptStatus.SUSPECT: "unsure: another fact may contradict it",
    PerceptStatus.QUARANTINED: "held back until you accept it",
    PerceptStatus.SUPERSEDED: "superseded",
    PerceptStatus.FORGOTTEN: "forgotten",
}
_READERS = {"all": "both agents", "primary": "the primary alone", "escalation": "the escalation agent alone"}
_ACTORS = {"user": "you", "system": "milk"}
_LINKS = {
    "extends": ("extends", "is extended by"),
    "updates": ("updates", "is updated by"),
    "derives": ("stands for", "is stood for by"),
    "contradicts": ("may contradict", "may be contradicted by"),
}


@dataclass
class GoToTurn(Message):
    """The person wants to see where something was said or given."""

    session_id: str
    turn_id: int


async def details(app: App[int], control: Control, percept: Percept) -> GoToTurn | None:
    """Show a fact, and those it leads to; where the person wants to go from there, when they want to."""
    while True:
        trace = await fact_reads.trace(control, percept)
        rows = detail_rows(trace)
        chosen = await app.push_screen_wait(
            Reader(f"fact {percept.short_id}", rows, hint="enter goes there · esc closes")
        )
        if chosen is None or (going := destination(trace, chosen)) is not None:
            return None if chosen is None else going
        percept = fact_of(trace, chosen) or percept


def destination(trace: Trace, key: str) -> GoToTurn | None:
    """The turn that a row leads to."""
    if key == SAID and trace.percept.turn_id is not None:
        return GoToTurn(trace.percept.session_id or "", trace.percept.turn_id)
    if key == GIVEN and trace.given is not None:
        return GoToTurn(trace.given.session_id, trace.given.turn_id)
    return None


def fact_of(trace: Trace, key: str) -> Percept | None:
    """The fact that a row leads to."""
    others = [link.other for link in trace.links] + [*trace.before] + ([trace.by] if trace.by is not None else [])
    return next((other for other in others if FACT + other.id == key), None)


def detail_rows(trace: Trace, width: int = 72) -> list[Row]:
    """``width`` is that of the plot."""
    rows = text_rows(trace.percept.content, prefix="text")
    rows.append(blank("gap:text"))
    rows += [TextRow(f"about:{number}", line, "dim") for number, line in enumerate(_about(trace.percept))]
    rows += _provenance(trace)
    rows += _others(trace)
    rows += _given(trace)
    rows += _history(trace, width)
    return rows


def _about(percept: Percept) -> Iterator[str]:
    reach = "every session" if percept.scope == "global" else "its session"
    pinned = "pinned · " if percept.pinned else ""
    status = "decide: yes lets it go, no keeps it" if forgetting.asked(percept) else _STATUS[percept.status]
    yield f"{pinned}{status}{f' ({percept.note})' if percept.note else ''}"
    yield f"weight {f.weight(percept.weight)} · {reach} · {_READERS[str(percept.consumer)]}"
    if percept.subject:
        yield f"subject: {one_line(percept.subject, 200)}"
    if percept.tainted:
        yield "tainted: from a text that was not yours, until you accept it"
    until = percept.valid_to_ms
    if percept.valid_from_ms is not None and (until is not None or percept.valid_from_ms != percept.created_ms):
        end = f" until {f.moment(until)}" if until is not None else ""
        yield f"valid from {f.moment(percept.valid_from_ms)}{end}"


def _provenance(trace: Trace) -> list[Row]:
    percept = trace.percept
    by = "you" if percept.producer == "user" else percept.agent_name or str(percept.producer)
    role = "" if by in ("you", str(percept.producer)) else f" ({percept.producer})"
    rows: list[Row] = [
        blank("gap:said"),
        Heading("said", (("WHERE IT IS FROM", "heading"),)),
        TextRow("said:by", f"stated by {by}{role} on {f.moment(percept.created_ms)}"),
    ]
    if percept.turn_id is not None:
        where = f"in turn {percept.turn_id}" + (f" of “{one_line(trace.elsewhere, 60)}”" if trace.elsewhere else "")
        words: Line = ((f"  “{one_line(trace.prompt, 200)}”", "dim"),) if trace.prompt else ()
        rows.append(ItemRow(SAID, ((f"↩ {where}", "key"),), words))
    confirmed = [event.actor for event in trace.events if event.kind == "confirmed" and not event.undone]
    if confirmed:
        who = ", ".join(_ACTORS.get(actor, actor) for actor in dict.fromkeys(confirmed))
        times = f.plural(len(confirmed), "time")
        rows.append(TextRow("said:again", f"confirmed {times} by {who}, last on {f.moment(percept.confirmed_ms)}"))
    return rows


def _others(trace: Trace) -> list[Row]:
    rows: list[Row] = []
    if trace.by is not None:
        rows.append(_fact_row("replaced by", trace.by, "good"))
    rows += [_fact_row("replaces", other, "dim") for other in trace.before]
    shown = {row.key for row in rows}
    rows += [row for link in trace.links if (row := _link_row(link)).key not in shown]
    if not rows:
        return []
    return [blank("gap:others"), Heading("others", (("OTHER FACTS", "heading"),)), *rows]


def _link_row(link: Link) -> ItemRow:
    return _fact_row(_LINKS[str(link.kind)][0 if link.outgoing else 1], link.other, "dim")


def _fact_row(how: str, other: Percept, look: str) -> ItemRow:
    struck = "struck" if other.status in ("superseded", "forgotten") else ""
    first: Line = ((f"{how} ", look), (other.short_id, "key"))
    return ItemRow(FACT + other.id, first, (("  ", ""), (one_line(other.content, 300), struck)))


def _given(trace: Trace) -> list[Row]:
    rows: list[Row] = [blank("gap:given"), Heading("given", (("LAST GIVEN", "heading"),))]
    given = trace.given
    uses = f"used {f.plural(trace.percept.uses, 'time')}" if trace.percept.uses else "not used yet"
    if given is None:
        return [*rows, TextRow("given:never", f"no agent was given it so far · {uses}", "dim")]
    how = "pinned" if given.part == "pinned" else "as news" if given.part == "changes" else "recalled"
    first: Line = ((f"↩ to {given.agent_name} in turn {given.turn_id}", "key"),)
    return [*rows, ItemRow(GIVEN, first, ((f"  {f.moment(given.sent_ms)} · {how} · {uses}", "dim"),))]


def _history(trace: Trace, width: int) -> list[Row]:
    points = [(event.at_ms, event.weight_after) for event in trace.events if event.weight_after is not None]
    rows: list[Row] = [blank("gap:history"), Heading("history", (("WEIGHT OVER TIME", "heading"),))]
    rows += [_PlotRow(f"plot:{number}", line) for number, line in enumerate(weight_plot(points, width))]
    rows += [_EventRow(event) for event in reversed(trace.events)]
    return rows


@dataclass(frozen=True, slots=True)
class _PlotRow:
    key: str
    line: Line
    selectable: bool = False

    def height(self, width: int) -> int:
        return 1

    def lines(self, width: int) -> Sequence[Line]:
        return (self.line,)


class _EventRow:
    """One change of the fact: when, by whom, and what it did to the weight; why, on a line below."""

    def __init__(self, event: PerceptEvent) -> None:
        self._event = event
        self.key = f"event:{event.id}"
        self.selectable = False

    def height(self, width: int) -> int:
        return len(self.lines(width))

    def lines(self, width: int) -> Sequence[Line]:
        event = self._event
        by = _ACTORS.get(event.actor, event.actor)
        said = f"{event.kind} by {by}{' (undone)' if event.undone else ''}"
        at, weight = f"{f.moment(event.at_ms)}  ", _weight(event)
        fits = cell_len(at) + cell_len(said) + cell_len(weight) < width
        first = spread(((at, "dim"), (said if fits else "", "")), ((weight, "dim"),), width)
        below = [] if fits else [(("    ", ""), (row, "")) for row in f.wrap(said, width - 4)]
        return [first, *below, *((("    ", ""), (row, "dim")) for row in self._note(width))]

    def _note(self, width: int) -> list[str]:
        return f.wrap(one_line(self._event.note, 300), width - 4) if self._event.note else []


def _weight(event: PerceptEvent) -> str:
    before, after = event.weight_before, event.weight_after
    if after is None:
        return ""
    if before is None or before == after:
        return f.weight(after)
    return f"{f.weight(before)} → {f.weight(after)}"
