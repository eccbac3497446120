"""A database of every format that was ever released, with rows in all of its tables: ``vNN.db.xz``.

A file here is made once and never again: ``python -m tests.data.databases`` adds those of new formats and leaves the
others alone. ``tests/store/test_old_versions.py`` brings each of them up to date, and compares its tables with those
that the steps of today make: a step that was changed after its release is found there.
"""

from __future__ import annotations

import lzma
import sqlite3
from pathlib import Path

from milk_tui.store import invariants, migrations
from tests.data.databases.rows import ROWS

FOLDER = Path(__file__).parent
FIRST = 4
"""The format of the first program."""


def name_of(version: int) -> str:
    return f"v{version:02}.db.xz"


def versions() -> list[int]:
    """The formats that there is a file of."""
    return sorted(int(path.name[1:3]) for path in FOLDER.glob("v[0-9][0-9].db.xz"))


def unpack(version: int, to: Path) -> Path:
    """The database of a format, as a file that only its owner can read."""
    to.touch(mode=0o600)
    to.write_bytes(lzma.decompress((FOLDER / name_of(version)).read_bytes()))
    return to


def build(version: int, path: Path) -> None:
    """A database as the program made it when it had this format.

    The first program had ``FIRST``; a file that has had fewer steps is one of a program that was killed on the way, and
    empty.
    """
    conn = sqlite3.connect(path, isolation_level=None)
    invariants.give_functions(conn)
    for number in range(1, version + 1):
        migrations.migrate(conn, path, migrations.STEPS[:number])
        for copy in path.parent.glob(f"{path.name}.bak-*"):
            copy.unlink()
        if number == FIRST:
            conn.executescript("".join(ROWS.get(each, "") for each in range(1, FIRST + 1)))
        elif number > FIRST:
            conn.executescript(ROWS.get(number, ""))
    conn.execute("vacuum")
    conn.close()
