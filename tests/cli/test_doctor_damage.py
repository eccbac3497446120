"""``milk-tui doctor --database``: each way to damage what a database says is named, and mended after a copy was made or
explained; the program starts all the same."""

from __future__ import annotations

import asyncio
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from milk_tui.engine.launch import Launch
from milk_tui.engine.workspace import Workspace
from milk_tui.store import Store, integrity, legs, receipts
from milk_tui.ui import session_read
from tests.cli.conftest import Milk
from tests.store.damage import DAMAGES, Damage, damage, fill


@pytest.fixture(scope="module")
def used(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database with something of everything."""
    path = tmp_path_factory.mktemp("used") / "milk.db"
    store = Store.open(path)
    fill(store, "/work/shop")
    store.close()
    return path


@pytest.fixture
def database(home: Path, used: Path) -> Path:
    path = home / "data" / "milk.db"
    path.parent.mkdir(parents=True, mode=0o700)
    shutil.copy(used, path)
    return path


def starts(database: Path) -> None:
    """Open the session as the screen does, with all that it shows."""

    async def opened() -> None:
        workspace = Workspace.open(Launch(directory=Path("/work/shop"), primary="openai/fast", database=database))
        conductor = await workspace.open_session("the real one")
        try:
            read = workspace.store.read
            shown = await read(lambda conn: session_read.read(conn, conductor.session))
            assert len(shown.turns) == 2
            await read(lambda conn: legs.bodies(conn, [leg.id for leg in shown.legs]))
            await read(lambda conn: receipts.of_session(conn, conductor.session.id))
        finally:
            await workspace.aclose()

    asyncio.run(opened())


def test_a_database_with_something_of_everything_is_whole(milk: Milk, database: Path) -> None:
    ran = milk("doctor", "--database")
    assert (ran.code, "whole" in ran.out) == (0, True), ran.out
    starts(database)
    assert milk("doctor", "--database").code == 0


@pytest.mark.parametrize("how", DAMAGES, ids=lambda each: each.what[:60])
def test_damage_is_named_mended_or_explained_and_the_program_starts(milk: Milk, database: Path, how: Damage) -> None:
    damage(database, how)
    before = database.read_bytes()
    seen = milk("doctor", "--database", "--json")
    assert seen.code == 1
    assert any(how.what in check["detail"] for check in seen.json["checks"]), seen.out
    assert database.read_bytes() == before, "looking changes nothing"
    mended = milk("doctor", "--database", "--repair", "--json").json["checks"]
    copies = list(database.parent.glob("milk.db.bak-*"))
    assert len(copies) == 1
    left = [check for check in mended if check["state"] == "error"]
    if how.stays:
        assert any(how.what in check["detail"] and len(check["hint"]) > 20 for check in left), mended
        assert not any("doctor --repair" in check["hint"] for check in left)
    else:
        assert any(check["name"] == "repair" and how.what in check["detail"] for check in mended), mended
        assert not any(how.what in check["detail"] for check in left), left
    with sqlite3.connect(copies[0]) as conn:
        assert how.what in str([*integrity.problems(conn), *_indexes(copies[0])])
    starts(database)


def _indexes(path: Path) -> list[str]:
    store = Store.open(path)
    try:
        return store.write_sync(integrity.index_problems)
    finally:
        store.close()


def test_what_can_be_read_of_a_damaged_file_is_saved_in_a_new_one(milk: Milk, database: Path) -> None:
    with closing(sqlite3.connect(database)) as conn:
        conn.execute("pragma journal_mode = delete")
        (page,) = conn.execute("select rootpage from sqlite_schema where name = 'percepts'").fetchone()
    with database.open("r+b") as file:
        file.seek((page - 1) * 4096)
        file.write(b"\xa5" * 4096)
    before = database.read_bytes()
    hint = next(c["hint"] for c in milk("doctor", "--database", "--json").json["checks"] if c["state"] == "error")
    assert "doctor --database --rescue" in hint
    new = database.with_name("new.db")
    saved = milk("doctor", "--database", "--rescue", str(new))
    assert saved.code == 0, saved.err
    (told,) = [line for line in saved.out.splitlines() if " percepts " in line]
    assert " 0 saved" in told and "none lost" not in told and "none lost" in saved.out
    assert database.read_bytes() == before
    again = milk("doctor", "--database", "--rescue", str(new))
    assert again.code == 1 and "is there already" in again.out
    assert milk("doctor", "--database", "--rescue", str(new.parent / "no" / "new.db")).code == 1
    assert milk("doctor", "--rescue", str(new)).code == 2
    shutil.move(new, database)
    starts(database)
    assert milk("doctor", "--database").code == 0


@pytest.mark.parametrize("how", [each for each in DAMAGES if "_fts" not in each.what], ids=lambda each: each.what[:60])
def test_the_program_starts_with_damage_that_nobody_mended(database: Path, how: Damage) -> None:
    damage(database, how)
    starts(database)
