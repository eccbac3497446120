"""Connections to the file, set up alike; and the pool of threads that read."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar
from urllib.parse import quote

from milk_tui.store.faults import is_busy

T = TypeVar("T")

BUSY_TIMEOUT_S = 30.0
"""How long a write waits for another program's; writes take milliseconds, so this is only met by a stuck
one.
"""

READERS = 2
_WAL_LIMIT_BYTES = 16 * 1024 * 1024


def connect_writer(path: Path) -> sqlite3.Connection:
    """A connection in autocommit mode that is opened in one thread and then used by the writer thread
    alone.
    """
    conn = sqlite3.connect(path, timeout=BUSY_TIMEOUT_S, isolation_level=None, check_same_thread=False)
    conn.row_factory = sqlite3.Row
    try:
        again_while_busy(lambda: conn.execute("pragma journal_mode = wal").fetchone())
        conn.execute("pragma synchronous = full")
        conn.execute("pragma foreign_keys = on")
        conn.execute("pragma recursive_triggers = on")
        conn.execute(f"pragma journal_size_limit = {_WAL_LIMIT_BYTES:d}")
    except BaseException:
        conn.close()
        raise
    return conn


def connect_reader(path: Path, *, immutable: bool = False) -> sqlite3.Connection:
    """A connection that can't write; ``immutable`` for a folder in which SQLite can't keep its own files."""
    uri = f"file:{quote(str(path))}?mode=ro" + ("&immutable=1" if immutable else "")
    conn = sqlite3.connect(uri, uri=True, timeout=BUSY_TIMEOUT_S, isolation_level=None, check_same_thread=False)
    conn.row_factory = sqlite3.Row
    conn.execute("pragma query_only = on")
    return conn


def again_while_busy(fn: Callable[[], T], timeout_s: float = BUSY_TIMEOUT_S) -> T:
    """Call until it is not refused as busy: some locks (changing the journal, recovery) skip SQLite's own
    waiting.
    """
    deadline = time.monotonic() + timeout_s
    delay = 0.002
    while True:
        try:
            return fn()
        except sqlite3.OperationalError as error:
            if not is_busy(error) or time.monotonic() > deadline:
                raise
        time.sleep(delay)
        delay = min(delay * 2, 0.1)


class Readers:
    """Threads that read, each with its own connection and its own snapshot for the time of one call."""

    def __init__(self, path: Path, *, immutable: bool) -> None:
        self._path = path
        self._immutable = immutable
        self._local = threading.local()
        self._open: list[sqlite3.Connection] = []
        self._pool = ThreadPoolExecutor(READERS, thread_name_prefix="store-read")

    def submit(self, fn: Callable[[sqlite3.Connection], T]) -> Future[T]:
        return self._pool.submit(self._run, fn)

    def close(self) -> None:
        """Waits for the reads that are under way."""
        self._pool.shutdown(wait=True)
        for conn in self._open:
            conn.close()
        self._open.clear()

    def _run(self, fn: Callable[[sqlite3.Connection], T]) -> T:
        conn = self._connection()

        def once() -> T:
            conn.execute("begin")
            try:
                return fn(conn)
            finally:
                if conn.in_transaction:
                    conn.execute("rollback")

        return again_while_busy(once)

    def _connection(self) -> sqlite3.Connection:
        conn: sqlite3.Connection | None = getattr(self._local, "conn", None)
        if conn is None:
            conn = connect_reader(self._path, immutable=self._immutable)
            self._local.conn = conn
            self._open.append(conn)
        return conn
