"""The life of facts through the store: the table of ``semantics.md`` §2, once for each period, all or nothing."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from milk_tui.core.lifecycle import EdgeKind
from milk_tui.core.records import LegStatus, PerceptScope, PerceptStatus, Producer, TurnStatus
from milk_tui.store import (
    Store,
    consolidation,
    integrity,
    percept_changes,
    percept_edges,
    percept_events,
    percept_lists,
    percepts,
    sessions,
    turns,
)
from milk_tui.store.consolidation import Ended
from tests.store.makers import answered, end_leg, make_leg, make_session, make_turn

DAY = 86_400_000
NOON = 1_777_723_200_000
"""2026-05-02, 12:00 UTC: no day boundary near it in most of the world's clocks."""
HOUR = 3_600_000


def add(store, session, content="checkout retries in the queue", **more):
    more = {"producer": Producer.USER, "now": NOON - DAY, **more}
    return store.write_sync(lambda db: percepts.add(db, content=content, session_id=session.id, **more)).percept


def learned(store, session, content="the worker runs at night", producer=Producer.PRIMARY):
    """A fact as an agent states it: in an answer of its own turn."""
    leg = make_leg(store, make_turn(store, session))

    def end(db):
        staged = percepts.stage(db, leg_id=leg.id, producer=producer, content=content, now=NOON - DAY)
        percepts.make_live(db, leg.id, now=NOON - DAY)
        return staged.percept

    fact = store.write_sync(end)
    end_leg(store, leg, "noted")
    store.write_sync(lambda db: turns.finish(db, leg.turn_id, TurnStatus.DONE))
    return get(store, fact)


def get(store, fact):
    return store.read_sync(lambda conn: percept_lists.get(conn, fact.id))


def events(store, fact):
    return store.read_sync(lambda conn: percept_events.of_percept(conn, fact.id))


def turn(store, session):
    """One more turn that was answered."""
    leg = answered(store, session, "go on", "done")
    store.write_sync(lambda db: turns.finish(db, leg.turn_id, TurnStatus.DONE))
    return leg.turn_id


def due(store, session):
    return store.read_sync(lambda conn: consolidation.due(conn, session.id))


def run(store, session, now=NOON):
    """One consolidation, when one is due."""
    ended = due(store, session)
    return ended and store.write_sync(lambda db: consolidation.consolidate(db, ended, now=now))


def periods(store, session, count, *facts):
    """The weight and status of each fact after each of so many sessions, one a day."""
    told = []
    for number in range(count):
        turn(store, session)
        run(store, session, NOON + number * DAY)
        told.append([(get(store, fact).weight, get(store, fact).status.value) for fact in facts])
    return told


def test_the_persons_fact_becomes_global_with_its_first_consolidation(store, session):
    fact = add(store, session)
    assert periods(store, session, 1, fact) == [[(800, "live")]]
    assert get(store, fact).scope is PerceptScope.GLOBAL


def test_an_agents_fact_is_gone_exactly_at_the_fifth(store, session):
    fact = learned(store, session)
    history = [weights for (weights,) in periods(store, session, 5, fact)]
    assert history == [(600, "live"), (500, "live"), (400, "live"), (300, "live"), (200, "forgotten")]


def test_a_fact_of_the_system_is_gone_exactly_at_the_second(store, session):
    fact = add(store, session, producer=Producer.SYSTEM)
    assert periods(store, session, 2, fact) == [[(300, "live")], [(200, "forgotten")]]


def test_a_pinned_fact_is_never_gone(store, session):
    fact = add(store, session, pinned=True)
    assert periods(store, session, 8, fact)[-1] == [(1000, "live")]


def test_a_contradiction_lowers_both(store, session):
    one, two = learned(store, session, "the port is 1"), learned(store, session, "the port is 2")
    store.write_sync(lambda db: percept_edges.link(db, two.id, one.id, EdgeKind.CONTRADICTS))
    assert periods(store, session, 1, one, two) == [[(500, "live"), (500, "live")]]


@pytest.mark.parametrize("kind", [EdgeKind.EXTENDS, EdgeKind.UPDATES, EdgeKind.DERIVES])
def test_the_target_of_another_edge_is_lifted(store, session, kind):
    one, two = learned(store, session, "first"), learned(store, session, "second")
    store.write_sync(lambda db: percept_edges.link(db, two.id, one.id, kind))
    assert periods(store, session, 1, one, two) == [[(650, "live"), (600, "live")]]


def test_a_global_fact_loses_20_at_most_once_a_day_whatever_the_session(store, session):
    other = make_session(store, "/elsewhere")
    fact = add(store, session, scope=PerceptScope.GLOBAL)
    for each, now, weight in (
        (session, NOON, 880),
        (other, NOON + HOUR, 880),
        (session, NOON + DAY, 860),
        (session, NOON + DAY + HOUR, 860),
    ):
        turn(store, each)
        assert run(store, each, now) is not None
        assert get(store, fact).weight == weight


def test_a_deleted_session_does_not_make_the_day_count_again(store, session):
    fact = add(store, session, scope=PerceptScope.GLOBAL)
    other = make_session(store)
    turn(store, other)
    run(store, other)
    store.write_sync(lambda db: sessions.delete(db, other.id))
    turn(store, session)
    run(store, session, NOON + HOUR)
    assert get(store, fact).weight == 880


def test_two_calls_in_one_period_are_one(store, session):
    fact = learned(store, session)
    ended = due(store, session)
    consolidate = lambda: store.write_sync(lambda db: consolidation.consolidate(db, ended, now=NOON))  # noqa: E731
    assert consolidate() is not None
    assert consolidate() is None
    assert due(store, session) is None
    assert get(store, fact).weight == 600
    assert [e.kind for e in events(store, fact)].count("decayed") == 1


def test_a_period_has_a_turn_that_an_agent_worked_on(store, session):
    assert due(store, session) is None
    waiting = make_turn(store, session)
    assert due(store, session) is None
    leg = make_leg(store, waiting)
    assert due(store, session) is None
    end_leg(store, leg, status=LegStatus.FAILED)
    store.write_sync(lambda db: turns.finish(db, waiting.id, TurnStatus.FAILED))
    assert due(store, session) is None
    last = turn(store, session)
    assert due(store, session) == Ended(session_id=session.id, last_turn_id=last)


def test_facts_of_other_sessions_are_left_alone(store, session):
    other = make_session(store)
    fact = learned(store, other)
    turn(store, session)
    run(store, session)
    assert get(store, fact).weight == 700


def test_what_was_learned_after_the_period_is_not_part_of_it(store, session):
    turn(store, session)
    later = add(store, session, "learned later", now=NOON + 5)
    ended = due(store, session)
    until = Ended(session_id=session.id, last_turn_id=ended.last_turn_id, until_ms=NOON)
    store.write_sync(lambda db: consolidation.consolidate(db, until, now=NOON + 9))
    assert (get(store, later).weight, get(store, later).scope) == (900, PerceptScope.SESSION)


def test_every_change_is_an_event_with_its_reason(store, session):
    fact = add(store, session)
    light = add(store, session, "nearly gone", producer=Producer.SYSTEM)
    store.write_sync(lambda db: percepts.set_weight(db, light.id, 250))
    turn(store, session)
    run(store, session)
    told = [(e.kind, e.actor, e.weight_before, e.weight_after, e.at_ms) for e in events(store, fact)][1:]
    assert told == [("decayed", "system", 900, 800, NOON), ("promoted", "system", 800, 800, NOON)]
    assert all(event.note for event in (*events(store, fact)[1:], *events(store, light)[2:]))
    assert [e.kind for e in events(store, light)][-2:] == ["decayed", "forgotten"]


def test_each_change_is_undone_by_itself(store, session):
    fact = add(store, session)
    turn(store, session)
    run(store, session)
    undo = lambda: store.write_sync(lambda db: percepts.undo(db, fact.id))  # noqa: E731
    assert undo().percept.scope is PerceptScope.SESSION
    assert undo().percept.weight == 900
    assert undo() is None


def test_a_consolidation_is_undone_as_a_whole_and_stays_counted(store, session):
    kept, gone = add(store, session), add(store, session, "nearly gone", producer=Producer.SYSTEM)
    store.write_sync(lambda db: percepts.set_weight(db, gone.id, 300))
    before = [get(store, fact) for fact in (kept, gone)]
    turn(store, session)
    ended = due(store, session)
    _, recorded = store.write_sync(
        lambda db: percept_changes.recorded(db, lambda db: consolidation.consolidate(db, ended, now=NOON))
    )
    assert get(store, gone).status is PerceptStatus.FORGOTTEN
    store.write_sync(lambda db: percept_changes.undo(db, recorded))
    after = [get(store, fact) for fact in (kept, gone)]
    assert [(f.weight, f.scope, f.status, f.valid_to_ms) for f in after] == [
        (f.weight, f.scope, f.status, f.valid_to_ms) for f in before
    ]
    assert due(store, session) is None


def test_a_faded_fact_is_restored_so_that_it_does_not_fade_at_once(store, session):
    fact = learned(store, session)
    periods(store, session, 5, fact)
    assert [f.id for f in store.read_sync(lambda conn: percept_lists.forgotten(conn, session.id))] == [fact.id]
    change = store.write_sync(lambda db: percepts.restore(db, fact.id))
    assert (change.what, change.percept.status, change.percept.weight) == ("restored", PerceptStatus.LIVE, 700)


def test_what_a_person_forgot_is_restored_as_it_was(store, session):
    fact = learned(store, session)
    store.write_sync(lambda db: percepts.set_weight(db, fact.id, 450))
    store.write_sync(lambda db: percepts.forget(db, fact.id))
    assert store.write_sync(lambda db: percepts.restore(db, fact.id)).percept.weight == 450


def test_a_faded_fact_may_be_learned_anew(store, session):
    fact = learned(store, session)
    periods(store, session, 5, fact)
    assert learned(store, session, "the worker runs at night").status is PerceptStatus.LIVE


def test_a_dry_run_says_what_would_change_and_changes_nothing(store, session):
    fact = add(store, session)
    turn(store, session)
    before = list(store.read_sync(lambda conn: list(conn.iterdump())))
    planned = store.read_sync(lambda conn: consolidation.plan(conn, consolidation.due(conn, session.id), now=NOON))
    assert [(row.percept_id, row.step, row.after) for row in planned.changes.rows] == [
        (fact.id, "decayed", 800),
        (fact.id, "promoted", 800),
    ]
    assert list(store.read_sync(lambda conn: list(conn.iterdump()))) == before
    done = run(store, session)
    assert (done.forgotten, done.promoted) == (len(planned.changes.forgotten), len(planned.changes.promoted))


def test_a_fact_that_is_global_already_is_not_made_so_twice(store, session):
    other = make_session(store)
    first, second = add(store, other, "known to all"), add(store, session, "known to all")
    for each in (other, session):
        turn(store, each)
    run(store, other)
    done = run(store, session)
    assert get(store, second).status is PerceptStatus.SUPERSEDED
    assert get(store, second).superseded_by == first.id
    assert [(c.what, c.percept.id) for c in done.changes] == [("merged", second.id), ("confirmed", first.id)]
    assert done.promoted == 0
    assert len(store.read_sync(lambda conn: percept_lists.browse(conn, None))) == 2


def test_a_twin_that_fades_in_the_same_moment_does_not_count(store, session):
    twin = add(store, session, "known to all", scope=PerceptScope.GLOBAL)
    store.write_sync(lambda db: percepts.set_weight(db, twin.id, 100))
    second = add(store, make_session(store), "another")
    store.write_sync(
        lambda db: db.execute(
            "update percepts set session_id = ?, content = ?, hash = (select hash from percepts where id = ?)"
            " where id = ?",
            (session.id, "known to all", twin.id, second.id),
        )
    )
    turn(store, session)
    run(store, session)
    assert get(store, twin).status is PerceptStatus.FORGOTTEN
    assert (get(store, second).status, get(store, second).scope) == (PerceptStatus.LIVE, PerceptScope.GLOBAL)


def test_who_was_doubted_because_of_a_faded_fact_is_doubted_no_longer(store, session):
    old, new = add(store, session, "the port is 1", producer=Producer.SYSTEM), learned(store, session, "the port is 2")
    store.write_sync(lambda db: percept_changes.suspect(db, new.id, old.id, actor=Producer.PRIMARY))
    store.write_sync(lambda db: percepts.set_weight(db, old.id, 210))
    assert get(store, new).status is PerceptStatus.SUSPECT
    turn(store, session)
    run(store, session)
    assert get(store, old).status is PerceptStatus.FORGOTTEN
    assert get(store, new).status is PerceptStatus.LIVE


def test_while_global_facts_are_not_due_the_same_happens_as_if_all_were_read(store, session):
    shared = [add(store, session, f"global {n}", scope=PerceptScope.GLOBAL) for n in range(6)]
    turn(store, session)
    run(store, session)
    own = [learned(store, session, f"own {n}") for n in range(3)]

    def arrange(db):
        percepts.set_weight(db, shared[0].id, 150)
        percept_edges.link(db, shared[1].id, own[0].id, EdgeKind.EXTENDS)
        percept_edges.link(db, own[1].id, shared[2].id, EdgeKind.CONTRADICTS)
        percept_edges.link(db, shared[4].id, shared[5].id, EdgeKind.CONTRADICTS)

    store.write_sync(arrange)

    def both(conn):
        ended = consolidation.due(conn, session.id)
        few, all_of_them = (
            consolidation._in_reach(conn, ended, global_is_due=due)[0].keys() for due in (False, True)
        )
        return few, all_of_them, consolidation.plan(conn, ended, now=NOON + HOUR).changes

    few, everything, changes = store.read_sync(both)
    assert few < everything
    assert changes.weights == {shared[0].id: 150, own[0].id: 650, own[1].id: 500, own[2].id: 600}
    assert changes.forgotten == (shared[0].id,)


def test_a_session_that_rests_longer_than_the_bound_is_found(store, session):
    now = consolidation.now_ms()
    quiet, other = make_session(store, now=1), make_session(store, now=1)
    last = turn(store, quiet)
    turn(store, session)
    store.write_sync(lambda db: db.execute("update sessions set updated_ms = 5 where id = ?", (quiet.id,)))
    rest = lambda: store.read_sync(lambda conn: consolidation.idle(conn, now=now + HOUR, idle_ms=8 * HOUR))  # noqa: E731
    assert rest() == [], "its last answer is new"
    store.write_sync(lambda db: db.execute("update legs set ended_ms = 9 where session_id = ?", (quiet.id,)))
    store.write_sync(lambda db: db.execute("update turns set created_ms = 5 where session_id = ?", (quiet.id,)))
    assert rest() == [Ended(session_id=quiet.id, last_turn_id=last)]
    assert due(store, other) is None
    run(store, quiet)
    assert rest() == []


def test_a_prompt_after_a_long_rest_begins_a_new_period(store, session):
    before = turn(store, session)
    early = make_turn(store, session)
    store.write_sync(lambda db: turns.finish(db, early.id, TurnStatus.DONE))
    began = early.created_ms
    look = lambda ms: store.read_sync(  # noqa: E731
        lambda conn: consolidation.due_before(conn, session.id, early.id, idle_ms=ms)
    )
    assert look(HOUR) is None
    assert look(-1) == Ended(session_id=session.id, last_turn_id=before, until_ms=began)
    run(store, session)
    assert look(-1) is None


def test_what_nobody_was_told_is_told_once(store, session):
    fact = add(store, session)
    turn(store, session)
    run(store, session)
    assert store.read_sync(consolidation.untold) == (0, 1)
    assert store.write_sync(consolidation.tell) == (0, 1)
    assert store.write_sync(consolidation.tell) == (0, 0)
    turn(store, session)
    run(store, session, NOON + DAY)
    assert get(store, fact).weight == 780
    assert store.read_sync(consolidation.untold) == (0, 0), "a little less weight is no news"


def test_only_what_faded_long_ago_is_purged(store, session):
    faded, kept, removed = (add(store, session, text, producer=Producer.SYSTEM) for text in ("a b c", "d e f", "g h i"))
    store.write_sync(lambda db: percepts.forget(db, removed.id, now=NOON))
    store.write_sync(lambda db: percepts.set_weight(db, faded.id, 210))
    turn(store, session)
    run(store, session)
    purge = lambda now: store.write_sync(lambda db: consolidation.purge(db, now=now))  # noqa: E731
    assert purge(NOON + 30 * DAY) == 0
    assert purge(NOON + 31 * DAY) == 1
    assert get(store, faded) is None
    assert get(store, kept) is not None
    assert get(store, removed).status is PerceptStatus.FORGOTTEN
    assert events(store, faded) == []
    assert store.read_sync(integrity.problems) == []


def test_an_error_in_the_middle_leaves_nothing_behind(store, session):
    fact, gone = add(store, session), add(store, session, "nearly gone", producer=Producer.SYSTEM)
    store.write_sync(lambda db: percepts.set_weight(db, gone.id, 210))
    turn(store, session)
    ended = due(store, session)

    def broken(db):
        consolidation.consolidate(db, ended, now=NOON)
        raise RuntimeError("the disk is full")

    with pytest.raises(RuntimeError):
        store.write_sync(broken)
    assert (get(store, fact).weight, get(store, gone).status) == (900, PerceptStatus.LIVE)
    assert due(store, session) == ended


KILLED = """
    import os, signal, sys
    from milk_tui.store import Store, consolidation
    store = Store.open(sys.argv[1])
    ended = store.read_sync(lambda conn: consolidation.due(conn, sys.argv[2]))
    def die(db):
        seen = 0
        def count(statement):
            nonlocal seen
            seen += statement.lower().lstrip().startswith(("insert", "update"))
            if seen >= int(sys.argv[3]):
                os.kill(os.getpid(), signal.SIGKILL)
        db.conn.set_trace_callback(count)
        consolidation.consolidate(db, ended)
        count("insert")
        os.kill(os.getpid(), signal.SIGKILL)
    store.write_sync(die)
"""


@pytest.mark.parametrize("statements", [1, 4, 8, 1_000])
def test_a_kill_in_the_middle_leaves_all_or_nothing(store, session, tmp_path, statements):
    facts = [add(store, session, f"fact {number}", producer=Producer.SYSTEM) for number in range(5)]
    store.write_sync(lambda db: [percepts.set_weight(db, fact.id, 250) for fact in facts])
    turn(store, session)
    store.close()
    shutil.copy(tmp_path / "milk.db", tmp_path / "copy.db")
    script = tmp_path / "killed.py"
    script.write_text(textwrap.dedent(KILLED))
    root = Path(consolidation.__file__).parents[2]
    ran = subprocess.run(
        [sys.executable, str(script), str(tmp_path / "copy.db"), session.id, str(statements)],
        env={**os.environ, "PYTHONPATH": str(root)},
        check=False,
        timeout=60,
    )
    assert ran.returncode == -signal.SIGKILL
    again = Store.open(tmp_path / "copy.db")
    assert [get(again, fact).weight for fact in facts] == [250] * 5
    assert due(again, session) is not None
    assert again.read_sync(integrity.problems) == []
    assert run(again, session).forgotten == 5
    again.close()
