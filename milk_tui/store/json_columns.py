"""Columns that hold a record as JSON: each must read as what the program takes it for.

A row that does not read would stop whoever reads it, and nobody can say what it held: it is mended to what means
"unknown", so that the rest of its row is there again.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from milk_tui.core.helper_signals import Signal
from milk_tui.core.records import LegError, RouteDecision

if TYPE_CHECKING:
    from sqlite_utils import Database


class Column(NamedTuple):
    """``name``: words that tell a row; ``unknown``: what stands for a value that can't be read, ``DELETE`` for a row
    that is worth nothing without it."""

    table: str
    column: str
    kind: Any
    name: str
    unknown: str | None
    what: str


DELETE = "+delete"

COLUMNS: tuple[Column, ...] = (
    Column("turns", "route", RouteDecision, "id", None, "why a turn went its way can't be read"),
    Column("legs", "error", LegError, "id", None, "a leg's error can't be read"),
    Column("remote_sessions", "told", tuple[str, ...], "id", "[]", "what a runtime was told can't be read"),
    Column("remote_sessions", "markers", dict[str, Any], "id", "{}", "what a runtime was given can't be read"),
    Column("percept_events", "undo", dict[str, Any], "percept_id", None, "how a change is undone can't be read"),
    Column("percept_imports", "original", dict[str, Any], "percept_id", "{}", "what a file said can't be read"),
    Column(
        "exchanges",
        "peers",
        tuple[str, ...],
        "agent_name || ' ' || event_id",
        "[]",
        "who took part in an exchange can't be read",
    ),
    Column(
        "outside_runtimes",
        "told",
        dict[str, str],
        "client || ' ' || remote_id",
        "{}",
        "what a client was told can't be read",
    ),
    Column("helper_pending", "payload", Signal, "session_id", DELETE, "a signal that waits can't be read"),
    Column("notes", "cites", list[tuple[str, str, str, str]], "id", DELETE, "what a note names can't be read"),
    Column(
        "decision_records",
        "replaces",
        tuple[tuple[str, ...], bool, str],
        "name",
        DELETE,
        "what a decision replaces can't be read",
    ),
)


def unreadable(conn: sqlite3.Connection) -> Iterator[tuple[Column, list[tuple[int | str, str]]]]:
    """Each column with rows that do not read: how the database knows the row, and how a person does. Reads all."""
    for each in COLUMNS:
        key = _key(each.table)
        decoder = msgspec.json.Decoder(each.kind)
        found = []
        for row, shown, text in conn.execute(
            f"select {key}, {each.name}, {each.column} from {each.table} where {each.column} is not null"
        ):
            if not _reads(decoder, text):
                found.append((row, str(shown)))
        if found:
            yield each, found


def mend(db: Database) -> Iterator[tuple[Column, int]]:
    """Let what can't be read mean "unknown"; each column with how many rows. A decision record is read again from its
    file when its row is gone."""
    for each, rows in list(unreadable(db.conn)):
        for row, _ in rows:
            where = f"where {_key(each.table)} = ?"
            if each.unknown == DELETE:
                db.execute(f"delete from {each.table} {where}", (row,))
            else:
                db.execute(f"update {each.table} set {each.column} = ? {where}", (each.unknown, row))
        yield each, len(rows)


def _reads(decoder: msgspec.json.Decoder[Any], text: object) -> bool:
    try:
        decoder.decode(text)  # type: ignore[arg-type]
    except (msgspec.MsgspecError, TypeError, UnicodeError):
        return False
    return True


def _key(table: str) -> str:
    """What tells a row of the table from all others."""
    match table:
        case "exchanges":
            return "agent_name || char(0) || event_id"
        case "outside_runtimes":
            return "client || char(0) || remote_id"
        case "helper_pending":
            return "session_id"
        case "percept_imports":
            return "percept_id"
        case _:
            return "id"
