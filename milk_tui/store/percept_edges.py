"""How percepts relate: one extends, updates, derives from or contradicts another (``semantics.md`` §2)."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct

from milk_tui.core.lifecycle import Edge, EdgeKind
from milk_tui.core.records import Percept
from milk_tui.store import percept_events, percept_lists
from milk_tui.store.clock import now_ms
from milk_tui.store.rows import id_list

if TYPE_CHECKING:
    from sqlite_utils import Database

LINK, UNLINK = "link", "unlink"

_HOLDS = "in ('live', 'suspect')"


class EdgeChange(Struct, frozen=True, array_like=True):
    """An edge that came (``link``) or went (``unlink``): kept with an event, so that undoing it puts the edge right."""

    what: str
    source: str
    target: str
    kind: EdgeKind


class Link(Struct, frozen=True, kw_only=True):
    """An edge as one of its ends sees it: ``outgoing`` when that end is its source."""

    kind: EdgeKind
    outgoing: bool
    other: Percept


class Conflict(Struct, frozen=True, kw_only=True):
    """Two facts that may not both be true: at least one is suspect, and a person may decide."""

    newer: Percept
    older: Percept

    @property
    def ids(self) -> tuple[str, str]:
        return self.newer.id, self.older.id


def link(db: Database, source: str, target: str, kind: EdgeKind, *, now: int | None = None) -> list[EdgeChange]:
    """Nothing happens when the edge is there."""
    made = db.execute(
        "insert into percept_edges (source, target, kind, created_ms) values (?, ?, ?, ?) on conflict do nothing",
        (source, target, kind, now_ms() if now is None else now),
    )
    return [EdgeChange(LINK, source, target, kind)] if made.rowcount > 0 else []


def unlink(db: Database, source: str, target: str, kind: EdgeKind) -> list[EdgeChange]:
    """Nothing happens when there is no such edge."""
    gone = db.execute("delete from percept_edges where source = ? and target = ? and kind = ?", (source, target, kind))
    return [EdgeChange(UNLINK, source, target, kind)] if gone.rowcount > 0 else []


def take_back(db: Database, changes: Iterable[EdgeChange]) -> None:
    """Undo changes; an end that is no longer stored has no edge."""
    for change in changes:
        if change.what == LINK:
            unlink(db, change.source, change.target, change.kind)
        elif len(percept_lists.many(db.conn, {change.source, change.target})) == 2:
            link(db, change.source, change.target, change.kind)


def kept(values: dict[str, Any]) -> list[EdgeChange]:
    """Take the edges out of what an event keeps for its undoing; the columns stay."""
    return msgspec.convert(values.pop(percept_events.EDGES, []), list[EdgeChange])


def all_of(conn: sqlite3.Connection, ids: Iterable[str]) -> list[Edge]:
    """The edges that have both ends among these percepts."""
    listed = id_list(ids)
    rows = conn.execute(
        "select source, target, kind from percept_edges where source in (select value from json_each(?1))"
        " and target in (select value from json_each(?1)) order by id",
        (listed,),
    )
    return [Edge(source=row["source"], target=row["target"], kind=EdgeKind(row["kind"])) for row in rows]


def touching(conn: sqlite3.Connection, ids: Iterable[str]) -> list[Edge]:
    """The edges that have at least one end among these percepts."""
    rows = conn.execute(
        "select source, target, kind from percept_edges where source in (select value from json_each(?1))"
        " union select source, target, kind from percept_edges where target in (select value from json_each(?1))",
        (id_list(ids),),
    )
    return [Edge(source=row["source"], target=row["target"], kind=EdgeKind(row["kind"])) for row in rows]


def links(conn: sqlite3.Connection, percept_id: str) -> list[Link]:
    """The percept's edges, oldest first."""
    rows = conn.execute(
        "select source, target, kind from percept_edges where source = ?1 or target = ?1 order by id", (percept_id,)
    ).fetchall()
    ends = percept_lists.many(conn, {row[end] for row in rows for end in ("source", "target")})
    return [
        Link(kind=EdgeKind(row["kind"]), outgoing=outgoing, other=ends[row["target" if outgoing else "source"]])
        for row in rows
        for outgoing in (row["source"] == percept_id,)
    ]


def conflicts(
    conn: sqlite3.Connection, session_id: str, *, percept_id: str | None = None, limit: int = 500
) -> list[Conflict]:
    """The undecided pairs in reach of the session, the newest first; those of one percept when it is named."""
    rows = conn.execute(
        f"""
        select e.source, e.target from percept_edges e
        join percepts a on a.id = e.source join percepts b on b.id = e.target
        where e.kind = 'contradicts' and a.status {_HOLDS} and b.status {_HOLDS}
            and (a.status = 'suspect' or b.status = 'suspect')
            and (a.scope = 'global' or a.session_id = ?1) and (b.scope = 'global' or b.session_id = ?1)
            and (?2 is null or ?2 in (e.source, e.target))
        order by e.id desc limit ?3
        """,
        (session_id, percept_id, limit),
    ).fetchall()
    ends = percept_lists.many(conn, {row[end] for row in rows for end in ("source", "target")})
    found: dict[frozenset[str], Conflict] = {}
    for row in rows:
        one, other = ends[row["source"]], ends[row["target"]]
        newer, older = (one, other) if _age(one) >= _age(other) else (other, one)
        found.setdefault(frozenset((newer.id, older.id)), Conflict(newer=newer, older=older))
    return list(found.values())


def _age(percept: Percept) -> int:
    return percept.valid_from_ms or percept.created_ms
