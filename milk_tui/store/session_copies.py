"""A session once more, from its beginning to one of its turns: the person goes another way from there.

The copy has its turns with all that was said, sent and called in them, its bricks and working set as they were, and
facts of its own in the same words. It has nonces of its own, and no runtime's session: its agents begin anew.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from typing import TYPE_CHECKING

from msgspec import structs

from milk_tui.core.archive import ArchivedFact
from milk_tui.core.errors import MilkError
from milk_tui.core.records import PerceptScope, Role, Session
from milk_tui.store import percept_archive, session_choices, sessions, turns
from milk_tui.store.clock import now_ms
from milk_tui.store.ids import SHORT_DIGITS, free_percept_id

if TYPE_CHECKING:
    from sqlite_utils import Database

_OPEN = ("pending", "running")


def fork(
    db: Database,
    session_id: str,
    *,
    nonces: Mapping[Role, str],
    title: str,
    last_turn: int | None = None,
    now: int | None = None,
) -> Session:
    """Copy a session up to and with ``last_turn`` (all of it: ``None``). What has not ended is no part of the copy.

    Raises MilkError when the session has no such turn.
    """
    now = now_ms() if now is None else now
    conn = db.conn
    source = sessions.get(conn, session_id)
    kept = [turn.id for turn in turns.index(conn, session_id) if turn.status.value not in _OPEN]
    if last_turn is not None:
        if last_turn not in kept:
            raise MilkError(f"The session has no turn {last_turn} that has ended.")
        kept = [turn_id for turn_id in kept if turn_id <= last_turn]
    copy = sessions.create(
        db,
        directory=source.directory,
        primary=structs.replace(source.primary, nonce=nonces[Role.PRIMARY]),
        escalation=structs.replace(source.escalation, nonce=nonces[Role.ESCALATION]) if source.escalation else None,
        title=title,
        now=now,
    )
    for role, spec in session_choices.of_session(conn, session_id).items():
        session_choices.put(db, copy.id, role, spec)
    of_turn = {turn_id: _copied(db, "turns", turn_id, session_id=copy.id, owner=None) for turn_id in kept}
    of_leg: dict[int, int] = {}
    for old, new in of_turn.items():
        for row in conn.execute("select id from legs where turn_id = ? order by id", (old,)).fetchall():
            of_leg[row["id"]] = _copied(
                db, "legs", row["id"], session_id=copy.id, turn_id=new, remote_session=None, owner=None
            )
    for old, new in of_leg.items():
        for row in conn.execute("select id from tool_calls where leg_id = ? order by id", (old,)).fetchall():
            _copied(db, "tool_calls", row["id"], leg_id=new)
        columns = "position, name, hash, stable, included, why, shrunk_from"
        db.execute(
            f"insert into segments (leg_id, {columns}) select ?, {columns} from segments where leg_id = ?", (new, old)
        )
    _attachments(db, session_id, copy.id, of_turn)
    _bricks(db, session_id, copy.id, of_turn, of_leg)
    _working_set(db, session_id, copy.id, of_turn)
    _facts(db, session_id, copy.id, of_turn, of_leg)
    db.execute("update sessions set revision = ? where id = ?", (len(kept), copy.id))
    return sessions.get(conn, copy.id)


def _copied(db: Database, table: str, row_id: int, **changes: object) -> int:
    """The row once more with these values; its new id."""
    columns = [row["name"] for row in db.conn.execute(f"pragma table_info({table})") if row["name"] != "id"]
    values = ", ".join("?" if column in changes else column for column in columns)
    given = [changes[column] for column in columns if column in changes]
    cursor = db.execute(
        f"insert into {table} ({', '.join(columns)}) select {values} from {table} where id = ?", (*given, row_id)
    )
    return cursor.lastrowid or 0


def _attachments(db: Database, old: str, new: str, of_turn: Mapping[int, int]) -> None:
    for row in _rows(db, "select id, turn_id, shown_turn_id from attachments where session_id = ? order by id", old):
        if row["turn_id"] in of_turn:
            shown = of_turn.get(row["shown_turn_id"])
            _copied(db, "attachments", row["id"], session_id=new, turn_id=of_turn[row["turn_id"]], shown_turn_id=shown)


def _bricks(db: Database, old: str, new: str, of_turn: Mapping[int, int], of_leg: Mapping[int, int]) -> None:
    last = max(of_turn, default=0)
    for row in _rows(db, "select id, turn_id, delivered_leg from bricks where session_id = ? order by id", old):
        if row["turn_id"] <= last:
            _copied(
                db,
                "bricks",
                row["id"],
                session_id=new,
                turn_id=_not_after(of_turn, row["turn_id"]),
                delivered_leg=of_leg.get(row["delivered_leg"]),
            )


def _working_set(db: Database, old: str, new: str, of_turn: Mapping[int, int]) -> None:
    last = max(of_turn, default=0)
    query = (
        "select id, turn_id, as_of_turn from perception_entries where session_id = ? and layer = 'working' order by id"
    )
    for row in _rows(db, query, old):
        if row["as_of_turn"] <= last:
            turn_id = None if row["turn_id"] is None else _not_after(of_turn, row["turn_id"])
            as_of = _not_after(of_turn, row["as_of_turn"])
            _copied(db, "perception_entries", row["id"], session_id=new, turn_id=turn_id, as_of_turn=as_of)


def _facts(db: Database, old: str, new: str, of_turn: Mapping[int, int], of_leg: Mapping[int, int]) -> None:
    """The session's own facts that were learned by then; those of all sessions are seen from the copy anyway."""
    conn = db.conn
    own = [
        fact
        for fact in percept_archive.facts(conn, old, everything=True)
        if fact.scope is PerceptScope.SESSION and fact.session_id == old
        if fact.turn_id is None or fact.turn_id in of_turn
    ]
    taken: set[str] = set()
    ids: dict[str, str] = {}
    for fact in own:
        ids[fact.id] = free_percept_id(conn, None, taken)
        taken.add(ids[fact.id][:SHORT_DIGITS])
    copies = [_fact(fact, ids, new, of_turn, of_leg) for fact in own]
    percept_archive.put(db, copies)
    for copy in copies:
        percept_archive.put_edges(db, copy.id, copy.edges)


def _fact(
    fact: ArchivedFact, ids: Mapping[str, str], session_id: str, of_turn: Mapping[int, int], of_leg: Mapping[int, int]
) -> ArchivedFact:
    return structs.replace(
        fact,
        id=ids[fact.id],
        session_id=session_id,
        turn_id=of_turn.get(fact.turn_id or 0),
        leg_id=of_leg.get(fact.leg_id or 0),
        superseded_by=ids.get(fact.superseded_by, fact.superseded_by) if fact.superseded_by else None,
        edges=tuple(structs.replace(edge, target=ids.get(edge.target, edge.target)) for edge in fact.edges),
        events=tuple(
            structs.replace(event, turn_id=of_turn.get(event.turn_id or 0), undo=None) for event in fact.events
        ),
    )


def _not_after(of_turn: Mapping[int, int], turn_id: int) -> int:
    """The copy of the turn, or of the last one before it; 0 when there is none."""
    before = [old for old in of_turn if old <= turn_id]
    return of_turn[max(before)] if before else 0


def _rows(db: Database, query: str, session_id: str) -> list[sqlite3.Row]:
    return db.conn.execute(query, (session_id,)).fetchall()
