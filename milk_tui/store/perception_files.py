"""What ``perception.md`` of a directory said when it and the database were last the same."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

from milk_tui.store.clock import now_ms
from milk_tui.store.rows import storable

if TYPE_CHECKING:
    from sqlite_utils import Database


def last(conn: sqlite3.Connection, directory: str) -> str:
    """The file's text; empty when it was never read or written."""
    row = conn.execute("select text from perception_files where directory = ?", (directory,)).fetchone()
    return str(row["text"]) if row else ""


def keep(db: Database, directory: str, text: str, *, now: int | None = None) -> None:
    """Both say this now."""
    db.execute(
        "insert into perception_files (directory, text, updated_ms) values (?, ?, ?)"
        " on conflict (directory) do update set text = excluded.text, updated_ms = excluded.updated_ms",
        (directory, storable(text), now_ms() if now is None else now),
    )
