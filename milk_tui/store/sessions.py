"""Sessions: one dual-agent conversation in one directory each."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING, Any

from msgspec import UNSET, UnsetType

from milk_tui.core.errors import MilkError
from milk_tui.core.records import AgentName, Role, Session, SessionRow
from milk_tui.store import agents
from milk_tui.store.clock import now_ms
from milk_tui.store.ids import new_id
from milk_tui.store.rows import one, storable

if TYPE_CHECKING:
    from sqlite_utils import Database

_SHORTEST_ID = 4
"""Digits of an id that may stand for it on a command line."""


def create(
    db: Database,
    *,
    directory: str,
    primary: AgentName,
    escalation: AgentName | None = None,
    title: str = "",
    outside: bool = False,
    now: int | None = None,
) -> Session:
    """``outside``: for clients that are none of the agents, in place of one that the person has deleted."""
    now = now_ms() if now is None else now
    if outside:
        db.execute("delete from sessions where directory = ? and outside = 1", (storable(directory),))
    session_id = new_id()
    db.table("sessions").insert(
        {
            "id": session_id,
            "directory": storable(directory),
            "title": storable(title),
            "created_ms": now,
            "updated_ms": now,
            "outside": outside,
        }
    )
    for agent in (primary, escalation):
        if agent is not None:
            agents.put(db, session_id, agent)
    return get(db.conn, session_id)


def get(conn: sqlite3.Connection, session_id: str) -> Session:
    """Raises StoreError when it is not there."""
    row = conn.execute("select * from sessions where id = ?", (session_id,)).fetchone()
    return _session(conn, one(row, f"session {session_id}"))


def directory_of(conn: sqlite3.Connection, session_id: str) -> str | None:
    """The session's directory; ``None`` when it is not there."""
    row = conn.execute("select directory from sessions where id = ?", (session_id,)).fetchone()
    return str(row[0]) if row else None


def newest(conn: sqlite3.Connection, directory: str) -> Session | None:
    """The session of the directory that was used last."""
    row = conn.execute(
        "select * from sessions where directory = ? and outside = 0 and deleted_ms is null"
        " order by updated_ms desc, created_ms desc, rowid desc limit 1",
        (storable(directory),),
    ).fetchone()
    return _session(conn, row) if row else None


def outside_of(conn: sqlite3.Connection, directory: str) -> Session | None:
    """What clients that are none of the agents stated in the directory; it is listed nowhere."""
    row = conn.execute(
        "select * from sessions where directory = ? and outside = 1 and deleted_ms is null", (storable(directory),)
    ).fetchone()
    return _session(conn, row) if row else None


def by_name(conn: sqlite3.Connection, name: str, directory: str | None = None) -> Session | None:
    """The session that a person means: by title (the newest of several), else by the beginning of its id (at
    least four digits). Those of ``directory`` come first. Raises MilkError when the beginning fits
    several."""
    found = conn.execute(
        "select * from sessions where title = ?1 collate nocase and deleted_ms is null"
        " order by directory = ?2 desc, title = ?1 desc, updated_ms desc limit 1",
        (storable(name), directory or ""),
    ).fetchone()
    if found is not None:
        return _session(conn, found)
    beginning = name.strip().lower()
    if len(beginning) < _SHORTEST_ID or not set(beginning) <= set("0123456789abcdef-"):
        return None
    rows = conn.execute(
        "select * from sessions where id >= ? and id < ? and deleted_ms is null limit 2", (beginning, beginning + "g")
    ).fetchall()
    if len(rows) > 1:
        raise MilkError(f"“{name}” is the beginning of several sessions' ids.", "Give more of it.")
    return _session(conn, rows[0]) if rows else None


def rows(conn: sqlite3.Connection, directory: str | None = None, *, limit: int = 500) -> list[SessionRow]:
    """For a list, newest first; ``None`` is every directory."""
    found = conn.execute(
        """
        select s.id, s.directory, s.title, s.updated_ms, s.created_ms,
            (select count(*) from turns where session_id = s.id) as turns,
            coalesce((select prompt from turns where session_id = s.id order by id desc limit 1), '')
                as last_prompt,
            coalesce((select group_concat(name, ' · ') from
                (select name from session_agents where session_id = s.id order by role = 'escalation')), '')
                as agents,
            (select sum(cost_usd) from legs where session_id = s.id) as cost_usd
        from sessions s where s.outside = 0 and s.deleted_ms is null and (?1 is null or s.directory = ?1)
        order by s.updated_ms desc, s.created_ms desc, s.rowid desc limit ?2
        """,
        (None if directory is None else storable(directory), limit),
    )
    return [SessionRow(**dict(row)) for row in found]


def rename(db: Database, session_id: str, title: str) -> None:
    db.execute("update sessions set title = ? where id = ?", (storable(title), session_id))


def delete(db: Database, session_id: str) -> None:
    """Remove the session with its turns, legs, bricks and its own facts; facts of all sessions stay."""
    db.execute("delete from sessions where id = ?", (session_id,))
    db.execute("delete from segment_texts where hash not in (select hash from segments)")


def owners(conn: sqlite3.Connection, session_id: str) -> set[str]:
    """Who works, or worked when it died, on turns and legs of the session that have not ended."""
    rows = conn.execute(
        "select owner from turns where session_id = ?1 and status in ('pending', 'running')"
        " union select owner from legs where session_id = ?1 and status in ('pending', 'running')",
        (session_id,),
    )
    return {row["owner"] for row in rows if row["owner"]}


def touch(db: Database, session_id: str, now: int | None = None) -> None:
    """The session was used now; it becomes the newest of its directory."""
    now = now_ms() if now is None else now
    db.execute("update sessions set updated_ms = max(updated_ms, ?) where id = ?", (now, session_id))


def set_state(
    db: Database,
    session_id: str,
    *,
    pinned_agent: Role | UnsetType | None = UNSET,
    sticky: Role | UnsetType | None = UNSET,
    waiting: Role | UnsetType | None = UNSET,
    draft: str | UnsetType = UNSET,
) -> Session:
    """Change what is given, keep the rest."""
    given: dict[str, Any] = {
        "pinned_agent": pinned_agent,
        "sticky": sticky,
        "waiting": waiting,
        "draft": draft,
    }
    changes = {column: value for column, value in given.items() if value is not UNSET}
    if isinstance(draft, str):
        changes["draft"] = storable(draft)
    if changes:
        db.table("sessions").update(session_id, changes)
    return get(db.conn, session_id)


def forget_draft(db: Database, session_id: str, sent: str) -> None:
    """The prompt ``sent`` is stored: a draft that is it, or its beginning, is no draft any more."""
    row = db.conn.execute("select draft from sessions where id = ?", (session_id,)).fetchone()
    if row is not None and (draft := row["draft"].strip()) and sent.startswith(draft):
        db.execute("update sessions set draft = '' where id = ?", (session_id,))


def bump_revision(db: Database, session_id: str) -> int:
    """Count one more turn that was appended to the session; the new revision."""
    db.execute("update sessions set revision = revision + 1 where id = ?", (session_id,))
    row = db.conn.execute("select revision from sessions where id = ?", (session_id,)).fetchone()
    return int(one(row, f"session {session_id}")[0])


def _session(conn: sqlite3.Connection, row: sqlite3.Row) -> Session:
    of_session = agents.of_session(conn, row["id"])
    return Session(
        id=row["id"],
        directory=row["directory"],
        title=row["title"],
        created_ms=row["created_ms"],
        updated_ms=row["updated_ms"],
        primary=of_session[Role.PRIMARY],
        escalation=of_session.get(Role.ESCALATION),
        pinned_agent=_role(row["pinned_agent"]),
        sticky=_role(row["sticky"]),
        waiting=_role(row["waiting"]),
        draft=row["draft"],
        revision=row["revision"],
    )


def _role(value: str | None) -> Role | None:
    return None if value is None else Role(value)
