"""Everything about one fact: full text, where it is from, and how its weight changed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from textual.app import App

from milk_tui.core.text import one_line
from milk_tui.ui import format as f
from milk_tui.ui.dialogs import Reader
from milk_tui.ui.paint import Line
from milk_tui.ui.row_list import Heading, Row
from milk_tui.ui.words import ItemRow, TextRow, blank, text_rows

if TYPE_CHECKING:
    from milk_tui.core.records import Percept
    from milk_tui.store.percept_events import PerceptEvent
    from milk_tui.ui.control import Control

JUMP = "jump"


async def details(app: App[int], control: Control, percept: Percept) -> int | None:
    """Show them; the turn that the person wants to see, when they want to."""
    events = await control.fact_events(percept)
    here = percept.session_id == control.session_id
    rows = detail_rows(percept, events, jump=here and percept.turn_id is not None)
    chosen = await app.push_screen_wait(Reader(f"fact {percept.short_id}", rows))
    return percept.turn_id if chosen == JUMP else None


def detail_rows(percept: Percept, events: Sequence[PerceptEvent], *, jump: bool) -> list[Row]:
    rows = text_rows(percept.content, prefix="text")
    rows.append(blank("gap:1"))
    rows += [TextRow(f"about:{number}", line, "dim") for number, line in enumerate(_about(percept)) if line]
    if jump:
        rows.append(ItemRow(JUMP, ((f"↩ go to turn {percept.turn_id}, where it was said", "key"),)))
    rows.append(blank("gap:2"))
    rows.append(Heading("history", (("WEIGHT OVER TIME", "heading"),)))
    rows += [_EventRow(event) for event in events]
    return rows


def _about(percept: Percept) -> list[str]:
    said_by = percept.agent_name or str(percept.producer)
    when = f.moment(percept.created_ms)
    status = str(percept.status) + (f", {percept.note}" if percept.note else "")
    who = {"all": "both agents", "primary": "only the primary", "escalation": "only the escalation agent"}
    return [
        f"stated by {said_by} ({percept.producer}) on {when}",
        f"{status} · {percept.scope} · weight {f.weight(percept.weight)}"
        f"{' · pinned' if percept.pinned else ''} · given to {who[str(percept.consumer)]}",
        f"confirmed {f.moment(percept.confirmed_ms)} · used {f.plural(percept.uses, 'time')}",
        f"subject: {one_line(percept.subject, 200)}" if percept.subject else "",
        f"superseded by #{percept.superseded_by.replace('-', '')[:6]}" if percept.superseded_by else "",
        "from a text that was not the person's: marked as tainted" if percept.tainted else "",
    ]


class _EventRow:
    """One change of the fact."""

    def __init__(self, event: PerceptEvent) -> None:
        self._event = event
        self.key = f"event:{event.id}"
        self.selectable = False

    def height(self, width: int) -> int:
        return 1

    def lines(self, width: int) -> Sequence[Line]:
        event = self._event
        after = event.weight_after
        bar = f"{f.gauge(after / 1000, 10)} {f.weight(after)}" if after is not None else " " * 15
        note = f" · {one_line(event.note, 200)}" if event.note else ""
        undone = " (undone)" if event.undone else ""
        return [
            (
                (f"{f.moment(event.at_ms)}  ", "dim"),
                (f"{bar}  ", ""),
                (f"{event.kind}{undone} by {event.actor}{note}", "dim"),
            )
        ]
