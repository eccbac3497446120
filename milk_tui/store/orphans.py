"""Rows that refer to one that is not there, which foreign keys forbid.

A reference that the tables empty when its target goes is emptied. What is nothing without its target, and was never
said by anybody, goes with it. A turn, a leg or a fact is never removed: what somebody said may still be copied out.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from sqlite_utils import Database

DERIVED = frozenset(
    {
        "captures",
        "grants",
        "helper_selections",
        "percept_edges",
        "percept_events",
        "percept_imports",
        "percept_vectors",
        "private_calls",
        "remote_sessions",
        "segments",
        "session_agents",
        "session_imports",
    }
)
"""Tables whose rows mean nothing without what they refer to."""
INSTEAD = "What was said in it is still in the file. Restore a copy."


class Orphans(NamedTuple):
    """Rows of ``table`` whose ``column`` names none of ``target``; ``empties``: the reference may be empty."""

    table: str
    column: str
    target: str
    target_column: str
    empties: bool
    rows: int

    @property
    def mendable(self) -> bool:
        return self.empties or self.table in DERIVED

    def __str__(self) -> str:
        if self.rows == 1:
            return f"a row of {self.table} refers to one of {self.target} that is not there"
        return f"{self.rows:,} rows of {self.table} refer to ones of {self.target} that are not there"


def orphans(conn: sqlite3.Connection) -> list[Orphans]:
    """What ``pragma foreign_key_check`` finds, counted by table and key."""
    counted: dict[tuple[str, int], int] = {}
    for table, _, _, key in conn.execute("pragma foreign_key_check"):
        counted[table, key] = counted.get((table, key), 0) + 1
    found = []
    for (table, key), count in counted.items():
        keys = {row[0]: row for row in conn.execute(f"pragma foreign_key_list({table})")}
        _, _, target, column, target_column, _, on_delete, _ = keys[key]
        found.append(Orphans(table, column, target, target_column, on_delete == "SET NULL", count))
    return found


def mend(db: Database) -> Iterator[str]:
    """Empty or remove what may be; one line for each table and key."""
    for each in orphans(db.conn):
        where = f"{each.column} is not null and {each.column} not in (select {each.target_column} from {each.target})"
        if each.empties:
            if (each.table, each.column) == ("percepts", "session_id"):
                where += " and scope = 'global'"
            if db.execute(f"update {each.table} set {each.column} = null where {where}").rowcount > 0:
                yield f"{each}: the reference was emptied"
        elif each.table in DERIVED:
            db.execute(f"delete from {each.table} where {where}")
            yield f"{each}: removed"
