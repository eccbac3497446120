"""What was written since a moment, whoever wrote it: facts, bricks and perception, by the numbers of their rows."""

from __future__ import annotations

import sqlite3

from msgspec import Struct

from milk_tui.core.records import Brick, Percept, PerceptionEntry
from milk_tui.store import bricks, percept_lists, perception

MOST = 2_000
"""Rows of a kind that are looked at: after a long absence the newest say enough."""


class Marks(Struct, frozen=True, kw_only=True):
    """The highest row numbers of a moment."""

    facts: int = 0
    bricks: int = 0
    entries: int = 0


class Changed(Struct, frozen=True, kw_only=True):
    """``facts``: as they are now, each once, with the last thing that happened to it. ``bricks`` with their session,
    ``entries`` with their session and directory."""

    facts: tuple[tuple[Percept, str], ...] = ()
    bricks: tuple[tuple[str, Brick], ...] = ()
    entries: tuple[tuple[str, str, PerceptionEntry], ...] = ()


def marks(conn: sqlite3.Connection) -> Marks:
    row = conn.execute(
        "select (select max(id) from percept_events), (select max(id) from bricks),"
        " (select max(id) from perception_entries)"
    ).fetchone()
    return Marks(facts=row[0] or 0, bricks=row[1] or 0, entries=row[2] or 0)


def since(conn: sqlite3.Connection, before: Marks, upto: Marks) -> Changed:
    """What lies between two moments."""
    kinds = {
        row[0]: row[1]
        for row in conn.execute(
            "select percept_id, kind from percept_events where id > ? and id <= ? order by id",
            (max(before.facts, upto.facts - MOST), upto.facts),
        )
    }
    facts = percept_lists.many(conn, kinds)
    return Changed(
        facts=tuple((facts[id_], kind) for id_, kind in kinds.items() if id_ in facts),
        bricks=tuple(bricks.between(conn, max(before.bricks, upto.bricks - MOST), upto.bricks)),
        entries=tuple(perception.between(conn, max(before.entries, upto.entries - MOST), upto.entries)),
    )
