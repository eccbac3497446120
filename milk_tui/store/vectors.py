"""Vectors of facts: what the semantic side of recall keeps (``recall.md``, "Engine").

A fact that is forgotten or said in other words loses its vector by a trigger; one without a vector is found by words
alone until it has one again.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from milk_tui.store.rows import id_list, tuples

if TYPE_CHECKING:
    from sqlite_utils import Database

_HELD = "p.status in ('live', 'suspect', 'superseded')"
_COLUMNS = "p.seq, case p.scope when 'global' then null else p.session_id end, p.consumer"


class Placed(Struct, frozen=True):
    """Where a fact may be given: ``session_id`` is ``None`` for all sessions, ``consumer`` as in the record."""

    seq: int
    session_id: str | None
    consumer: str


class Unembedded(Struct, frozen=True):
    """A fact without a vector, with the texts that its vector is made of."""

    place: Placed
    content: str
    source: str
    context: str


def stored(conn: sqlite3.Connection, model: str, *, after: int = 0) -> Iterator[tuple[int, Placed, bytes]]:
    """The vectors that were stored after that id, as ``(id, place, 16-bit floats)``, oldest first."""
    cursor = conn.cursor()
    cursor.row_factory = None
    sql = (
        f"select v.id, {_COLUMNS}, v.vector from percept_vectors v join percepts p on p.seq = v.seq"
        f" where v.id > ? and v.model = ? and {_HELD} order by v.id"
    )
    for number, seq, session_id, consumer, vector in cursor.execute(sql, (after, model)):
        yield number, Placed(seq, session_id, consumer), vector


def some(conn: sqlite3.Connection, model: str, seqs: Iterable[int]) -> list[tuple[int, bytes]]:
    """The vectors of those facts that have one."""
    sql = "select seq, vector from percept_vectors where model = ? and seq in (select value from json_each(?))"
    return tuples(conn, sql, (model, id_list(seqs)))


def having(conn: sqlite3.Connection, model: str, seqs: Iterable[int]) -> set[int]:
    """Which of those facts have a vector."""
    sql = "select seq from percept_vectors where model = ? and seq in (select value from json_each(?))"
    return {seq for (seq,) in tuples(conn, sql, (model, id_list(seqs)))}


def last_event(conn: sqlite3.Connection) -> int:
    """The number of the newest change of any fact; 0 when there was none."""
    return int(conn.execute("select max(id) from percept_events").fetchone()[0] or 0)


def changed(conn: sqlite3.Connection, after: int, upto: int) -> tuple[list[Placed], set[int]]:
    """What the changes after one number and up to another touched: the facts that may be found as they are now, and
    the row numbers of those that may no longer."""
    sql = (
        f"select {_COLUMNS}, {_HELD} from percepts p where p.id in"
        " (select percept_id from percept_events where id > ? and id <= ?)"
    )
    held: list[Placed] = []
    gone: set[int] = set()
    for seq, session_id, consumer, holds in tuples(conn, sql, (after, upto)):
        if holds:
            held.append(Placed(seq, session_id, consumer))
        else:
            gone.add(seq)
    return held, gone


def missing(conn: sqlite3.Connection, model: str) -> list[int]:
    """Row numbers of the facts that have no vector of the model, oldest first. Reads all facts."""
    sql = (
        f"select p.seq from percepts p where {_HELD}"
        " and not exists (select 1 from percept_vectors v where v.seq = p.seq and v.model = ?) order by p.seq"
    )
    return [seq for (seq,) in tuples(conn, sql, (model,))]


def texts(conn: sqlite3.Connection, seqs: Sequence[int]) -> list[Unembedded]:
    """What is to be embedded of those facts, as far as they may be found."""
    sql = (
        f"select {_COLUMNS}, p.content, p.source, p.context from percepts p"
        f" where p.seq in (select value from json_each(?)) and {_HELD}"
    )
    return [
        Unembedded(Placed(seq, session_id, consumer), content, source, context)
        for seq, session_id, consumer, content, source, context in tuples(conn, sql, (id_list(seqs),))
    ]


def put(db: Database, model: str, vectors: Iterable[tuple[Unembedded, bytes]]) -> int:
    """Store vectors of facts that still say what was embedded; the id of the last one, 0 when there was none."""
    last = 0
    for fact, vector in vectors:
        cursor = db.execute(
            "insert or replace into percept_vectors (seq, model, vector)"
            f" select p.seq, ?, ? from percepts p where p.seq = ? and p.content = ? and p.source = ? and {_HELD}",
            (model, vector, fact.place.seq, fact.content, fact.source),
        )
        if cursor.rowcount > 0:
            last = cursor.lastrowid or last
    return last


def counts(conn: sqlite3.Connection, model: str) -> tuple[int, int]:
    """How many of the facts that may be found have a vector of the model, and how many there are."""
    sql = (
        f"select count(v.seq), count(*) from percepts p left join percept_vectors v on v.seq = p.seq and v.model = ?"
        f" where {_HELD}"
    )
    embedded, all_ = conn.execute(sql, (model,)).fetchone()
    return int(embedded), int(all_)


def names(conn: sqlite3.Connection) -> tuple[str, ...]:
    """What the agents of all sessions are called: words that say nothing about a fact."""
    return tuple(name for (name,) in tuples(conn, "select distinct name from session_agents order by name", ()))
