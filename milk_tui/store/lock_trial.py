"""Do locks hold where the database is? On a disk that knows none, as a home over a network may be, SQLite would wait
for a lock that nobody has, and two programs could write at once."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
from pathlib import Path
from uuid import uuid4

from milk_tui.core.errors import StoreError

HINT = "Keep the database on a local disk: --database or MILK_TUI_DATABASE."


def try_locks(path: Path) -> None:
    """Lock a file of our own beside the database. Raises StoreError where that fails or keeps nobody out.

    Never the database itself: closing it would take SQLite's own locks away.
    """
    trial = path.with_name(f".{path.name}.{uuid4().hex[:12]}.lock")
    opened: list[int] = []
    try:
        try:
            opened.append(os.open(trial, os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_CLOEXEC, 0o600))
            opened.append(os.open(trial, os.O_RDWR | os.O_CLOEXEC))
        except OSError:
            return  # no room for a file: SQLite says so
        finally:
            with contextlib.suppress(OSError):
                trial.unlink()
        first, second = opened
        try:
            fcntl.lockf(first, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno in (errno.EACCES, errno.EAGAIN, errno.EINTR):
                return
            raise StoreError(f"No lock can be kept in {path.parent}: {error.strerror}.", HINT) from error
        with contextlib.suppress(OSError):  # SQLite can do without locks of this kind: they only tell whether any hold
            fcntl.flock(first, fcntl.LOCK_EX | fcntl.LOCK_NB)
            with contextlib.suppress(OSError):
                fcntl.flock(second, fcntl.LOCK_EX | fcntl.LOCK_NB)
                raise StoreError(f"Locks keep nobody out in {path.parent}: two programs would write at once.", HINT)
    finally:
        for fd in opened:
            os.close(fd)
