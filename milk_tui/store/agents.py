"""The agents: those of a session with their nonces, and what is counted for one name across sessions."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

from milk_tui.core.records import AgentName, Role

if TYPE_CHECKING:
    from sqlite_utils import Database


def of_session(conn: sqlite3.Connection, session_id: str) -> dict[Role, AgentName]:
    rows = conn.execute("select role, name, model, nonce from session_agents where session_id = ?", (session_id,))
    return {Role(r["role"]): AgentName(**{**dict(r), "role": Role(r["role"])}) for r in rows}


def nonces(conn: sqlite3.Connection, session_id: str | None = None) -> tuple[str, ...]:
    """The live nonces of one session, or of all: to mask them, and to refuse a fact that holds one."""
    rows = conn.execute("select distinct nonce from session_agents where ?1 is null or session_id = ?1", (session_id,))
    return tuple(row[0] for row in rows)


def put(db: Database, session_id: str, agent: AgentName) -> None:
    """Give the role of a session to an agent: new, or another name or model. Two agents with one name are
    refused by the table."""
    db.execute(
        "insert into session_agents (session_id, role, name, model, nonce) values (?, ?, ?, ?, ?)"
        " on conflict (session_id, role) do update"
        " set name = excluded.name, model = excluded.model, nonce = excluded.nonce",
        (session_id, agent.role, agent.name, agent.model, agent.nonce),
    )
    db.execute("insert into agents (name) values (?) on conflict do nothing", (agent.name,))


def remove(db: Database, session_id: str, role: Role) -> None:
    """The session has no agent in that role any more."""
    db.execute("delete from session_agents where session_id = ? and role = ?", (session_id, role))


def revision(conn: sqlite3.Connection, name: str) -> int:
    """How often the agent's own memory was written (``semantics.md`` §7); 0 for a name never seen."""
    row = conn.execute("select revision from agents where name = ?", (name,)).fetchone()
    return int(row[0]) if row else 0


def bump(db: Database, name: str) -> int:
    """Count one more entry of the agent's memory; the new revision."""
    db.execute(
        "insert into agents (name, revision) values (?, 1) on conflict do update set revision = revision + 1",
        (name,),
    )
    return revision(db.conn, name)
