"""Is the database whole? What ``milk-tui doctor`` asks."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from milk_tui.store import (
    invariants,
    invariants_agents,
    invariants_memory,
    invariants_sessions,
    json_columns,
    orphans,
    owner,
)
from milk_tui.store.clock import now_ms
from milk_tui.store.ids import SHORT_DIGITS
from milk_tui.store.invariants import Impossible

if TYPE_CHECKING:
    from sqlite_utils import Database

MOST = 20
"""Rows that are named of each thing that is wrong."""

IMPOSSIBLE: tuple[Impossible, ...] = (*invariants_sessions.ALL, *invariants_memory.ALL, *invariants_agents.ALL)

INDEXES = ("percepts_fts", "percepts_trigram", "messages_fts", "decision_records_fts")
_ENDED = "status not in ('pending', 'running')"
_MESSAGES = f"select * from (select id * 2 from turns union all select id * 2 + 1 from legs where {_ENDED})"


class Problem(NamedTuple):
    """One thing that is wrong. ``damaged``: pages of the file, not what they say. ``instead``: what a person can do
    where mending is not safe."""

    what: str
    damaged: bool = False
    instead: str = ""


def problems(conn: sqlite3.Connection) -> list[str]:
    """One line for each thing that is wrong, worst first; empty when the database is whole. Reads everything."""
    return [problem.what for problem in found(conn)]


def found(conn: sqlite3.Connection) -> list[Problem]:
    """What is wrong, worst first. Reads everything, and changes nothing."""
    try:
        pages = [row[0] for row in conn.execute("pragma integrity_check(20)") if row[0] != "ok"]
    except sqlite3.DatabaseError as error:
        pages = [str(error)]
    if pages:
        return [Problem(f"the file is damaged: {told}", damaged=True) for told in pages]
    invariants.give_functions(conn)
    wrong = [Problem(str(each), instead="" if each.mendable else orphans.INSTEAD) for each in orphans.orphans(conn)]
    for each in IMPOSSIBLE:
        rows = conn.execute(each.sql).fetchmany(MOST + 1)
        if rows:
            wrong.append(Problem(_named(each.what, [str(row[0]) for row in rows]), instead=each.instead))
    if circle := invariants_memory.circle(conn):
        wrong.append(Problem(_named(invariants_memory.CIRCLE, circle), instead=_choose(circle)))
    for column, unread in json_columns.unreadable(conn):
        wrong.append(Problem(_named(column.what, [shown for _, shown in unread])))
    return wrong


def mend(db: Database) -> list[str]:
    """Make right what can only be right in one way, and the text indexes; one line for each thing that was done.

    Nothing that was said or learned is removed. Make a copy of the file first.
    """
    invariants.give_functions(db.conn)
    done = list(orphans.mend(db))
    for each in IMPOSSIBLE:
        if each.mend and db.conn.execute(each.sql).fetchone() is not None:
            rows = db.execute(each.mend).rowcount
            if rows > 0:
                done.append(f"{each.what}: mended in {_rows(rows)}")
    done += [f"{column.what}: mended in {_rows(rows)}" for column, rows in json_columns.mend(db)]
    broken = index_problems(db)
    if broken:
        rebuild_indexes(db)
    return done + [f"{told}; made anew" for told in broken]


def index_problems(db: Database) -> list[str]:
    """Do the text indexes say what the tables say? One line for each that doesn't. Changes nothing, though SQLite
    calls it a write."""
    wrong: list[str] = []
    for index in INDEXES:
        try:
            db.execute(f"insert into {index} ({index}, rank) values ('integrity-check', ?)", (index != "messages_fts",))
        except sqlite3.DatabaseError as error:
            wrong.append(f"the text index {index} is damaged: {error}")
    indexed = "select id from messages_fts_docsize"
    for what, rows in (
        ("lacks", f"{_MESSAGES} except {indexed}"),
        ("knows too many:", f"{indexed} except {_MESSAGES}"),
    ):
        (count,) = db.conn.execute(f"select count(*) from ({rows})").fetchone()
        if count:
            wrong.append(f"the text index messages_fts {what} {_rows(count, 'message')}")
    return wrong


def rebuild_indexes(db: Database) -> None:
    """Make the text indexes anew from the tables, and keep for the doctor that it was done."""
    for index in INDEXES:
        if index != "messages_fts":
            db.execute(f"insert into {index} ({index}) values ('rebuild')")
    db.execute("insert into messages_fts (messages_fts) values ('delete-all')")
    db.execute("insert into messages_fts (rowid, text) select id * 2, prompt from turns")
    db.execute(f"insert into messages_fts (rowid, text) select id * 2 + 1, text from legs where {_ENDED}")
    db.execute("insert into repairs (at_ms, what) values (?, 'the text indexes were made anew')", (now_ms(),))


def last_repair(conn: sqlite3.Connection) -> tuple[int, str] | None:
    """When something was mended last, by itself or by the doctor, and what."""
    row = conn.execute("select at_ms, what from repairs order by id desc limit 1").fetchone()
    return (int(row[0]), str(row[1])) if row else None


def left_running(conn: sqlite3.Connection, running_folder: Path) -> int:
    """How many turns and legs a program that died left running: the next start ends them (``store/recovery.py``)."""
    rows = conn.execute(
        "select owner from turns where status = 'running' union all select owner from legs where status = 'running'"
    )
    return sum(by is None or not owner.alive(running_folder, by) for (by,) in rows.fetchall())


def _named(what: str, rows: list[str]) -> str:
    return f"{what}: {', '.join(rows[:MOST])}{' …' if len(rows) > MOST else ''}"


def _rows(count: int, one: str = "row") -> str:
    return f"{count:,} {one}{'s' if count != 1 else ''}"


def _choose(circle: list[str]) -> str:
    return f"Which of them holds is yours to say: milk-tui memory restore {circle[-1][:SHORT_DIGITS]}"
