"""Sessions that a runtime keeps by itself, and the ones that a milk session stands in for."""

from __future__ import annotations

from milk_tui.store import legs, remotes
from tests.store.makers import end_leg, make_leg, make_session, make_turn


def opened(store, session, remote_id=None):
    return store.write_sync(
        lambda db: remotes.open_one(db, session_id=session.id, agent_name="claude", remote_id=remote_id)
    )


def current(store, session, stand_in=None):
    return store.read_sync(lambda conn: remotes.current(conn, session.id, "claude", stand_in=stand_in))


def test_the_newest_open_one_is_current_and_a_stand_in_is_told_apart(store, session):
    assert current(store, session) is None
    opened(store, session)
    first = opened(store, session, "r1")
    second = opened(store, session, "r2")
    assert current(store, session, stand_in=True).remote_id == session.id
    assert current(store, session, stand_in=False).remote_id == "r2"
    store.write_sync(lambda db: remotes.end(db, second))
    assert current(store, session, stand_in=False).id == first.id


def test_it_is_known_whose_a_runtimes_session_is(store, session):
    opened(store, session, "r1")
    owner = store.read_sync(lambda conn: remotes.owner(conn, "claude", "r1"))
    assert owner == session.id != make_session(store).id
    assert store.read_sync(lambda conn: remotes.owner(conn, "claude", "r2")) is None


def test_a_leg_learns_its_session_and_the_model_while_it_runs(store, session):
    leg = make_leg(store, make_turn(store, session))
    store.write_sync(lambda db: legs.set_remote(db, leg.id, "r1", "big-model"))
    store.write_sync(lambda db: legs.set_remote(db, leg.id, "r1"))
    kept = store.read_sync(lambda conn: legs.get(conn, leg.id))
    assert (kept.remote_session, kept.model) == ("r1", "big-model")


def test_what_was_given_stays_with_the_session_that_was_given_it(store, session):
    remote = opened(store, session, "r1")
    store.write_sync(lambda db: remotes.mark(db, remote, told=("a",), markers={"told": {"turns": 2}}))
    leg = make_leg(store, make_turn(store, session), agent_name="claude", remote_session="r1")
    end_leg(store, leg, "done")
    kept = current(store, session, stand_in=False)
    assert (kept.told, kept.markers) == (("a",), {"told": {"turns": 2}})
    assert opened(store, session, "r2").told == ()
