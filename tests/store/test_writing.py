"""One writer, several readers, several programs: nothing is lost, nothing blocks, nothing is half done."""

from __future__ import annotations

import asyncio
import signal
import sqlite3
import subprocess
import sys
import threading

import pytest

from milk_tui.core.errors import StoreError
from milk_tui.store import Store, agents, integrity, sessions, turns
from tests.store.makers import make_session


async def test_a_write_gives_its_result_when_it_is_committed(store, session):
    turn = await store.write(lambda db: turns.add(db, session.id, "hello", owner="o"))
    assert await store.read(lambda conn: turns.get(conn, turn.id)) == turn


async def test_an_exception_undoes_the_whole_write_and_comes_out_as_it_is(store, session):
    def half(db):
        turns.add(db, session.id, "lost", owner="o")
        raise KeyError("ours")

    with pytest.raises(KeyError, match="ours"):
        await store.write(half)
    assert await store.read(lambda conn: turns.index(conn, session.id)) == []
    assert await store.write(lambda db: turns.add(db, session.id, "next", owner="o"))


async def test_a_broken_rule_of_the_schema_undoes_the_whole_write(store, session):
    def bad(db):
        turns.add(db, session.id, "lost", owner="o")
        db.execute("update turns set status = 'nonsense'")

    with pytest.raises(sqlite3.IntegrityError):
        await store.write(bad)
    assert await store.read(lambda conn: turns.index(conn, session.id)) == []


async def test_cancelling_the_wait_does_not_take_the_write_back(store, session):
    begun, go = threading.Event(), threading.Event()

    def slow(db):
        begun.set()
        go.wait(10)
        return turns.add(db, session.id, "kept", owner="o")

    first = asyncio.ensure_future(store.write(slow))
    second = asyncio.ensure_future(store.write(lambda db: turns.add(db, session.id, "also kept", owner="o")))
    await asyncio.to_thread(begun.wait, 10)
    first.cancel()
    second.cancel()
    go.set()
    await asyncio.gather(first, second, return_exceptions=True)
    await store.write(lambda db: None)
    kept = await store.read(lambda conn: turns.queued(conn, session.id))
    assert [turn.prompt for turn in kept] == ["kept", "also kept"]


async def test_reading_does_not_wait_for_a_write_and_sees_the_state_before_it(store, session):
    begun, go = threading.Event(), threading.Event()

    def slow(db):
        turns.add(db, session.id, "new", owner="o")
        begun.set()
        assert go.wait(10)

    writing = asyncio.ensure_future(store.write(slow))
    await asyncio.to_thread(begun.wait, 10)
    assert await store.read(lambda conn: turns.index(conn, session.id)) == []
    go.set()
    await writing
    assert len(await store.read(lambda conn: turns.index(conn, session.id))) == 1


async def test_one_read_sees_one_state_however_often_it_looks(store, session):
    def twice(conn):
        before = len(turns.index(conn, session.id))
        store.write_sync(lambda db: turns.add(db, session.id, "meanwhile", owner="o"))
        return before, len(turns.index(conn, session.id))

    assert await store.read(twice) == (0, 0)


async def test_a_read_can_not_write(store, session):
    with pytest.raises(StoreError, match="can't be written"):
        await store.read(lambda conn: conn.execute("update sessions set title = 'x'"))


async def test_a_write_within_a_write_is_refused_instead_of_waiting_for_itself(store):
    with pytest.raises(RuntimeError, match="can't ask for another write"):
        await store.write(lambda db: store.write_sync(lambda inner: None))


async def test_writes_are_done_in_the_order_in_which_they_were_asked_for(store, session):
    await asyncio.gather(
        *(store.write(lambda db, n=n: turns.add(db, session.id, str(n), owner="o")) for n in range(50))
    )
    stored = await store.read(lambda conn: turns.queued(conn, session.id))
    assert [turn.prompt for turn in stored] == [str(n) for n in range(50)]


async def test_many_readers_during_writes_see_whole_transactions_only(store, session):
    def pair(db):
        agents.bump(db, "qwen")
        agents.bump(db, "claude")

    async def writer():
        for _ in range(60):
            await store.write(pair)

    seen = []

    async def reader():
        while not writing.done():
            seen.append(await store.read(lambda conn: (agents.revision(conn, "qwen"), agents.revision(conn, "claude"))))

    writing = asyncio.ensure_future(writer())
    await asyncio.gather(writing, reader(), reader())
    assert seen
    assert all(first == second for first, second in seen)


def test_closing_does_what_waits_first(tmp_path):
    store = Store.open(tmp_path / "milk.db")
    session = make_session(store)
    go = threading.Event()
    store._submit(lambda db: go.wait(10))
    late = store._submit(lambda db: turns.add(db, session.id, "last words", owner="o"))
    closing = threading.Thread(target=store.close)
    closing.start()
    go.set()
    closing.join(10)
    assert late.result().prompt == "last words"
    store.close()
    with pytest.raises(RuntimeError, match="closed"):
        store.write_sync(lambda db: None)


async def test_a_database_that_another_program_holds_is_told_not_waited_for_for_ever(store, monkeypatch):
    monkeypatch.setattr("milk_tui.store.writer.again_while_busy", lambda fn: fn())
    await store.write(lambda db: db.execute("select 1"))
    store._writer._conn.execute("pragma busy_timeout = 1")
    other = sqlite3.connect(store.path, isolation_level=None)
    other.execute("begin immediate")
    with pytest.raises(StoreError, match="locked by another program"):
        await store.write(lambda db: None)
    other.execute("rollback")
    other.close()
    await store.write(lambda db: None)


async def test_a_full_disk_is_told_and_the_write_undone(store, session):
    def fill(db):
        pages = db.execute("pragma page_count").fetchone()[0]
        db.execute(f"pragma max_page_count = {pages}")
        for n in range(200):
            turns.add(db, session.id, f"{n} " + "x" * 5000, owner="o")

    with pytest.raises(StoreError, match="disk is full"):
        await store.write(fill)
    assert await store.read(lambda conn: turns.index(conn, session.id)) == []


WRITES = 250
TWO_PROGRAMS = """
import sys
from milk_tui.core.exchanges import ExchangeKind, Happened
from milk_tui.store import Store, agents, exchanges, sessions, turns, percepts
store = Store.open(sys.argv[1])
me = sys.argv[2]
def mixed(db, n):
    revision = agents.revision(db.conn, "shared")
    session = sessions.newest(db.conn, "/both")
    turn = turns.add(db, session.id, f"{me} {n}", owner=me)
    if n % 5 == 0:
        percepts.add(db, content=f"fact {me} {n}", session_id=session.id)
    if n % 7 == 0:
        turns.drop(db, turn.id)
    happened = Happened(event_id=f"{me} {n}", ts_ms=n, kind=ExchangeKind.HANDBACK, session_id=session.id,
        label="both", speaker="shared", takeaway=f"{me} {n}")
    assert exchanges.append(db, happened) == ("shared",)
    assert agents.revision(db.conn, "shared") == revision + 1
for n in range(int(sys.argv[3])):
    store.write_sync(lambda db: mixed(db, n))
    store.read_sync(lambda conn: sessions.rows(conn, "/both"))
store.close()
"""


def test_two_programs_on_one_database_lose_nothing_and_never_find_it_locked(tmp_path):
    path = tmp_path / "milk.db"
    store = Store.open(path)
    session = make_session(store, "/both")
    programs = [
        subprocess.Popen(
            [sys.executable, "-c", TWO_PROGRAMS, str(path), name, str(WRITES)],
            stderr=subprocess.PIPE,
            text=True,
        )
        for name in ("one", "two")
    ]
    for program in programs:
        _, errors = program.communicate(timeout=120)
        assert program.returncode == 0, errors
    assert store.read_sync(lambda conn: agents.revision(conn, "shared")) == 2 * WRITES
    assert store.read_sync(lambda conn: sessions.get(conn, session.id)).revision == 2 * WRITES
    found = store.read_sync(
        lambda conn: {row[0] for row in conn.execute("select prompt from turns where session_id = ?", (session.id,))}
    )
    assert found == {f"{name} {n}" for name in ("one", "two") for n in range(WRITES)}
    assert store.read_sync(integrity.problems) == []
    assert store.write_sync(integrity.index_problems) == []
    store.close()


def test_two_programs_that_make_the_same_new_database_both_can(tmp_path):
    script = (
        "import sys; from milk_tui.store import Store; from tests.store.makers import make_session;"
        "store = Store.open(sys.argv[1]); make_session(store, '/new'); store.close()"
    )
    path = tmp_path / "deep" / "milk.db"
    programs = [
        subprocess.Popen([sys.executable, "-c", script, str(path)], stderr=subprocess.PIPE, text=True) for _ in range(3)
    ]
    for program in programs:
        _, errors = program.communicate(timeout=120)
        assert program.returncode == 0, errors
    store = Store.open(path)
    assert len(store.read_sync(lambda conn: sessions.rows(conn, "/new"))) == 3
    store.close()


KILLED = """
import sys
from milk_tui.store import Store, turns
store = Store.open(sys.argv[1])
for n in range(100000):
    turn = store.write_sync(lambda db: turns.add(db, sys.argv[2], f"prompt {n} " + "x" * 3000, owner="gone"))
    print(turn.id, flush=True)
"""


@pytest.mark.parametrize("after", [1, 17, 60])
def test_a_killed_program_loses_nothing_that_it_had_committed(tmp_path, after):
    path = tmp_path / "milk.db"
    store = Store.open(path)
    session = make_session(store)
    program = subprocess.Popen([sys.executable, "-c", KILLED, str(path), session.id], stdout=subprocess.PIPE, text=True)
    told = [int(program.stdout.readline()) for _ in range(after)]
    program.send_signal(signal.SIGKILL)
    told += [int(line) for line in program.communicate()[0].split("\n")[:-1] if line]
    stored = store.read_sync(lambda conn: {turn.id for turn in turns.index(conn, session.id)})
    assert set(told) <= stored
    assert store.read_sync(integrity.problems) == []
    store.close()
