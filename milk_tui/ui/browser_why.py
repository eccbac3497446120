"""Why an agent is given a fact for a prompt, or is not: every part of the score, and every exclusion."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from milk_tui.core.records import Percept, Role
from milk_tui.core.text import one_line
from milk_tui.ui import fact_reads
from milk_tui.ui import format as f
from milk_tui.ui.dialogs import Reader
from milk_tui.ui.fact_views import GIVEN_MARK
from milk_tui.ui.paint import Line
from milk_tui.ui.row_list import Heading, Row
from milk_tui.ui.words import ItemRow, TextRow, blank

if TYPE_CHECKING:
    from textual.app import App

    from milk_tui.recall import Explanation, Judged
    from milk_tui.ui.control import Control

_REASONS = {
    "given": "given",
    "pinned": "given with every prompt: it is pinned",
    "told": "it was told before and still knows it",
    "weak": "has too little to do with the prompt",
    "copy": "a better fact says the same",
    "replaced": "superseded: what replaced it stands for it",
    "no room": "does not fit into the bytes that are left",
    "full": "as many facts as there may be are given",
    "not for it": "kept for the other agent",
    "elsewhere": "belongs to another session",
    "not live": "not live yet, or held back",
}


async def explain(app: App[int], control: Control, prompt: str, percept: Percept | None) -> None:
    """Show why, for each agent of the session; from a fact in question one comes to its own reasons."""
    assert control.conductor is not None
    session = control.conductor.session
    told = [
        (role, agent.name, await fact_reads.why(control, prompt, role))
        for role in Role
        if (agent := session.agent(role)) is not None and agent.name
    ]
    while True:
        title = f"why {percept.short_id}" if percept is not None else "what an agent would be given"
        rows = why_rows(prompt, told, percept)
        chosen = await app.push_screen_wait(Reader(title, rows, hint="enter explains another · esc closes"))
        if chosen is None:
            return
        id_ = chosen.rpartition(":")[2]
        items = (item.percept for _, _, explanation in told for item in explanation.items)
        percept = next((found for found in items if found.id == id_), percept)


def why_rows(prompt: str, told: Sequence[tuple[Role, str, Explanation]], percept: Percept | None) -> list[Row]:
    """One part for each agent: the fact's own reasons, then all facts in question."""
    rows: list[Row] = [TextRow("prompt", f"for “{one_line(prompt, 400)}”", "strong")]
    if percept is not None:
        rows.append(TextRow("fact", one_line(percept.content, 400), "", (f"{percept.short_id} ", "key")))
    for role, name, explanation in told:
        rows += [blank(f"gap:{role}"), Heading(f"agent:{role}", _title(role, name, explanation))]
        if percept is not None:
            rows += _own(role, explanation, percept)
        rows += _search(role, explanation)
        rows += _all(role, explanation, percept)
    return rows


def _title(role: Role, name: str, explanation: Explanation) -> Line:
    number = len(explanation.given)
    given = f" would be given {f.plural(number, 'fact') if number else 'nothing'}"
    return (f"{f.ROLE_MARKS[str(role)]} ", str(role)), (name, "heading"), (f"{given} · {explanation.engine}", "dim")


def _own(role: Role, explanation: Explanation, percept: Percept) -> Iterable[Row]:
    at, judged = next(
        ((number, item) for number, item in enumerate(explanation.items, 1) if item.percept.id == percept.id), (0, None)
    )
    if judged is None:
        yield TextRow(f"{role}:none", "this fact did not come into question: nothing in it fits", "warning", ("  ", ""))
        return
    verdict = f"given as number {at}" if judged.given else f"not given: {_reason(judged)}"
    yield TextRow(f"{role}:verdict", verdict, "good" if judged.given else "warning", ("  ", ""))
    yield _part(f"{role}:score", "score", judged.score, "", "strong")
    for number, part in enumerate(judged.parts):
        yield _part(f"{role}:part:{number}", part.name, part.value, part.detail, "")


def _part(key: str, name: str, value: float, detail: str, look: str) -> ItemRow:
    line: Line = (
        (f"  {name:<10} ", look or "dim"),
        (f"{value:>5.2f} ", look),
        (f"{f.gauge(max(0.0, value), 10)} ", "good" if value > 0 else "dim"),
        (one_line(detail, 120), "dim"),
    )
    return ItemRow(key, line, selectable=False)


def _search(role: Role, explanation: Explanation) -> Iterable[Row]:
    """What was looked for."""
    for number, (said, words) in enumerate(
        (
            ("looked for", explanation.words),
            ("too common", explanation.common),
            ("in no fact", explanation.unknown),
        )
    ):
        if words:
            yield TextRow(f"{role}:words:{number}", one_line(", ".join(words), 400), "dim", (f"  {said}: ", "dim"))
    if explanation.past:
        yield TextRow(f"{role}:past", "the prompt asks about the past: what was replaced counts too", "dim", ("  ", ""))
    if explanation.note:
        yield TextRow(f"{role}:note", one_line(explanation.note, 400), "warning", ("  ", ""))


def _all(role: Role, explanation: Explanation, percept: Percept | None) -> Iterable[Row]:
    for item in explanation.items:
        own = percept is not None and item.percept.id == percept.id
        first: Line = (
            (f"  {GIVEN_MARK if item.given else ' '} ", "good"),
            (f"{item.score:.2f} ", "good" if item.given else "dim"),
            (f"{item.percept.short_id} ", "key" if own else "dim"),
            (one_line(item.percept.content, 300), "strong" if own else ""),
        )
        second: Line = () if item.given else ((f"         {_reason(item)}", "dim"),)
        yield ItemRow(f"{role}:item:{item.percept.id}", first, second)


def _reason(judged: Judged) -> str:
    reason = _REASONS.get(str(judged.reason), str(judged.reason))
    return f"{reason} ({one_line(judged.detail, 120)})" if judged.detail else reason
