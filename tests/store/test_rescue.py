"""What can be read of a damaged database is saved in a new one, and the damaged one is left as it is."""

from __future__ import annotations

import random
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from sqlite_utils import Database

from milk_tui.core.errors import StoreError
from milk_tui.core.records import ContextMode, LegStatus, Role, Session, ToolStatus, TurnStatus, Usage
from milk_tui.store import Store, integrity, legs, percepts, rescue, tool_calls, turns
from tests.store.damage import fill
from tests.store.makers import PRIMARY, ROUTE, make_session

PAGE = 4096
SEED = 20_261_130
PROMPTS = 400
Record = Callable[[str, object], None]


@pytest.fixture(scope="module")
def used(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Something of everything, and enough turns for a table of many pages; all in the one file."""
    path = tmp_path_factory.mktemp("used") / "milk.db"
    store = Store.open(path)
    fill(store, "/work/shop")
    session = make_session(store)
    store.write_sync(lambda db: talk(db, session, store.owner_id))
    store.close()
    with closing(sqlite3.connect(path)) as conn:
        conn.execute("pragma wal_checkpoint(truncate)")
        conn.execute("pragma journal_mode = delete")
    return path


def talk(db: Database, session: Session, owner: str) -> None:
    for number in range(PROMPTS):
        turn = turns.add(db, session.id, f"prompt {number} " + "x" * 200, owner=owner)
        turns.start(db, turn.id, ROUTE, owner=owner)
        leg = legs.create(
            db,
            turn.id,
            role=Role.PRIMARY,
            agent_name=PRIMARY.name,
            model=PRIMARY.model,
            mode=ContextMode.FIRST,
            owner=owner,
        )
        legs.claim(db, leg.id)
        for at in range(2):
            call = tool_calls.start(db, leg.id, call_id=f"c{at}", name="read_file", arguments='{"path": "a.py"}')
            tool_calls.finish(db, call.id, ToolStatus.OK, f"line {number}")
        percepts.add(db, content=f"Port {number} is odd " + "z" * 50, session_id=session.id)
        legs.finish(db, leg.id, LegStatus.DONE, text=f"answer {number} " + "y" * 300, usage=Usage())
        turns.finish(db, turn.id, TurnStatus.DONE)


def counts(path: Path) -> dict[str, int]:
    with closing(sqlite3.connect(path)) as conn:
        names = [row[0] for row in conn.execute("select name from sqlite_schema where type = 'table'")]
        return {
            name: conn.execute(f"select count(*) from {name}").fetchone()[0]
            for name in names
            if not name.startswith(rescue._NOT_READ) and name != "repairs"
        }


def whole(path: Path) -> None:
    """The program can work with it: nothing is wrong in it, and a turn can be added."""
    store = Store.open(path)
    assert store.read_sync(integrity.problems) == []
    assert store.write_sync(integrity.index_problems) == []
    make_session(store)
    store.close()


def pages_of(path: Path, table: str) -> list[int]:
    """Numbers of the pages that hold the table, its root first."""
    with closing(sqlite3.connect(path)) as conn:
        root = conn.execute("select rootpage from sqlite_schema where name = ?", (table,)).fetchone()[0]
    data, found, waiting = path.read_bytes(), [], [root]
    while waiting:
        number = waiting.pop(0)
        found.append(number)
        page = data[(number - 1) * PAGE : number * PAGE]
        if page[0] == 5:
            cells = int.from_bytes(page[3:5], "big")
            at = [int.from_bytes(page[12 + 2 * n : 14 + 2 * n], "big") for n in range(cells)]
            waiting += [int.from_bytes(page[each : each + 4], "big") for each in at]
            waiting.append(int.from_bytes(page[8:12], "big"))
    return found


def overwrite(path: Path, number: int, chosen: random.Random, start: int = 0) -> bytes:
    with path.open("r+b") as file:
        file.seek((number - 1) * PAGE + start)
        file.write(chosen.randbytes(PAGE - start))
    return path.read_bytes()


def saved(damaged: Path) -> dict[str, rescue.Rescued]:
    before = damaged.read_bytes()
    found = rescue.rescue(damaged, damaged.with_name("new.db"))
    assert damaged.read_bytes() == before
    assert {file.name for file in damaged.parent.iterdir()} == {"milk.db", "new.db"}
    assert damaged.with_name("new.db").stat().st_mode & 0o777 == 0o600
    whole(damaged.with_name("new.db"))
    return {each.table: each for each in found}


@pytest.fixture
def damaged(used: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(used, tmp_path / "milk.db"))


def test_of_one_that_is_whole_everything_is_saved(used: Path, damaged: Path) -> None:
    found = saved(damaged)
    found.pop("repairs", None)
    assert {name: each.rows for name, each in found.items() if each.rows} == {
        name: rows for name, rows in counts(used).items() if rows
    }
    assert all(each.lost == 0 for each in found.values())


@pytest.mark.parametrize("table", ["turns", "legs", "percepts", "tool_calls", "sessions"])
def test_pages_that_are_damaged_cost_what_stood_on_them(
    used: Path, damaged: Path, table: str, record_property: Record
) -> None:
    record_property("seed", SEED)
    chosen = random.Random(f"{SEED} {table}")
    pages = pages_of(used, table)
    overwrite(damaged, chosen.choice(pages[1:] or pages), chosen)
    found, before = saved(damaged), counts(used)
    assert found[table].lost != 0
    if len(pages) > 3:
        assert found[table].rows > 0.8 * before[table]
    for name in ("turns", "legs"):
        if name != table:
            assert found[name].rows >= before[name], "what was said is kept, whatever else is lost"


def test_the_root_of_a_table_costs_that_table_alone(used: Path, damaged: Path) -> None:
    overwrite(damaged, pages_of(used, "turns")[0], random.Random(SEED))
    found = saved(damaged)
    assert found["legs"].rows == counts(used)["legs"]
    with closing(sqlite3.connect(damaged.with_name("new.db"))) as conn:
        assert (
            conn.execute("select count(*) from turns where prompt = ?", (rescue.LOST_PROMPT,)).fetchone()[0] > PROMPTS
        )


def test_a_first_page_is_put_together_again(used: Path, damaged: Path) -> None:
    overwrite(damaged, 1, random.Random(SEED))
    found = saved(damaged)
    assert found["turns"].rows == counts(used)["turns"]
    assert found["percepts"].rows == counts(used)["percepts"]


def test_an_end_that_is_missing_costs_what_stood_there(used: Path, damaged: Path) -> None:
    with damaged.open("r+b") as file:
        file.truncate(len(used.read_bytes()) * 2 // 3 // PAGE * PAGE)
    found = saved(damaged)
    assert found["turns"].rows > PROMPTS // 3


def test_noise_in_every_page_is_survived(used: Path, damaged: Path, record_property: Record) -> None:
    """Twenty pages at random, a few times: whatever is left makes a database without anything wrong in it."""
    record_property("seed", SEED)
    record_property("tried", 8)
    pages = used.stat().st_size // PAGE
    for turn in range(8):
        chosen = random.Random(SEED + turn)
        shutil.copy(used, damaged)
        for _ in range(20):
            overwrite(damaged, chosen.randint(2, pages), chosen, chosen.randrange(0, PAGE - 500))
        damaged.with_name("new.db").unlink(missing_ok=True)
        saved(damaged)


def test_what_waits_in_the_log_is_read_too(used: Path, tmp_path: Path) -> None:
    path = Path(shutil.copy(used, tmp_path / "live.db"))
    with closing(sqlite3.connect(path, isolation_level=None)) as conn:
        conn.execute("pragma journal_mode = wal")
        conn.execute("pragma wal_autocheckpoint = 0")
        conn.execute("update sessions set title = 'from the log'")
        rescue.rescue(path, tmp_path / "new.db")
    with closing(sqlite3.connect(tmp_path / "new.db")) as conn:
        assert {row[0] for row in conn.execute("select title from sessions")} == {"from the log"}


@pytest.mark.parametrize("what", ["no database", "another program's", "newer", "there already"])
def test_what_can_not_be_rescued_is_said_and_nothing_is_written(damaged: Path, what: str) -> None:
    new = damaged.with_name("new.db")
    match what:
        case "no database":
            damaged.write_bytes(b"dear diary, " * 500)
        case "another program's":
            damaged.unlink()
            with closing(sqlite3.connect(damaged)) as conn:
                conn.execute("create table x (y)")
        case "newer":
            with closing(sqlite3.connect(damaged)) as conn:
                conn.execute("pragma user_version = 9999")
        case "there already":
            new.write_text("mine")
    before = damaged.read_bytes()
    with pytest.raises(StoreError):
        rescue.rescue(damaged, new)
    assert damaged.read_bytes() == before
    assert new.read_text() == "mine" if what == "there already" else not new.exists()
    assert not list(damaged.parent.glob(".rescue-*"))
