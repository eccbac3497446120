"""What SQLite reports, in words for the person."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from milk_tui.core.errors import StoreError
from milk_tui.store.files import damaged

_PRIMARY = 0xFF


def is_busy(error: BaseException) -> bool:
    return isinstance(error, sqlite3.OperationalError) and _code(error) in (
        sqlite3.SQLITE_BUSY,
        sqlite3.SQLITE_LOCKED,
    )


def no_room(error: BaseException) -> bool:
    """Whether the disk has no room for SQLite's own files."""
    return _code(error) in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN)


def explain(error: sqlite3.Error, path: Path) -> StoreError | None:
    """The fault of the file, the disk or another program; ``None`` when it is a mistake of ours instead."""
    if "Could not decode to UTF-8" in str(error):
        return damaged(path, "a text in it is no text")
    match _code(error):
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return StoreError(
                f"{path} is locked by another program.", "Close the program that holds it, then try again.", passes=True
            )
        case sqlite3.SQLITE_FULL:
            return StoreError(
                f"{path} can't grow: the disk is full.", "Make room; what was typed is kept here.", passes=True
            )
        case sqlite3.SQLITE_READONLY | sqlite3.SQLITE_PERM:
            return StoreError(f"{path} can't be written.", f"Check its mode and its disk: ls -l {path}")
        case sqlite3.SQLITE_CORRUPT | sqlite3.SQLITE_NOTADB:
            return damaged(path, str(error))
        case sqlite3.SQLITE_IOERR:
            return StoreError(
                f"{path}: the disk reports an error ({error}).", "Check the disk and its space.", passes=True
            )
        case sqlite3.SQLITE_CANTOPEN:
            return StoreError(f"{path} can't be opened.", f"Check the folder {path.parent}.")
        case _:
            return None


def _code(error: BaseException) -> int:
    code = getattr(error, "sqlite_errorcode", None)
    return code & _PRIMARY if isinstance(code, int) else -1
