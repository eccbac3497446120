"""A database of every format that was ever released is brought up to date, and nothing of it is lost."""

from __future__ import annotations

import os
import shutil
import sqlite3
import stat
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from milk_tui.core.errors import StoreError
from milk_tui.store import Store, integrity, migrations, percepts, sessions, turns
from milk_tui.store.migrations import Step
from tests.data.databases import FIRST, unpack, versions

OLDER = range(FIRST, migrations.VERSION)
DERIVED = ("_fts", "_trigram", "_terms")
"""Text indexes: compared by what is found in them."""
MOMENTARY = {"helper_leases", "helper_pending"}
"""Only there while a helper runs."""


def tables(conn: sqlite3.Connection) -> list[str]:
    found = conn.execute("select name from sqlite_schema where type = 'table' and name not like 'sqlite_%'")
    return [name for (name,) in found if not any(mark in name for mark in DERIVED)]


def rows(conn: sqlite3.Connection, table: str, columns: str = "*") -> list[tuple[object, ...]]:
    return sorted(conn.execute(f"select {columns} from {table}").fetchall(), key=repr)


def layout(path: Path) -> list[tuple[str, str, str]]:
    with closing(sqlite3.connect(path)) as conn:
        return sorted(conn.execute("select type, name, coalesce(sql, '') from sqlite_schema").fetchall())


def test_there_is_a_file_of_every_format() -> None:
    wanted = list(range(1, migrations.VERSION + 1))
    assert versions() == wanted, "python -m tests.data.databases adds what is missing"


@pytest.mark.parametrize("version", versions())
def test_no_step_was_changed_after_its_release(version: int, tmp_path: Path) -> None:
    then, now = unpack(version, tmp_path / "then.db"), tmp_path / "now.db"
    with closing(sqlite3.connect(now, isolation_level=None)) as conn:
        migrations.migrate(conn, now, migrations.STEPS[:version])
    assert layout(then) == layout(now)


@pytest.mark.parametrize("version", OLDER)
def test_an_older_database_is_brought_up_to_date_with_all_that_it_held(version: int, tmp_path: Path) -> None:
    path = unpack(version, tmp_path / "milk.db")
    with closing(sqlite3.connect(path)) as conn:
        before = {table: rows(conn, table) for table in tables(conn)}
        columns = {table: ", ".join(row[1] for row in conn.execute(f"pragma table_info({table})")) for table in before}
    assert {table for table in before if not before[table]} <= MOMENTARY, "every table of the file has a row"
    store = Store.open(path)
    backup = path.with_name(f"milk.db.bak-v{version}")
    assert [notice for notice in store.notices if str(backup) in notice]
    assert store.read_sync(integrity.problems) == []
    assert store.write_sync(integrity.index_problems) == []
    for table in before:
        after = store.read_sync(lambda conn, t=table: [tuple(row) for row in rows(conn, t, columns[t])])
        missing = [row for row in before[table] if row not in after]
        assert not missing or table == "readers", f"{table}: {missing}"
    found = store.read_sync(
        lambda conn: conn.execute("select rowid from messages_fts where messages_fts match 'checkout'").fetchall()
    )
    assert [tuple(row) for row in found] == [(2,)]
    session = store.read_sync(lambda conn: sessions.get(conn, "s-shop"))
    assert (session.title, session.draft) == ("Charge twice", "half a thought")
    turn = store.write_sync(lambda db: turns.add(db, session.id, "and now?", owner=store.owner_id))
    store.write_sync(lambda db: percepts.add(db, content="The port is odd", session_id=session.id))
    assert turn.id == 5
    store.close()
    with closing(sqlite3.connect(f"file:{backup}?mode=ro", uri=True)) as conn:
        assert migrations.version_of(conn) == version
        assert {table: rows(conn, table) for table in tables(conn)} == before
    assert stat.S_IMODE(backup.stat().st_mode) == 0o600
    fresh = tmp_path / "fresh.db"
    Store.open(fresh).close()
    assert layout(path) == layout(fresh)


@pytest.mark.parametrize("version", range(FIRST))
def test_a_program_that_was_killed_while_it_made_the_file_is_followed_by_one_that_goes_on(
    version: int, tmp_path: Path
) -> None:
    path = tmp_path / "milk.db"
    if version:
        unpack(version, path)
    store = Store.open(path)
    assert store.read_sync(integrity.problems) == []
    store.close()


def test_the_newest_format_is_opened_as_it_is(tmp_path: Path) -> None:
    path = unpack(migrations.VERSION, tmp_path / "milk.db")
    store = Store.open(path)
    assert (store.notices, store.read_sync(integrity.problems)) == ([], [])
    store.close()
    assert not list(tmp_path.glob("*.bak-*"))


@pytest.mark.parametrize("killed_after", range(1, 8, 3))
def test_a_program_killed_between_two_steps_is_followed_by_one_that_goes_on(killed_after: int, tmp_path: Path) -> None:
    path = unpack(FIRST, tmp_path / "milk.db")
    script = (
        "import os, sys; from milk_tui.store import Store, migrations; real, done = migrations._apply, []\n"
        "def apply(db, number, step):\n"
        "    done.append(real(db, number, step))\n"
        f"    len(done) < {killed_after} or os.kill(os.getpid(), 9)\n"
        "    return done[-1]\n"
        "migrations._apply = apply; Store.open(sys.argv[1])"
    )
    assert subprocess.run([sys.executable, "-c", script, str(path)], check=False).returncode == -9
    store = Store.open(path)
    assert store.read_sync(integrity.problems) == []
    assert store.read_sync(lambda conn: turns.get(conn, 1).prompt).startswith("Why does checkout")
    store.close()
    first = tmp_path / f"milk.db.bak-v{FIRST}"
    with closing(sqlite3.connect(first)) as conn:
        assert migrations.version_of(conn) == FIRST


def small_disk(conn: sqlite3.Connection, room: int = 0) -> None:
    """From now on the file may grow by so many pages and no more."""
    pages = conn.execute("pragma page_count").fetchone()[0]
    conn.execute(f"pragma max_page_count = {pages + room}")


@pytest.mark.parametrize("room", [0, 4, 12])
def test_a_disk_that_fills_during_the_steps_leaves_a_whole_older_file_and_its_copy(room: int, tmp_path: Path) -> None:
    path = unpack(FIRST, tmp_path / "milk.db")
    with closing(sqlite3.connect(path, isolation_level=None)) as conn:
        small_disk(conn, room)
        with pytest.raises(StoreError, match="could not be brought up to date") as failed:
            migrations.migrate(conn, path)
        reached = migrations.version_of(conn)
        assert FIRST <= reached < migrations.VERSION
        assert conn.execute("pragma integrity_check").fetchone() == ("ok",)
    assert "full" in failed.value.what
    kept = tmp_path / f"milk.db.bak-v{FIRST}"
    assert kept.exists() is (reached > FIRST)
    store = Store.open(path)
    assert store.read_sync(integrity.problems) == [], "with room again the rest is done"
    store.close()


def test_a_file_limit_stops_the_copy_before_anything_is_changed(tmp_path: Path) -> None:
    path = unpack(5, tmp_path / "milk.db")
    with closing(sqlite3.connect(path)) as conn:
        kept = rows(conn, "turns")
    script = (
        "import resource, signal, sys; signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (8192, 8192))\n"
        "from milk_tui.store import Store; from milk_tui.core.errors import StoreError\n"
        "try: Store.open(sys.argv[1])\n"
        "except StoreError as error: print(error.what, error.hint)"
    )
    said = subprocess.run([sys.executable, "-c", script, str(path)], capture_output=True, text=True, check=True).stdout
    assert "no copy of it could be made" in said or "disk" in said, said
    with closing(sqlite3.connect(path)) as conn:
        assert migrations.version_of(conn) == 5
        assert rows(conn, "turns") == kept
    assert not list(tmp_path.glob("milk.db.bak-*")) and not list(tmp_path.glob("*.partial"))


def test_two_programs_bring_the_same_file_up_to_date_at_once(tmp_path: Path) -> None:
    path = unpack(FIRST, tmp_path / "milk.db")
    script = "import sys; from milk_tui.store import Store; Store.open(sys.argv[1]).close()"
    programs = [subprocess.Popen([sys.executable, "-c", script, str(path)], stderr=subprocess.PIPE) for _ in range(3)]
    for program in programs:
        assert program.communicate(timeout=120)[1] == b""
    store = Store.open(path)
    assert store.read_sync(integrity.problems) == []
    store.close()


def test_an_older_file_in_a_folder_that_can_not_be_written_is_refused_and_left_alone(tmp_path: Path) -> None:
    if os.geteuid() == 0 and shutil.which("setpriv") is None:
        pytest.skip("file modes mean nothing to root, and there is no setpriv here")
    path = unpack(9, tmp_path / "milk.db")
    before = path.read_bytes()
    tmp_path.chmod(0o500)
    path.chmod(0o400)
    script = (
        "import sys; from milk_tui.store import Store; from milk_tui.core.errors import StoreError\n"
        "try: Store.open(sys.argv[1])\n"
        "except StoreError as error: print(error.what, error.hint)"
    )
    drop = ["setpriv", "--bounding-set=-all", "--inh-caps=-all", "--"] if os.geteuid() == 0 else []
    try:
        said = subprocess.run([*drop, sys.executable, "-c", script, str(path)], capture_output=True, text=True).stdout
    finally:
        tmp_path.chmod(0o700)
    assert "must be brought up to date, but it can't be written" in said
    assert path.read_bytes() == before


def test_steps_are_only_ever_added() -> None:
    assert all(isinstance(step, Step) and step.name for step in migrations.STEPS)
    assert len({step.name for step in migrations.STEPS}) == len(migrations.STEPS)
