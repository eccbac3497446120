"""What the screen reads of a session when it opens one, in one snapshot of the database."""

from __future__ import annotations

import sqlite3

from msgspec import Struct

from milk_tui.core.records import Brick, Percept, PerceptionEntry, Session, Turn, Usage
from milk_tui.store import bricks, history, legs, percept_lists, perception, turns, usage
from milk_tui.store.legs import LegIndex
from milk_tui.store.turns import TurnIndex
from milk_tui.ui.state import ContextUse, SessionState

MOST_FACTS = 10_000
"""Facts of one group that a list holds."""


class Shown(Struct, frozen=True, kw_only=True):
    """A session as the screen begins with it; texts of turns and legs are read when they are seen."""

    turns: list[TurnIndex]
    legs: list[LegIndex]
    percepts: list[Percept]
    bricks: list[Brick]
    perception: list[PerceptionEntry]
    queued: list[Turn]
    """Prompts that wait, also another program's; those that this one works on are told by its conductor."""
    history: list[str]
    usage: Usage | None
    usage_partial: bool
    sent_where_cache_known: int = 0
    context_tokens: int | None


def read(conn: sqlite3.Connection, session: Session) -> Shown:
    groups = percept_lists.groups(conn, session.id, limit=MOST_FACTS)
    used = usage.of_session(conn, session.id)
    return Shown(
        turns=turns.index(conn, session.id),
        legs=legs.index(conn, session.id),
        percepts=[*groups.pinned, *groups.session, *groups.shared],
        bricks=list(bricks.current(conn, session.id).values()),
        perception=perception.current(conn, session.id),
        queued=turns.queued(conn, session.id),
        history=history.recent(conn, session.directory),
        usage=used.usage if used.usage.known or used.usage.cost_usd is not None else None,
        usage_partial=used.unreported > 0,
        sent_where_cache_known=used.sent_where_cache_known,
        context_tokens=used.last_input_tokens,
    )


def put(state: SessionState, shown: Shown) -> None:
    """Make it what the screen knows."""
    state.percepts = {percept.id: percept for percept in shown.percepts}
    state.bricks = {str(brick.kind): brick for brick in shown.bricks}
    state.perception = {(str(entry.layer), entry.key): entry for entry in shown.perception}
    state.usage = shown.usage
    state.usage_partial = shown.usage_partial
    state.sent_where_cache_known = shown.sent_where_cache_known
    if shown.context_tokens is not None:
        newest = max(shown.legs, key=lambda leg: leg.id)
        state.context = ContextUse(shown.context_tokens, estimated=False, role=str(newest.role))
