"""Is the database whole? What ``milk-tui doctor`` asks."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING, NamedTuple

from milk_tui.store.clock import now_ms

if TYPE_CHECKING:
    from sqlite_utils import Database


class Impossible(NamedTuple):
    """A state that can't be: ``sql`` finds its rows by name, ``mend`` makes it right where only one way is right."""

    what: str
    sql: str
    mend: str = ""


IMPOSSIBLE: tuple[Impossible, ...] = (
    Impossible(
        "a leg ended without a time of its end",
        "select id from legs where status not in ('pending', 'running') and ended_ms is null",
        "update legs set ended_ms = started_ms where status not in ('pending', 'running') and ended_ms is null",
    ),
    Impossible(
        "a leg works on a turn of another session",
        "select legs.id from legs join turns on turns.id = legs.turn_id where legs.session_id <> turns.session_id",
    ),
    Impossible(
        "a leg runs in a turn that has ended",
        "select legs.id from legs join turns on turns.id = legs.turn_id"
        " where legs.status = 'running' and turns.status not in ('pending', 'running')",
        "update legs set status = 'interrupted', ended_ms = started_ms where status = 'running'"
        " and turn_id in (select id from turns where status not in ('pending', 'running'))",
    ),
    Impossible(
        "a leg was acknowledged without being done",
        "select id from legs where acked_ms is not null and status <> 'done'",
        "update legs set acked_ms = null where acked_ms is not null and status <> 'done'",
    ),
    Impossible(
        "a tool call runs in a leg that has ended",
        "select tool_calls.id from tool_calls join legs on legs.id = tool_calls.leg_id"
        " where tool_calls.status = 'running' and legs.status not in ('pending', 'running')",
        "update tool_calls set status = 'cancelled', ended_ms = started_ms where status = 'running'"
        " and leg_id in (select id from legs where status not in ('pending', 'running'))",
    ),
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
        "a session has no primary agent",
        "select id from sessions where not exists"
        " (select 1 from session_agents where session_id = sessions.id and role = 'primary')",
    ),
    Impossible(
        "versions of a brick are missing",
        "select session_id || ' ' || kind from bricks group by session_id, kind having count(*) <> max(version)",
    ),
    Impossible(
        "the size beside a text is not its size",
        "select id from legs where text_chars <> length(text) and instr(text, char(0)) = 0",
        "update legs set text_chars = length(text) where text_chars <> length(text) and instr(text, char(0)) = 0",
    ),
    Impossible(
        "a session's revision is not the number of its turns",
        "select id from sessions where revision <> (select count(*) from turns where session_id = sessions.id)",
        "update sessions set revision = (select count(*) from turns where session_id = sessions.id)"
        " where revision <> (select count(*) from turns where session_id = sessions.id)",
    ),
    Impossible(
        "an agent's memory is newer than its revision",
        "select name from agents where revision < (select coalesce(max(revision), 0) from exchanges"
        " where agent_name = agents.name)",
        "update agents set revision = (select max(revision) from exchanges where agent_name = agents.name)"
        " where revision < (select coalesce(max(revision), 0) from exchanges where agent_name = agents.name)",
    ),
    Impossible(
        "an agent has seen more of its memory than there is",
        "select r.id from remote_sessions r left join agents a on a.name = r.agent_name"
        " where r.last_seen > coalesce(a.revision, 0)",
        "update remote_sessions set last_seen = coalesce("
        "(select revision from agents where name = remote_sessions.agent_name), 0)"
        " where last_seen > coalesce((select revision from agents where name = remote_sessions.agent_name), 0)",
    ),
    Impossible(
        "a note was delivered and nobody knows when",
        "select id from notes where status = 'delivered' and ended_ms is null",
        "update notes set ended_ms = coalesce(claimed_ms, created_ms) where status = 'delivered' and ended_ms is null",
    ),
    Impossible(
        "a note of a run was kept twice",
        "select min(id) from notes where run_id is not null group by run_id having count(*) > 1",
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
    for each in IMPOSSIBLE:
        rows = conn.execute(each.sql).fetchmany(21)
        if rows:
            ids = ", ".join(str(row[0]) for row in rows[:20])
            found.append(f"{each.what}: {ids}{' …' if len(rows) > 20 else ''}")
    return found


def mend(db: Database) -> list[str]:
    """Make right what can only be right in one way, and the text indexes; one line for each thing that was done.

    Nothing that was said or learned is removed. Make a copy of the file first.
    """
    done: list[str] = []
    for each in IMPOSSIBLE:
        if each.mend and db.conn.execute(each.sql).fetchone() is not None:
            rows = db.execute(each.mend).rowcount
            done.append(f"{each.what}: mended in {rows:,} row{'s' if rows != 1 else ''}")
    broken = index_problems(db)
    if broken:
        rebuild_indexes(db)
    return done + [f"{told}; made anew" for told in broken]


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
    """Make the text indexes anew from the tables, and keep for the doctor that it was done."""
    db.execute("insert into percepts_fts (percepts_fts) values ('rebuild')")
    db.execute("insert into percepts_trigram (percepts_trigram) values ('rebuild')")
    db.execute("insert into messages_fts (messages_fts) values ('delete-all')")
    db.execute("insert into messages_fts (rowid, text) select id * 2, prompt from turns")
    db.execute(
        "insert into messages_fts (rowid, text) select id * 2 + 1, text from legs"
        " where status not in ('pending', 'running')"
    )
    db.execute("insert into repairs (at_ms, what) values (?, 'the text indexes were made anew')", (now_ms(),))


def last_repair(conn: sqlite3.Connection) -> tuple[int, str] | None:
    """When something was mended last, by itself or by the doctor, and what."""
    row = conn.execute("select at_ms, what from repairs order by id desc limit 1").fetchone()
    return (int(row[0]), str(row[1])) if row else None
