"""Where words stand in a session."""

from __future__ import annotations

from milk_tui.core.records import Role
from milk_tui.store import message_places
from milk_tui.store.message_places import Place
from tests.store.makers import answered, make_session, make_turn


def find(store, session, words: str) -> list[Place]:
    return store.read_sync(lambda conn: message_places.find(conn, session.id, words))


def test_every_place_is_found_in_the_order_of_the_conversation(store, session) -> None:
    first = answered(store, session, "Retry, retry!", "a retry")
    second = answered(store, session, "other", "RETRY at last", Role.ESCALATION)
    assert find(store, session, "retry") == [
        Place(first.turn_id, None, 0),
        Place(first.turn_id, None, 1),
        Place(first.turn_id, first.id, 0),
        Place(second.turn_id, second.id, 0),
    ]


def test_words_are_looked_for_as_they_are_written(store, session) -> None:
    turn = make_turn(store, session, "100 % of naïve 価格 (a AND b) STRASSE")
    for words in ("100 %", "NAÏVE", "価格", "(a and b)", "straße"):
        assert find(store, session, words) == [Place(turn.id, None, 0)]
    assert find(store, session, "100%") == find(store, session, " ") == []


def test_other_sessions_are_left_out(store, session) -> None:
    answered(store, make_session(store), "retry", "retry")
    assert find(store, session, "retry") == []


def test_there_is_an_end_of_places(store, session) -> None:
    make_turn(store, session, "x" * (message_places.MOST + 5))
    assert len(find(store, session, "x")) == message_places.MOST


def test_thoughts_come_before_the_answer_and_calls_where_they_happened(store, session) -> None:
    leg = answered(store, session, "ask", "Retry. Then RETRY.")
    store.write_sync(
        lambda db: [
            db.execute("update legs set thinking = 'a retry' where id = ?", (leg.id,)),
            db.execute(
                "insert into tool_calls (leg_id, call_id, name, status, position, arguments, result)"
                " values (?, 'c', 'grep', 'ok', 6, '{\"words\": \"retry\"}', 'retry: 3')",
                (leg.id,),
            ),
        ]
    )
    call = store.read_sync(lambda conn: conn.execute("select id from tool_calls").fetchone()[0])
    assert find(store, session, "retry") == [
        Place(leg.turn_id, leg.id, 0, thinking=True),
        Place(leg.turn_id, leg.id, 0),
        Place(leg.turn_id, leg.id, 0, tool=call),
        Place(leg.turn_id, leg.id, 1, tool=call),
        Place(leg.turn_id, leg.id, 1),
    ]
