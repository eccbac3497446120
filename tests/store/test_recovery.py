"""What a start-up finds after a program died, and what it leaves alone."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

from milk_tui.core.records import Brick, BrickKind, LegStatus, PerceptStatus, Producer, Role, TurnStatus
from milk_tui.store import (
    Store,
    bricks,
    integrity,
    legs,
    owner,
    percept_lists,
    percepts,
    recovery,
    remotes,
    turns,
)
from tests.store.makers import ROUTE, end_leg, make_leg, make_turn


@pytest.fixture
def dead(tmp_path, store):
    """A second program on the database, which "dies" when it is asked to: its lock goes, nothing else is done."""
    program = Store.open(store.path)
    _ = program.owner_id
    yield program
    program.close()


def die(program):
    """As the kernel leaves a killed process: the lock is gone, its file is not."""
    os.close(program._owner._fd)
    program._owner._fd = -1


def recover(store, **more):
    return store.write_sync(lambda db: recovery.recover(db, store.running_folder, **more))


LATER = 9_000_000_000_000


def status(store, turn):
    return store.read_sync(lambda conn: turns.get(conn, turn.id)).status


def test_a_running_leg_of_a_dead_program_is_interrupted_and_keeps_its_text(store, dead, session):
    turn = make_turn(dead, session, "why?")
    leg = make_leg(dead, turn)
    dead.write_sync(lambda db: legs.save_progress(db, leg.id, text="because"))
    die(dead)
    assert store.read_sync(recovery.needed)
    found = recover(store, now=LATER)
    assert (found.interrupted_legs, found.ended_turns) == ((leg.id,), (turn.id,))
    kept = store.read_sync(lambda conn: legs.get(conn, leg.id))
    assert (kept.status, kept.text, kept.ended_ms) == (LegStatus.INTERRUPTED, "because", LATER)
    assert status(store, turn) is TurnStatus.INTERRUPTED
    assert not store.read_sync(recovery.needed)
    assert store.read_sync(integrity.problems) == []


def test_an_interrupted_leg_does_not_acknowledge(store, dead, session):
    make_leg(dead, make_turn(dead, session))
    die(dead)
    recover(store)
    assert store.read_sync(lambda conn: remotes.current(conn, session.id, "qwen")) is None


def test_what_it_had_captured_counts_and_says_where_it_is_from(store, dead, session):
    leg = make_leg(dead, make_turn(dead, session))
    dead.write_sync(
        lambda db: percepts.stage(db, leg_id=leg.id, producer=Producer.PRIMARY, content="retries live in the queue")
    )
    die(dead)
    found = recover(store)
    assert [change.what for change in found.percepts] == ["live"]
    (fact,) = store.read_sync(lambda conn: percept_lists.of_leg(conn, leg.id))
    assert (fact.status, fact.note) == (PerceptStatus.LIVE, "from an interrupted answer")


def test_a_prompt_that_nothing_was_done_about_waits_to_be_offered_again(store, dead, session):
    queued, started = make_turn(dead, session, "first"), make_turn(dead, session, "second")
    dead.write_sync(lambda db: turns.start(db, started.id, ROUTE, owner=dead.owner_id))
    die(dead)
    assert recover(store).waiting_turns == (queued.id, started.id)
    waiting = store.read_sync(lambda conn: turns.queued(conn, session.id))
    assert [(turn.prompt, turn.queued) for turn in waiting] == [("first", True), ("second", True)]
    assert recover(store).waiting_turns == (queued.id, started.id), "offered until somebody decides"
    store.write_sync(lambda db: turns.start(db, queued.id, ROUTE, owner=store.owner_id))
    assert recover(store).waiting_turns == (started.id,)


def test_a_leg_that_was_never_claimed_is_gone_and_its_turn_waits(store, dead, session):
    turn = make_turn(dead, session)
    leg = make_leg(dead, turn, claimed=False)
    die(dead)
    assert recover(store).waiting_turns == (turn.id,)
    assert store.read_sync(lambda conn: legs.of_turn(conn, turn.id)) == []
    assert (
        store.read_sync(lambda conn: conn.execute("select count(*) from legs where id = ?", (leg.id,)).fetchone()[0])
        == 0
    )


@pytest.mark.parametrize(
    ("ended", "becomes"),
    [
        (LegStatus.DONE, TurnStatus.DONE),
        (LegStatus.EMPTY, TurnStatus.DONE),
        (LegStatus.FAILED, TurnStatus.FAILED),
        (LegStatus.CANCELLED, TurnStatus.CANCELLED),
    ],
)
def test_a_turn_whose_last_leg_had_ended_ends_like_it(store, dead, session, ended, becomes):
    turn = make_turn(dead, session)
    end_leg(dead, make_leg(dead, turn), "text", ended)
    die(dead)
    assert recover(store).interrupted_legs == ()
    assert status(store, turn) is becomes


def test_a_turn_that_was_about_to_be_handed_over_is_interrupted(store, dead, session):
    turn = make_turn(dead, session)
    end_leg(dead, make_leg(dead, turn), "I hand over")
    brief = Brick(kind=BrickKind.BRIEF, text="too deep", version=1, turn_id=turn.id, updated_ms=1)
    dead.write_sync(lambda db: bricks.save(db, session.id, brief))
    die(dead)
    recover(store)
    assert status(store, turn) is TurnStatus.INTERRUPTED


def test_the_second_leg_of_a_turn_is_interrupted_and_the_first_stays_done(store, dead, session):
    turn = make_turn(dead, session)
    first = make_leg(dead, turn)
    end_leg(dead, first, "I hand over")
    second = make_leg(dead, turn, Role.ESCALATION, escalated=True)
    die(dead)
    assert recover(store).interrupted_legs == (second.id,)
    assert store.read_sync(lambda conn: legs.get(conn, first.id)).status is LegStatus.DONE
    assert status(store, turn) is TurnStatus.INTERRUPTED


def test_what_a_living_program_works_on_is_left_alone(store, dead, session):
    theirs, ours = make_turn(dead, session), make_turn(store, session)
    their_leg, our_leg = make_leg(dead, theirs), make_leg(store, ours)
    found = recover(store)
    assert found == recovery.Recovered()
    for leg in (their_leg, our_leg):
        assert store.read_sync(lambda conn, leg=leg: legs.get(conn, leg.id)).status is LegStatus.RUNNING


def test_a_program_that_ended_in_good_order_leaves_its_waiting_prompts(tmp_path, store, session):
    other = Store.open(store.path)
    turn = make_turn(other, session)
    other.close()
    assert recover(store).waiting_turns == (turn.id,)


def test_waiting_prompts_of_a_dead_program_are_adopted_once_and_a_living_ones_are_left_to_it(store, dead, session):
    living = Store.open(store.path)
    theirs = make_turn(living, session, "of a living program")
    orphans = [make_turn(dead, session, "first"), make_turn(dead, session, "second")]
    make_turn(store, session, "ours already")
    die(dead)

    def adopt(program):
        turns_now = program.write_sync(
            lambda db: recovery.adopt_waiting(db, program.running_folder, session.id, owner_id=program.owner_id)
        )
        return [turn.prompt for turn in turns_now]

    assert adopt(store) == [turn.prompt for turn in orphans]
    assert adopt(store) == adopt(living) == []
    assert theirs.id in [turn.id for turn in store.read_sync(lambda conn: turns.queued(conn, session.id))]
    living.close()


def test_recovering_twice_finds_nothing_the_second_time(store, dead, session):
    make_leg(dead, make_turn(dead, session))
    die(dead)
    assert recover(store).interrupted_legs
    assert recover(store) == recovery.Recovered()


KILLED = """
import sys
from milk_tui.store import Store, legs, sessions
from tests.store.makers import make_leg, make_turn
store = Store.open(sys.argv[1])
session = store.read_sync(lambda conn: sessions.get(conn, sys.argv[2]))
leg = make_leg(store, make_turn(store, session, "asked"))
store.write_sync(lambda db: legs.save_progress(db, leg.id, text="so far"))
print(leg.id, flush=True)
sys.stdin.read()
"""


def test_a_real_program_is_left_alone_while_it_lives_and_recovered_after_a_kill(store, session):
    program = subprocess.Popen(
        [sys.executable, "-c", KILLED, str(store.path), session.id],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    leg_id = int(program.stdout.readline())
    assert recover(store) == recovery.Recovered()
    program.send_signal(signal.SIGKILL)
    program.communicate()
    assert recover(store).interrupted_legs == (leg_id,)
    assert store.read_sync(lambda conn: legs.get(conn, leg_id)).text == "so far"


def test_an_owner_is_alive_until_it_is_released(tmp_path):
    mine = owner.Owner(tmp_path / "running")
    assert owner.alive(tmp_path / "running", mine.id)
    owner.sweep(tmp_path / "running")
    assert owner.alive(tmp_path / "running", mine.id)
    mine.release()
    mine.release()
    assert not owner.alive(tmp_path / "running", mine.id)
    assert list((tmp_path / "running").iterdir()) == []


@pytest.mark.parametrize("name", ["", ".", "..", "../../etc/passwd", "x/y"])
def test_a_forged_owner_is_dead_and_touches_nothing(tmp_path, name):
    (tmp_path / "running").mkdir()
    assert not owner.alive(tmp_path / "running", name)
    assert (tmp_path / "running").is_dir()


def test_files_of_dead_programs_are_swept(tmp_path):
    folder = tmp_path / "running"
    gone = owner.Owner(folder)
    os.close(gone._fd)
    gone._fd = -1
    assert [part.name for part in folder.iterdir()] == [gone.id]
    owner.sweep(folder)
    assert list(folder.iterdir()) == []
    owner.sweep(tmp_path / "never made")
