"""Searching what was said in all sessions: prompts and finished answers."""

from __future__ import annotations

import sqlite3

from msgspec import Struct

from milk_tui.store.fts import any_of


class MessageHit(Struct, frozen=True, kw_only=True):
    """A prompt (``leg_id`` is ``None``) or an answer that holds words of the search."""

    session_id: str
    turn_id: int
    leg_id: int | None
    at_ms: int
    text: str


def search(conn: sqlite3.Connection, text: str, *, session_id: str | None = None, limit: int = 50) -> list[MessageHit]:
    """Best first. Never raises for what the text holds; words that say nothing find nothing."""
    query = any_of(text)
    if not query:
        return []
    rows = conn.execute(
        """
        with hits as (select rowid as hit, rank from messages_fts where messages_fts match ?1) select
        hits.rank, t.session_id, t.id as turn_id, null as leg_id, t.created_ms as at_ms, t.prompt as text from
        hits join turns t on t.id = hits.hit / 2 where hits.hit % 2 = 0 and (?2 is null or t.session_id = ?2)
        union all select hits.rank, l.session_id, l.turn_id, l.id, l.started_ms, l.text from hits join legs l
        on l.id = hits.hit / 2 where hits.hit % 2 = 1 and (?2 is null or l.session_id = ?2) order by 1 limit
        ?3 """,
        (query, session_id, limit),
    )
    return [MessageHit(**{name: row[name] for name in MessageHit.__struct_fields__}) for row in rows]
