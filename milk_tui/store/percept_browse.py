"""What a person sees of memory: every fact in reach of a session, those that are gone too, and what is to be decided.
"""

from __future__ import annotations

import sqlite3

from msgspec import Struct

from milk_tui.core.lifecycle import RESTORE_DAYS
from milk_tui.core.records import Layer, Percept, PerceptionEntry
from milk_tui.store import percept_edges, percept_lists, perception
from milk_tui.store.percept_edges import Conflict

_REACH = "(p.scope = 'global' or p.session_id = ?)"
_LATEST = "order by p.updated_ms desc, p.seq desc limit ?"
_DAY_MS = 86_400_000


class Shelves(Struct, frozen=True, kw_only=True):
    """The facts in reach of a session by what became of them; each list in the order in which it is shown."""

    held: tuple[Percept, ...]
    """Staged, live and suspect: pinned ones first, then the session's, then the global ones, the weightiest first."""

    quarantined: tuple[Percept, ...]
    superseded: tuple[Percept, ...]
    forgotten: tuple[Percept, ...]
    """Those that can still be restored."""
    conflicts: tuple[Conflict, ...]
    proposals: tuple[PerceptionEntry, ...]
    """Invariants that an agent proposed and nobody has accepted."""


def shelves(conn: sqlite3.Connection, session_id: str, *, now: int, limit: int = 10_000, gone: int = 2_000) -> Shelves:
    """``limit`` bounds each group of facts that hold, ``gone`` each list of those that don't."""
    groups = percept_lists.groups(conn, session_id, limit=limit)
    since = now - RESTORE_DAYS * _DAY_MS
    return Shelves(
        held=(*groups.pinned, *groups.session, *groups.shared),
        quarantined=_of_status(conn, session_id, "quarantined", gone),
        superseded=_of_status(conn, session_id, "superseded", gone),
        forgotten=_of_status(conn, session_id, "forgotten", gone, since=since),
        conflicts=tuple(percept_edges.conflicts(conn, session_id)),
        proposals=proposals(conn, session_id),
    )


def proposals(conn: sqlite3.Connection, session_id: str) -> tuple[PerceptionEntry, ...]:
    return tuple(entry for entry in perception.current(conn, session_id, Layer.INVARIANT) if entry.proposed)


def successors(conn: sqlite3.Connection, percept: Percept) -> tuple[Percept | None, tuple[Percept, ...]]:
    """What stands in the percept's place, and what it stands in the place of, the newest first."""
    by = percept_lists.many(conn, [percept.superseded_by]).get(percept.superseded_by) if percept.superseded_by else None
    rows = conn.execute(
        "select target from percept_edges where source = ? and kind in ('updates', 'derives')"
        " order by id desc limit 100",
        (percept.id,),
    ).fetchall()
    ids = [row[0] for row in rows]
    found = percept_lists.many(conn, ids)
    return by, tuple(found[id_] for id_ in ids if found[id_].superseded_by == percept.id)


def _of_status(
    conn: sqlite3.Connection, session_id: str, status: str, limit: int, *, since: int = 0
) -> tuple[Percept, ...]:
    where = f"p.status = ? and {_REACH} and p.updated_ms >= ? {_LATEST}"
    return tuple(percept_lists.select(conn, where, (status, session_id, since, limit)))
