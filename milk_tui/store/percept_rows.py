"""One percept's row: finding the one that is meant or says the same, making it, changing it with its event."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from milk_tui.core import percepts as rules
from milk_tui.core.errors import MilkError
from milk_tui.core.records import Consumer, Percept, PerceptScope, PerceptStatus, Producer
from milk_tui.core.text import one_line
from milk_tui.store import moments, percept_events, percept_lists
from milk_tui.store.clock import now_ms
from milk_tui.store.ids import new_percept_id
from milk_tui.store.moments import Moment
from milk_tui.store.rows import id_list, storable

if TYPE_CHECKING:
    from sqlite_utils import Database

    from milk_tui.store.percept_edges import EdgeChange

_REACH = "(p.scope = 'global' or p.session_id = ?)"


def known(conn: sqlite3.Connection, reference: str) -> Percept:
    """The percept that a person or an agent names. Raises MilkError when there is none, or several."""
    percept = percept_lists.get(conn, reference)
    if percept is None:
        shown = one_line(reference, 40).removeprefix("#")
        raise MilkError(f"There is no fact #{shown}.", "Its id stands before each fact in the sidebar.")
    return percept


def same(conn: sqlite3.Connection, digest: str, session_id: str | None) -> Percept | None:
    """The known fact with that hash in reach of the session."""
    found = percept_lists.select(
        conn,
        f"p.hash = ? and p.status in ('live', 'suspect') and {_REACH} order by p.scope = 'global' desc, p.seq limit 1",
        (digest, session_id),
    )
    return found[0] if found else None


def forgotten_twin(conn: sqlite3.Connection, digest: str, session_id: str | None) -> Percept | None:
    """The fact with that hash in reach of the session that was forgotten last."""
    found = percept_lists.select(
        conn,
        f"p.hash = ? and p.status = 'forgotten' and {_REACH} order by p.updated_ms desc limit 1",
        (digest, session_id),
    )
    return found[0] if found else None


def insert(
    db: Database,
    *,
    content: str,
    producer: Producer,
    consumer: Consumer,
    scope: PerceptScope,
    status: PerceptStatus,
    session_id: str | None,
    turn_id: int | None,
    now: int,
    leg_id: int | None = None,
    agent_name: str = "",
    subject: str = "",
    pinned: bool = False,
    tainted: bool = False,
    position: int | None = None,
) -> Percept:
    """A new row; ``content`` was admitted by the caller, who also records the event.

    ``position``: characters of the leg's answer that came before it.
    """
    moment = _moment(db.conn, session_id, turn_id, leg_id, position)
    percept_id = new_percept_id(db.conn)
    db.table("percepts").insert(
        {
            "id": percept_id,
            "producer": producer,
            "agent_name": storable(agent_name),
            "consumer": consumer,
            "scope": scope,
            "weight": rules.birth(producer, pinned, tainted=tainted),
            "pinned": pinned,
            "status": status,
            "tainted": tainted,
            "created_ms": now,
            "updated_ms": now,
            "confirmed_ms": now,
            "session_id": session_id,
            "turn_id": turn_id,
            "leg_id": leg_id,
            "valid_from_ms": now,
            "hash": rules.content_hash(content),
            "subject": rules.normalise(subject),
            "content": content,
            "source": moment.source,
            "context": moment.context,
            "position": position,
        }
    )
    return percept_lists.many(db.conn, [percept_id])[percept_id]


def change(
    db: Database,
    percept: Percept,
    kind: str,
    values: dict[str, Any],
    *,
    actor: str,
    turn_id: int | None = None,
    note: str = "",
    undoable: bool = True,
    edges: Sequence[EdgeChange] = (),
    now: int | None = None,
) -> Percept:
    """Set the columns of ``values`` and record the event ``kind``, with what it takes to undo it.

    ``edges`` came or went with the change; they are put right when it is undone.
    """
    now = now_ms() if now is None else now
    row = db.conn.execute("select * from percepts where id = ?", (percept.id,)).fetchone()
    before: dict[str, Any] = {column: row[column] for column in values}
    if edges:
        before[percept_events.EDGES] = list(edges)
    columns = "".join(f", {column} = ?" for column in values)
    db.execute(f"update percepts set updated_ms = ?{columns} where id = ?", (now, *values.values(), percept.id))
    after = percept_lists.many(db.conn, [percept.id])[percept.id]
    percept_events.record(
        db,
        after,
        kind,
        actor=actor,
        before=percept,
        turn_id=turn_id,
        note=note,
        undo=before if undoable else None,
        now=now,
    )
    return after


def delete(db: Database, ids: list[str]) -> None:
    """Remove rows as if they had never been: only for what was staged."""
    db.execute("delete from percepts where id in (select value from json_each(?))", (id_list(ids),))


def settle_moment(db: Database, percept: Percept) -> None:
    """The answer has ended: what it says around the fact is known in full."""
    if percept.turn_id is None or percept.leg_id is None:
        return
    row = db.conn.execute("select position, source from percepts where id = ?", (percept.id,)).fetchone()
    moment = moments.of_leg(db.conn, percept.turn_id, percept.leg_id, row["position"])
    if moment.source != row["source"]:
        db.execute("update percepts set source = ? where id = ?", (moment.source, percept.id))


def _moment(
    conn: sqlite3.Connection, session_id: str | None, turn_id: int | None, leg_id: int | None, position: int | None
) -> Moment:
    if turn_id is not None:
        return moments.of_leg(conn, turn_id, leg_id, position)
    return moments.of_session(conn, session_id) if session_id else Moment()
