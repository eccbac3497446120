"""The life of a fact in the store: staged, live, confirmed, changed, removed, and back."""

from __future__ import annotations

import pytest

from milk_tui.core.errors import MilkError, PerceptRefusedError
from milk_tui.core.percepts import SecretRefusedError
from milk_tui.core.records import Consumer, LegStatus, PerceptScope, PerceptStatus, Producer, Role
from milk_tui.store import percept_events, percept_lists, percepts, turns
from tests.store.makers import end_leg, make_leg, make_session, make_turn

FACT = "retries live in the queue"


@pytest.fixture
def leg(store, session):
    return make_leg(store, make_turn(store, session, "why does it charge twice?"))


def stage(store, leg, content=FACT, producer=Producer.PRIMARY, **more):
    return store.write_sync(lambda db: percepts.stage(db, leg_id=leg.id, producer=producer, content=content, **more))


def live(store, leg, **more):
    return store.write_sync(lambda db: percepts.make_live(db, leg.id, **more))


def add(store, content=FACT, **more):
    return store.write_sync(lambda db: percepts.add(db, content=content, **more))


def change(store, what, percept, *arguments, **more):
    return store.write_sync(lambda db: getattr(percepts, what)(db, percept.id, *arguments, **more))


def get(store, percept):
    return store.read_sync(lambda conn: percept_lists.get(conn, percept.id))


def events(store, percept):
    return store.read_sync(lambda conn: percept_events.of_percept(conn, percept.id))


def test_a_capture_is_staged_with_its_provenance_and_weight(store, leg, session):
    staged = stage(store, leg, "  Retries   live in\nthe queue ", consumer=Consumer.PRIMARY, subject="retries", now=7)
    fact = staged.percept
    assert staged.what == "captured"
    assert fact.content == "Retries live in the queue"
    assert (fact.status, fact.weight, fact.pinned) == (PerceptStatus.STAGED, 700, False)
    assert (fact.producer, fact.agent_name, fact.consumer) == (Producer.PRIMARY, "qwen", Consumer.PRIMARY)
    assert (fact.session_id, fact.turn_id, fact.leg_id) == (session.id, leg.turn_id, leg.id)
    assert (fact.created_ms, fact.confirmed_ms, fact.valid_from_ms, fact.scope) == (
        7,
        7,
        7,
        PerceptScope.SESSION,
    )
    assert [event.kind for event in events(store, fact)] == ["captured"]


def test_a_staged_fact_is_given_to_nobody_until_its_leg_ends(store, leg, session):
    staged = stage(store, leg)
    visible = lambda: store.read_sync(lambda conn: percept_lists.visible(conn, Role.PRIMARY, session.id))  # noqa: E731
    assert visible() == []
    (change,) = live(store, leg)
    assert (change.what, change.percept.id, change.percept.status) == (
        "live",
        staged.percept.id,
        PerceptStatus.LIVE,
    )
    assert [fact.id for fact in visible()] == [staged.percept.id]
    assert live(store, leg) == []


def test_a_fact_of_an_interrupted_answer_says_so(store, leg):
    stage(store, leg)
    (change,) = live(store, leg, note="from an interrupted answer")
    assert change.percept.note == "from an interrupted answer"


def test_a_fact_said_twice_in_one_answer_is_one(store, leg):
    first, second = stage(store, leg), stage(store, leg, FACT + " ")
    assert (second.what, second.percept.id) == ("repeated", first.percept.id)
    assert len(live(store, leg)) == 1


def test_an_abandoned_answer_takes_its_facts_along(store, leg):
    first, second = stage(store, leg, "one fact"), stage(store, leg, "another fact")
    dropped = store.write_sync(lambda db: percepts.drop_staged(db, leg.id, [second.percept.id]))
    assert [(c.what, c.percept.id) for c in dropped] == [("removed", second.percept.id)]
    assert get(store, second.percept) is None
    (left,) = store.write_sync(lambda db: percepts.drop_staged(db, leg.id))
    assert left.percept.id == first.percept.id
    assert live(store, leg) == []


def test_a_live_fact_is_not_dropped_with_an_answer(store, leg):
    stage(store, leg)
    live(store, leg)
    assert store.write_sync(lambda db: percepts.drop_staged(db, leg.id)) == []


def test_a_repeated_fact_confirms_the_known_one_and_is_not_stored_again(store, leg):
    known = add(store, session_id=leg.session_id, now=1).percept
    repeated = stage(store, leg, now=5)
    assert (repeated.what, repeated.percept.id) == ("repeated", known.id)
    removed, confirmed = live(store, leg, now=9)
    assert (removed.what, confirmed.what, confirmed.percept.id) == ("removed", "confirmed", known.id)
    assert confirmed.percept.confirmed_ms == 9
    assert store.read_sync(lambda conn: conn.execute("select count(*) from percepts").fetchone()[0]) == 1
    assert [(e.kind, e.actor) for e in events(store, known)] == [("added", "user"), ("confirmed", "primary")]


@pytest.mark.parametrize(
    "other", ["Retries live in the queue", "retries do not live in the queue", "retries live in the DB"]
)
def test_only_the_same_text_is_a_duplicate(store, session, other):
    first = add(store, session_id=session.id)
    second = add(store, other, session_id=session.id)
    assert second.what == "live"
    assert second.percept.id != first.percept.id


def test_a_fact_of_another_session_is_no_duplicate_and_a_global_one_is(store, session):
    other = make_session(store, "/elsewhere")
    assert add(store, session_id=other.id).what == "live"
    assert add(store, session_id=session.id).what == "live"
    shared = add(store, "known to all").percept
    again = add(store, "known to all", session_id=session.id)
    assert (again.what, again.percept.id) == ("confirmed", shared.id)


def test_the_persons_confirmation_adds_weight_once(store, leg):
    stage(store, leg)
    (change,) = live(store, leg)
    fact = change.percept
    assert add(store, session_id=leg.session_id).percept.weight == 750
    assert add(store, session_id=leg.session_id).percept.weight == 750
    assert get(store, fact).producer is Producer.PRIMARY


def test_a_producer_that_repeats_itself_adds_nothing(store, session):
    add(store, session_id=session.id)
    assert add(store, session_id=session.id).percept.weight == 900


def test_independent_confirmations_add_weight_at_most_once_a_turn(store, leg, session):
    fact = add(store, producer=Producer.HELPER, session_id=session.id).percept

    def confirm(producer, turn_id):
        return store.write_sync(
            lambda db: (
                percepts.confirm(db, get_in(db, fact), producer=producer, turn_id=turn_id, independent=True).weight
            )
        )

    def get_in(db, fact):
        return percept_lists.get(db.conn, fact.id)

    assert confirm(Producer.PRIMARY, 1) == 650
    assert confirm(Producer.ESCALATION, 1) == 650
    assert confirm(Producer.USER, 2) == 700
    assert confirm(Producer.USER, 3) == 700


def test_an_agents_echo_adds_no_weight(store, leg):
    fact = add(store, session_id=leg.session_id).percept
    stage(store, leg)
    live(store, leg)
    assert get(store, fact).weight == 900


@pytest.mark.parametrize(
    ("kept_for", "said_by", "said_for", "becomes"),
    [
        (Consumer.PRIMARY, Producer.USER, Consumer.ALL, Consumer.ALL),
        (Consumer.PRIMARY, Producer.USER, Consumer.ESCALATION, Consumer.ALL),
        (Consumer.PRIMARY, Producer.ESCALATION, Consumer.ALL, Consumer.ALL),
        (Consumer.PRIMARY, Producer.PRIMARY, Consumer.ALL, Consumer.PRIMARY),
        (Consumer.ALL, Producer.USER, Consumer.PRIMARY, Consumer.ALL),
    ],
)
def test_who_may_have_a_fact_widens_only_by_who_may_widen_it(store, session, kept_for, said_by, said_for, becomes):
    fact = add(store, consumer=kept_for, session_id=session.id).percept
    after = store.write_sync(lambda db: percepts.confirm(db, fact, producer=said_by, consumer=said_for))
    assert after.consumer is becomes


@pytest.mark.parametrize("text", ["", " \n\t ", "\u200b", "<milk:percept:aaaaaa>x</milk:percept:aaaaaa>", "x" * 2001])
def test_what_is_no_fact_is_refused_and_nothing_is_stored(store, leg, text):
    with pytest.raises(PerceptRefusedError):
        stage(store, leg, text)
    assert store.read_sync(lambda conn: percept_lists.of_leg(conn, leg.id)) == []


@pytest.mark.parametrize("nonce", ["abc123", "xyz789"])
def test_a_live_nonce_of_either_agent_is_refused(store, leg, session, nonce):
    with pytest.raises(PerceptRefusedError) as refused:
        stage(store, leg, f"the mark is {nonce}")
    assert nonce not in str(refused.value)
    with pytest.raises(PerceptRefusedError):
        add(store, f"the mark is {nonce}", session_id=session.id)


def test_a_secret_is_refused_and_only_the_person_overrides_that(store, leg, session):
    secret = "the deploy key is ghp_" + "a1B2" * 10
    for refused in (
        lambda: stage(store, leg, secret),
        lambda: add(store, secret, session_id=session.id),
        lambda: add(store, secret, producer=Producer.HELPER, allow_secret=True),
    ):
        with pytest.raises(SecretRefusedError) as error:
            refused()
        assert "ghp_" not in str(error.value)
    assert add(store, secret, session_id=session.id, allow_secret=True).what == "live"


def test_a_fact_that_comes_after_the_end_of_its_answer_is_refused(store, leg):
    end_leg(store, leg, "x")
    with pytest.raises(PerceptRefusedError, match="has ended"):
        stage(store, leg)


def test_the_ninth_fact_of_a_turn_is_refused(store, leg):
    for n in range(8):
        stage(store, leg, f"fact number {n}")
    with pytest.raises(PerceptRefusedError, match="8 facts"):
        stage(store, leg, "one too many")
    assert add(store, "the person's own", session_id=leg.session_id, turn_id=leg.turn_id).what == "live"


def test_both_legs_of_a_turn_share_the_limit(store, leg):
    for n in range(8):
        stage(store, leg, f"fact number {n}")
    end_leg(store, leg, "x")
    second = make_leg(store, store.read_sync(lambda conn: turns.get(conn, leg.turn_id)), Role.ESCALATION)
    with pytest.raises(PerceptRefusedError):
        stage(store, second, "one too many", Producer.ESCALATION)


def test_a_pinned_fact_weighs_1000_and_unpinned_what_it_did(store, session):
    fact = add(store, session_id=session.id).percept
    change(store, "set_weight", fact, 850)
    pinned = change(store, "pin", fact, True)
    assert (pinned.what, pinned.percept.pinned, pinned.percept.weight) == ("pinned", True, 1000)
    unpinned = change(store, "pin", fact, False)
    assert (unpinned.what, unpinned.percept.pinned, unpinned.percept.weight) == ("unpinned", False, 850)


def test_a_fact_can_be_pinned_at_birth_and_a_known_one_by_saying_it_again(store, session):
    fact = add(store, pinned=True, session_id=session.id).percept
    assert (fact.pinned, fact.weight) == (True, 1000)
    assert change(store, "pin", fact, False).percept.weight == 900
    again = add(store, pinned=True, session_id=session.id)
    assert (again.what, again.percept.id, again.percept.pinned) == ("pinned", fact.id, True)


def test_a_forgotten_fact_is_found_by_no_one_and_comes_back_as_it_was(store, session):
    fact = add(store, pinned=True, session_id=session.id).percept
    gone = change(store, "forget", fact, now=9)
    assert (gone.what, gone.percept.status, gone.percept.valid_to_ms) == (
        "forgotten",
        PerceptStatus.FORGOTTEN,
        9,
    )
    assert store.read_sync(lambda conn: percept_lists.visible(conn, Role.PRIMARY, session.id)) == []
    assert store.read_sync(lambda conn: percept_lists.matching(conn, '"queue"', session.id)) == []
    assert [f.id for f in store.read_sync(lambda conn: percept_lists.forgotten(conn, session.id))] == [fact.id]
    back = change(store, "restore", fact)
    assert (back.what, back.percept.status, back.percept.pinned) == ("restored", PerceptStatus.LIVE, True)
    assert back.percept.valid_to_ms is None
    assert len(store.read_sync(lambda conn: percept_lists.matching(conn, '"queue"', session.id))) == 1


def test_what_the_person_removed_does_not_come_back_because_an_agent_says_it(store, leg):
    fact = add(store, session_id=leg.session_id).percept
    change(store, "forget", fact)
    with pytest.raises(PerceptRefusedError, match="you removed this fact"):
        stage(store, leg)
    again = add(store, session_id=leg.session_id)
    assert (again.what, again.percept.id, again.percept.status) == ("restored", fact.id, PerceptStatus.LIVE)


def test_what_was_pruned_may_be_learned_again(store, leg):
    fact = add(store, session_id=leg.session_id).percept
    change(store, "forget", fact, actor=Producer.SYSTEM)
    assert stage(store, leg).what == "captured"


def test_a_staged_fact_that_is_removed_stays_removed_when_its_leg_ends(store, leg):
    fact = stage(store, leg).percept
    change(store, "forget", fact)
    assert live(store, leg) == []
    assert get(store, fact).status is PerceptStatus.FORGOTTEN


def test_a_staged_fact_comes_back_staged_while_its_leg_runs_and_live_after(store, leg):
    fact = stage(store, leg).percept
    change(store, "forget", fact)
    assert change(store, "restore", fact).percept.status is PerceptStatus.STAGED
    change(store, "forget", fact)
    end_leg(store, leg, "x", LegStatus.DONE)
    assert change(store, "restore", fact).percept.status is PerceptStatus.LIVE


def test_restoring_what_is_known_by_another_id_confirms_that(store, session):
    fact = add(store, session_id=session.id).percept
    change(store, "forget", fact, actor=Producer.SYSTEM)
    other = add(store, producer=Producer.HELPER, session_id=session.id).percept
    back = change(store, "restore", fact)
    assert (back.what, back.percept.id) == ("confirmed", other.id)
    assert get(store, fact).status is PerceptStatus.FORGOTTEN


def test_an_edit_makes_it_the_persons_own(store, leg):
    stage(store, leg, tainted=True)
    fact = live(store, leg)[0].percept
    edited = change(store, "edit", fact, "retries live in the  worker")
    after = edited.percept
    assert (edited.what, after.id, after.content) == ("edited", fact.id, "retries live in the worker")
    assert (after.producer, after.weight, after.tainted, after.leg_id) == (Producer.USER, 900, False, leg.id)
    assert add(store, "retries live in the worker", session_id=leg.session_id).what == "confirmed"
    with pytest.raises(PerceptRefusedError):
        change(store, "edit", fact, "password=hunter22")
    other = add(store, "another", session_id=leg.session_id).percept
    with pytest.raises(PerceptRefusedError, match="says the same"):
        change(store, "edit", other, "retries live in the worker")


def test_weight_stays_within_its_bounds(store):
    fact = add(store).percept
    assert change(store, "set_weight", fact, 5000).percept.weight == 1000
    assert change(store, "set_weight", fact, -3).percept.weight == 0


def test_who_is_given_a_fact_and_where_can_be_changed(store, session):
    fact = add(store, session_id=session.id).percept
    after = change(store, "share", fact, consumer=Consumer.ESCALATION, scope=PerceptScope.GLOBAL).percept
    assert (after.consumer, after.scope) == (Consumer.ESCALATION, PerceptScope.GLOBAL)
    assert change(store, "share", fact, scope=PerceptScope.SESSION).percept.scope is PerceptScope.SESSION
    with pytest.raises(MilkError, match="outside of any session"):
        change(store, "share", add(store, "global").percept, scope=PerceptScope.SESSION)


def test_every_change_can_be_undone_in_turn(store, session):
    fact = add(store, session_id=session.id, now=1).percept
    change(store, "set_weight", fact, 300)
    change(store, "edit", fact, "something else")
    change(store, "share", fact, consumer=Consumer.PRIMARY)
    change(store, "pin", fact, True)
    change(store, "forget", fact)
    undone = [change(store, "undo", fact) for _ in range(5)]
    assert [c.what for c in undone] == ["restored", "undone", "undone", "undone", "undone"]
    after = get(store, fact)
    assert (after.content, after.weight, after.consumer, after.pinned) == (FACT, 900, Consumer.ALL, False)
    assert (after.status, after.producer, after.valid_to_ms) == (PerceptStatus.LIVE, Producer.USER, None)
    assert change(store, "undo", fact) is None, "that it was learned can't be undone, only forgotten"


def test_the_history_says_why_a_fact_has_its_weight(store, session):
    fact = add(store, session_id=session.id).percept
    change(store, "set_weight", fact, 300)
    change(store, "undo", fact)
    told = [(e.kind, e.weight_before, e.weight_after, e.undone, e.note) for e in events(store, fact)]
    assert told == [
        ("added", None, 900, False, ""),
        ("weighed", 900, 300, True, ""),
        ("undone", 300, 900, False, "weighed"),
    ]


def test_a_fact_is_named_by_the_beginning_of_its_id(store):
    fact = add(store).percept
    find = lambda name: store.read_sync(lambda conn: percept_lists.get(conn, name))  # noqa: E731
    assert find(fact.id) == find(fact.short_id) == find(fact.short_id[1:].upper()) == find(f" {fact.id[:4]} ") == fact
    for name in ("", "#", "abc", "zzzzzz", "%", "#" + "0" * 40):
        assert find(name) is None
    with pytest.raises(MilkError, match="no fact #zzz"):
        store.write_sync(lambda db: percepts.forget(db, "#zzz"))


def test_a_beginning_of_two_ids_is_refused_and_a_whole_id_is_not(store):
    one, two = add(store, "one").percept, add(store, "two").percept

    def rename(db):
        db.execute("update percepts set id = 'abcd1234' where id = ?", (one.id,))
        db.execute("update percepts set id = 'abcd12345' where id = ?", (two.id,))

    store.write_sync(lambda db: db.execute("delete from percept_events"))
    store.write_sync(rename)
    with pytest.raises(MilkError, match="several"):
        store.read_sync(lambda conn: percept_lists.get(conn, "#abcd"))
    assert store.read_sync(lambda conn: percept_lists.get(conn, "abcd1234")).content == "one"


def test_short_ids_are_not_taken_twice(store, monkeypatch):
    fact = add(store).percept
    ids = iter([fact.id[:6] + "0f-0000", "0123456789"])
    monkeypatch.setattr("milk_tui.store.ids.new_id", lambda: next(ids))
    assert add(store, "other").percept.id == "0123456789"


def test_the_sidebar_groups_pinned_session_and_shared_best_first(store, session, leg):
    other = make_session(store, "/elsewhere")
    pinned = add(store, "pinned", pinned=True, session_id=session.id).percept
    heavy = add(store, "heavy", session_id=session.id).percept
    staged = stage(store, leg).percept
    shared = [add(store, f"shared {n}").percept for n in range(3)]
    add(store, "not seen", session_id=other.id)
    change(store, "forget", add(store, "gone", session_id=session.id).percept)
    groups = store.read_sync(lambda conn: percept_lists.groups(conn, session.id, limit=2))
    assert [f.id for f in groups.pinned] == [pinned.id]
    assert [f.id for f in groups.session] == [heavy.id, staged.id]
    assert [f.id for f in groups.shared] == [shared[2].id, shared[1].id]
    assert (groups.pinned_total, groups.session_total, groups.shared_total) == (1, 2, 3)


def test_one_view_decides_what_an_agent_may_see(store, session):
    other = make_session(store, "/elsewhere")
    add(store, "for all", session_id=session.id)
    add(store, "for primary", consumer=Consumer.PRIMARY, session_id=session.id)
    add(store, "for escalation", consumer=Consumer.ESCALATION)
    add(store, "of another session", session_id=other.id)
    add(store, "global")

    def seen(role):
        found = store.read_sync(lambda conn: percept_lists.visible(conn, role, session.id))
        assert store.read_sync(lambda conn: percept_lists.count_visible(conn, role, session.id)) == len(found)
        return {fact.content for fact in found}

    assert seen(Role.PRIMARY) == {"for all", "for primary", "global"}
    assert seen(Role.ESCALATION) == {"for all", "for escalation", "global"}


@pytest.mark.parametrize("status", ["staged", "quarantined", "superseded", "forgotten"])
def test_what_does_not_hold_is_given_to_nobody(store, session, status):
    fact = add(store, session_id=session.id).percept
    store.write_sync(lambda db: db.execute("update percepts set status = ? where id = ?", (status, fact.id)))
    assert store.read_sync(lambda conn: percept_lists.visible(conn, Role.PRIMARY, session.id)) == []


def test_the_words_of_the_moment_are_indexed_with_the_fact(store, leg, session):
    second = make_leg(store, make_turn(store, session, "and what about refunds?"))
    fact = stage(store, second, "compensation runs nightly").percept
    for word in ("compensation", "refund", "charges"):
        found = store.read_sync(lambda conn, word=word: percept_lists.matching(conn, f'"{word}"', session.id))
        assert len(found) == 1, word
    assert fact.content == "compensation runs nightly"
