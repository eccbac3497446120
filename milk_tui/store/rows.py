"""From rows to records and back: what every module of the store does alike."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from typing import Any, TypeVar

import msgspec

from milk_tui.core.errors import StoreError

T = TypeVar("T")


def storable(text: str) -> str:
    """The text without lone surrogates, which SQLite refuses; a model can send them as JSON escapes."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode(errors="replace").decode()
    return text


def sizes(text: str) -> tuple[int, int]:
    """Characters and lines, as stored beside a text for lists that don't read it."""
    return len(text), text.count("\n") + 1 if text else 0


def encode(value: Any) -> str | None:
    """A record as JSON text; ``None`` stays ``None``."""
    return None if value is None else storable(msgspec.json.encode(value).decode())


def decode(text: str | None, kind: type[T]) -> T | None:
    """The record that ``encode`` wrote. Raises StoreError for text that it did not write."""
    if text is None:
        return None
    try:
        return msgspec.json.decode(text, type=kind)
    except (msgspec.MsgspecError, RecursionError) as error:
        raise StoreError(
            f"The database holds a {kind.__name__} that can't be read: {error}.",
            "Run: milk-tui doctor",
        ) from error


def known(text: str | None, kind: type[T]) -> T | None:
    """As ``decode`` for a record that explains and nothing more: one that can't be read is unknown, so that what it
    explains can be seen all the same. The doctor names it."""
    try:
        return decode(text, kind)
    except StoreError:
        return None


def tuples(conn: sqlite3.Connection, sql: str, parameters: tuple[object, ...]) -> list[tuple[Any, ...]]:
    """The rows as plain tuples: for lists of thousands."""
    cursor = conn.cursor()
    cursor.row_factory = None
    return cursor.execute(sql, parameters).fetchall()


def like(part: str) -> str:
    """The pattern of ``like … escape '\\'`` for a text that contains the part."""
    escaped = storable(part).replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    return f"%{escaped}%"


def id_list(ids: Iterable[int | str]) -> str:
    """Any number of ids as the one parameter of ``in (select value from json_each(?))``."""
    return json.dumps(list(ids))


def one(row: sqlite3.Row | None, what: str) -> sqlite3.Row:
    """The row. Raises StoreError when there is none."""
    if row is None:
        raise StoreError(f"There is no {what} in the database.", "It may have been deleted by another program.")
    return row
