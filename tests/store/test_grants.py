"""Grants and changed files as rows: kept once, revoked, gone with their session."""

from __future__ import annotations

from msgspec.structs import replace

from milk_tui.core.grants import Grant
from milk_tui.store import file_changes, grants, sessions
from milk_tui.store.file_changes import FileChange
from tests.store.makers import make_leg, make_session, make_turn

GRANT = Grant(agent_name="qwen", tool="run_command", pattern="pytest *", directory="/work/shop", created_ms=1)


def test_a_grant_that_says_the_same_is_kept_once(store):
    first = store.write_sync(lambda db: grants.add(db, GRANT))
    again = store.write_sync(lambda db: grants.add(db, GRANT))
    assert first.id == again.id
    assert len(store.read_sync(lambda conn: grants.all_of(conn))) == 1


def test_candidates_are_of_that_agent_tool_and_directory(store):
    store.write_sync(lambda db: grants.add(db, GRANT))

    def found(*who: str) -> int:
        return len(store.read_sync(lambda conn: grants.candidates(conn, *who)))

    assert found("QWEN", "run_command", "/work/shop") == 1
    assert found("claude", "run_command", "/work/shop") == 0
    assert found("qwen", "write_file", "/work/shop") == 0
    assert found("qwen", "run_command", "/work") == 0


def test_a_use_is_counted_and_a_revoked_grant_has_none(store):
    grant = store.write_sync(lambda db: grants.add(db, GRANT))
    assert store.write_sync(lambda db: grants.used(db, grant.id, now=7))
    (kept,) = store.read_sync(lambda conn: grants.all_of(conn, directory="/work/shop"))
    assert (kept.uses, kept.used_ms) == (1, 7)
    assert store.write_sync(lambda db: grants.revoke(db, grant.id))
    assert not store.write_sync(lambda db: grants.revoke(db, grant.id))
    assert not store.write_sync(lambda db: grants.used(db, grant.id))


def test_what_belongs_to_a_session_goes_with_it(store):
    session = make_session(store)
    leg = make_leg(store, make_turn(store, session))
    change = FileChange(session_id=session.id, leg_id=leg.id, path="/a", verb="write", before=None, after=b"x", at_ms=1)
    store.write_sync(lambda db: file_changes.add(db, change))
    store.write_sync(lambda db: grants.add(db, replace(GRANT, session_id=session.id)))
    store.write_sync(lambda db: grants.add(db, GRANT))
    store.write_sync(lambda db: sessions.delete(db, session.id))
    assert [grant.session_id for grant in store.read_sync(lambda conn: grants.all_of(conn))] == [None]
    assert store.read_sync(lambda conn: file_changes.files(conn, session.id)) == []


def test_a_file_is_listed_from_its_first_change_to_its_last(store):
    session = make_session(store)
    steps = [("/a", b"1", b"2"), ("/b", None, b"x"), ("/a", b"2", b"3"), ("/b", b"x", None), ("/c", b"c", None)]
    for path, before, after in steps:
        change = FileChange(session_id=session.id, path=path, verb="edit", before=before, after=after, at_ms=1)
        store.write_sync(lambda db, change=change: file_changes.add(db, change))
    found = store.read_sync(lambda conn: file_changes.files(conn, session.id))
    assert [(file.path, file.before, file.after, file.times) for file in found] == [
        ("/a", b"1", b"3", 2),
        ("/c", b"c", None, 1),
    ]
