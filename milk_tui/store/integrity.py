"""Is the database whole? What ``milk-tui doctor`` asks."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlite_utils import Database

_IMPOSSIBLE: tuple[tuple[str, str], ...] = (
    (
        "a leg ended without a time of its end",
        "select id from legs where status not in ('pending', 'running') and ended_ms is null",
    ),
    (
        "a leg works on a turn of another session",
        "select legs.id from legs join turns on turns.id = legs.turn_id where legs.session_id <> turns.session_id",
    ),
    (
        "a leg runs in a turn that has ended",
        "select legs.id from legs join turns on turns.id = legs.turn_id"
        " where legs.status = 'running' and turns.status not in ('pending', 'running')",
    ),
    (
        "a leg was acknowledged without being done",
        "select id from legs where acked_ms is not null and status <> 'done'",
    ),
    (
        "a tool call runs in a leg that has ended",
        "select tool_calls.id from tool_calls join legs on legs.id = tool_calls.leg_id"
        " where tool_calls.status = 'running' and legs.status not in ('pending', 'running')",
    ),
    (
        "a fact waits for a leg that has ended",
        "select percepts.id from percepts left join legs on legs.id = percepts.leg_id"
        " where percepts.status = 'staged' and coalesce(legs.status, '') <> 'running'",
    ),
    (
        "a superseded fact names no successor",
        "select id from percepts where status = 'superseded' and superseded_by is null",
    ),
    (
        "a session has no primary agent",
        "select id from sessions where not exists"
        " (select 1 from session_agents where session_id = sessions.id and role = 'primary')",
    ),
    (
        "versions of a brick are missing",
        "select session_id || ' ' || kind from bricks group by session_id, kind having count(*) <> max(version)",
    ),
    (
        "the size beside a text is not its size",
        "select id from legs where text_chars <> length(text) and instr(text, char(0)) = 0",
    ),
)


def problems(conn: sqlite3.Connection) -> list[str]:
    """One line for each thing that is wrong, worst first; empty when the database is whole. Reads
    everything.
    """
    found: list[str] = []
    try:
        found += [
            f"the file is damaged: {row[0]}" for row in conn.execute("pragma integrity_check(20)") if row[0] != "ok"
        ]
    except sqlite3.DatabaseError as error:
        return [f"the file is damaged: {error}"]
    for row in conn.execute("pragma foreign_key_check").fetchmany(20):
        found.append(f"a row of {row[0]} refers to one of {row[2]} that is not there")
    for what, sql in _IMPOSSIBLE:
        rows = conn.execute(sql).fetchmany(21)
        if rows:
            ids = ", ".join(str(row[0]) for row in rows[:20])
            found.append(f"{what}: {ids}{' …' if len(rows) > 20 else ''}")
    return found


def index_problems(db: Database) -> list[str]:
    """Are the text indexes whole? One line for each that is not. Changes nothing, though SQLite calls it a
    write.
    """
    found: list[str] = []
    for index, rank in (("percepts_fts", 1), ("percepts_trigram", 1), ("messages_fts", 0)):
        try:
            db.execute(f"insert into {index} ({index}, rank) values ('integrity-check', ?)", (rank,))
        except sqlite3.DatabaseError as error:
            found.append(f"the text index {index} is damaged: {error}")
    return found


def rebuild_indexes(db: Database) -> None:
    """Make the text indexes anew from the tables."""
    db.execute("insert into percepts_fts (percepts_fts) values ('rebuild')")
    db.execute("insert into percepts_trigram (percepts_trigram) values ('rebuild')")
    db.execute("insert into messages_fts (messages_fts) values ('delete-all')")
    db.execute("insert into messages_fts (rowid, text) select id * 2, prompt from turns")
    db.execute(
        "insert into messages_fts (rowid, text) select id * 2 + 1, text from legs"
        " where status not in ('pending', 'running')"
    )
