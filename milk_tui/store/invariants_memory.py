"""What can't be in facts and what belongs to them (``invariants.py``)."""

from __future__ import annotations

import sqlite3
from graphlib import CycleError, TopologicalSorter

from milk_tui.store.invariants import Impossible

_LENGTH = "(select length(b.vector) from percept_vectors b where b.model = percept_vectors.model"
_MOST = f"{_LENGTH} group by length(b.vector) order by count(*) desc, length(b.vector) desc limit 1)"
_NO_VECTOR = f"length(vector) = 0 or length(vector) % 2 <> 0 or length(vector) <> {_MOST}"

CIRCLE = "facts replace each other in a circle"
_REPLACES = (
    "select id, superseded_by from percepts where superseded_by is not null"
    " union select target, source from percept_edges where kind in ('updates', 'derives')"
)

ALL: tuple[Impossible, ...] = (
    Impossible(
        "a fact waits for a leg that has ended",
        "select percepts.id from percepts left join legs on legs.id = percepts.leg_id"
        " where percepts.status = 'staged' and coalesce(legs.status, '') <> 'running'",
        "update percepts set status = 'live', note = 'from an interrupted answer' where status = 'staged'"
        " and coalesce((select status from legs where id = percepts.leg_id), '') <> 'running'",
    ),
    Impossible(
        "a superseded fact names no successor",
        "select id from percepts where status = 'superseded' and superseded_by is null",
        "update percepts set status = 'forgotten' where status = 'superseded' and superseded_by is null",
    ),
    Impossible(
        "a fact that holds names a successor",
        "select id from percepts where status in ('staged', 'live', 'suspect') and superseded_by is not null",
        "update percepts set superseded_by = null"
        " where status in ('staged', 'live', 'suspect') and superseded_by is not null",
    ),
    Impossible(
        "a fact's hash is not that of its text",
        "select id from percepts where hash <> content_hash_of(content)",
        "update percepts set hash = content_hash_of(content) where hash <> content_hash_of(content)",
    ),
    Impossible(
        "a fact was learned in a leg of another turn",
        "select percepts.id from percepts join legs on legs.id = percepts.leg_id"
        " where percepts.turn_id <> legs.turn_id",
        "update percepts set turn_id = (select turn_id from legs where id = percepts.leg_id)"
        " where turn_id <> (select turn_id from legs where id = percepts.leg_id)",
    ),
    Impossible(
        "a session's fact was learned in another session's leg",
        "select percepts.id from percepts join legs on legs.id = percepts.leg_id"
        " where percepts.scope = 'session' and percepts.session_id <> legs.session_id",
        instead="Which of the two sessions it belongs to can't be known; share or forget it.",
    ),
    Impossible(
        "a fact speaks of itself",
        "select source from percept_edges where source = target",
        "delete from percept_edges where source = target",
    ),
    Impossible(
        "a forgotten fact can still be found by its meaning",
        "select percepts.id from percept_vectors join percepts using (seq) where percepts.status = 'forgotten'",
        "delete from percept_vectors where seq in (select seq from percepts where status = 'forgotten')",
    ),
    Impossible(
        "a vector is not one of its model",
        f"select seq from percept_vectors where {_NO_VECTOR}",
        f"delete from percept_vectors where {_NO_VECTOR}",
    ),
    Impossible(
        "a period ended with a turn that its session has not",
        "select session_id || ' ' || last_turn_id from consolidations join sessions on sessions.id = session_id"
        " where not exists (select 1 from turns where id = last_turn_id and turns.session_id = sessions.id)",
        instead="Counting it again would weaken its facts twice.",
    ),
)


def circle(conn: sqlite3.Connection) -> list[str]:
    """Facts of which each was replaced by the next and the last by the first; empty when there are none. Nothing then
    holds of what they say, and which of them should is the person's to decide."""
    after: TopologicalSorter[str] = TopologicalSorter()
    for old, new in conn.execute(_REPLACES):
        if old != new:
            after.add(new, old)
    try:
        after.prepare()
    except CycleError as found:
        return [str(percept_id) for percept_id in found.args[1][1:]]
    return []
