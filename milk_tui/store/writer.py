"""The one thread that writes."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable
from concurrent.futures import Future
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, TypeVar

from milk_tui.store.connections import again_while_busy

if TYPE_CHECKING:
    from sqlite_utils import Database

T = TypeVar("T")


class Writer:
    """Runs functions one after another, each in a transaction that holds the write lock from its first
    statement.

    A deferred transaction that reads first fails with "locked" at once when another program wrote meanwhile,
    whatever the busy timeout (``textual-notes.md`` §5): hence BEGIN IMMEDIATE, always. What was submitted is
    done, also when nobody waits for it any more.
    """

    def __init__(self, conn: sqlite3.Connection) -> None:
        """``conn`` belongs to this writer from now on."""
        self._conn = conn
        self._jobs: SimpleQueue[tuple[Callable[[Database], Any], Future[Any]] | None] = SimpleQueue()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._closed = False

    def submit(self, fn: Callable[[Database], T]) -> Future[T]:
        """Raises RuntimeError after ``close`` and from within a write (it would wait for itself)."""
        done: Future[T] = Future()
        done.set_running_or_notify_cancel()
        with self._lock:
            if self._closed:
                raise RuntimeError("the store is closed")
            if threading.current_thread() is self._thread:
                raise RuntimeError("a write can't ask for another write; call the function with its database")
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="store-write", daemon=True)
                self._thread.start()
            self._jobs.put((fn, done))
        return done

    def close(self) -> None:
        """Do what waits, then close the connection; twice is harmless."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
            thread = self._thread
            self._jobs.put(None)
        if thread is not None:
            thread.join()
        self._conn.close()

    def _run(self) -> None:
        from sqlite_utils import Database

        db = Database(self._conn, execute_plugins=False)
        while (job := self._jobs.get()) is not None:
            fn, done = job
            try:
                result = self._transaction(db, fn)
            except BaseException as error:
                done.set_exception(error)
            else:
                done.set_result(result)
            del job, fn, done

    def _transaction(self, db: Database, fn: Callable[[Database], T]) -> T:
        conn = self._conn
        again_while_busy(lambda: conn.execute("begin immediate"))
        try:
            result = fn(db)
            conn.execute("commit")
        except BaseException:
            if conn.in_transaction:
                conn.execute("rollback")
            raise
        return result
