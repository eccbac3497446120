"""What the views of facts read from the store: found facts, why they are found, and where one is from and went."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeVar

from msgspec import Struct

from milk_tui.core.records import Percept, Role
from milk_tui.ui.fact_views import FoundView

if TYPE_CHECKING:
    from milk_tui.recall import Explanation, Semantic
    from milk_tui.store.percept_edges import Link
    from milk_tui.store.percept_events import PerceptEvent
    from milk_tui.store.percept_trace import Injection
    from milk_tui.ui.control import Control

T = TypeVar("T")

FOUND = 300
"""Facts that a filter shows."""


class Trace(Struct, frozen=True, kw_only=True):
    """Everything about one fact."""

    percept: Percept
    events: Sequence[PerceptEvent]
    links: Sequence[Link]
    by: Percept | None
    """What stands in its place."""
    before: Sequence[Percept]
    """What it stands in the place of."""
    given: Injection | None
    """The last leg that was given it."""
    prompt: str = ""
    """Of the turn in which it was said."""
    elsewhere: str = ""
    """The title of its session, when that is another one."""


async def trace(control: Control, percept: Percept) -> Trace:
    """The fact as it is stored now, and what is known about it. Raises MilkError when it is not there any more."""
    from milk_tui.core.errors import MilkError
    from milk_tui.store import percept_browse, percept_edges, percept_events, percept_lists, percept_trace

    here = control.session_id

    def read(conn: sqlite3.Connection) -> Trace:
        now = percept_lists.get(conn, percept.id)
        if now is None:
            raise MilkError(f"{percept.short_id} is not stored any more.")
        by, before = percept_browse.successors(conn, now)
        prompt, elsewhere = _said(conn, now, here)
        return Trace(
            percept=now,
            events=percept_events.of_percept(conn, now.id),
            links=percept_edges.links(conn, now.id),
            by=by,
            before=before,
            given=percept_trace.last_injected(conn, now),
            prompt=prompt,
            elsewhere=elsewhere,
        )

    return await _read(control, read)


def _said(conn: sqlite3.Connection, percept: Percept, here: str) -> tuple[str, str]:
    """The prompt of the fact's turn, and the title of its session when that is not the one that is open."""
    from milk_tui.core.errors import MilkError
    from milk_tui.store import sessions, turns

    prompt = elsewhere = ""
    try:
        if percept.turn_id is not None:
            prompt = turns.get(conn, percept.turn_id).prompt
        if percept.session_id is not None and percept.session_id != here:
            elsewhere = sessions.get(conn, percept.session_id).title or "untitled"
    except MilkError:
        return "", ""
    return prompt, elsewhere


async def find(control: Control, words: str, role: Role) -> FoundView:
    """What the words find for the person, and what that agent would be given for them."""
    from milk_tui import recall

    if control.conductor is None or control.workspace is None:
        return FoundView(words, ())
    session = control.conductor.session
    agent, memory, semantic = session.agent(role), control.workspace.config.memory, _semantic(control)

    def read(conn: sqlite3.Connection) -> FoundView:
        hits = recall.find(conn, words, session_id=session.id, limit=FOUND, semantic=semantic)
        why = recall.why(
            conn,
            words,
            role=role,
            session_id=session.id,
            max_items=memory.max_items,
            max_bytes=memory.max_bytes,
            semantic=semantic,
        )
        return FoundView(
            words,
            tuple((hit.percept, hit.score) for hit in hits),
            frozenset(percept.id for percept in why.given),
            agent.name if agent is not None else "",
            why.engine,
        )

    return await _read(control, read)


async def why(control: Control, prompt: str, role: Role) -> Explanation:
    """Why that agent is given what for the prompt."""
    from milk_tui import recall

    assert control.conductor is not None and control.workspace is not None
    session_id, memory = control.conductor.session.id, control.workspace.config.memory
    return await _read(
        control,
        lambda conn: recall.why(
            conn,
            prompt,
            role=role,
            session_id=session_id,
            max_items=memory.max_items,
            max_bytes=memory.max_bytes,
            semantic=_semantic(control),
        ),
    )


def _semantic(control: Control) -> Semantic | None:
    return control.workspace.semantic if control.workspace is not None else None


async def _read(control: Control, read: Callable[[sqlite3.Connection], T]) -> T:
    from milk_tui.core.errors import MilkError

    if control.workspace is None:
        raise MilkError("The session is not open yet.")
    return await control.workspace.store.read(read)
