"""What the browser of memory reads: shelves, what replaced what, and where a fact was given last."""

from __future__ import annotations

import pytest

from milk_tui.core.records import (
    ContextMode,
    Layer,
    PerceptionEntry,
    PerceptScope,
    Producer,
    Receipt,
    Role,
    Segment,
)
from milk_tui.store import (
    percept_browse,
    percept_changes,
    percept_lists,
    percept_trace,
    perception,
    percepts,
    receipts,
)
from tests.store.makers import answered, make_session
from tests.store.test_percept_changes import hold_back

DAY_MS = 86_400_000


@pytest.fixture
def add(store, session):
    def make(content, **more):
        return store.write_sync(
            lambda db: percepts.add(db, content=content, **{"session_id": session.id, **more}).percept
        )

    return make


def shelves(store, session, now=None):
    from milk_tui.store.clock import now_ms

    return store.read_sync(lambda conn: percept_browse.shelves(conn, session.id, now=now or now_ms()))


def told(percepts_):
    return [percept.content for percept in percepts_]


def test_every_fact_is_on_the_shelf_of_its_status(store, session, add):
    add("light", producer=Producer.SYSTEM)
    add("heavy")
    add("everywhere", scope=PerceptScope.GLOBAL)
    add("always", pinned=True)
    held_back, old, gone = add("held back"), add("old"), add("gone")
    hold_back(store, held_back)
    new = add("new")
    store.write_sync(lambda db: percept_changes.supersede(db, old.id, new.id))
    store.write_sync(lambda db: percepts.forget(db, gone.id))
    found = shelves(store, session)
    assert told(found.held) == ["always", "new", "heavy", "light", "everywhere"]
    assert told(found.quarantined) == ["held back"]
    assert told(found.superseded) == ["old"]
    assert told(found.forgotten) == ["gone"]


def test_facts_of_other_sessions_are_on_no_shelf(store, session, add):
    other = make_session(store)
    theirs = store.write_sync(lambda db: percepts.add(db, content="theirs", session_id=other.id)).percept
    everybodys = add("everybody's", scope=PerceptScope.GLOBAL)
    for fact in (theirs, everybodys):
        store.write_sync(lambda db, fact=fact: percepts.forget(db, fact.id))
    mine = add("mine")
    found = shelves(store, session)
    assert (found.held, told(found.forgotten)) == ((mine,), ["everybody's"])


def test_what_can_no_longer_be_restored_is_not_shown(store, session, add):
    fact = add("gone")
    store.write_sync(lambda db: percepts.forget(db, fact.id, now=1_000))
    assert told(shelves(store, session, now=29 * DAY_MS).forgotten) == ["gone"]
    assert told(shelves(store, session, now=32 * DAY_MS).forgotten) == []


def test_only_invariants_that_wait_are_proposals(store, session):
    def entry(key, value, proposed):
        return PerceptionEntry(layer=Layer.INVARIANT, key=key, value=value, proposed=proposed)

    entries = [entry("stack", "python", False), entry("stack", "go", True), entry("style", "", True)]
    store.write_sync(lambda db: perception.append(db, session.id, entries))
    assert [(e.key, e.value) for e in shelves(store, session).proposals] == [("stack", "go")]


def test_a_fact_tells_what_replaced_it_and_what_it_replaced(store, add):
    one, two, three = add("one"), add("two"), add("three")
    store.write_sync(lambda db: percept_changes.supersede(db, one.id, two.id))
    store.write_sync(lambda db: percept_changes.merge(db, two.id, three.id))

    def successors(fact):
        found = store.read_sync(lambda conn: percept_lists.get(conn, fact.id))
        return store.read_sync(lambda conn: percept_browse.successors(conn, found))

    by, before = successors(one)
    assert (by.content, before) == ("two", ())
    by, before = successors(two)
    assert (by, told(before)) == (None, ["three", "one"])


def sent(store, leg, text, *, name="facts", included=True):
    segment = Segment(name=name, text=text, stable=False, included=included, why="")
    receipt = Receipt(
        leg_id=leg.id,
        turn_id=leg.turn_id,
        role=Role.PRIMARY,
        agent_name="qwen",
        mode=ContextMode.FIRST,
        segments=(segment,),
        sent_ms=leg.started_ms,
    )
    store.write_sync(lambda db: receipts.save(db, receipt))


def test_a_fact_was_given_last_with_the_newest_leg_whose_receipt_shows_it(store, session, add):
    fact = add("retries live in the queue", now=1)
    line = f"{fact.short_id} 2026-01-01 user: {fact.content}"
    legs = [answered(store, session, f"prompt {number}", "text") for number in range(4)]
    sent(store, legs[0], f"[Remembered facts]\n{line}\n[end]")
    sent(store, legs[1], f"[Changes]\npinned since: {line}", name="changes")
    sent(store, legs[2], f"a summary that names {fact.short_id} in passing")
    sent(store, legs[3], line, included=False)
    found = store.read_sync(lambda conn: percept_trace.last_injected(conn, fact))
    assert (found.leg_id, found.turn_id, found.part, found.agent_name) == (
        legs[1].id,
        legs[1].turn_id,
        "changes",
        "qwen",
    )
    assert store.read_sync(percept_trace.ever_injected) == {fact.short_id}


def test_a_fact_that_was_never_given_says_so(store, session, add):
    fact = add("nobody asked")
    sent(store, answered(store, session, "hello", "text"), "#000000 2026-01-01 user: another one")
    assert store.read_sync(lambda conn: percept_trace.last_injected(conn, fact)) is None
