"""Taking back facts: an agent's own at once, any other one by asking the person (``semantics.md`` §2 "Tools")."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import TYPE_CHECKING

from milk_tui.core import forgetting
from milk_tui.core.errors import MilkError
from milk_tui.core.readers import Reader
from milk_tui.core.records import Percept, PerceptStatus, Producer
from milk_tui.core.text import one_line
from milk_tui.core.tool_calls import ToolOutcome
from milk_tui.engine.memory_answers import seen, unknown
from milk_tui.store import percept_changes, percept_lists, percept_rows
from milk_tui.store.percepts import Change

if TYPE_CHECKING:
    from sqlite_utils import Database

MOST_ASKED, MOST_ASKED_IN_ALL = 8, 24
"""Facts that one agent, and all clients together under whatever names, may ask the person to forget at a time."""


def forgotten(
    db: Database,
    reference: str,
    *,
    agent_name: str,
    producer: Producer,
    reader: Reader,
    reach: Sequence[str],
    reason: str = "",
    leg_id: int | None = None,
    now: int,
) -> tuple[ToolOutcome, list[Change]]:
    """Take back the agent's own fact, or ask the person about another one; in the writer's transaction."""
    fact = seen(db.conn, reference, reader, reach) or _staged(db.conn, reference, leg_id)
    if fact is None or fact.status is PerceptStatus.SUPERSEDED:
        return unknown(reference), []
    if forgetting.may_forget(fact, agent_name, producer):
        changes = percept_changes.forget(db, fact.id, actor=producer, note=one_line(reason, 200), now=now)
        return ToolOutcome(f"{fact.short_id} is forgotten. The person can restore it."), changes
    why_not = "it is pinned" if fact.pinned else "you did not state it"
    if forgetting.asked(fact):
        return ToolOutcome(f"{fact.short_id}: the person is asked already ({why_not})."), []
    own, all_in_all = _asked_by(db.conn, agent_name)
    if own >= MOST_ASKED or all_in_all >= MOST_ASKED_IN_ALL:
        return ToolOutcome("Not asked: so many wishes to forget facts wait for the person already.", ok=False), []
    note = forgetting.note(agent_name, reason)
    values = {"status": PerceptStatus.SUSPECT, "note": note}
    asked = percept_rows.change(db, fact, "suspected", values, actor=producer, note=note, now=now)
    said = f"{fact.short_id} is not forgotten, because {why_not}: the person is asked and decides."
    return ToolOutcome(said), [Change(asked, "suspected")]


def _staged(conn: sqlite3.Connection, reference: str, leg_id: int | None) -> Percept | None:
    """A fact of the answer that is being given."""
    if leg_id is None:
        return None
    try:
        fact = percept_lists.get(conn, reference)
    except MilkError:
        return None
    return fact if fact is not None and fact.leg_id == leg_id and fact.status is PerceptStatus.STAGED else None


def _asked_by(conn: sqlite3.Connection, agent_name: str) -> tuple[int, int]:
    """How many wishes wait: the agent's, and all."""
    beginning = forgetting.note(agent_name, "")
    row = conn.execute(
        "select count(*) filter (where substr(note, 1, ?1) = ?2), count(*) from percepts"
        " where status = 'suspect' and instr(note, ?3)",
        (len(beginning), beginning, forgetting.note("", "")),
    ).fetchone()
    return int(row[0]), int(row[1])
