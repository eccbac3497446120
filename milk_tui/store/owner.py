"""Which running program works on a leg.

A program that works on turns holds an advisory lock (``flock``) on a file of its own beside the database. The
kernel drops the lock with the process, however it dies, so "is the program that left this leg running still
alive?" has a sure answer: no clock, no heartbeat that a sleeping laptop misses, no process id that was used
again.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
from pathlib import Path
from uuid import uuid4


class Owner:
    """This program's claim; ``id`` is stored with every turn and leg that it works on."""

    def __init__(self, folder: Path) -> None:
        """Raises OSError when the lock file can't be made or the file system knows no locks."""
        folder.mkdir(mode=0o700, exist_ok=True)
        while True:
            self.id = uuid4().hex
            self._path = folder / self.id
            self._fd = os.open(self._path, os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_CLOEXEC, 0o600)
            try:
                fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                os.close(self._fd)
                continue
            except OSError:
                self.release()
                raise
            if _same_file(self._fd, self._path):
                return
            os.close(self._fd)

    def release(self) -> None:
        """Give the claim up; twice is harmless."""
        if self._fd < 0:
            return
        self._path.unlink(missing_ok=True)
        os.close(self._fd)
        self._fd = -1


def folder_for(database: Path) -> Path:
    return database.with_name(database.name + ".running")


def alive(folder: Path, owner_id: str) -> bool:
    """True while the program with that claim runs. A dead one's file is removed."""
    if not owner_id.isalnum():
        return False
    path = folder / owner_id
    try:
        fd = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    except OSError:
        return True
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    else:
        path.unlink(missing_ok=True)
        return False
    finally:
        os.close(fd)


def sweep(folder: Path) -> None:
    """Remove the files of programs that are gone."""
    with contextlib.suppress(FileNotFoundError):
        for entry in list(os.scandir(folder)):
            alive(folder, entry.name)


def _same_file(fd: int, path: Path) -> bool:
    """False when a sweep by another program took the new file away between its making and its lock."""
    try:
        there = path.stat()
    except FileNotFoundError:
        return False
    ours = os.fstat(fd)
    return (ours.st_dev, ours.st_ino) == (there.st_dev, there.st_ino)
