"""The index of decision records: what the files of a folder said when they were last read (``semantics.md`` §6).

The files are the records; this is made anew from them at any time. Functions that only read take a plain connection.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING

from msgspec import Struct

from milk_tui.core.decision_record import Record
from milk_tui.store.rows import encode, id_list, known, storable, tuples

if TYPE_CHECKING:
    from sqlite_utils import Database


class Indexed(Struct, frozen=True, kw_only=True):
    """A record as it is indexed. ``status``: live · superseded · broken."""

    id: int
    directory: str
    name: str
    title: str
    date: str
    body: str
    status: str
    superseded_by: str = ""
    replaces: tuple[str, ...] = ()
    percept_id: str = ""
    problem: str = ""

    @property
    def live(self) -> bool:
        return self.status == "live"


def stamps(conn: sqlite3.Connection, directory: str) -> dict[str, str]:
    """By file name, what the file looked like when it was read: size and time."""
    rows = tuples(conn, "select name, stamp from decision_records where directory = ?", (directory,))
    return dict(rows)


def put(db: Database, directory: str, read: Iterable[tuple[Record, str]], gone: Collection[str], *, now: int) -> None:
    """Take over files that are new or changed, with their stamps, and forget those that are gone."""
    for record, stamp in read:
        db.execute(
            "insert into decision_records (directory, name, stamp, hash, date, status, superseded_by, replaces,"
            " percept_id, problem, indexed_ms, title, body) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
            " on conflict (directory, name) do update set stamp = excluded.stamp, hash = excluded.hash,"
            " date = excluded.date, status = excluded.status, superseded_by = excluded.superseded_by,"
            " replaces = excluded.replaces, percept_id = excluded.percept_id, problem = excluded.problem,"
            " indexed_ms = excluded.indexed_ms, title = excluded.title, body = excluded.body",
            (
                directory,
                storable(record.name),
                stamp,
                record.hash,
                record.date,
                "broken" if record.problem else "superseded" if record.ended else "live",
                storable(record.superseded_by),
                encode((record.replaces, record.ended, record.superseded_by)),
                record.fact,
                storable(record.problem),
                now,
                storable(record.title),
                storable(record.body),
            ),
        )
    db.execute(
        "delete from decision_records where directory = ? and name in (select value from json_each(?))",
        (directory, id_list(gone)),
    )


def mark(db: Database, directory: str, ended: dict[str, str]) -> None:
    """Which of the readable records are superseded and by what; all others hold."""
    rows = tuples(
        db.conn,
        "select name, status, superseded_by from decision_records where directory = ? and status <> 'broken'",
        (directory,),
    )
    for name, status, by in rows:
        wanted = ("superseded", ended[name]) if name in ended else ("live", "")
        if (status, by) != wanted:
            db.execute(
                "update decision_records set status = ?, superseded_by = ? where directory = ? and name = ?",
                (*wanted, directory, name),
            )


def headers(conn: sqlite3.Connection, directory: str) -> list[Record]:
    """Every record without its body, as ``core.decision_record.superseded`` takes them."""
    rows = tuples(
        conn,
        "select name, title, date, replaces, problem from decision_records where directory = ?",
        (directory,),
    )
    return [
        Record(
            name=name,
            title=title,
            date=date,
            replaces=said[0],
            ended=said[1],
            superseded_by=said[2],
            problem=problem,
        )
        for name, title, date, column, problem in rows
        for said in [_said(column)]
    ]


def count(conn: sqlite3.Connection, directory: str) -> int:
    """How many can be cited or were superseded."""
    row = conn.execute(
        "select count(*) from decision_records where directory = ? and status <> 'broken'", (directory,)
    ).fetchone()
    return int(row[0])


def listed(conn: sqlite3.Connection, directory: str) -> list[Indexed]:
    """Newest first."""
    rows = conn.execute(
        f"select {_COLUMNS} from decision_records where directory = ? order by date desc, name", (directory,)
    )
    return [_indexed(row) for row in rows]


def get(conn: sqlite3.Connection, directory: str, name: str) -> Indexed | None:
    """By file name, with or without ``.md``."""
    row = conn.execute(
        f"select {_COLUMNS} from decision_records where directory = ? and (name = ? or name = ? || '.md')",
        (directory, name, name),
    ).fetchone()
    return _indexed(row) if row else None


def many(conn: sqlite3.Connection, ids: Iterable[int]) -> dict[int, Indexed]:
    rows = conn.execute(
        f"select {_COLUMNS} from decision_records where id in (select value from json_each(?))", (id_list(ids),)
    )
    return {row["id"]: _indexed(row) for row in rows}


def matching(conn: sqlite3.Connection, directory: str, words: Iterable[str], limit: int) -> list[int]:
    """Ids of the folder's records that have one of the words or a word that begins so, best first."""
    sql = (
        "select r.id from decision_records_fts f join decision_records r on r.id = f.rowid"
        " where decision_records_fts match ? and r.directory = ?"
        " order by bm25(decision_records_fts, 3.0, 1.0) limit ?"
    )
    match = " OR ".join(_beginning(word) for word in words)
    return [number for (number,) in tuples(conn, sql, (match, directory, limit))]


def counts(conn: sqlite3.Connection, directory: str, words: Iterable[str]) -> dict[str, int]:
    """How many of the folder's records have each word, or one that begins so."""
    sql = (
        "select count(*) from decision_records_fts f join decision_records r on r.id = f.rowid"
        " where decision_records_fts match ? and r.directory = ?"
    )
    return {word: int(conn.execute(sql, (_beginning(word), directory)).fetchone()[0]) for word in words}


def _beginning(word: str) -> str:
    return '"' + word.replace('"', '""') + '"*'


_COLUMNS = "id, directory, name, title, date, body, status, superseded_by, replaces, percept_id, problem"


def _indexed(row: sqlite3.Row) -> Indexed:
    return Indexed(**{**dict(row), "replaces": _said(row["replaces"])[0]})


def _said(column: str) -> tuple[tuple[str, ...], bool, str]:
    """What a file says itself: what it replaces, that it has ended, and by what. Others may say it of it too."""
    return known(column, tuple[tuple[str, ...], bool, str]) or ((), False, "")
