"""Facts that take each other's place: by hand, merged, doubted and decided, brought back, and all of it undone."""

from __future__ import annotations

import pytest

from milk_tui.core.errors import MilkError, PerceptRefusedError
from milk_tui.core.lifecycle import EdgeKind
from milk_tui.core.records import Consumer, PerceptScope, PerceptStatus, Producer, Role
from milk_tui.store import integrity, percept_changes, percept_edges, percept_events, percept_lists, percepts

OLD, NEW = "the shop uses Postgres", "the shop moved to ScyllaDB"


@pytest.fixture
def add(store, session):
    def make(content, **more):
        return store.write_sync(
            lambda db: percepts.add(db, content=content, **{"session_id": session.id, **more}).percept
        )

    return make


@pytest.fixture
def do(store):
    """Run a function of the module; the changes and the events that it recorded."""

    def run(name, *arguments, **more):
        def write(db):
            return percept_changes.recorded(db, lambda db: getattr(percept_changes, name)(db, *arguments, **more))

        return store.write_sync(write)

    return run


def get(store, percept):
    return store.read_sync(lambda conn: percept_lists.get(conn, percept.id))


def links(store, percept):
    return store.read_sync(lambda conn: percept_edges.links(conn, percept.id))


def undo(store, events):
    return store.write_sync(lambda db: percept_changes.undo(db, events))


def hold_back(store, percept, status=PerceptStatus.QUARANTINED, **more):
    def write(db):
        values = {"status": status, **more}
        columns = ", ".join(f"{name} = :{name}" for name in values)
        db.execute(f"update percepts set {columns} where id = :id", {**values, "id": percept.id})

    store.write_sync(write)


def rows(store):
    """Everything that undoing must bring back."""
    return store.read_sync(
        lambda conn: (
            [
                tuple(row)
                for row in conn.execute(
                    "select id, content, status, weight, pinned, consumer, scope, superseded_by, valid_to_ms, tainted"
                    " from percepts order by seq"
                )
            ],
            sorted(tuple(row) for row in conn.execute("select source, target, kind from percept_edges")),
        )
    )


def test_a_successor_takes_the_place_of_a_fact_which_keeps_its_text(store, add, do):
    old, new = add(OLD), add(NEW)
    do("supersede", old.id, new.id, now=50_000_000_000_000)
    gone = get(store, old)
    assert (gone.status, gone.superseded_by, gone.content) == (PerceptStatus.SUPERSEDED, new.id, OLD)
    assert gone.valid_to_ms == new.valid_from_ms
    [link] = links(store, new)
    assert (link.kind, link.outgoing, link.other.id) == (EdgeKind.UPDATES, True, old.id)
    assert store.read_sync(integrity.problems) == []


def test_a_superseded_fact_is_given_to_nobody_and_is_found_by_the_person(store, session, add, do):
    old, new = add(OLD), add(NEW)
    do("supersede", old.id, new.id)
    given = store.read_sync(lambda conn: percept_lists.visible(conn, Role.PRIMARY, session.id))
    assert [fact.id for fact in given] == [new.id]
    assert old.id in {f.id for f in store.read_sync(lambda conn: percept_lists.browse(conn, session.id))}


def test_a_pin_passes_to_the_successor(store, add, do):
    old, new = add(OLD, pinned=True), add(NEW)
    do("supersede", old.id, new.id)
    assert (get(store, new).pinned, get(store, new).weight) == (True, 1000)


def test_a_fact_can_replace_neither_itself_nor_one_that_is_gone(store, add, do):
    old, new = add(OLD), add(NEW)
    with pytest.raises(MilkError, match="its own place"):
        do("supersede", old.id, old.id)
    do("forget", old.id)
    with pytest.raises(MilkError, match="does not hold"):
        do("supersede", old.id, new.id)
    with pytest.raises(MilkError, match="does not hold"):
        do("merge", new.id, old.id)


def test_merging_keeps_what_either_had(store, add, do):
    keep = add("retries live in the queue", consumer=Consumer.PRIMARY)
    gone = add(
        "the queue has the retries", consumer=Consumer.ESCALATION, scope=PerceptScope.GLOBAL, producer=Producer.PRIMARY
    )
    do("merge", keep.id, gone.id)
    kept, other = get(store, keep), get(store, gone)
    assert (kept.consumer, kept.scope, kept.weight) == (Consumer.ALL, PerceptScope.GLOBAL, 950)
    assert (other.status, other.superseded_by) == (PerceptStatus.SUPERSEDED, keep.id)
    kinds = [event.kind for event in store.read_sync(lambda conn: percept_events.of_percept(conn, keep.id))]
    assert kinds[-1] == "confirmed"


def test_merging_into_a_fact_of_the_same_producer_adds_no_weight(store, add, do):
    keep, gone = add("one"), add("the same as one")
    do("merge", keep.id, gone.id)
    assert get(store, keep).weight == keep.weight


def test_a_pinned_fact_that_is_merged_leaves_its_pin(store, add, do):
    keep, gone = add("one"), add("the same as one", pinned=True)
    do("merge", keep.id, gone.id)
    assert (get(store, keep).pinned, get(store, keep).weight) == (True, 1000)


def conflicts(store, session):
    return [pair.ids for pair in store.read_sync(lambda conn: percept_edges.conflicts(conn, session.id))]


def test_of_two_that_may_not_both_be_true_the_newer_is_doubted(store, session, add, do):
    old, new = add(OLD, now=1), add(NEW, producer=Producer.PRIMARY, now=2)
    do("suspect", new.id, old.id, actor=Producer.SYSTEM)
    assert (get(store, new).status, get(store, old).status) == (PerceptStatus.SUSPECT, PerceptStatus.LIVE)
    assert conflicts(store, session) == [(new.id, old.id)]
    assert do("suspect", new.id, old.id, actor=Producer.SYSTEM) == ([], ())


def test_the_person_is_not_doubted_because_of_what_an_agent_said_before(store, session, add, do):
    old, new = add(OLD, producer=Producer.PRIMARY, now=1), add(NEW, now=2)
    do("suspect", new.id, old.id, actor=Producer.SYSTEM)
    assert (get(store, new).status, get(store, old).status) == (PerceptStatus.LIVE, PerceptStatus.SUSPECT)


@pytest.mark.parametrize("replace", [True, False])
def test_a_conflict_ends_with_the_newer_in_the_place_of_the_older_or_with_both(store, session, add, do, replace):
    old, new = add(OLD, now=1), add(NEW, producer=Producer.PRIMARY, now=2)
    do("suspect", new.id, old.id, actor=Producer.SYSTEM)
    do("decide", new.id, old.id, replace=replace)
    assert get(store, new).status is PerceptStatus.LIVE
    assert get(store, old).status is (PerceptStatus.SUPERSEDED if replace else PerceptStatus.LIVE)
    assert conflicts(store, session) == []
    assert not [link for link in links(store, new) if link.kind is EdgeKind.CONTRADICTS]


def test_a_fact_that_two_speak_against_stays_doubted_until_both_are_decided(store, session, add, do):
    one, two, new = add(OLD, now=1), add("the shop uses MySQL", now=2), add(NEW, producer=Producer.PRIMARY, now=3)
    for old in (one, two):
        do("suspect", new.id, old.id, actor=Producer.SYSTEM)
    do("decide", new.id, one.id, replace=False)
    assert get(store, new).status is PerceptStatus.SUSPECT
    do("forget", two.id)
    assert get(store, new).status is PerceptStatus.LIVE


def test_what_was_held_back_is_accepted_or_rejected(store, add, do):
    good, bad = add("good"), add("bad")
    for fact in (good, bad):
        hold_back(store, fact, tainted=1)
    do("accept", good.id)
    do("reject", bad.id)
    assert (get(store, good).status, get(store, good).tainted) == (PerceptStatus.LIVE, False)
    assert get(store, bad).status is PerceptStatus.FORGOTTEN
    with pytest.raises(MilkError, match="Nothing is to be decided"):
        do("accept", good.id)


def test_what_the_person_rejected_is_not_taken_from_an_agent_again(store, session, add, do):
    bad = add("bad", producer=Producer.PRIMARY)
    hold_back(store, bad)
    do("reject", bad.id)
    with pytest.raises(PerceptRefusedError, match="you removed this fact"):
        add("bad", producer=Producer.PRIMARY)


def test_accepting_what_is_known_already_confirms_that(store, add, do):
    held = add("the same words", producer=Producer.PRIMARY)
    hold_back(store, held)
    known = add("the same words")
    do("accept", held.id)
    assert (get(store, held).status, get(store, known).status) == (PerceptStatus.FORGOTTEN, PerceptStatus.LIVE)


def test_a_superseded_fact_is_brought_back_without_its_end(store, add, do):
    old, new = add(OLD), add(NEW)
    do("supersede", old.id, new.id)
    do("restore", old.id)
    back = get(store, old)
    assert (back.status, back.superseded_by, back.valid_to_ms) == (PerceptStatus.LIVE, None, None)
    assert links(store, old) == []


def test_a_superseded_fact_stays_when_another_one_says_the_same(store, add, do):
    old, new = add(OLD), add(NEW)
    do("supersede", old.id, new.id)
    again = add(OLD)
    assert again.id != old.id
    with pytest.raises(PerceptRefusedError, match="says the same"):
        do("restore", old.id)


@pytest.mark.parametrize(
    "deed",
    [
        lambda a, b: ("supersede", a.id, b.id),
        lambda a, b: ("merge", a.id, b.id),
        lambda a, b: ("forget", a.id),
    ],
)
@pytest.mark.parametrize("doubted", [True, False])
def test_everything_can_be_taken_back(store, session, add, do, deed, doubted):
    a = add(OLD, pinned=True, now=1)
    b = add(NEW, producer=Producer.PRIMARY, consumer=Consumer.PRIMARY, scope=PerceptScope.GLOBAL, now=2)
    if doubted:
        do("suspect", b.id, a.id, actor=Producer.SYSTEM)
    before = rows(store)
    _, events = do(*deed(a, b))
    assert rows(store) != before
    undo(store, events)
    assert rows(store) == before
    assert undo(store, events) == []


@pytest.mark.parametrize("replace", [True, False])
def test_a_decision_can_be_taken_back(store, session, add, do, replace):
    old, new = add(OLD, now=1), add(NEW, producer=Producer.PRIMARY, now=2)
    do("suspect", new.id, old.id, actor=Producer.SYSTEM)
    before = rows(store)
    _, events = do("decide", new.id, old.id, replace=replace)
    undo(store, events)
    assert rows(store) == before
    assert conflicts(store, session) == [(new.id, old.id)]


def test_undoing_leaves_what_was_changed_again_since(store, add, do):
    fact = add(OLD)
    _, forgotten = do("forget", fact.id)
    do("restore", fact.id)
    store.write_sync(lambda db: percepts.set_weight(db, fact.id, 400))
    undo(store, forgotten)
    assert (get(store, fact).status, get(store, fact).weight) == (PerceptStatus.LIVE, 400)


def test_the_undo_of_a_single_fact_puts_its_edges_right_too(store, add, do):
    old, new = add(OLD), add(NEW)
    do("supersede", old.id, new.id)
    store.write_sync(lambda db: percepts.undo(db, old.id))
    assert get(store, old).status is PerceptStatus.LIVE
    assert links(store, old) == []


def test_the_successor_of_a_global_fact_is_known_in_every_session_too(store, add, do):
    old = add(OLD, scope=PerceptScope.GLOBAL, producer=Producer.PRIMARY)
    new = add(NEW, producer=Producer.PRIMARY)
    _, events = do("supersede", old.id, new.id, actor=Producer.PRIMARY)
    assert get(store, new).scope is PerceptScope.GLOBAL
    undo(store, events)
    assert (get(store, old), get(store, new).scope) == (get(store, old), PerceptScope.SESSION)
    assert get(store, old).holds


def test_the_successor_of_a_sessions_fact_stays_where_it_is(store, add, do):
    old, new = add(OLD), add(NEW)
    do("supersede", old.id, new.id)
    assert get(store, new).scope is PerceptScope.SESSION


@pytest.mark.parametrize("kept_for", [Consumer.PRIMARY, Consumer.ESCALATION])
def test_the_successor_is_given_to_nobody_from_whom_the_old_fact_was_kept(store, add, do, kept_for):
    old = add(OLD, consumer=kept_for, producer=Producer.PRIMARY)
    new = add(NEW, producer=Producer.PRIMARY)
    do("supersede", old.id, new.id, actor=Producer.PRIMARY)
    assert get(store, new).consumer is kept_for


def test_a_fact_that_was_history_from_the_first_gives_its_reach_to_nobody(store, add, do):
    older, now_holds = add(OLD, scope=PerceptScope.GLOBAL), add(NEW)
    do("supersede", older.id, now_holds.id, inherits=False)
    assert get(store, now_holds).scope is PerceptScope.SESSION


def test_an_agent_that_repeats_a_fact_does_not_hand_it_to_the_agent_it_is_kept_from(store, add, do):
    kept = add(OLD, consumer=Consumer.PRIMARY)
    again = add("Postgres is what the shop uses", producer=Producer.PRIMARY)
    do("merge", kept.id, again.id, actor=Producer.PRIMARY)
    assert get(store, kept).consumer is Consumer.PRIMARY


def test_what_the_other_agent_says_itself_it_may_have(store, add, do):
    kept = add(OLD, consumer=Consumer.PRIMARY)
    again = add("Postgres is what the shop uses", producer=Producer.ESCALATION)
    do("merge", kept.id, again.id, actor=Producer.ESCALATION)
    assert get(store, kept).consumer is Consumer.ALL


def test_what_came_from_outside_makes_nothing_wider(store, add, do):
    kept = add(OLD, consumer=Consumer.PRIMARY)
    outside = add("Postgres is what the shop uses", producer=Producer.ESCALATION, scope=PerceptScope.GLOBAL)
    hold_back(store, outside, status=PerceptStatus.LIVE, tainted=1)
    do("merge", kept.id, outside.id, actor=Producer.ESCALATION)
    assert (get(store, kept).consumer, get(store, kept).scope) == (Consumer.PRIMARY, PerceptScope.SESSION)
