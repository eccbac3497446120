"""What a disk that fills, or a lock that is held, does to a turn: nothing that was said is lost (``quality.md``)."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from milk_tui.core.errors import StoreError
from milk_tui.core.records import LegStatus, TurnStatus
from milk_tui.engine import events, patience
from milk_tui.engine.patience import Patience
from milk_tui.store import Store, integrity, legs, turns
from tests.engine.conftest import Stage, home, launch, stage
from tests.support.polling import until

__all__ = ["home", "launch", "stage"]

LONG = "SCN:repeat 900 abcdefghi_"


def fill(store: Store) -> None:
    """The file can't grow any more, as on a full disk."""

    def bound(db) -> None:
        db.conn.execute("pragma max_page_count = 1")  # never below what is there

    store.write_sync(bound)


def clear(store: Store) -> None:
    store.write_sync(lambda db: db.conn.execute("pragma max_page_count = 1073741823"))


def said(stage: Stage, words: str) -> bool:
    return any(words in notice.text for notice in stage.of(events.LegNotice))


async def test_an_answer_that_ends_on_a_full_disk_is_saved_when_there_is_room(stage: Stage, tmp_path: Path) -> None:
    go = tmp_path / "go"
    turn = await stage.conductor.submit(rf"SCN:say beg\x75n. SCN:until {go} {LONG} SCN:say the e\x6ed")
    await stage.seen(events.LegText)
    await asyncio.to_thread(fill, stage.conductor.store)
    go.touch()
    await until(lambda: said(stage, "not saved yet"), what="the person is told")
    assert said(stage, "the disk is full") and not stage.of(events.LegFinished)
    await asyncio.to_thread(clear, stage.conductor.store)
    await stage.conductor.wait_idle()
    (leg,) = await stage.read(lambda conn: legs.of_turn(conn, turn))
    assert leg.status is LegStatus.DONE
    assert leg.text.startswith("begun") and leg.text.endswith("the end") and len(leg.text) > 9_000
    assert said(stage, "the answer is saved now")
    await stage.say("and now? SCN:say fine")
    assert await stage.read(integrity.problems) == []


async def test_who_does_not_want_to_wait_for_room_goes_on(stage: Stage, tmp_path: Path) -> None:
    go = tmp_path / "go"
    await stage.conductor.submit(f"SCN:say begun SCN:until {go} {LONG}")
    await stage.seen(events.LegText)
    await asyncio.to_thread(fill, stage.conductor.store)
    go.touch()
    await until(lambda: said(stage, "not saved yet"))
    await stage.conductor.stop()
    await stage.conductor.wait_idle()
    assert [event.status for event in stage.of(events.TurnFinished)] == [TurnStatus.FAILED]
    await asyncio.to_thread(clear, stage.conductor.store)
    assert (await stage.read(lambda conn: turns.get(conn, newest(conn)))).prompt.startswith("SCN:say begun")
    again = await stage.say("and now? SCN:say fine")
    (leg,) = await stage.read(lambda conn: legs.of_turn(conn, again))
    assert leg.text == "fine"


def newest(conn: sqlite3.Connection) -> int:
    return int(conn.execute("select max(id) from turns").fetchone()[0])


async def test_a_prompt_that_can_not_be_stored_is_not_sent_and_told(stage: Stage) -> None:
    await asyncio.to_thread(fill, stage.conductor.store)
    with pytest.raises(StoreError, match="the disk is full"):
        for number in range(50):
            await stage.say(f"{number} " + "x" * 5_000)
    before = len(stage.of(events.LegStarted))
    await asyncio.to_thread(clear, stage.conductor.store)
    await stage.say("once more SCN:say fine")
    assert len(stage.of(events.LegStarted)) == before + 1


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Another program's lock is given up on at once instead of after half a minute."""
    monkeypatch.setattr("milk_tui.store.writer.again_while_busy", lambda fn: fn())
    monkeypatch.setattr("milk_tui.store.connections.BUSY_TIMEOUT_S", 0.05)
    yield


async def test_an_answer_that_ends_while_another_program_holds_the_database_is_saved_afterwards(
    quick: None, stage: Stage, tmp_path: Path
) -> None:
    go = tmp_path / "go"
    turn = await stage.conductor.submit(f"SCN:say begun SCN:until {go} SCN:say _over")
    await stage.seen(events.LegText)
    with closing(sqlite3.connect(stage.conductor.store.path, isolation_level=None)) as other:
        other.execute("begin immediate")
        go.touch()
        await until(lambda: said(stage, "locked by another program"))
        other.execute("rollback")
    await stage.conductor.wait_idle()
    (leg,) = await stage.read(lambda conn: legs.of_turn(conn, turn))
    assert (leg.status, leg.text) == (LegStatus.DONE, "begun_over")


async def test_what_never_passes_is_not_waited_for() -> None:
    told: list[str] = []

    async def damaged() -> None:
        raise StoreError("it is damaged")

    with pytest.raises(StoreError):
        await Patience(told.append, attended=True).store(damaged)
    assert told == []


async def test_where_no_person_is_there_the_waiting_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patience, "PAUSE_S", 0.001)
    told: list[str] = []

    async def full() -> None:
        raise StoreError("it is full", passes=True)

    with pytest.raises(StoreError):
        await Patience(told.append, attended=False).store(full)
    assert len(told) == 1
