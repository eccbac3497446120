from __future__ import annotations

from msgspec.structs import replace

from milk_tui.core.records import Brick, BrickKind, Layer, NeedStatus, PerceptionEntry
from milk_tui.store import bricks, perception
from tests.store.makers import make_session

NEED = Brick(
    kind=BrickKind.NEED,
    text="fix it",
    version=1,
    turn_id=3,
    updated_ms=5,
    author="user",
    status=NeedStatus.OPEN,
)
SUMMARY = Brick(
    kind=BrickKind.PRIMARY_SUMMARY,
    text="s" * 9000,
    version=1,
    turn_id=3,
    updated_ms=5,
    collapsed=1,
    cut=2,
    dropped=3,
)


def save(store, session, *versions):
    store.write_sync(lambda db: [bricks.save(db, session.id, brick) for brick in versions])


def test_every_version_is_kept_and_the_newest_is_current(store, session):
    second = replace(NEED, version=2, text="ship it", turn_id=4)
    save(store, session, NEED, second, SUMMARY)
    assert store.read_sync(lambda conn: bricks.current(conn, session.id)) == {
        BrickKind.NEED: second,
        BrickKind.PRIMARY_SUMMARY: SUMMARY,
    }
    assert store.read_sync(lambda conn: bricks.history(conn, session.id, BrickKind.NEED)) == [second, NEED]
    assert store.read_sync(lambda conn: bricks.newest(conn, session.id, BrickKind.BRIEF)) is None


def test_a_kept_version_changes_only_in_status_and_delivery(store, session):
    save(store, session, NEED)
    save(store, session, replace(NEED, status=NeedStatus.REPLACED, delivered_leg=7, text="forged", turn_id=99))
    kept = store.read_sync(lambda conn: bricks.newest(conn, session.id, BrickKind.NEED))
    assert kept == replace(NEED, status=NeedStatus.REPLACED, delivered_leg=7)


def test_bricks_belong_to_their_session(store, session):
    save(store, session, NEED)
    other = make_session(store)
    assert store.read_sync(lambda conn: bricks.current(conn, other.id)) == {}


def entry(layer, key, value, **more):
    return PerceptionEntry(layer=layer, key=key, value=value, **{"updated_ms": 1, **more})


def append(store, session, *entries, **more):
    store.write_sync(lambda db: perception.append(db, session.id, entries, **more))


def current(store, session, layer=None, **more):
    found = store.read_sync(lambda conn: perception.current(conn, session.id, layer, **more))
    return [(e.key, e.value) for e in found]


def test_the_newest_version_of_an_entry_counts_and_an_empty_value_removes_it(store, session):
    append(store, session, entry(Layer.WORKING, "file", "a.py"), entry(Layer.WORKING, "next", "read"))
    append(store, session, entry(Layer.WORKING, "file", "b.py"))
    assert current(store, session, Layer.WORKING) == [("file", "b.py"), ("next", "read")]
    append(store, session, entry(Layer.WORKING, "next", ""))
    assert current(store, session) == [("file", "b.py")]
    append(store, session, entry(Layer.WORKING, "next", "write"))
    assert current(store, session) == [("file", "b.py"), ("next", "write")]


def test_every_version_of_an_entry_is_kept(store, session):
    full = entry(Layer.FRAME, "story", "double charge", reason="r", writer="qwen", turn_id=4)
    append(store, session, full, entry(Layer.FRAME, "story", "", updated_ms=0), now=9)
    history = store.read_sync(lambda conn: perception.history(conn, session.id, Layer.FRAME, "story"))
    assert [(e.value, e.updated_ms) for e in history] == [("", 9), ("double charge", 1)]
    assert history[1] == full


def test_invariants_belong_to_the_directory_frames_to_its_slice_and_working_entries_to_the_session(store):
    one, two, far = make_session(store, "/a"), make_session(store, "/a"), make_session(store, "/b")
    append(
        store,
        one,
        entry(Layer.INVARIANT, "stack", "python"),
        entry(Layer.FRAME, "story", "retries"),
        entry(Layer.WORKING, "file", "a.py"),
        slice_name="billing",
    )
    assert current(store, two, slice_name="billing") == [("stack", "python"), ("story", "retries")]
    assert current(store, two, slice_name="other") == [("stack", "python")]
    assert current(store, far, slice_name="billing") == []


def test_a_proposed_invariant_stands_beside_the_accepted_one(store, session):
    append(store, session, entry(Layer.INVARIANT, "stack", "python"))
    append(store, session, entry(Layer.INVARIANT, "stack", "rust", proposed=True))
    assert current(store, session, Layer.INVARIANT) == [("stack", "python"), ("stack", "rust")]
