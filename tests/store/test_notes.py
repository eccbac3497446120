from __future__ import annotations

import sqlite3
import subprocess
import sys

import pytest

from milk_tui.core.records import Producer
from milk_tui.store import notes, percepts
from milk_tui.store.notes import TOOL_STARTED, TTL_MS, TURN_STARTED, Cite

RECORD = Cite("record", "2026-04-14-payment-retries.md", "/work/shop/memory", "2026-04-14")


@pytest.fixture
def conn(store):
    """A connection as a hook opens it: plain, in autocommit mode."""
    plain = sqlite3.connect(store.path, isolation_level=None, timeout=30)
    plain.execute(
        "insert into decision_records (directory, name, stamp, hash, date, status, indexed_ms, title, body)"
        " values (?, ?, '', '', '2026-04-14', 'live', 0, 'Payment retries', 'In the queue worker.')",
        (RECORD.directory, RECORD.id),
    )
    yield plain
    plain.close()


def add(conn, text="retries live in the worker", now=1_000, cites=(RECORD,), **more) -> int:
    return notes.add(conn, "s", text, cites=cites, now=now, **more)


def take(conn, carrier=TURN_STARTED, now=2_000, role="primary", session="s"):
    return notes.take(conn, session, carrier, receiver="qwen", role=role, by="test", now=now)


def status(conn, note: int) -> tuple[str, str]:
    found = notes.get(conn, note)
    return found.status, found.reason


def test_a_note_waits_is_taken_once_and_then_belongs_to_what_was_told(conn):
    note = add(conn)
    [taken] = take(conn)
    assert (taken.id, taken.text, taken.cites) == (note, "retries live in the worker", (RECORD,))
    assert taken.labelled.startswith("From a memory helper") and "no instruction" in taken.labelled
    assert take(conn) == []
    [told] = notes.told(conn, "s")
    assert (told.status, told.receiver, told.carrier, told.ended_ms) == ("delivered", "qwen", TURN_STARTED, 2_000)


def test_a_note_is_carried_only_by_the_boundaries_it_names(conn):
    note = add(conn, carriers=(TURN_STARTED,))
    assert take(conn, TOOL_STARTED) == []
    assert notes.hasten(conn, note)
    assert [n.id for n in take(conn, TOOL_STARTED)] == [note]


def test_another_session_is_not_given_it(conn):
    add(conn)
    assert take(conn, session="t") == []


def test_after_half_an_hour_it_has_expired(conn):
    early, late = add(conn, now=0), add(conn, now=10)
    [taken] = take(conn, now=TTL_MS)
    assert taken.id == late
    assert status(conn, early)[0] == "expired"


def test_a_claim_whose_carrier_died_is_never_delivered_again(conn):
    note = add(conn)
    assert notes.claim(conn, "s", TURN_STARTED, by="dead", now=2_000)
    assert take(conn, now=3_000) == []
    assert status(conn, note)[0] == "claimed"
    notes.expire(conn, 2_000 + notes.CLAIM_MS)
    assert status(conn, note) == ("dropped", "its carrier ended on the way")


def test_a_note_ends_once(conn):
    note = add(conn)
    assert notes.drop(conn, note, "the person dropped it", now=1)
    assert not notes.drop(conn, note, "again", now=2)
    assert not notes.hasten(conn, note)
    assert not notes.deliver(conn, note, receiver="x", carrier=TURN_STARTED, now=3)
    assert take(conn) == []


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ("update decision_records set status = 'superseded', superseded_by = 'b.md'", "was superseded by b.md"),
        ("update decision_records set status = 'broken'", "is no longer there"),
        ("delete from decision_records", "is no longer there"),
    ],
)
def test_a_note_whose_record_changed_meanwhile_is_dropped(conn, change, why):
    note = add(conn)
    conn.execute(change)
    assert take(conn) == []
    assert status(conn, note)[0] == "dropped" and why in status(conn, note)[1]


@pytest.mark.parametrize(
    ("consumer", "role", "given"),
    [
        ("all", "primary", True),
        ("escalation", "primary", False),
        ("primary", "primary", True),
        ("primary", None, False),
        ("all", None, True),
    ],
)
def test_a_note_about_a_fact_that_is_not_for_the_receiver_is_dropped(store, session, conn, consumer, role, given):
    fact = _fact(store, session)
    conn.execute("update percepts set consumer = ? where id = ?", (consumer, fact))
    add(conn, cites=(Cite("fact", fact),))
    assert bool(take(conn, role=role)) is given


def test_a_note_about_a_forgotten_fact_is_dropped(store, session, conn):
    fact = _fact(store, session)
    note = add(conn, cites=(Cite("fact", fact),))
    conn.execute("update percepts set status = 'forgotten' where id = ?", (fact,))
    assert take(conn) == []
    assert "no longer holds" in status(conn, note)[1]


def _fact(store, session) -> str:
    change = store.write_sync(
        lambda db: percepts.add(
            db, content="Retries live in the queue worker.", producer=Producer.USER, session_id=session.id
        )
    )
    return change.percept.id


_TAKER = """
import sqlite3, sys, time
from milk_tui.store import notes
conn = sqlite3.connect(sys.argv[1], isolation_level=None, timeout=30)
print("ready", flush=True)
sys.stdin.readline()
for _ in range(200):
    for note in notes.take(conn, "s", notes.TURN_STARTED, receiver="r", role="primary", by="p", now=2000):
        print(note.id, flush=True)
"""


def test_of_competing_programs_one_gets_each_note(store, conn):
    ids = [add(conn) for _ in range(30)]
    words = [sys.executable, "-c", _TAKER, str(store.path)]
    takers = [subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    for taker in takers:
        assert taker.stdout.readline() == "ready\n"
    for taker in takers:
        taker.stdin.write("go\n")
        taker.stdin.flush()
    taken = [int(line) for taker in takers for line in taker.communicate(timeout=60)[0].split()]
    assert sorted(taken) == ids


def test_a_hook_needs_nothing_but_sqlite():
    code = (
        "import sys; import milk_tui.store.notes; print([m for m in sys.modules if m in ('sqlite_utils', 'asyncio')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
