"""Turns: a prompt is stored before anything is done about it (``architecture.md``, "One turn")."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from typing import TYPE_CHECKING

from msgspec import Struct

from milk_tui.core.records import RouteDecision, Turn, TurnStatus
from milk_tui.store import history, sessions
from milk_tui.store.clock import now_ms
from milk_tui.store.rows import encode, id_list, known, one, sizes, storable, tuples

if TYPE_CHECKING:
    from sqlite_utils import Database


class TurnIndex(Struct, frozen=True, gc=False):
    """What a list needs to know of a turn, without its prompt."""

    id: int
    status: TurnStatus
    queued: bool
    created_ms: int
    prompt_chars: int
    prompt_lines: int


def add(
    db: Database,
    session_id: str,
    prompt: str,
    *,
    owner: str,
    queued: bool = False,
    route: RouteDecision | None = None,
    now: int | None = None,
) -> Turn:
    """Store a pending turn, and its prompt in the history of the session's directory.

    ``owner`` is ``Store.owner_id``; ``queued`` says that it has to wait, ``route`` where the person wants it to go.
    The session becomes the newest of its directory and its revision counts one more.
    """
    now = now_ms() if now is None else now
    prompt = storable(prompt)
    chars, lines = sizes(prompt)
    cursor = db.execute(
        "insert into turns"
        " (session_id, created_ms, status, queued, owner, prompt_chars, prompt_lines, route, prompt)"
        " values (?, ?, 'pending', ?, ?, ?, ?, ?, ?)",
        (session_id, now, queued, owner, chars, lines, encode(route), prompt),
    )
    row = db.conn.execute("select directory from sessions where id = ?", (session_id,)).fetchone()
    history.add(db, directory=one(row, f"session {session_id}")[0], text=prompt, session_id=session_id, now=now)
    sessions.touch(db, session_id, now)
    sessions.bump_revision(db, session_id)
    return get(db.conn, cursor.lastrowid or 0)


def get(conn: sqlite3.Connection, turn_id: int) -> Turn:
    """Raises StoreError when it is not there."""
    row = conn.execute("select * from turns where id = ?", (turn_id,)).fetchone()
    return _turn(one(row, f"turn {turn_id}"))


def many(conn: sqlite3.Connection, turn_ids: Iterable[int]) -> dict[int, Turn]:
    """Those of the turns that are there, by id."""
    rows = conn.execute("select * from turns where id in (select value from json_each(?))", (id_list(turn_ids),))
    return {row["id"]: _turn(row) for row in rows}


def index(conn: sqlite3.Connection, session_id: str) -> list[TurnIndex]:
    """All turns of a session, oldest first; reads no prompt."""
    rows = tuples(
        conn,
        "select id, status, queued, created_ms, prompt_chars, prompt_lines from turns where session_id = ? order by id",
        (session_id,),
    )
    statuses = {status.value: status for status in TurnStatus}
    return [TurnIndex(id_, statuses[status], q == 1, ms, chars, n) for id_, status, q, ms, chars, n in rows]


def last_id(conn: sqlite3.Connection, session_id: str) -> int:
    """The newest turn of the session; 0 when there is none."""
    row = conn.execute("select max(id) from turns where session_id = ?", (session_id,)).fetchone()
    return int(row[0] or 0)


def count_after(conn: sqlite3.Connection, session_id: str, turn_id: int, *, before: int) -> int:
    """How many turns of the session stand between two positions, both left out."""
    row = conn.execute(
        "select count(*) from turns where session_id = ? and id > ? and id < ?", (session_id, turn_id, before)
    ).fetchone()
    return int(row[0])


def last_asked_id(conn: sqlite3.Connection, session_id: str) -> int:
    """The newest turn that was meant for an agent, not a command of the person; 0 when there is none."""
    row = conn.execute(
        "select max(id) from turns where session_id = ? and coalesce(json_extract(route, '$.rule'), '') <> 'command'",
        (session_id,),
    ).fetchone()
    return int(row[0] or 0)


def queued(conn: sqlite3.Connection, session_id: str) -> list[Turn]:
    """Prompts that nothing was done about yet, oldest first; also those left by a run that ended."""
    rows = conn.execute("select * from turns where session_id = ? and status = 'pending' order by id", (session_id,))
    return [_turn(row) for row in rows]


def waiting(conn: sqlite3.Connection, session_id: str) -> list[tuple[Turn, str | None]]:
    """As ``queued``, each with the program that it waits for."""
    rows = conn.execute("select * from turns where session_id = ? and status = 'pending' order by id", (session_id,))
    return [(_turn(row), row["owner"]) for row in rows]


def start(db: Database, turn_id: int, route: RouteDecision, *, owner: str) -> bool:
    """Begin to work on a pending turn; False when another program did, or it was dropped."""
    return _changed(
        db,
        "update turns set status = 'running', queued = 0, route = ?, owner = ? where id = ? and status = 'pending'",
        (encode(route), owner, turn_id),
    )


def set_route(db: Database, turn_id: int, route: RouteDecision) -> None:
    """The turn goes another way than it began (an agent handed over, or is down)."""
    db.execute("update turns set route = ? where id = ?", (encode(route), turn_id))


def finish(db: Database, turn_id: int, status: TurnStatus) -> bool:
    """Give an open turn its final status; False when it has one."""
    if status in (TurnStatus.PENDING, TurnStatus.RUNNING):
        raise ValueError(f"{status} is not final")
    return _changed(
        db,
        "update turns set status = ?, queued = 0 where id = ? and status in ('pending', 'running')",
        (status, turn_id),
    )


def drop(db: Database, turn_id: int) -> Turn | None:
    """Take back a prompt that nothing was done about; ``None`` when it is too late."""
    gone = _changed(
        db,
        "update turns set status = 'cancelled', queued = 0 where id = ? and status = 'pending'",
        (turn_id,),
    )
    return get(db.conn, turn_id) if gone else None


def exchange(db: Database, one_id: int, other_id: int) -> tuple[Turn, Turn] | None:
    """Let two prompts that wait change places: what they say, where they go, what was attached to each.

    The turns as they are then; ``None`` when one of them waits no more.
    """
    said = "prompt, prompt_chars, prompt_lines, route"
    rows = {
        row["id"]: row
        for row in db.conn.execute(
            f"select id, {said} from turns where id in (?, ?) and status = 'pending'", (one_id, other_id)
        )
    }
    if len(rows) != 2:
        return None
    for to, source in ((one_id, rows[other_id]), (other_id, rows[one_id])):
        db.execute(f"update turns set ({said}) = (?, ?, ?, ?) where id = ?", (*tuple(source)[1:], to))
    for column in ("turn_id", "shown_turn_id"):
        db.execute(
            f"update attachments set {column} = case {column} when ?1 then ?2 else ?1 end where {column} in (?1, ?2)",
            (one_id, other_id),
        )
    return get(db.conn, one_id), get(db.conn, other_id)


def _changed(db: Database, sql: str, parameters: tuple[object, ...]) -> bool:
    return db.execute(sql, parameters).rowcount == 1


def _turn(row: sqlite3.Row) -> Turn:
    return Turn(
        id=row["id"],
        session_id=row["session_id"],
        created_ms=row["created_ms"],
        prompt=row["prompt"],
        status=TurnStatus(row["status"]),
        route=known(row["route"], RouteDecision),
        queued=bool(row["queued"]),
    )
