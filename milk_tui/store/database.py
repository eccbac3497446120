"""The store: one SQLite file, one writer thread, a few readers; nothing of it blocks the screen."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import threading
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from milk_tui.core.errors import StoreError
from milk_tui.store import files, migrations, owner, schema
from milk_tui.store.connections import Readers, again_while_busy, connect_reader, connect_writer
from milk_tui.store.faults import explain, no_room
from milk_tui.store.lock_trial import try_locks
from milk_tui.store.writer import Writer

if TYPE_CHECKING:
    from sqlite_utils import Database

T = TypeVar("T")


class Store:
    """An open database. ``notices`` are lines for the person about how it was opened.

    An error of the file, the disk or another program comes out of every method as StoreError; what a function
    raised by itself comes out as it is, its transaction undone.
    """

    def __init__(self, path: Path, writer: Writer | None, readers: Readers, notices: list[str]) -> None:
        self.path = path
        self.notices = notices
        self._writer = writer
        self._readers = readers
        self._owner: owner.Owner | None = None
        self._claim = threading.Lock()

    @classmethod
    def open(cls, path: Path | str) -> Store:
        """Open, and first create or bring up to date, the database at ``path``. Blocks; milliseconds.

        A new file gets mode 0600 and its folder 0700. A file or folder that can't be written is opened
        read-only (``read_only``). Raises StoreError for a file that is damaged, of a newer version, of
        another program, open to other users and not ours, or out of date where it can't be written, and for a
        disk whose locks don't hold.
        """
        path = Path(os.path.abspath(Path(path).expanduser()))  # noqa: PTH100 (resolve() would follow links)
        try:
            writable, notices = files.prepare(path)
            if not writable:
                return cls(path, None, _open_read_only(path, notices), notices)
            try_locks(path)
            try:
                conn = connect_writer(path)
            except sqlite3.OperationalError as error:
                if not no_room(error) or _logged(path):
                    raise
                notices.append(f"There is no room beside {path}: nothing of this run is kept.")
                return cls(path, None, _open_read_only(path, notices, immutable=True), notices)
            try:
                _bring_up_to_date(conn, path, notices)
            except BaseException:
                conn.close()
                raise
        except sqlite3.Error as error:
            raise explain(error, path) or StoreError(f"{path} can't be opened: {error}.") from error
        except OSError as error:
            raise StoreError(f"{path} can't be opened: {error.strerror}.", f"Check {path.parent}.") from error
        return cls(path, Writer(conn), Readers(path, immutable=False), notices)

    @property
    def read_only(self) -> bool:
        return self._writer is None

    @property
    def owner_id(self) -> str:
        """Marks the turns and legs that this program works on; claimed at first use (``store/owner.py``)."""
        with self._claim:
            if self._owner is None:
                try:
                    self._owner = owner.Owner(self.running_folder)
                except OSError as error:
                    raise StoreError(
                        f"No lock can be kept in {self.running_folder}: {error.strerror}.",
                        "Keep the database on a local disk.",
                    ) from error
            return self._owner.id

    @property
    def running_folder(self) -> Path:
        """Where the programs that use this database hold their locks."""
        return owner.folder_for(self.path)

    async def write(self, fn: Callable[[Database], T]) -> T:
        """Run ``fn`` in the writer thread inside one transaction; its result when it is committed.

        An exception undoes the whole transaction. Cancelling the wait does not take the write back.
        """
        return await self._wait(self._submit(fn))

    def write_sync(self, fn: Callable[[Database], T]) -> T:
        """``write`` for code without an event loop."""
        return self._result(self._submit(fn))

    async def read(self, fn: Callable[[sqlite3.Connection], T]) -> T:
        """Run ``fn`` in a reader thread on one snapshot of the database; it can't write."""
        return await self._wait(self._readers.submit(fn))

    def read_sync(self, fn: Callable[[sqlite3.Connection], T]) -> T:
        return self._result(self._readers.submit(fn))

    async def aclose(self) -> None:
        await asyncio.to_thread(self.close)

    def close(self) -> None:
        """Do what waits, then close everything; twice is harmless."""
        self._readers.close()
        if self._writer is not None:
            self._writer.close()
        if self._owner is not None:
            self._owner.release()

    def _submit(self, fn: Callable[[Database], T]) -> Future[T]:
        if self._writer is None:
            raise StoreError(
                f"{self.path} can't be written.",
                "Make the file and its folder writable, or room on its disk, then restart.",
            )
        return self._writer.submit(fn)

    async def _wait(self, done: Future[T]) -> T:
        try:
            return await asyncio.shield(asyncio.wrap_future(done))
        except sqlite3.Error as error:
            raise explain(error, self.path) or error from error

    def _result(self, done: Future[T]) -> T:
        try:
            return done.result()
        except sqlite3.Error as error:
            raise explain(error, self.path) or error from error


def _bring_up_to_date(conn: sqlite3.Connection, path: Path, notices: list[str]) -> None:
    version = _check_version(conn, path)
    if version == migrations.VERSION:
        return
    backup = again_while_busy(lambda: migrations.migrate(conn, path))
    if backup is not None:
        notices.append(f"The database was brought up to date; a copy from before is at {backup}.")


def _logged(path: Path) -> bool:
    """True while changes wait beside the file."""
    wal = path.with_name(path.name + "-wal")
    return wal.exists() and wal.stat().st_size > 0


def _open_read_only(path: Path, notices: list[str], *, immutable: bool = False) -> Readers:
    conn = connect_reader(path, immutable=immutable)
    try:
        version = _check_version(conn, path)
    except sqlite3.OperationalError as error:
        if _logged(path):
            raise StoreError(
                f"{path} holds changes that can only be read in a writable folder.",
                f"Copy {path.name} and {path.name}-wal to a folder of your own and open the copy.",
            ) from error
        immutable = True
        conn.close()
        conn = connect_reader(path, immutable=True)
        version = _check_version(conn, path)
    finally:
        conn.close()
    if version != migrations.VERSION:
        raise StoreError(
            f"{path} must be brought up to date, but it can't be written.",
            "Make the file and its folder writable, then start again.",
        )
    return Readers(path, immutable=immutable)


def _check_version(conn: sqlite3.Connection, path: Path) -> int:
    """The file's version, 0 for an empty one. Raises StoreError for a newer one and for another program's."""
    application, version, tables = conn.execute(
        "select (select application_id from pragma_application_id),"
        " (select user_version from pragma_user_version),"
        " (select count(*) from sqlite_schema)"
    ).fetchone()
    if tables and application != schema.APPLICATION_ID:
        raise StoreError(
            f"{path} is the database of another program.",
            "Name another one with --database or MILK_TUI_DATABASE.",
        )
    if version > migrations.VERSION:
        raise StoreError(
            f"{path} was written by a newer milk-tui (format {version}, this one {migrations.VERSION}).",
            "Update milk-tui, or name another database with --database. The file is unchanged.",
        )
    return int(version)
