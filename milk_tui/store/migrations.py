"""From any older file to the present schema: a list of small named steps.

``user_version`` in the file's header is the number of steps that it has had. Each step is one transaction, so
a file always stands between two steps and never inside one.
"""

from __future__ import annotations

import contextlib
import os
import re
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from milk_tui.core.errors import StoreError
from milk_tui.store import (
    schema,
    schema_attachments,
    schema_choices,
    schema_exchanges,
    schema_helper,
    schema_memory,
    schema_outside,
    schema_perception,
    schema_recall,
    schema_receipts,
    schema_repairs,
    schema_sessions,
    schema_tools,
)

if TYPE_CHECKING:
    from sqlite_utils import Database

FILE_MODE = 0o600


@dataclass(frozen=True, slots=True)
class Step:
    """``apply`` runs inside a transaction with foreign keys off; they are checked before it commits."""

    name: str
    apply: Callable[[Database], object]


def statements(sql: str) -> Iterator[str]:
    """The statements of a script, cut where SQLite says that one is complete (a trigger holds several ``;``)."""
    start = 0
    for end in (found.end() for found in re.finditer(";", sql)):
        if sqlite3.complete_statement(sql[start:end]):
            yield sql[start:end]
            start = end
    if sql[start:].strip():
        yield sql[start:]


def script(sql: str) -> Callable[[Database], object]:
    """A step written in SQL. (sqlite-utils asks SQLite after each character: that was most of making a database.)"""

    def apply(db: Database) -> None:
        for statement in statements(sql):
            db.conn.execute(statement)

    return apply


STEPS: tuple[Step, ...] = (
    Step("sessions, turns and legs", script(schema.SESSIONS)),
    Step("percepts", script(schema.PERCEPTS)),
    Step("bricks and perception", script(schema.BRICKS)),
    Step("search in messages", script(schema.MESSAGES_FTS)),
    Step("what agents say beside their answers", script(schema.CAPTURES)),
    Step("pieces of words, vectors and replaced facts for recall", script(schema_recall.RECALL)),
    Step("periods in which facts gain and lose weight", script(schema_memory.CONSOLIDATIONS)),
    Step("where imported facts are from", script(schema_memory.IMPORTS)),
    Step("how much each leg was given", script(schema_receipts.SIZES)),
    Step("what happened between agents, and their own memory", script(schema_exchanges.EXCHANGES)),
    Step("what the person allowed the agents", script(schema_tools.GRANTS)),
    Step("what the tools changed in files", script(schema_tools.FILE_CHANGES)),
    Step("clients outside the screen", script(schema_outside.OUTSIDE)),
    Step("what came with a prompt", script(schema_attachments.ATTACHMENTS)),
    Step("slices, the file and disputes of perception", script(schema_perception.PERCEPTION)),
    Step("sessions from elsewhere, and deleted ones", script(schema_sessions.IMPORTS)),
    Step("the recall helper, its notes and decision records", script(schema_helper.HELPER)),
    Step("what hooks said of an agent's own memory", script(schema_outside.CUE)),
    Step("what was mended by itself", script(schema_repairs.REPAIRS)),
    Step("agents chosen for a session", script(schema_choices.CHOICES)),
)

VERSION = len(STEPS)


def version_of(conn: sqlite3.Connection) -> int:
    return int(conn.execute("pragma user_version").fetchone()[0])


def migrate(conn: sqlite3.Connection, path: Path, steps: Sequence[Step] = STEPS) -> Path | None:
    """Bring the open file up to ``len(steps)``; returns the backup that was made of an older file.

    ``conn`` is in autocommit mode (``isolation_level=None``). Two programs may do this at once: each step
    looks at the version again when it has the write lock. Raises StoreError when a step fails; the file then
    stands where the last step that worked left it.
    """
    from sqlite_utils import Database

    before = version_of(conn)
    backup = back_up(conn, path, before) if before else None
    db = Database(conn, execute_plugins=False)
    done = before
    for number, step in enumerate(steps, start=1):
        if number <= before:
            continue
        try:
            if _apply(db, number, step):
                done = number
        except Exception as error:
            if backup is not None and done == before:
                backup.unlink(missing_ok=True)
                backup = None
            kept = f" A copy from before is at {backup}." if backup else ""
            raise StoreError(
                f"{path} could not be brought up to date: step “{step.name}” failed ({error}).",
                f"The file is unchanged by that step.{kept} Update milk-tui, or report this.",
            ) from error
    return backup


def _apply(db: Database, number: int, step: Step) -> bool:
    conn = db.conn
    conn.execute("pragma foreign_keys = off")
    try:
        conn.execute("begin immediate")
        try:
            if version_of(conn) >= number:
                conn.execute("rollback")
                return False
            step.apply(db)
            broken = conn.execute("pragma foreign_key_check").fetchone()
            if broken is not None:
                raise sqlite3.IntegrityError(f"a row of {broken[0]} would refer to a row that is not there")
            conn.execute(f"pragma application_id = {schema.APPLICATION_ID:d}")
            conn.execute(f"pragma user_version = {number:d}")
            conn.execute("commit")
        except BaseException:
            if conn.in_transaction:
                conn.execute("rollback")
            raise
    finally:
        conn.execute("pragma foreign_keys = on")
    return True


def back_up(conn: sqlite3.Connection, path: Path, version: int) -> Path:
    """A whole copy of the database beside it, readable by its owner alone; an older copy is never
    overwritten, also when two programs make one at once.
    """
    wanted = path.with_name(f"{path.name}.bak-v{version}")
    partial = wanted.with_name(f"{wanted.name}.{os.getpid()}.partial")
    with contextlib.suppress(FileNotFoundError):
        partial.unlink()
    try:
        os.close(os.open(partial, os.O_CREAT | os.O_EXCL | os.O_WRONLY, FILE_MODE))
        copy = sqlite3.connect(partial)
        try:
            conn.backup(copy)
        finally:
            copy.close()
        target = _put_beside(partial, wanted)
    except (OSError, sqlite3.Error) as error:
        partial.unlink(missing_ok=True)
        raise StoreError(
            f"{path} needs to be brought up to date, but no copy of it could be made first ({error}).",
            f"Make room in {path.parent} and start again. The file is unchanged.",
        ) from error
    return target


def _put_beside(partial: Path, wanted: Path) -> Path:
    """Give a finished copy its name, or the next free one."""
    while True:
        target = free_name(wanted)
        try:
            os.link(partial, target)
        except FileExistsError:
            continue
        partial.unlink()
        return target


def free_name(path: Path) -> Path:
    """The path itself, or with ``.2``, ``.3`` … when it is taken."""
    if not path.exists():
        return path
    number = 2
    while (numbered := path.with_name(f"{path.name}.{number}")).exists():
        number += 1
    return numbered
