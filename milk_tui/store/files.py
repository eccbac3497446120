"""The database file and its folder: made private, looked at before SQLite touches them."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from milk_tui.core.errors import StoreError

FOLDER_MODE = 0o700
FILE_MODE = 0o600

_MAGIC = b"SQLite format 3\x00"
_OTHERS = 0o077


def prepare(path: Path) -> tuple[bool, list[str]]:
    """Create what is missing, refuse what is not ours; returns (writable, notices for the person).

    Raises StoreError for a folder that can't be made, something that is no database, a truncated file, and a
    file of another user that others can read.
    """
    notices: list[str] = []
    _make_folder(path.parent)
    if not path.exists():
        _create(path)
        return True, notices
    _check_private(path, notices)
    writable = _may_write(path) and _may_write(path.parent)
    if not writable:
        notices.append(f"{path} can't be written: nothing of this run is kept.")
    _check_header(path)
    return writable, notices


def _make_folder(folder: Path) -> None:
    if folder.is_dir():
        return
    missing = [folder, *(parent for parent in folder.parents if not parent.exists())]
    try:
        for part in reversed(missing):
            part.mkdir(mode=FOLDER_MODE, exist_ok=True)
    except OSError as error:
        raise StoreError(
            f"The folder {folder} can't be made: {error.strerror}.",
            "Name another database with --database or MILK_TUI_DATABASE.",
        ) from error


def _create(path: Path) -> None:
    try:
        os.close(os.open(path, os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, FILE_MODE))
    except OSError as error:
        raise StoreError(
            f"The database {path} can't be made: {error.strerror}.",
            "Make its folder writable, or name another database with --database or MILK_TUI_DATABASE.",
        ) from error


def _check_private(path: Path, notices: list[str]) -> None:
    """Memory is private: a file that others can read is made private when it is ours, else refused."""
    for part in (path, *(path.with_name(path.name + suffix) for suffix in ("-wal", "-shm"))):
        try:
            info = part.stat()
        except FileNotFoundError:
            continue
        except OSError as error:
            raise StoreError(f"{part} can't be looked at: {error.strerror}.") from error
        if not stat.S_ISREG(info.st_mode):
            raise StoreError(f"{part} is not a file.", "Name another database with --database.")
        if not info.st_mode & _OTHERS:
            continue
        if info.st_uid != os.geteuid():
            raise StoreError(
                f"{part} belongs to another user and others can read it.",
                f"Ask its owner to run: chmod 600 {part}",
            )
        try:
            part.chmod(FILE_MODE)
        except OSError as error:
            raise StoreError(
                f"{part} can be read by other users and can't be made private: {error.strerror}.",
                "Move it to a folder of your own.",
            ) from error
        notices.append(f"{part} could be read by other users; it is private now.")


def _check_header(path: Path) -> None:
    try:
        with path.open("rb") as file:
            header = file.read(100)
            size = os.fstat(file.fileno()).st_size
    except OSError as error:
        raise StoreError(f"{path} can't be read: {error.strerror}.", f"Check its owner: ls -l {path}") from error
    if size == 0:
        return
    if not header.startswith(_MAGIC):
        raise StoreError(f"{path} is not a milk-tui database.", "Move it away, or name another one with --database.")
    if _truncated(path, header, size):
        raise damaged(path, "its end is missing")


def _truncated(path: Path, header: bytes, size: int) -> bool:
    """True when the header promises more pages than the file has; unknown (False) while a log waits beside
    it.
    """
    wal = path.with_name(path.name + "-wal")
    if wal.exists() and wal.stat().st_size:
        return False
    if len(header) < 100:
        return True
    if header[24:28] != header[92:96]:
        return False
    page = int.from_bytes(header[16:18], "big")
    page = 65536 if page == 1 else page
    return page * int.from_bytes(header[28:32], "big") > size


def damaged(path: Path, how: str) -> StoreError:
    copies = sorted(copy.name for copy in path.parent.glob(path.name + ".bak-v*"))
    newest = f"Copies from before: {', '.join(copies)}. " if copies else ""
    return StoreError(
        f"The database {path} is damaged: {how}.",
        f"{newest}Move it away and start again, or run: milk-tui doctor",
    )


def _may_write(path: Path) -> bool:
    effective = os.access in os.supports_effective_ids
    return os.access(path, os.W_OK, effective_ids=effective)
