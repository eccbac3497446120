"""What can still be read of a damaged database, in a new file; the damaged one is not touched.

SQLite's own way back (``.recover``) is not part of its library. Here every table is read by ranges of its rows, and a
range that can't be read is halved until what is damaged stands alone. What was rescued is put into tables made anew, so
that nothing of the damage comes with it: a row that breaks a rule of its table counts as lost.
"""

from __future__ import annotations

import os
import secrets
import shutil
import sqlite3
import tempfile
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from milk_tui.core.errors import StoreError
from milk_tui.core.records import AgentName, Role
from milk_tui.store import agents, integrity, migrations, orphans, schema
from milk_tui.store.connections import connect_writer

if TYPE_CHECKING:
    from sqlite_utils import Database

T = TypeVar("T")

MOST_FAILURES = 20_000
"""Ranges of one table that may fail; then what is left of it is given up."""
LEAST_ROW_BYTES = 8
HEADER_BYTES = 100
_INTERIOR = 5
_NOT_READ = ("percepts_fts", "percepts_trigram", "messages_fts", "decision_records_fts", "sqlite_")
"""Indexes, which are made anew."""
LOST_PROMPT = "[this prompt was lost with a damaged database]"
LOST_TITLE = "rescued from a damaged database"


class Rescued(NamedTuple):
    """Rows of one table that are in the new file. ``lost``: at least so many are not; ``None`` when nothing tells."""

    table: str
    rows: int
    lost: int | None


def rescue(damaged: Path, into: Path) -> list[Rescued]:
    """Read ``damaged`` and write ``into``, which must not be there. Raises StoreError where nothing can be read, and
    OSError; ``into`` is whole or not there."""
    if into.exists():
        raise StoreError(f"{into} is there already.", "Name a file that is not.")
    with tempfile.TemporaryDirectory(prefix=".rescue-", dir=into.parent) as folder:
        copy, made = Path(folder, "damaged.db"), Path(folder, "rescued.db")
        shutil.copyfile(damaged, copy)
        log = damaged.with_name(f"{damaged.name}-wal")
        if log.exists():
            shutil.copyfile(log, copy.with_name(f"{copy.name}-wal"))
        os.close(os.open(made, os.O_CREAT | os.O_EXCL | os.O_WRONLY, migrations.FILE_MODE))
        _in(made, lambda db: migrations.migrate(db.conn, made))
        _in(made, lambda db: db.conn.execute("pragma wal_checkpoint(truncate)").fetchone())
        old = _opened(copy, made)
        try:
            read = _in(made, lambda db: _all_tables(old, db, copy.stat().st_size))
        finally:
            old.close()
        _in(made, _made_right)
        _in(made, _without_orphans)
        found = _in(made, lambda db: list(_counted(db.conn, read)))
        _in(made, lambda db: db.conn.execute("pragma journal_mode = delete").fetchone())
        os.link(made, into)
    return found


def _opened(copy: Path, made: Path) -> sqlite3.Connection:
    """The copy, if need be with a first page as a new database has it: that one says where the tables begin."""
    try:
        return _looked_at(copy)
    except sqlite3.DatabaseError as error:
        copy.with_name(f"{copy.name}-wal").unlink(missing_ok=True)
        try:
            _graft(copy, made)
            return _looked_at(copy)
        except (sqlite3.DatabaseError, OSError):
            raise StoreError(
                f"Nothing of it can be read: {error}.", "Restore a copy; backups stand beside it."
            ) from error


def _looked_at(copy: Path) -> sqlite3.Connection:
    conn = sqlite3.connect(copy, isolation_level=None)
    conn.text_factory = lambda data: data.decode("utf-8", "replace")
    try:
        conn.execute("pragma cell_size_check = on")
        tables = conn.execute("select count(*) from sqlite_schema where type = 'table'").fetchone()[0]
        ours = conn.execute("pragma application_id").fetchone()[0] == schema.APPLICATION_ID
        version = migrations.version_of(conn)
        if not ours or not tables:
            raise StoreError("It is not a database of milk-tui.", "Name another one: --database")
        if version > migrations.VERSION:
            raise StoreError(f"It has the format {version}, which is newer.", "Update milk-tui.")
    except BaseException:
        conn.close()
        raise
    return conn


def _graft(copy: Path, made: Path) -> None:
    """Put the pages of a new database's schema over the copy's. The tables of one that was made by this version begin
    at the same pages; where they don't, the rows don't fit and are refused."""
    data = made.read_bytes()
    size = int.from_bytes(data[16:18], "big")
    first = bytearray(data[:size])
    first[28:32] = (copy.stat().st_size // size).to_bytes(4, "big")
    first[32:40] = bytes(8)  # no free pages
    with copy.open("r+b") as file:
        file.write(first)
        for number in _children(data, size):
            file.seek((number - 1) * size)
            file.write(data[(number - 1) * size : number * size])


def _children(data: bytes, size: int) -> Iterator[int]:
    """The pages below the first one, which is the root of the schema (SQLite's file format, "B-tree Pages")."""
    waiting = [1]
    while waiting:
        number = waiting.pop()
        page = data[(number - 1) * size : number * size]
        head = HEADER_BYTES if number == 1 else 0
        if page[head] != _INTERIOR:
            continue
        cells = int.from_bytes(page[head + 3 : head + 5], "big")
        places = [int.from_bytes(page[head + 12 + 2 * n : head + 14 + 2 * n], "big") for n in range(cells)]
        below = [int.from_bytes(page[at : at + 4], "big") for at in (*places, head + 8)]
        yield from below
        waiting += below


def _in(made: Path, fn: Callable[[Database], T]) -> T:
    """Do one step on the new file; each has a connection of its own, for functions can't be given to a busy one."""
    from sqlite_utils import Database

    conn = connect_writer(made)
    try:
        return fn(Database(conn, execute_plugins=False))
    finally:
        conn.close()


def _all_tables(old: sqlite3.Connection, db: Database, size: int) -> dict[str, int | None]:
    """Rows that each table had, with those that stand in for others."""
    new = db.conn
    names = [row[0] for row in new.execute("select name from sqlite_schema where type = 'table' order by rowid")]
    triggers = new.execute("select name, sql from sqlite_schema where type = 'trigger'").fetchall()
    new.execute("pragma foreign_keys = off")
    new.execute("begin")
    for name, _ in triggers:
        new.execute(f'drop trigger "{name}"')
    read = {name: _table(old, new, name, size) for name in names if not name.startswith(_NOT_READ)}
    before = {name: _rows_of(new, name) for name in read}
    _give_parents(db)
    for name, there in read.items():
        read[name] = None if there is None else there + _rows_of(new, name) - before[name]
    for _, sql in triggers:
        new.execute(sql)
    new.execute("commit")
    return read


def _made_right(db: Database) -> None:
    db.conn.execute("begin")
    integrity.rebuild_indexes(db)
    integrity.mend(db)
    db.conn.execute("commit")


def _without_orphans(db: Database) -> None:
    """What is left and belongs to nothing is lost with what it belonged to."""
    db.conn.execute("begin")
    for each in orphans.orphans(db.conn):
        where = f"{each.column} is not null and {each.column} not in (select {each.target_column} from {each.target})"
        db.conn.execute(f"delete from {each.table} where {where}")
    integrity.mend(db)
    db.conn.execute("commit")


def _counted(new: sqlite3.Connection, read: Mapping[str, int | None]) -> Iterator[Rescued]:
    for name, there in read.items():
        kept = _rows_of(new, name)
        lost = None if there is None else max(0, there - kept)
        if kept or lost != 0:
            yield Rescued(name, kept, lost)


def _rows_of(conn: sqlite3.Connection, name: str) -> int:
    return int(conn.execute(f'select count(*) from "{name}"').fetchone()[0])


def _table(old: sqlite3.Connection, new: sqlite3.Connection, name: str, size: int) -> int | None:
    """Read what can be read of one table into the new one; how many rows it had, ``None`` when nothing tells."""
    about = new.execute(f'pragma table_info("{name}")').fetchall()
    try:
        known = {row[1] for row in old.execute(f'pragma table_info("{name}")')}
        whole: int | None = old.execute(f'select count(*) from "{name}"').fetchone()[0]
    except sqlite3.DatabaseError:
        known, whole = {row[1] for row in about}, None
    columns = [row[1] for row in about if row[1] in known]
    if not columns:
        return 0
    blobs = [row[2].lower() == "blob" for row in about if row[1] in known]
    listed = ", ".join(f'"{column}"' for column in columns)
    key = ", ".join(f'"{row[1]}"' for row in sorted(about, key=lambda row: row[5]) if row[5])
    bare = new.execute("select wr from pragma_table_list where name = ?", (name,)).fetchone()[0]
    rows = _by_key(old, name, listed, key) if bare else _by_row(old, name, listed, size)
    put = f'insert or ignore into "{name}" ({listed}) values ({", ".join("?" * len(columns))})'
    seen = 0
    for row in rows:
        seen += 1
        if all(blob or not isinstance(value, bytes) for value, blob in zip(row, blobs, strict=True)):
            try:
                new.execute(put, row)
            except sqlite3.Error:
                continue
    return None if whole is None else max(whole, seen)


def _by_row(old: sqlite3.Connection, name: str, listed: str, size: int) -> Iterator[Sequence[object]]:
    """By ranges of the row's number, the widest first; one that fails is halved."""
    try:
        low, high = old.execute(f'select min(rowid), max(rowid) from "{name}"').fetchone()
    except sqlite3.DatabaseError:
        low, high = 1, max(1, size // LEAST_ROW_BYTES)
    if low is None or high is None:
        return
    ranges, failures = deque([(low, high)]), 0
    while ranges and failures < MOST_FAILURES:
        first, last = ranges.popleft()
        try:
            sql = f'select {listed} from "{name}" where rowid between ? and ? order by rowid'
            found = old.execute(sql, (first, last)).fetchall()
        except (sqlite3.DatabaseError, OverflowError):
            failures += 1
            if first < last:
                middle = (first + last) // 2
                ranges += [(first, middle), (middle + 1, last)]
            continue
        yield from found


def _by_key(old: sqlite3.Connection, name: str, listed: str, key: str) -> Iterator[Sequence[object]]:
    """From the first key on to what is damaged, then from the last one back to it."""
    for order in (key, ", ".join(f"{part} desc" for part in key.split(", "))):
        try:
            yield from old.execute(f'select {listed} from "{name}" order by {order}')
        except sqlite3.DatabaseError:
            continue
        return


def _give_parents(db: Database) -> None:
    """A prompt or an answer whose session, or turn, is lost gets another, so that it can be found."""
    gone = "from turns where session_id not in (select id from sessions)"
    for session, began in db.execute(
        f"select session_id, min(created_ms) from (select session_id, created_ms {gone} union all"
        " select session_id, started_ms from legs where session_id not in (select id from sessions)) group by 1"
    ).fetchall():
        named = db.execute("select directory from prompt_history where session_id = ? limit 1", (session,)).fetchone()
        directory = named[0] if named else "/"
        row = {"id": session, "directory": directory, "title": LOST_TITLE, "created_ms": began, "updated_ms": began}
        db.table("sessions").insert(row)
    for (session,) in db.execute(
        "select id from sessions where id not in (select session_id from session_agents where role = 'primary')"
    ).fetchall():
        worked = db.execute(
            "select agent_name, model from legs where session_id = ? and role = 'primary' order by id desc limit 1",
            (session,),
        ).fetchone()
        name, model = worked or ("primary", "primary")
        agents.put(db, session, AgentName(role=Role.PRIMARY, name=name, model=model, nonce=secrets.token_hex(3)))
    for turn, session, began in db.execute(
        "select turn_id, session_id, min(started_ms) from legs where turn_id not in (select id from turns) group by 1"
    ).fetchall():
        db.table("turns").insert(
            {
                "id": turn,
                "session_id": session,
                "created_ms": began,
                "status": "done",
                "prompt": LOST_PROMPT,
                "prompt_chars": len(LOST_PROMPT),
                "prompt_lines": 1,
            }
        )
