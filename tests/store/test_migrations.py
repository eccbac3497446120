"""The runner of migration steps, and that the schema is what the records say."""

from __future__ import annotations

import re
import sqlite3
import stat
from types import ModuleType

import pytest
from sqlite_utils.db import _iter_complete_sql_statements

from milk_tui.core import records
from milk_tui.core.errors import StoreError
from milk_tui.core.tags import TagKind
from milk_tui.store import Store, migrations
from milk_tui.store.migrations import Step

ONE = Step("notes", lambda db: db.execute("create table notes (id integer primary key, text text)"))
TWO = Step("authors", lambda db: db.execute("alter table notes add column author text"))


def boom(db):
    db.execute("insert into notes (text) values ('half')")
    db.execute("create table half (x)")
    raise RuntimeError("boom")


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "file.db"
    conn = sqlite3.connect(path, isolation_level=None)
    yield path, conn
    conn.close()


def backups(path):
    return sorted(found.name for found in path.parent.glob("*.bak-*"))


def test_a_new_file_gets_all_steps_and_no_backup(file):
    path, conn = file
    assert migrations.migrate(conn, path, (ONE, TWO)) is None
    assert migrations.version_of(conn) == 2
    assert backups(path) == []


def test_an_older_file_gets_the_missing_steps_after_a_private_backup(file):
    path, conn = file
    migrations.migrate(conn, path, (ONE,))
    conn.execute("insert into notes (text) values ('kept')")
    backup = migrations.migrate(conn, path, (ONE, TWO))
    assert backup == path.with_name("file.db.bak-v1")
    assert stat.S_IMODE(backup.stat().st_mode) == 0o600
    copy = sqlite3.connect(backup)
    assert copy.execute("select * from notes").fetchall() == [(1, "kept")]
    assert copy.execute("pragma user_version").fetchone() == (1,)
    assert conn.execute("select text, author from notes").fetchall() == [("kept", None)]


def test_a_backup_never_overwrites_an_older_one(file):
    path, conn = file
    migrations.migrate(conn, path, (ONE,))
    path.with_name("file.db.bak-v1").write_text("older")
    backup = migrations.migrate(conn, path, (ONE, TWO))
    assert backup == path.with_name("file.db.bak-v1.2")
    assert path.with_name("file.db.bak-v1").read_text() == "older"


def test_an_up_to_date_file_gets_nothing(file):
    path, conn = file
    migrations.migrate(conn, path, (ONE,))
    changes = conn.total_changes
    migrations.migrate(conn, path, (ONE,))
    assert conn.total_changes == changes


def test_a_failing_step_leaves_nothing_of_itself(file):
    path, conn = file
    migrations.migrate(conn, path, (ONE,))
    with pytest.raises(StoreError, match="step “broken” failed") as failed:
        migrations.migrate(conn, path, (ONE, Step("broken", boom)))
    assert "unchanged" in failed.value.hint
    assert migrations.version_of(conn) == 1
    assert conn.execute("select count(*) from notes").fetchone() == (0,)
    assert conn.execute("select count(*) from sqlite_schema where name = 'half'").fetchone() == (0,)
    assert backups(path) == [], "a copy of an unchanged file is of no use"


def test_steps_before_the_failing_one_stay_and_so_does_the_backup(file):
    path, conn = file
    migrations.migrate(conn, path, (ONE,))
    with pytest.raises(StoreError) as failed:
        migrations.migrate(conn, path, (ONE, TWO, Step("broken", boom)))
    assert "file.db.bak-v1" in failed.value.hint
    assert migrations.version_of(conn) == 2
    assert backups(path) == ["file.db.bak-v1"]


def test_a_step_that_breaks_a_reference_is_undone(file):
    path, conn = file
    tables = Step(
        "tables",
        lambda db: db.executescript("create table a (id integer primary key); create table b (a references a (id));"),
    )
    orphan = Step("orphan", lambda db: db.execute("insert into b values (7)"))
    with pytest.raises(StoreError, match="orphan"):
        migrations.migrate(conn, path, (tables, orphan))
    assert conn.execute("select count(*) from b").fetchone() == (0,)
    assert conn.execute("pragma foreign_keys").fetchone() == (1,)


def test_a_step_that_another_program_did_meanwhile_is_not_done_again(file):
    path, conn = file
    other = sqlite3.connect(path, isolation_level=None)

    def race(db):
        raise AssertionError("done twice")

    migrations.migrate(conn, path, (ONE,))
    looked = []

    def first(db):
        looked.append(1)

    class Late(sqlite3.Connection):
        pass

    late = sqlite3.connect(path, isolation_level=None, factory=Late)
    original = migrations.version_of

    def version_of(c):
        version = original(c)
        if c is late and not looked:
            migrations.migrate(other, path, (ONE, Step("two", first)))
        return version

    migrations.version_of = version_of
    try:
        migrations.migrate(late, path, (ONE, Step("two", race)))
    finally:
        migrations.version_of = original
        late.close()
        other.close()
    assert looked == [1]


def test_a_full_disk_at_the_backup_changes_nothing(file, monkeypatch):
    path, conn = file
    migrations.migrate(conn, path, (ONE,))

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(migrations.os, "open", full)
    with pytest.raises(StoreError, match="no copy of it could be made"):
        migrations.migrate(conn, path, (ONE, TWO))
    assert migrations.version_of(conn) == 1


ENUMERATIONS = {
    ("sessions", "pinned_agent"): records.Role,
    ("sessions", "sticky"): records.Role,
    ("sessions", "waiting"): records.Role,
    ("session_agents", "role"): records.Role,
    ("turns", "status"): records.TurnStatus,
    ("legs", "role"): records.Role,
    ("legs", "mode"): records.ContextMode,
    ("legs", "status"): records.LegStatus,
    ("tool_calls", "status"): records.ToolStatus,
    ("percepts", "producer"): records.Producer,
    ("percepts", "consumer"): records.Consumer,
    ("percepts", "scope"): records.PerceptScope,
    ("percepts", "status"): records.PerceptStatus,
    ("bricks", "kind"): records.BrickKind,
    ("bricks", "status"): records.NeedStatus,
    ("perception_entries", "layer"): records.Layer,
}


@pytest.mark.parametrize(("table", "column"), ENUMERATIONS)
def test_the_schema_allows_what_the_records_know_and_nothing_else(store, table, column):
    sql = store.read_sync(
        lambda conn: conn.execute("select sql from sqlite_schema where name = ?", (table,)).fetchone()[0]
    )
    check = re.search(rf"check \({column} in \(([^)]*)\)\)", sql)
    assert check is not None
    assert set(re.findall(r"'([^']*)'", check[1])) == {member.value for member in ENUMERATIONS[table, column]}


def test_captures_are_of_every_kind_that_is_no_fact(store):
    sql = store.read_sync(
        lambda conn: conn.execute("select sql from sqlite_schema where name = 'captures'").fetchone()[0]
    )
    kinds = set(re.findall(r"'([^']*)'", re.search(r"check \(kind in \(([^)]*)\)\)", sql)[1]))
    assert kinds == {kind.value for kind in TagKind} - {"percept"}


def test_the_real_steps_keep_what_is_there_when_a_backup_is_made_between(tmp_path):
    path = tmp_path / "milk.db"
    conn = sqlite3.connect(path, isolation_level=None)
    migrations.migrate(conn, path, migrations.STEPS[:1])
    conn.execute("insert into sessions (id, directory, created_ms, updated_ms) values ('s', '/d', 1, 1)")
    conn.close()
    store = Store.open(path)
    assert store.read_sync(lambda c: c.execute("select id from sessions").fetchone()[0]) == "s"
    assert any("milk.db.bak-v1" in notice for notice in store.notices)
    store.close()


@pytest.mark.parametrize(
    "module", [m for n, m in vars(migrations).items() if n.startswith("schema")], ids=lambda m: m.__name__
)
def test_a_script_is_cut_as_sqlite_utils_cuts_it(module: ModuleType) -> None:
    scripts = [text for name, text in vars(module).items() if name.isupper() and isinstance(text, str)]
    scripts = [text for text in scripts if ";" in text]
    assert scripts
    for text in scripts:
        cut = [statement.strip() for statement in migrations.statements(text)]
        assert cut == list(_iter_complete_sql_statements(text))


@pytest.mark.parametrize(
    ("sql", "cut"),
    [
        ("", []),
        (" \n", []),
        ("select 1", ["select 1"]),
        ("select ';'; select 2;", ["select ';';", "select 2;"]),
        ("-- a; b\nselect 1; ", ["-- a; b\nselect 1;"]),
        (
            "create trigger t after insert on a begin select 1; select 2; end; select 3;",
            ["create trigger t after insert on a begin select 1; select 2; end;", "select 3;"],
        ),
    ],
)
def test_a_statement_ends_where_it_is_complete(sql: str, cut: list[str]) -> None:
    assert [statement.strip() for statement in migrations.statements(sql)] == cut
