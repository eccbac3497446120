"""What is always true of a database, said as its opposite: states that can't be, each with a query that finds them.

A program that was killed leaves none of them behind, since every change is one transaction; damage from outside, or a
mistake of ours, does. ``integrity.py`` asks for them all and mends those that can only be right in one way.
"""

from __future__ import annotations

import hashlib
import sqlite3
from typing import NamedTuple

from milk_tui.core.percepts import content_hash


class Impossible(NamedTuple):
    """A state that can't be: ``sql`` finds its rows by name, ``mend`` makes it right where only one way is right, and
    ``instead`` says what a person can do where none is."""

    what: str
    sql: str
    mend: str = ""
    instead: str = ""


def give_functions(conn: sqlite3.Connection) -> None:
    """Let the queries hash as the program does. Times and texts in, text out; nothing is kept in the file."""
    conn.create_function("sha256_of", 1, _sha256, deterministic=True)
    conn.create_function("content_hash_of", 1, lambda text: content_hash(str(text)), deterministic=True)


def _sha256(text: object) -> str:
    return hashlib.sha256(str(text).encode()).hexdigest()
