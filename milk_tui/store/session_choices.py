"""The agents that the person chose for one session, and which models were used last."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

from milk_tui.core.records import Role

if TYPE_CHECKING:
    from sqlite_utils import Database

RECENT = 40
"""Models that are remembered as used."""


def of_session(conn: sqlite3.Connection, session_id: str) -> dict[Role, str]:
    """Role → the agent as JSON, for the roles that the person gave to somebody."""
    rows = conn.execute("select role, spec from session_choices where session_id = ?", (session_id,))
    return {Role(row["role"]): str(row["spec"]) for row in rows}


def put(db: Database, session_id: str, role: Role, spec: str) -> None:
    db.execute(
        "insert into session_choices (session_id, role, spec) values (?, ?, ?)"
        " on conflict (session_id, role) do update set spec = excluded.spec",
        (session_id, role, spec),
    )


def remove(db: Database, session_id: str, role: Role) -> None:
    """The session goes with the config again."""
    db.execute("delete from session_choices where session_id = ? and role = ?", (session_id, role))


def recent_models(conn: sqlite3.Connection) -> dict[tuple[str, str], int]:
    """Model and name of the agents that worked last, in all sessions → when (UTC milliseconds)."""
    rows = conn.execute(
        "select model, agent_name, max(started_ms) as at from legs where started_ms > 0"
        " group by model, agent_name order by at desc limit ?",
        (RECENT,),
    )
    return {(str(row["model"]), str(row["agent_name"])): int(row["at"]) for row in rows}
