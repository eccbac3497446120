"""A deleted session is in no list, and comes back as it was while it can."""

from __future__ import annotations

from milk_tui.store import session_trash, sessions
from milk_tui.store.session_trash import KEPT_MS
from tests.store.makers import answered, make_session


def delete(store, session, **more) -> bool:
    return store.write_sync(lambda db: session_trash.delete(db, session.id, **more))


def test_it_is_in_no_list_and_found_by_no_name(store, session) -> None:
    other = make_session(store, title="other")
    answered(store, session, "one", "answer")
    assert delete(store, session)
    assert [row.id for row in store.read_sync(sessions.rows)] == [other.id]
    assert store.read_sync(lambda conn: sessions.newest(conn, session.directory)).id == other.id
    assert store.read_sync(lambda conn: sessions.by_name(conn, session.id[:8])) is None
    (gone,) = store.read_sync(session_trash.listed)
    assert (gone.id, gone.turns) == (session.id, 1)


def test_it_comes_back_once_as_it_was(store, session) -> None:
    answered(store, session, "one", "answer")
    before = store.read_sync(lambda conn: sessions.get(conn, session.id))
    delete(store, session)
    assert store.write_sync(lambda db: session_trash.restore(db, session.id))
    assert not store.write_sync(lambda db: session_trash.restore(db, session.id))
    assert store.read_sync(lambda conn: sessions.get(conn, session.id)) == before


def test_it_is_deleted_once(store, session) -> None:
    assert delete(store, session)
    assert not delete(store, session)


def test_after_its_time_it_goes_for_good(store, session) -> None:
    late, other = make_session(store), make_session(store)
    delete(store, session, now=1_000)
    delete(store, late, now=2_000)
    delete(store, other, now=1_001 + KEPT_MS)
    assert {row.id for row in store.read_sync(session_trash.listed)} == {late.id, other.id}
    assert store.read_sync(lambda conn: sessions.directory_of(conn, session.id)) is None
