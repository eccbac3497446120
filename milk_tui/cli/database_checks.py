"""What the doctor sees of the database; with ``repair`` it mends what is right in one way only, after making a copy."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from milk_tui.cli.check import Check, check
from milk_tui.core.errors import MilkError

if TYPE_CHECKING:
    from milk_tui.store import Store
    from milk_tui.store.integrity import Problem

MOST_PROBLEMS = 60
_RESTORE = "Restore a copy; backups stand beside it."
_RESCUE = f"{_RESTORE} What can be read: milk-tui doctor --database --rescue NEW_FILE"


def database(file: Path, *, repair: bool = False) -> Iterator[Check]:
    """The file, its format, whether it is whole, and its text indexes."""
    import sqlite3
    from urllib.parse import quote

    from milk_tui.store import integrity, migrations, owner, schema

    if not file.exists():
        yield _of_file("info", f"{file} (made when it is needed)")
        return
    if file.stat().st_mode & 0o077:
        yield _of_file("warning", f"{file} is open to others", f"Run: chmod 600 {file}")
    try:
        conn = sqlite3.connect(f"file:{quote(str(file))}?mode=ro", uri=True, timeout=5)
        try:
            tables = conn.execute("select count(*) from sqlite_schema").fetchone()[0]
            ours = conn.execute("pragma application_id").fetchone()[0] == schema.APPLICATION_ID
            version = conn.execute("pragma user_version").fetchone()[0]
            current = ours and version == migrations.VERSION
            problems = integrity.found(conn) if current else []
            whole = current and not any(problem.damaged for problem in problems)
            left = integrity.left_running(conn, owner.folder_for(file)) if whole else 0
        finally:
            conn.close()
    except sqlite3.Error as problem:
        yield _of_file("error", f"{file}: {problem}", _RESCUE)
        return
    if tables and not ours:
        yield _of_file("error", f"{file} belongs to another program", "Name another: --database")
    elif version > migrations.VERSION:
        yield _of_file("error", f"{file}: format {version} is newer", "Update milk-tui.")
    elif version < migrations.VERSION:
        yield _of_file("info", f"{file}: format {version}, brought up to date at the next start")
    elif not whole:
        yield from (_of_file("error", f"{file}: {problem.what}", _RESCUE) for problem in problems[:MOST_PROBLEMS])
    else:
        if left:
            yield _of_file("info", f"a program that died left {left:,} at work; the next start ends that")
        yield from _contents(file, problems, version, repair=repair)


def _contents(file: Path, problems: list[Problem], version: int, *, repair: bool) -> Iterator[Check]:
    """Of a file that can be read whole: states that can't be, and the text indexes, which the tables make anew."""
    from milk_tui.store import Store, integrity

    store = Store.open(file)
    try:
        indexes = [] if store.read_only else store.write_sync(integrity.index_problems)
        if repair and (problems or indexes) and not store.read_only:
            yield from _mended(store, file, version)
            problems, indexes = store.read_sync(integrity.found), store.write_sync(integrity.index_problems)
    except MilkError as problem:
        yield _of_file("error", problem.what, problem.hint)
        return
    finally:
        store.close()
    if not problems and not indexes:
        yield _of_file("ok", f"{file}: {file.stat().st_size / 1e6:.1f} MB, format {version}, whole")
    hint = _RESTORE if repair else "Run: milk-tui doctor --repair"
    for each in problems[:MOST_PROBLEMS]:
        yield _of_file("error", f"{file}: {each.what}", each.instead if each.instead and repair else hint)
    if len(problems) > MOST_PROBLEMS:
        yield _of_file("error", f"{file}: {len(problems) - MOST_PROBLEMS:,} more problems")
    yield from (check("files", "indexes", "error", told, hint) for told in indexes)


def _mended(store: Store, file: Path, version: int) -> Iterator[Check]:
    import sqlite3

    from milk_tui.store import integrity, migrations

    conn = sqlite3.connect(file)
    try:
        copy = migrations.back_up(conn, file, version)
    finally:
        conn.close()
    yield _of_file("info", f"a copy from before stands at {copy}")
    for told in store.write_sync(integrity.mend):
        yield check("files", "repair", "ok", told)


def _of_file(state: str, detail: str, hint: str = "") -> Check:
    return check("files", "database", state, detail, hint)
