"""What was typed in a directory, for up, down and the history search."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

from milk_tui.store.clock import now_ms
from milk_tui.store.rows import like, storable

if TYPE_CHECKING:
    from sqlite_utils import Database


def add(db: Database, *, directory: str, text: str, session_id: str | None = None, now: int | None = None) -> None:
    """Keep a prompt or command; the same as the one before is not kept again."""
    directory, text = storable(directory), storable(text)
    before = db.conn.execute(
        "select text from prompt_history where directory = ? order by id desc limit 1", (directory,)
    ).fetchone()
    if before is not None and before["text"] == text:
        return
    db.execute(
        "insert into prompt_history (directory, session_id, created_ms, text) values (?, ?, ?, ?)",
        (directory, session_id, now_ms() if now is None else now, text),
    )


def recent(conn: sqlite3.Connection, directory: str, *, limit: int = 200) -> list[str]:
    """Newest first, each text once."""
    return _texts(conn, storable(directory), "%", limit)


def search(conn: sqlite3.Connection, directory: str, text: str, *, limit: int = 50) -> list[str]:
    """Those that contain the text (ASCII letters in either case), newest first, each once."""
    return _texts(conn, storable(directory), like(text), limit)


def _texts(conn: sqlite3.Connection, directory: str, pattern: str, limit: int) -> list[str]:
    found = conn.execute(
        "select text from prompt_history where directory = ? and text like ? escape '\\'"
        " group by text order by max(id) desc limit ?",
        (directory, pattern, limit),
    )
    return [row[0] for row in found]
