"""Ids of sessions and percepts.

They are random (version 4). A version 7 id begins with the clock, so the short forms of everything learned in
one afternoon would be equal: ``#`` and six hexadecimal digits are how people and agents name a percept.
"""

from __future__ import annotations

import sqlite3
import uuid
from collections.abc import Collection

SHORT_DIGITS = 6


def new_id() -> str:
    return str(uuid.uuid4())


def new_percept_id(conn: sqlite3.Connection) -> str:
    """An id whose short form no stored percept has, as far as a few tries find one."""
    return free_percept_id(conn, None)


def free_percept_id(conn: sqlite3.Connection, wanted: str | None, taken: Collection[str] = ()) -> str:
    """``wanted`` when no stored percept has it or its short form, else a new one. ``taken`` are short forms of ids that
    will be stored."""
    candidate = wanted or new_id()
    for _ in range(16):
        short = candidate[:SHORT_DIGITS]
        stored = conn.execute("select 1 from percepts where id >= ? and id < ?", (short, short + "g")).fetchone()
        if stored is None and short not in taken:
            break
        candidate = new_id()
    return candidate
