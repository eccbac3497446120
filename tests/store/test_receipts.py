from __future__ import annotations

from milk_tui.core.records import ContextMode, Receipt, Role, Segment
from milk_tui.store import receipts
from tests.store.makers import make_leg, make_turn


def receipt(leg, *segments: Segment, **more) -> Receipt:
    return Receipt(
        **{
            "leg_id": leg.id,
            "turn_id": leg.turn_id,
            "role": leg.role,
            "agent_name": leg.agent_name,
            "mode": ContextMode.FIRST,
            "segments": segments,
            "sent_ms": 5,
            **more,
        }
    )


STABLE = Segment(name="instructions", text="be good " * 500, stable=True, included=True, why="always")


def test_a_receipt_comes_back_as_it_was(store, session):
    leg = make_leg(store, make_turn(store, session))
    empty = Segment(name="notes", text="", stable=False, included=False, why="no notes")
    shrunk = Segment(name="facts", text="• a", stable=False, included=True, why="cap", shrunk_from=99)
    sent = receipt(leg, STABLE, empty, shrunk, STABLE, thread_messages=3, thread_chars=70, thread_note="old left")
    store.write_sync(lambda db: receipts.save(db, sent))
    assert store.read_sync(lambda conn: receipts.get(conn, leg.id)) == sent


def test_a_leg_without_a_receipt_has_none(store, session):
    leg = make_leg(store, make_turn(store, session))
    assert store.read_sync(lambda conn: receipts.get(conn, leg.id)) is None


def test_saving_again_replaces(store, session):
    leg = make_leg(store, make_turn(store, session))
    store.write_sync(lambda db: receipts.save(db, receipt(leg, STABLE, STABLE)))
    second = receipt(leg, STABLE, thread_chars=1)
    store.write_sync(lambda db: receipts.save(db, second))
    assert store.read_sync(lambda conn: receipts.get(conn, leg.id)) == second


def test_the_stable_text_of_a_thousand_legs_is_kept_once(store, session):
    def save(db):
        for _ in range(30):
            receipts.save(db, receipt(leg, STABLE))

    leg = make_leg(store, make_turn(store, session))
    store.write_sync(save)
    other = make_leg(store, make_turn(store, session), Role.ESCALATION)
    store.write_sync(lambda db: receipts.save(db, receipt(other, STABLE)))
    assert store.read_sync(lambda conn: conn.execute("select count(*) from segment_texts").fetchone()[0]) == 1


def test_the_receipts_of_a_session_come_newest_first(store, session):
    made = [make_leg(store, make_turn(store, session)) for _ in range(4)]
    for leg in made[:3]:
        store.write_sync(lambda db, leg=leg: receipts.save(db, receipt(leg, STABLE)))
    listed = store.read_sync(lambda conn: receipts.of_session(conn, session.id, limit=2))
    assert [r.leg_id for r in listed] == [made[2].id, made[1].id]
