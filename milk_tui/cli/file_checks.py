"""Whether others can read what is the person's own: every file and folder of ours (``quality.md``, secrets).

``repair`` takes the rights of others away where the file is ours; nothing else about it changes.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from milk_tui.cli.check import Check, check

OTHERS = 0o077
MOST_NAMED = 10
"""Open files that are named one by one; the others are counted."""
MOST_LOOKED_AT = 20_000


def private(database: Path, config: Path, *, repair: bool = False) -> Iterator[Check]:
    """The database with its log and copies, the config, logs, runtime files and the folders that hold them."""
    from milk_tui.paths import shown

    mended = 0
    left: list[tuple[Path, str]] = []
    for path in _ours(database, config):
        mode = _mode(path)
        if mode is None or not mode & OTHERS:
            continue
        if repair and _closed(path, mode):
            mended += 1
        else:
            left.append((path, f"{mode:04o}"))
    if mended:
        yield check("files", "repair", "ok", f"{mended} files and folders are private now")
    for path, told in left[:MOST_NAMED]:
        hint = f"Ask its owner to run: chmod go-rwx {path}" if repair else "Run: milk-tui doctor --repair"
        yield check("files", "private", "warning", f"{shown(path)} is open to others ({told})", hint)
    if len(left) > MOST_NAMED:
        yield check("files", "private", "warning", f"… and {len(left) - MOST_NAMED:,} more")
    if not left and not mended:
        yield check("files", "private", "ok", "nobody else can read what is yours")


def _ours(database: Path, config: Path) -> Iterator[Path]:
    from milk_tui import paths

    seen: set[Path] = set()
    beside = list(database.parent.iterdir()) if database.parent.is_dir() else []
    of_database = sorted(path for path in beside if path.name.startswith(database.name))
    for path in (
        config,
        *of_database,
        *_below(paths.data_dir(), paths.log_dir(), paths.runtime_dir(), paths.config_dir()),
    ):
        if path not in seen:
            seen.add(path)
            yield path


def _below(*folders: Path) -> Iterator[Path]:
    """The folders and what is in them; links are not followed."""
    number = 0
    for folder in folders:
        if not folder.is_dir():
            continue
        yield folder
        for at, names, files in os.walk(folder):
            for name in (*names, *files):
                number += 1
                if number > MOST_LOOKED_AT:
                    return
                yield Path(at) / name


def _mode(path: Path) -> int | None:
    """The rights of a file or folder; ``None`` when there is nothing, or something that has none of its own."""
    try:
        found = path.lstat()
    except OSError:
        return None
    return stat.S_IMODE(found.st_mode) if stat.S_ISREG(found.st_mode) or stat.S_ISDIR(found.st_mode) else None


def _closed(path: Path, mode: int) -> bool:
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        os.fchmod(handle, mode & ~OTHERS)
    except OSError:
        return False
    finally:
        os.close(handle)
    return True
