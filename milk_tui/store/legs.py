"""Legs: one agent working on one turn, from its claim to its end."""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Mapping
from operator import itemgetter
from typing import TYPE_CHECKING

from msgspec import Struct

from milk_tui.core.records import ContextMode, Leg, LegError, LegStatus, Role, ToolCall, Usage
from milk_tui.store import remotes, sessions, tool_calls
from milk_tui.store.clock import now_ms
from milk_tui.store.rows import encode, id_list, known, one, sizes, storable, tuples

if TYPE_CHECKING:
    from sqlite_utils import Database

USAGE = tuple(Usage.__struct_fields__)
"""The columns of a usage; unknown is null."""


class LegIndex(Struct, frozen=True, gc=False):
    """What a list needs to know of a leg, without its texts."""

    id: int
    turn_id: int
    role: Role
    status: LegStatus
    escalated: bool
    started_ms: int
    ended_ms: int | None
    text_chars: int
    text_lines: int
    thinking_chars: int
    tools: int


class LegBody(Struct, frozen=True):
    """A leg with everything that is shown of it."""

    leg: Leg
    tools: tuple[ToolCall, ...]
    percept_ids: tuple[str, ...]
    """What was captured during it, in order."""


def create(
    db: Database,
    turn_id: int,
    *,
    role: Role,
    agent_name: str,
    model: str,
    mode: ContextMode,
    owner: str,
    reason: str = "",
    escalated: bool = False,
    remote_session: str | None = None,
    now: int | None = None,
) -> Leg:
    """Store a pending leg of the turn: nothing was sent yet. ``owner`` is ``Store.owner_id``."""
    cursor = db.execute(
        "insert into legs (session_id, turn_id, role, agent_name, model, mode, status, started_ms, reason,"
        " escalated, remote_session, owner)"
        " select session_id, id, ?, ?, ?, ?, 'pending', ?, ?, ?, ?, ? from turns where id = ?",
        (
            role,
            storable(agent_name),
            storable(model),
            mode,
            now_ms() if now is None else now,
            storable(reason),
            escalated,
            remote_session,
            owner,
            turn_id,
        ),
    )
    if cursor.rowcount != 1:
        one(None, f"turn {turn_id}")
    return get(db.conn, cursor.lastrowid or 0)


def claim(db: Database, leg_id: int, *, revision: int | None = None, now: int | None = None) -> Leg | None:
    """Take a pending leg to work on it; ``None`` when it was taken (``semantics.md`` §7, "Delivery").

    One conditional UPDATE, which also stores the revision of the agent's memory that the leg is given: ``revision``,
    or the head; negative when a new remote session was given nothing of it.
    """
    cursor = db.execute(
        "update legs set status = 'running', started_ms = ?, revision_at_delivery ="
        " coalesce(?, (select revision from agents where name = legs.agent_name collate nocase), 0)"
        " where id = ? and status = 'pending'",
        (now_ms() if now is None else now, revision, leg_id),
    )
    return get(db.conn, leg_id) if cursor.rowcount == 1 else None


def set_remote(db: Database, leg_id: int, remote_id: str, model: str = "") -> None:
    """The runtime has said in which of its own sessions it works, and perhaps which model it has chosen."""
    db.execute(
        "update legs set remote_session = ?, model = coalesce(nullif(?, ''), model) where id = ?",
        (storable(remote_id), storable(model), leg_id),
    )


def save_progress(db: Database, leg_id: int, *, text: str, thinking: str = "", usage: Usage | None = None) -> bool:
    """Keep what was streamed so far (whole texts, not pieces); False when the leg no longer runs."""
    return _write(db, leg_id, text, thinking, usage, "where id = ? and status = 'running'", {})


def finish(
    db: Database,
    leg_id: int,
    status: LegStatus,
    *,
    text: str,
    thinking: str = "",
    usage: Usage | None = None,
    error: LegError | None = None,
    now: int | None = None,
) -> bool:
    """End a running leg, once: False when it has ended.

    Only ``done`` acknowledges the delivery: it advances the remote session's ``last_seen``. A leg that failed
    or was stopped does not, so that the next one is given the same again (§7).
    """
    if status in (LegStatus.PENDING, LegStatus.RUNNING):
        raise ValueError(f"{status} is not an end")
    now = now_ms() if now is None else now
    changes = {"status": status, "ended_ms": now, "error": encode(error)}
    if not _write(db, leg_id, text, thinking, usage, "where id = ? and status = 'running'", changes):
        return False
    db.execute("update legs set ended_ms = started_ms where id = ? and ended_ms < started_ms", (leg_id,))
    leg = get(db.conn, leg_id)
    tool_calls.end_all(db, leg_id, now=now)
    sessions.touch(db, leg.session_id, now)
    if status is LegStatus.DONE:
        db.execute("update legs set acked_ms = ? where id = ? and acked_ms is null", (now, leg_id))
        if leg.revision_at_delivery >= 0:
            remotes.seen(
                db,
                session_id=leg.session_id,
                agent_name=leg.agent_name,
                remote_id=leg.remote_session,
                revision=leg.revision_at_delivery,
                now=now,
            )
    return True


def get(conn: sqlite3.Connection, leg_id: int) -> Leg:
    """Raises StoreError when it is not there."""
    row = conn.execute("select * from legs where id = ?", (leg_id,)).fetchone()
    return to_leg(one(row, f"leg {leg_id}"))


def index(conn: sqlite3.Connection, session_id: str) -> list[LegIndex]:
    """All legs of a session, oldest turn first; reads no text. 10,000 take some milliseconds."""
    rows = tuples(
        conn,
        "select id, turn_id, role, status, escalated, started_ms, ended_ms, text_chars, text_lines,"
        " thinking_chars, tools from legs where session_id = ? order by id",
        (session_id,),
    )
    rows.sort(key=itemgetter(1))
    roles = {role.value: role for role in Role}
    statuses = {status.value: status for status in LegStatus}
    return [
        LegIndex(leg, turn, roles[role], statuses[status], escalated == 1, begin, end, chars, n, thought, tools)
        for leg, turn, role, status, escalated, begin, end, chars, n, thought, tools in rows
    ]


def bodies(conn: sqlite3.Connection, leg_ids: Iterable[int]) -> dict[int, LegBody]:
    """The legs with their texts, tool calls and captures, by id."""
    ids = id_list(leg_ids)
    legs = conn.execute("select * from legs where id in (select value from json_each(?)) order by id", (ids,))
    found = {row["id"]: to_leg(row) for row in legs}
    tools = tool_calls.of_legs(conn, found)
    captured: dict[int, list[str]] = defaultdict(list)
    for row in conn.execute(
        "select leg_id, id from percepts where leg_id in (select value from json_each(?)) order by seq",
        (ids,),
    ):
        captured[row["leg_id"]].append(row["id"])
    return {leg_id: LegBody(leg, tools.get(leg_id, ()), tuple(captured[leg_id])) for leg_id, leg in found.items()}


def of_turn(conn: sqlite3.Connection, turn_id: int) -> list[Leg]:
    """In the order in which they ran."""
    return [to_leg(row) for row in conn.execute("select * from legs where turn_id = ? order by id", (turn_id,))]


def answered_after(conn: sqlite3.Connection, session_id: str, role: Role, leg_id: int) -> int:
    """How many legs of that role ended ``done`` after a leg."""
    row = conn.execute(
        "select count(*) from legs where session_id = ? and role = ? and id > ? and status = 'done'",
        (session_id, role, leg_id),
    ).fetchone()
    return int(row[0])


def last_answered(conn: sqlite3.Connection, session_id: str, role: Role) -> Leg | None:
    """The newest leg of that agent that ended ``done`` (``semantics.md`` §3)."""
    row = conn.execute(
        "select * from legs where session_id = ? and role = ? and status = 'done' order by id desc limit 1",
        (session_id, role),
    ).fetchone()
    return to_leg(row) if row else None


def last_with_text(conn: sqlite3.Connection, session_id: str) -> Leg | None:
    """The newest leg of the session that said something, whoever's."""
    row = conn.execute(
        "select * from legs where session_id = ? and text_chars > 0 and status <> 'pending' order by id desc limit 1",
        (session_id,),
    ).fetchone()
    return to_leg(row) if row else None


def last_texts(conn: sqlite3.Connection, session_id: str, role: Role, most: int) -> list[str]:
    """What the agent said in its newest answers, oldest first."""
    rows = conn.execute(
        "select text from legs where session_id = ? and role = ? and status = 'done' order by id desc limit ?",
        (session_id, role, most),
    ).fetchall()
    return [str(row[0]) for row in reversed(rows)]


def to_leg(row: sqlite3.Row, *, thinking: bool = True) -> Leg:
    return Leg(
        id=row["id"],
        turn_id=row["turn_id"],
        session_id=row["session_id"],
        role=Role(row["role"]),
        agent_name=row["agent_name"],
        model=row["model"],
        mode=ContextMode(row["mode"]),
        status=LegStatus(row["status"]),
        started_ms=row["started_ms"],
        ended_ms=row["ended_ms"],
        text=row["text"],
        thinking=row["thinking"] if thinking else "",
        usage=Usage(**{column: row[column] for column in USAGE}),
        error=known(row["error"], LegError),
        reason=row["reason"],
        remote_session=row["remote_session"],
        revision_at_delivery=row["revision_at_delivery"],
        escalated=bool(row["escalated"]),
    )


def _write(
    db: Database,
    leg_id: int,
    text: str,
    thinking: str,
    usage: Usage | None,
    where: str,
    changes: Mapping[str, object],
) -> bool:
    text, thinking = storable(text), storable(thinking)
    chars, lines = sizes(text)
    values: dict[str, object] = {
        "text": text,
        "text_chars": chars,
        "text_lines": lines,
        "thinking": thinking,
        "thinking_chars": len(thinking),
        **({column: getattr(usage, column) for column in USAGE} if usage is not None else {}),
        **changes,
    }
    columns = ", ".join(f"{column} = ?" for column in values)
    return db.execute(f"update legs set {columns} {where}", (*values.values(), leg_id)).rowcount == 1
