from __future__ import annotations

import sqlite3

import pytest

from milk_tui.core.records import Role, Segment, Usage
from milk_tui.store import Store, migrations, receipt_lists, receipts
from tests.store.makers import end_leg, make_leg, make_turn
from tests.store.test_receipts import receipt

GIVEN = Segment(name="facts", text="• a fact", stable=False, included=True, why="recalled")
LEFT_OUT = Segment(name="frame", text="nothing of this was sent", stable=False, included=False, why="no room")


@pytest.fixture
def sent(store, session):
    """Five legs with receipts, and one that was never sent."""
    made = []
    for number in range(6):
        role = Role.ESCALATION if number == 3 else Role.PRIMARY
        leg = make_leg(store, make_turn(store, session), role)
        if number < 5:
            given = receipt(leg, GIVEN, LEFT_OUT, thread_messages=number, thread_chars=100 * number)
            store.write_sync(lambda db, given=given: receipts.save(db, given))
        end_leg(store, leg, "done")
        made.append(leg)
    return made


def read(store: Store, do, *args, **more):
    return store.read_sync(lambda conn: do(conn, *args, **more))


def test_a_session_of_any_length_is_read_in_pages(store, session, sent):
    first = read(store, receipt_lists.page, session.id, limit=3)
    assert [each.leg_id for each in first] == [leg.id for leg in reversed(sent[2:5])]
    rest = read(store, receipt_lists.page, session.id, before_leg=first[-1].leg_id, limit=3)
    assert [each.leg_id for each in rest] == [sent[1].id, sent[0].id]
    assert read(store, receipt_lists.count, session.id) == 5


def test_a_size_counts_what_was_included_and_the_thread(store, session, sent):
    newest = read(store, receipt_lists.one, sent[4].id)
    assert (newest.chars, newest.thread_chars, newest.measure.chars) == (8, 400, 408)
    assert read(store, receipt_lists.one, sent[5].id) is None


def test_what_was_not_reported_is_unknown_and_not_nothing(store, session, sent):
    reported = Usage(input_tokens=90, cached_tokens=0)
    store.write_sync(
        lambda db: db.execute(
            "update legs set input_tokens = ?, cached_tokens = ? where id = ?",
            (reported.input_tokens, reported.cached_tokens, sent[1].id),
        )
    )
    found = read(store, receipt_lists.measures, session.id)
    assert [each.leg_id for each in found] == [leg.id for leg in sent[:5]]
    assert [each.cached_share for each in found[:2]] == [None, 0.0]
    assert found[3].role is Role.ESCALATION
    assert found[1].context.number == 90 and not found[1].context.estimated
    assert found[2].context.estimated


def test_lists_and_sizes_read_no_text(store, session, sent):
    plan = read(
        store,
        lambda conn: [
            row["detail"]
            for row in conn.execute(
                "explain query plan select id, turn_id, role, sent_chars + thread_chars, tools, input_tokens,"
                " output_tokens, cached_tokens, cache_write_tokens from legs"
                " where session_id = ? and sent_ms is not null order by id",
                (session.id,),
            )
        ],
    )
    assert any("COVERING INDEX legs_sent" in line for line in plan), plan


def test_receipts_of_an_older_file_get_their_sizes(tmp_path):
    path = tmp_path / "milk.db"
    names = [step.name for step in migrations.STEPS]
    before = migrations.STEPS[: names.index("how much each leg was given")]
    conn = sqlite3.connect(path, isolation_level=None)
    migrations.migrate(conn, path, before)
    conn.executescript(
        """
        insert into sessions (id, directory, created_ms, updated_ms) values ('s', '/d', 1, 1);
        insert into turns (id, session_id, created_ms, prompt, prompt_chars, prompt_lines, status)
            values (1, 's', 1, 'p', 1, 1, 'done');
        insert into legs (id, session_id, turn_id, role, agent_name, model, mode, status, started_ms, sent_ms)
            values (1, 's', 1, 'primary', 'qwen', 'm', 'first', 'done', 1, 2),
                   (2, 's', 1, 'primary', 'qwen', 'm', 'first', 'done', 1, null);
        insert into segment_texts values ('h', '12345'), ('g', 'left out');
        insert into segments (leg_id, position, name, hash, stable, included, why) values
            (1, 0, 'facts', 'h', 0, 1, ''), (1, 1, 'frame', 'g', 0, 0, ''), (1, 2, 'notes', 'h', 0, 1, '');
        """
    )
    conn.close()
    store = Store.open(path)
    (only,) = read(store, receipt_lists.measures, "s")
    assert (only.leg_id, only.chars) == (1, 10)
    store.close()
