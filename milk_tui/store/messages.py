"""Searching what was said in all sessions: prompts and finished answers."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable

from msgspec import Struct

from milk_tui.store.fts import any_of
from milk_tui.store.rows import id_list, tuples


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


def of_word(conn: sqlite3.Connection, word: str, limit: int) -> list[tuple[int, float]]:
    """The turns whose prompt or answers hold the word, with its score (BM25, more is better), best first."""
    quoted = '"' + word.replace('"', '""') + '"'
    sql = (
        "with hits as (select rowid as hit, -rank as score from messages_fts where messages_fts match ?"
        " order by rank limit ?)"
        " select case hits.hit % 2 when 0 then hits.hit / 2 else l.turn_id end, hits.score from hits"
        " left join legs l on hits.hit % 2 = 1 and l.id = hits.hit / 2 order by 2 desc"
    )
    return [(turn, max(score, 0.0)) for turn, score in tuples(conn, sql, (quoted, limit)) if turn is not None]


def count_of(conn: sqlite3.Connection, word: str, limit: int) -> int:
    """How many prompts and answers hold the word, counted up to ``limit``."""
    quoted = '"' + word.replace('"', '""') + '"'
    sql = "select count(*) from (select 1 from messages_fts where messages_fts match ? limit ?)"
    return int(conn.execute(sql, (quoted, limit)).fetchone()[0])


def size(conn: sqlite3.Connection) -> int:
    """About how many prompts and answers there are."""
    row = conn.execute("select coalesce((select max(id) from turns), 0) + coalesce((select max(id) from legs), 0)")
    return int(row.fetchone()[0])


class Neighbours(Struct, frozen=True):
    """A turn's place in its session; ``None`` at the ends."""

    session_id: str
    before: int | None
    after: int | None


def neighbours(conn: sqlite3.Connection, turn_ids: Iterable[int]) -> dict[int, Neighbours]:
    """What stands before and after each turn in its session."""
    sql = (
        "select t.id, t.session_id,"
        " (select max(b.id) from turns b where b.session_id = t.session_id and b.id < t.id),"
        " (select min(a.id) from turns a where a.session_id = t.session_id and a.id > t.id)"
        " from turns t where t.id in (select value from json_each(?))"
    )
    rows = tuples(conn, sql, (id_list(turn_ids),))
    return {turn: Neighbours(session, before, after) for turn, session, before, after in rows}


def texts(conn: sqlite3.Connection, turn_ids: Iterable[int], chars: int) -> dict[int, str]:
    """The beginning of each turn's prompt and of its last answer."""
    sql = (
        "select t.id, substr(t.prompt, 1, ?), (select substr(l.text, 1, ?) from legs l where l.turn_id = t.id"
        " order by l.id desc limit 1) from turns t where t.id in (select value from json_each(?))"
    )
    rows = tuples(conn, sql, (chars, chars, id_list(turn_ids)))
    return {turn: f"{prompt} {answer or ''}".strip() for turn, prompt, answer in rows}
