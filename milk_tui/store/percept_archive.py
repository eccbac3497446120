"""Facts with their whole history, out of the database and into one: for export and import (``core/archive.py``).

What goes in was admitted by the caller (``interop/memory_import.py``); it is written as it is given.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from milk_tui.core import percepts as rules
from milk_tui.core.archive import (
    Agent,
    ArchivedEdge,
    ArchivedEvent,
    ArchivedFact,
    ArchivedSession,
)
from milk_tui.core.lifecycle import EdgeKind
from milk_tui.core.records import AgentName, Consumer, PerceptScope, PerceptStatus, Producer, Role
from milk_tui.store import agents, percept_events, percept_imports
from milk_tui.store.rows import decode, encode, id_list, storable

if TYPE_CHECKING:
    from sqlite_utils import Database

CHUNK = 500
"""Facts that are read together, so that a memory of any size needs little of this machine's."""

_COLUMNS = tuple(name for name in ArchivedFact.__struct_fields__ if name not in ("edges", "events", "imported"))
_KINDS: dict[str, Callable[[Any], Any]] = {
    "producer": Producer,
    "consumer": Consumer,
    "scope": PerceptScope,
    "status": PerceptStatus,
    "pinned": bool,
    "tainted": bool,
}
_NOT_UNDONE = ("id", "seq", "session_id", "turn_id", "leg_id", "created_ms", "source", "context", "position")
"""Columns that no change of a fact touches."""


def sessions(conn: sqlite3.Connection, session_id: str | None = None) -> list[ArchivedSession]:
    """Those that facts belong to, oldest first; ``session_id`` is the one whose facts are meant, beside the global
    ones."""
    rows = conn.execute(
        "select id, directory, title, created_ms, updated_ms from sessions where id in"
        " (select session_id from percepts where ?1 is null or scope = 'global' or session_id = ?1)"
        " order by created_ms, id",
        (session_id,),
    ).fetchall()
    return [
        ArchivedSession(
            **dict(row),
            agents={
                role: Agent(name=agent.name, model=agent.model)
                for role, agent in sorted(agents.of_session(conn, row["id"]).items())
            },
        )
        for row in rows
    ]


def facts(
    conn: sqlite3.Connection, session_id: str | None = None, *, everything: bool = False
) -> Iterator[ArchivedFact]:
    """In the order in which they were learned. Without ``everything`` those that hold, in reach of the session
    (``None``: of every one). Use it up inside the read that gave ``conn``.

    An edge is left out when its other end is. A fact whose answer has not ended is none yet.
    """
    which = "p.status <> 'staged'" if everything else "p.status in ('live', 'suspect')"
    where = f"{which} and (:session is null or p.scope = 'global' or p.session_id = :session)"
    seq = 0
    while True:
        rows = conn.execute(
            f"select p.* from percepts p where {where} and p.seq > :seq order by p.seq limit :chunk",
            {"session": session_id, "seq": seq, "chunk": CHUNK},
        ).fetchall()
        yield from _facts(conn, rows, where.replace("p.", "t."), session_id)
        if len(rows) < CHUNK:
            return
        seq = rows[-1]["seq"]


def get(conn: sqlite3.Connection, percept_id: str) -> ArchivedFact | None:
    """One fact with all its edges."""
    rows = conn.execute("select * from percepts where id = ?", (percept_id,)).fetchall()
    return next(_facts(conn, rows, "true", None), None)


def put_session(db: Database, session: ArchivedSession, nonces: Mapping[Role, str]) -> bool:
    """Store a session that isn't there; False when it is. Each of its roles gets a new nonce."""
    made = db.execute(
        "insert into sessions (id, directory, title, created_ms, updated_ms) values (?, ?, ?, ?, ?)"
        " on conflict do nothing",
        (
            session.id,
            storable(session.directory),
            storable(session.title),
            session.created_ms,
            session.updated_ms,
        ),
    )
    if made.rowcount < 1:
        return False
    for role, agent in session.agents.items():
        named = AgentName(role=role, name=agent.name, model=agent.model, nonce=nonces[role])
        agents.put(db, session.id, named)
    return True


def put(db: Database, facts: Sequence[ArchivedFact]) -> None:
    """Store facts with their histories and marks, without their edges (``put_edges``): the other ends may not be there
    yet."""
    columns = (*_COLUMNS, "hash")
    db.conn.executemany(
        f"insert into percepts ({', '.join(columns)}) values ({', '.join('?' for _ in columns)})",
        ((*(_value(fact, name) for name in _COLUMNS), rules.content_hash(fact.content)) for fact in facts),
    )
    db.conn.executemany(
        "insert into percept_events"
        " (percept_id, at_ms, kind, actor, turn_id, weight_before, weight_after, note, undo, undone)"
        " values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            (
                fact.id,
                event.at_ms,
                event.kind,
                event.actor,
                event.turn_id,
                event.weight_before,
                event.weight_after,
                storable(event.note),
                encode(event.undo),
                event.undone,
            )
            for fact in facts
            for event in fact.events
        ),
    )
    percept_imports.put(db, ((fact.id, fact.imported) for fact in facts if fact.imported is not None))


def _value(fact: ArchivedFact, column: str) -> object:
    value: object = getattr(fact, column)
    return storable(value) if isinstance(value, str) else value


def put_edges(db: Database, percept_id: str, edges: Iterable[ArchivedEdge]) -> None:
    """Store the edges that lead from the fact to those that are there."""
    db.conn.executemany(
        "insert into percept_edges (source, target, kind, created_ms)"
        " select ?1, ?2, ?3, ?4 where exists (select 1 from percepts where id = ?2) on conflict do nothing",
        [(percept_id, edge.target, edge.kind, edge.created_ms) for edge in edges],
    )


def undo_columns(conn: sqlite3.Connection) -> frozenset[str]:
    """The columns that may stand in an event's ``undo``."""
    names = {row["name"] for row in conn.execute("select name from pragma_table_info('percepts')")}
    return frozenset(names.difference(_NOT_UNDONE)) | {percept_events.EDGES}


def _facts(
    conn: sqlite3.Connection, rows: list[sqlite3.Row], among: str, session_id: str | None
) -> Iterator[ArchivedFact]:
    """``among``: the facts that an edge may lead to, as a condition on ``t``."""
    ids = id_list(row["id"] for row in rows)
    events, edges, marks = _events(conn, ids), _edges(conn, ids, among, session_id), percept_imports.marks(conn, ids)
    for row in rows:
        values: dict[str, Any] = {name: row[name] for name in _COLUMNS}
        values |= {name: kind(values[name]) for name, kind in _KINDS.items()}
        id_ = row["id"]
        yield ArchivedFact(
            **values, edges=tuple(edges.get(id_, ())), events=tuple(events.get(id_, ())), imported=marks.get(id_)
        )


def _events(conn: sqlite3.Connection, ids: str) -> dict[str, list[ArchivedEvent]]:
    rows = conn.execute(
        "select percept_id, at_ms, kind, actor, turn_id, weight_before, weight_after, note, undo, undone"
        " from percept_events where percept_id in (select value from json_each(?)) order by id",
        (ids,),
    )
    found: dict[str, list[ArchivedEvent]] = {}
    for row in rows:
        values = {name: row[name] for name in ArchivedEvent.__struct_fields__}
        values |= {"undo": decode(row["undo"], dict[str, Any]), "undone": bool(row["undone"])}
        found.setdefault(row["percept_id"], []).append(ArchivedEvent(**values))
    return found


def _edges(conn: sqlite3.Connection, ids: str, among: str, session_id: str | None) -> dict[str, list[ArchivedEdge]]:
    rows = conn.execute(
        "select e.source, e.target, e.kind, e.created_ms from percept_edges e join percepts t on t.id = e.target"
        f" where e.source in (select value from json_each(:ids)) and {among} order by e.id",
        {"ids": ids, "session": session_id},
    )
    found: dict[str, list[ArchivedEdge]] = {}
    for row in rows:
        edge = ArchivedEdge(kind=EdgeKind(row["kind"]), target=row["target"], created_ms=row["created_ms"])
        found.setdefault(row["source"], []).append(edge)
    return found
