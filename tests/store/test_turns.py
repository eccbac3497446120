from __future__ import annotations

import sqlite3

import pytest

from milk_tui.core.records import Role, RouteDecision, ScorePart, TurnStatus
from milk_tui.store import history, sessions, turns
from tests.store.makers import ROUTE, make_session, make_turn


def test_a_prompt_is_stored_with_its_history_before_anything_else(store, session):
    turn = make_turn(store, session, "why?\nreally", now=session.updated_ms + 5)
    assert (turn.status, turn.route, turn.queued) == (TurnStatus.PENDING, None, False)
    assert store.read_sync(lambda conn: turns.get(conn, turn.id)) == turn
    assert store.read_sync(lambda conn: history.recent(conn, "/work/shop")) == ["why?\nreally"]
    kept = store.read_sync(lambda conn: sessions.get(conn, session.id))
    assert (kept.revision, kept.updated_ms) == (1, turn.created_ms)


@pytest.mark.parametrize("prompt", ["", "\x00", "\ud800", "💥" * 1000, "a\r\nb", "'; drop table turns; --"])
def test_any_prompt_can_be_stored(store, session, prompt):
    turn = make_turn(store, session, prompt)
    assert turn.prompt == prompt.replace("\ud800", "?")


def test_the_index_lists_turns_in_order_without_their_prompts(store, session):
    first = make_turn(store, session, "one\ntwo\nthree")
    second = make_turn(store, session, "", queued=True)
    make_turn(store, make_session(store), "of another session")
    listed = store.read_sync(lambda conn: turns.index(conn, session.id))
    assert [(t.id, t.prompt_chars, t.prompt_lines, t.queued) for t in listed] == [
        (first.id, 13, 3, False),
        (second.id, 0, 0, True),
    ]
    plan = store.read_sync(
        lambda conn: conn.execute(
            "explain query plan select id, status, queued, created_ms, prompt_chars, prompt_lines"
            " from turns where session_id = '' order by id"
        ).fetchall()
    )
    assert "COVERING INDEX" in plan[0]["detail"]


def test_a_turn_starts_once(store, session):
    turn = make_turn(store, session, queued=True)
    route = RouteDecision(
        role=Role.ESCALATION, rule="explicit", reason="asked", parts=(ScorePart("verb", -3.0),), one_turn=True
    )
    start = lambda: store.write_sync(lambda db: turns.start(db, turn.id, route, owner="me"))  # noqa: E731
    assert start()
    assert not start()
    kept = store.read_sync(lambda conn: turns.get(conn, turn.id))
    assert (kept.status, kept.route, kept.queued) == (TurnStatus.RUNNING, route, False)


def test_a_turn_ends_once(store, session):
    turn = make_turn(store, session)
    finish = lambda status: store.write_sync(lambda db: turns.finish(db, turn.id, status))  # noqa: E731
    assert finish(TurnStatus.DONE)
    assert not finish(TurnStatus.CANCELLED)
    assert store.read_sync(lambda conn: turns.get(conn, turn.id)).status is TurnStatus.DONE
    with pytest.raises(ValueError, match="not final"):
        finish(TurnStatus.RUNNING)


def test_a_waiting_prompt_can_be_taken_back_and_a_started_one_can_not(store, session):
    waiting, started = make_turn(store, session, "later"), make_turn(store, session, "now")
    store.write_sync(lambda db: turns.start(db, started.id, ROUTE, owner="me"))
    assert store.write_sync(lambda db: turns.drop(db, waiting.id)).prompt == "later"
    assert store.write_sync(lambda db: turns.drop(db, waiting.id)) is None
    assert store.write_sync(lambda db: turns.drop(db, started.id)) is None
    assert store.read_sync(lambda conn: turns.get(conn, waiting.id)).status is TurnStatus.CANCELLED


def test_waiting_prompts_are_listed_oldest_first(store, session):
    made = [make_turn(store, session, text, queued=True) for text in ("a", "b", "c")]
    store.write_sync(lambda db: turns.start(db, made[0].id, ROUTE, owner="me"))
    waiting = store.read_sync(lambda conn: turns.queued(conn, session.id))
    assert [turn.prompt for turn in waiting] == ["b", "c"]


def test_positions_are_turn_ids(store, session):
    ids = [make_turn(store, session, text).id for text in "abcd"]
    make_turn(store, make_session(store), "elsewhere")
    assert store.read_sync(lambda conn: turns.last_id(conn, session.id)) == ids[-1]
    between = store.read_sync(lambda conn: turns.count_after(conn, session.id, ids[0], before=ids[3]))
    assert between == 2
    assert set(store.read_sync(lambda conn: turns.many(conn, [*ids[:2], 10**9]))) == set(ids[:2])


def test_a_turn_of_no_session_is_refused(store):
    with pytest.raises(sqlite3.IntegrityError):
        store.write_sync(lambda db: turns.add(db, "nowhere", "x", owner="me"))


def test_history_keeps_each_text_once_newest_first_by_directory(store):
    for text in ("one", "two", "one", "one"):
        store.write_sync(lambda db, text=text: history.add(db, directory="/a", text=text))
    store.write_sync(lambda db: history.add(db, directory="/b", text="three"))
    assert store.read_sync(lambda conn: history.recent(conn, "/a")) == ["one", "two"]
    assert store.read_sync(lambda conn: history.recent(conn, "/a", limit=1)) == ["one"]


def test_history_is_searched_by_part_and_no_letter_is_a_wildcard(store):
    for text in ("run 100% of it", "snake_case", "snakeXcase", "back\\slash", "Größe"):
        store.write_sync(lambda db, text=text: history.add(db, directory="/a", text=text))
    search = lambda part: store.read_sync(lambda conn: history.search(conn, "/a", part))  # noqa: E731
    assert search("100%") == ["run 100% of it"]
    assert search("SNAKE_") == ["snake_case"]
    assert search("\\s") == ["back\\slash"]
    assert search("röß") == ["Größe"]
    assert search("\ud800") == []
