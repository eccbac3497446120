from __future__ import annotations

import sqlite3
import subprocess
import sys

import pytest

from milk_tui.core.exchanges import ExchangeKind, Happened, Section
from milk_tui.core.records import LegStatus
from milk_tui.store import Store, agents, exchanges, legs, recovery, remotes
from tests.store.makers import end_leg, make_leg, make_session, make_turn


def event(number: int, session: str = "s", **more) -> Happened:
    values = {
        "event_id": f"e{number}",
        "ts_ms": number,
        "kind": ExchangeKind.ESCALATION_CONCLUDED,
        "session_id": session,
        "label": "shop",
        "speaker": "claude",
        "listener": "qwen",
        "takeaway": f"number {number}",
    }
    return Happened(**{**values, **more})


def append(store: Store, number: int, session: str = "s") -> tuple[str, ...]:
    return store.write_sync(lambda db: exchanges.append(db, event(number, session)))


def read(store: Store, name: str) -> list:
    return store.read_sync(lambda conn: exchanges.entries(conn, name))


def test_an_event_is_written_once_into_both_envelopes_and_counts_one_revision_in_each(store):
    assert append(store, 1) == ("claude", "qwen")
    assert append(store, 1) == ()
    assert [(e.takeaway, e.peers, e.revision) for e in read(store, "qwen")] == [("@claude: number 1", ("claude",), 1)]
    assert [(e.takeaway, e.peers, e.revision) for e in read(store, "CLAUDE")] == [("number 1", ("qwen",), 1)]
    assert store.read_sync(lambda conn: agents.revision(conn, "qwen")) == 1


def test_the_newest_50_stay_and_an_evicted_event_does_not_come_back(store):
    for number in range(1, 61):
        append(store, number)
    kept = read(store, "qwen")
    assert [e.revision for e in kept] == list(range(11, 61))
    assert append(store, 3) == ()
    assert read(store, "qwen") == kept


def test_entry_eviction_and_revision_are_one_transaction(store):
    def half(db):
        exchanges.append(db, event(1))
        raise RuntimeError

    with pytest.raises(RuntimeError):
        store.write_sync(half)
    assert read(store, "qwen") == []
    assert store.read_sync(lambda conn: agents.revision(conn, "qwen")) == 0


_WRITER = """
import sys
from milk_tui.store import Store, exchanges
from tests.store.test_exchanges import event
store = Store.open(sys.argv[1])
for number in range(int(sys.argv[2]), int(sys.argv[2]) + 100):
    store.write_sync(lambda db: exchanges.append(db, event(number)))
store.close()
"""


def test_two_programs_that_write_at_once_lose_nothing(store):
    programs = [subprocess.Popen([sys.executable, "-c", _WRITER, str(store.path), start]) for start in ("0", "1000")]
    assert [program.wait(60) for program in programs] == [0, 0]
    assert store.read_sync(lambda conn: agents.revision(conn, "qwen")) == 200
    assert [e.revision for e in read(store, "qwen")] == list(range(151, 201))


def given(store: Store, session, text_of=lambda news: news.text) -> str:
    """A leg of the primary that is given its news and ends well."""
    turn = make_turn(store, session)
    leg = make_leg(store, turn, claimed=False)
    news = store.read_sync(lambda conn: exchanges.digest(conn, session_id=session.id, agent_name="qwen"))
    store.write_sync(lambda db: legs.claim(db, leg.id, revision=news.upto))
    end_leg(store, leg, "fine")
    return text_of(news)


def test_two_live_sessions_of_one_agent_get_every_entry_of_the_other_once(store):
    one, two = make_session(store), make_session(store)
    assert (given(store, one), given(store, two)) == ("", "")
    told: dict[str, list[str]] = {one.id: [], two.id: []}
    for number in range(1, 41):
        append(store, number, one.id if number % 3 else two.id)
        for session in (one, two) if number % 7 == 0 else (one,):
            told[session.id] += given(store, session).splitlines()
    for session in (one, two):
        while news := given(store, session):
            told[session.id] += news.splitlines()
    for session, own in ((one, lambda n: n % 3), (two, lambda n: n % 3 == 0)):
        numbers = [int(line.rsplit(" ", 1)[1]) for line in told[session.id] if line.startswith("- ")]
        assert numbers == [n for n in range(1, 41) if not own(n)]


@pytest.mark.parametrize("status", [LegStatus.FAILED, LegStatus.CANCELLED, LegStatus.EMPTY])
def test_a_leg_that_did_not_succeed_does_not_acknowledge(store, status):
    session = make_session(store)
    given(store, session)
    append(store, 1)
    leg = make_leg(store, make_turn(store, session), claimed=False)
    store.write_sync(lambda db: legs.claim(db, leg.id, revision=1))
    end_leg(store, leg, "", status)
    assert "number 1" in given(store, session)
    assert given(store, session) == ""


def test_a_leg_that_a_crash_left_running_does_not_acknowledge(store):
    session = make_session(store)
    given(store, session)
    append(store, 1)
    leg = make_leg(store, make_turn(store, session), claimed=False, owner="0" * 32)
    store.write_sync(lambda db: db.execute("update turns set owner = ?", ("0" * 32,)))
    store.write_sync(lambda db: legs.claim(db, leg.id, revision=1))
    store.write_sync(lambda db: recovery.recover(db, store.running_folder))
    assert "number 1" in given(store, session)


def test_a_leg_is_acknowledged_once_and_the_mark_never_goes_back(store):
    session = make_session(store)
    leg = make_leg(store, make_turn(store, session), claimed=False)
    store.write_sync(lambda db: legs.claim(db, leg.id, revision=5))
    store.write_sync(lambda db: remotes.seen(db, session_id=session.id, agent_name="qwen", remote_id=None, revision=9))
    assert end_leg(store, leg, "fine")
    assert not end_leg(store, leg, "again")
    assert store.read_sync(lambda conn: exchanges.last_seen(conn, session_id=session.id, agent_name="qwen")) == 9


def test_a_new_session_that_was_given_nothing_stays_a_new_one(store):
    append(store, 1)
    session = make_session(store)
    leg = make_leg(store, make_turn(store, session), claimed=False)
    store.write_sync(lambda db: legs.claim(db, leg.id, revision=-1))
    end_leg(store, leg, "fine")
    assert store.read_sync(lambda conn: exchanges.last_seen(conn, session_id=session.id, agent_name="qwen")) is None


def test_sections_are_the_agents_own_and_no_exchange_counts_them(store):
    store.write_sync(lambda db: exchanges.save_section(db, "qwen", Section.DAILY, "standup at ten"))
    assert store.read_sync(lambda conn: exchanges.section(conn, "Qwen", Section.DAILY)) == "standup at ten"
    assert store.read_sync(lambda conn: exchanges.section(conn, "claude", Section.DAILY)) == ""
    assert store.read_sync(lambda conn: agents.revision(conn, "qwen")) == 0


def test_the_programs_own_section_is_refused_by_the_store_too(store):
    for which in (Section.SYSTEM_EXCHANGES, Section.CYCLES):
        with pytest.raises(ValueError, match="section_is_read_only"):
            store.write_sync(lambda db, which=which: exchanges.save_section(db, "qwen", which, "x"))
    with pytest.raises(sqlite3.IntegrityError):
        store.write_sync(
            lambda db: db.execute("insert into agent_sections values ('qwen', 'system_exchanges', 0, 'x')")
        )


def test_the_journal_has_one_line_a_turn_keeps_40_and_moves_no_revision(store):
    def add(turn: int) -> bool:
        return store.write_sync(
            lambda db: exchanges.add_cycle(db, "qwen", turn_id=turn, session_id="s", text=f"turn {turn} " + "x" * 600)
        )

    assert [add(1), add(1)] == [True, False]
    for turn in range(2, 60):
        add(turn)
    kept = store.read_sync(lambda conn: exchanges.cycles(conn, "qwen"))
    assert [text.split()[1] for _, text in kept] == [str(turn) for turn in range(20, 60)]
    assert {len(text) for _, text in kept} == {500}
    assert store.read_sync(lambda conn: agents.revision(conn, "qwen")) == 0
