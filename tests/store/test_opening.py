"""What opening a database does to new, old, foreign, damaged and unwritable files."""

from __future__ import annotations

import os
import shutil
import sqlite3
import stat
import subprocess
import sys

import pytest

from milk_tui.core.errors import StoreError
from milk_tui.store import Store, migrations, sessions
from tests.store.makers import make_session


def mode(path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def closed(path):
    """A database with one session, closed."""
    with_one = Store.open(path)
    session = make_session(with_one)
    with_one.close()
    return session


def checkpoint(path):
    conn = sqlite3.connect(path)
    conn.execute("pragma journal_mode = delete")
    conn.close()


def test_a_new_database_and_its_folder_are_private(tmp_path):
    path = tmp_path / "some" / "where" / "milk.db"
    old = os.umask(0)
    try:
        store = Store.open(path)
    finally:
        os.umask(old)
    make_session(store)
    assert mode(path) == 0o600
    assert mode(path.with_name("milk.db-wal")) == 0o600
    assert mode(path.parent) == mode(path.parent.parent) == 0o700
    store.close()


def test_a_database_works_as_configured(store):
    pragmas = store.write_sync(
        lambda db: [
            db.execute(f"pragma {name}").fetchone()[0]
            for name in ("journal_mode", "foreign_keys", "synchronous", "recursive_triggers", "busy_timeout")
        ]
    )
    assert pragmas == ["wal", 1, 2, 1, 30_000]


def test_what_was_written_is_there_after_opening_again(tmp_path):
    session = closed(tmp_path / "milk.db")
    again = Store.open(tmp_path / "milk.db")
    assert again.read_sync(lambda conn: sessions.get(conn, session.id)) == session
    assert again.notices == []
    again.close()


def test_a_database_that_others_could_read_is_made_private_and_says_so(tmp_path):
    path = tmp_path / "milk.db"
    closed(path)
    path.chmod(0o644)
    store = Store.open(path)
    assert mode(path) == 0o600
    assert any("private now" in notice for notice in store.notices)
    store.close()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file to another user")
def test_another_users_database_that_others_can_read_is_refused(tmp_path):
    path = tmp_path / "milk.db"
    closed(path)
    path.chmod(0o640)
    os.chown(path, 12345, 12345)
    with pytest.raises(StoreError, match="another user") as refused:
        Store.open(path)
    assert "chmod 600" in refused.value.hint
    assert mode(path) == 0o640


def test_what_is_no_database_is_refused_and_left_alone(tmp_path):
    path = tmp_path / "milk.db"
    text = b"dear diary, " * 100
    path.write_bytes(text)
    path.chmod(0o600)
    with pytest.raises(StoreError, match="not a milk-tui database"):
        Store.open(path)
    assert path.read_bytes() == text
    assert [part.name for part in tmp_path.iterdir()] == ["milk.db"]


def test_the_database_of_another_program_is_refused_and_left_alone(tmp_path):
    path = tmp_path / "places.db"
    other = sqlite3.connect(path)
    other.execute("create table places (name)")
    other.commit()
    other.close()
    with pytest.raises(StoreError, match="another program"):
        Store.open(path)
    tables = sqlite3.connect(path).execute("select name from sqlite_schema").fetchall()
    assert tables == [("places",)]


def test_a_newer_database_is_refused_and_left_alone(tmp_path):
    path = tmp_path / "milk.db"
    closed(path)
    newer = sqlite3.connect(path)
    newer.execute(f"pragma user_version = {migrations.VERSION + 1}")
    newer.close()
    with pytest.raises(StoreError, match="newer milk-tui") as refused:
        Store.open(path)
    assert "Update milk-tui" in refused.value.hint
    assert sqlite3.connect(path).execute("pragma user_version").fetchone()[0] == migrations.VERSION + 1


def test_a_database_whose_end_is_missing_is_refused(tmp_path):
    path = tmp_path / "milk.db"
    closed(path)
    checkpoint(path)
    size = path.stat().st_size
    os.truncate(path, size // 2)
    with pytest.raises(StoreError, match="damaged: its end is missing"):
        Store.open(path)
    assert path.stat().st_size == size // 2


def test_a_database_with_a_damaged_first_page_is_refused_and_names_the_copies(tmp_path):
    path = tmp_path / "milk.db"
    closed(path)
    checkpoint(path)
    (tmp_path / "milk.db.bak-v1").write_bytes(b"")
    with path.open("r+b") as file:
        file.seek(100)
        file.write(os.urandom(1000))
    with pytest.raises(StoreError, match="damaged") as refused:
        Store.open(path)
    assert "milk.db.bak-v1" in refused.value.hint


def test_damage_found_while_reading_is_told_as_such(tmp_path):
    path = tmp_path / "milk.db"
    closed(path)
    checkpoint(path)
    root = sqlite3.connect(path).execute("select rootpage from sqlite_schema where name = 'sessions'").fetchone()[0]
    with path.open("r+b") as file:
        file.seek((root - 1) * 4096)
        file.write(os.urandom(4096))
    store = Store.open(path)
    with pytest.raises(StoreError, match="damaged"):
        store.read_sync(lambda conn: conn.execute("select * from sessions").fetchall())
    store.close()


@pytest.mark.parametrize("kind", ["folder", "pipe"])
def test_what_is_not_a_file_is_refused(tmp_path, kind):
    path = tmp_path / "milk.db"
    path.mkdir() if kind == "folder" else os.mkfifo(path)
    with pytest.raises(StoreError, match="not a file"):
        Store.open(path)


def test_a_folder_that_can_not_be_made_is_named(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match=r"folder .* can't be made"):
        Store.open(tmp_path / "file" / "milk.db")


def test_a_new_database_in_a_folder_that_can_not_be_written_is_refused(ordinary_folder):
    ordinary_folder.chmod(0o500)
    with pytest.raises(StoreError, match="can't be made") as refused:
        Store.open(ordinary_folder / "milk.db")
    assert "MILK_TUI_DATABASE" in refused.value.hint


def test_a_folder_that_can_not_be_entered_is_told(ordinary_folder):
    inner = ordinary_folder / "inner"
    inner.mkdir()
    inner.chmod(0o000)
    with pytest.raises(StoreError):
        Store.open(inner / "milk.db")
    inner.chmod(0o700)


@pytest.mark.parametrize("unwritable", ["folder", "file"])
def test_what_can_not_be_written_is_opened_read_only(ordinary_folder, unwritable):
    path = ordinary_folder / "milk.db"
    session = closed(path)
    (ordinary_folder if unwritable == "folder" else path).chmod(0o500 if unwritable == "folder" else 0o400)
    store = Store.open(path)
    assert store.read_only
    assert any("can't be written" in notice for notice in store.notices)
    assert store.read_sync(lambda conn: sessions.newest(conn, session.directory)) == session
    with pytest.raises(StoreError, match="can't be written"):
        store.write_sync(lambda db: sessions.touch(db, session.id))
    store.close()


def test_an_old_database_that_can_not_be_written_is_refused(ordinary_folder):
    path = ordinary_folder / "milk.db"
    closed(path)
    older = sqlite3.connect(path)
    older.execute(f"pragma user_version = {migrations.VERSION - 1}")
    older.close()
    path.chmod(0o400)
    with pytest.raises(StoreError, match="must be brought up to date"):
        Store.open(path)


def test_changes_that_wait_beside_an_unwritable_database_are_not_passed_over(ordinary_folder):
    here, there = ordinary_folder / "here", ordinary_folder / "there"
    there.mkdir()
    store = Store.open(here / "milk.db")
    make_session(store)
    for name in ("milk.db", "milk.db-wal"):
        shutil.copy(here / name, there / name)
    store.close()
    there.chmod(0o500)
    with pytest.raises(StoreError, match="only be read in a writable folder"):
        Store.open(there / "milk.db")


def test_an_up_to_date_database_is_opened_and_read_without_sqlite_utils(tmp_path):
    path = tmp_path / "milk.db"
    closed(path)
    script = (
        "import sys; from milk_tui.store import Store, sessions; store = Store.open(sys.argv[1]);"
        "assert store.read_sync(lambda conn: sessions.newest(conn, '/work/shop')) is not None; store.close();"
        "print([name for name in ('sqlite_utils', 'numpy', 'litellm', 'textual', 'rich') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script, str(path)], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_bytes_that_are_no_text_are_told_as_damage(tmp_path):
    path = tmp_path / "milk.db"
    session = closed(path)
    with sqlite3.connect(path) as conn:
        conn.execute("update sessions set title = cast(x'ff41' as text) where id = ?", (session.id,))
    store = Store.open(path)
    with pytest.raises(StoreError, match="damaged: a text in it is no text"):
        store.read_sync(lambda conn: sessions.rows(conn, session.directory))
    store.close()
