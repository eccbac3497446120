"""Which facts an agent is given for a prompt."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from milk_tui import recall
from milk_tui.core import percepts as rules
from milk_tui.core.records import Consumer, PerceptScope, Role
from milk_tui.recall import lexical
from milk_tui.store import percepts
from tests.store.makers import make_session


def test_the_fact_that_shares_words_with_the_prompt_comes_first(memory):
    memory.learn("the banner is green", "checkout retries in the queue", "checkout is slow on Fridays")
    assert memory.texts("why is checkout retried?")[0] == "checkout retries in the queue"


def test_the_rarer_word_decides(memory):
    memory.learn(*(f"service number {n} runs nightly" for n in range(20)), "the importer runs hourly")
    assert memory.texts("when does the importer run?")[0] == "the importer runs hourly"


def test_an_empty_prompt_gives_most_weight_then_newest(memory):
    one, two = memory.learn("one", now=1) + memory.learn("two", now=2)
    (three,) = memory.learn("three", now=0)
    memory.store.write_sync(lambda db: percepts.set_weight(db, three.id, 950))
    for prompt in ("", "  \n"):
        assert [f.id for f in memory.given(prompt)] == [three.id, two.id, one.id]


def test_a_fact_that_shares_nothing_is_not_given(memory):
    memory.learn("the banner is green")
    assert memory.given("unrelated words") == []
    assert memory.given("and then?") == [], "no word that says anything is not an empty prompt"


def test_among_few_facts_whatever_overlaps_is_given(memory):
    memory.learn("deploys are on Friday", "the banner is green")
    prompt = "please look at the long list of things that went wrong after the deploys"
    assert memory.texts(prompt) == ["deploys are on Friday"]


def test_among_many_facts_a_prompt_about_something_else_is_given_nothing(memory):
    memory.fill()
    memory.learn("deploys are on Friday", "the port of the database is 5432")
    assert memory.given("translate this poem about a Friday evening into Italian verse") == []
    assert memory.texts("when are deploys?") == ["deploys are on Friday"]


def test_weak_evidence_is_good_for_few_facts(memory):
    memory.fill()
    memory.learn(*(f"queue {n} is drained by worker {n}" for n in range(12)))
    weak = memory.given("queue letters")
    assert 0 < len(weak) <= 5
    assert len(memory.given("which queue is drained by which worker")) == 12


@pytest.mark.parametrize("role", Role)
def test_an_agent_is_given_its_own_facts_and_those_for_all(memory, role):
    other = make_session(memory.store, "/elsewhere")
    memory.learn("queue for primary", consumer=Consumer.PRIMARY)
    memory.learn("queue for escalation", consumer=Consumer.ESCALATION)
    memory.learn("queue for all")
    memory.learn("queue global", session=None)
    memory.learn("queue of another session", session=other)
    assert set(memory.texts("queue", role)) == {f"queue for {role}", "queue for all", "queue global"}


def test_other_sessions_facts_do_not_crowd_out_this_ones(memory, monkeypatch):
    monkeypatch.setattr(lexical, "_FIRST", 4)
    monkeypatch.setattr(lexical, "_AT_ONCE", 2)
    other = make_session(memory.store, "/elsewhere")
    memory.learn(*(f"queue queue {n}" for n in range(40)), session=other)
    memory.learn("the queue retries, among many other words that make the match a weak one")
    assert "the queue retries" in memory.texts("queue")[0]


def test_the_budgets_hold_and_what_does_not_fit_is_skipped(memory):
    memory.learn(*(f"fact {n} " + "é" * 60 for n in range(60)))
    given = memory.given("fact")
    assert 10 < len(given) <= 25
    assert sum(len(rules.line(f).encode()) + 1 for f in given) <= 2048
    assert len(memory.given("fact", max_items=3)) == 3
    assert memory.given("fact", max_bytes=10) == []
    memory.learn("queue " + "x" * 500, "queue short")
    assert memory.texts("queue", max_bytes=100) == ["queue short"]


def test_pinned_facts_have_their_own_budget_and_are_left_out_of_the_rest(memory):
    memory.learn("queue pinned", pinned=True)
    memory.learn("queue pinned for escalation", pinned=True, consumer=Consumer.ESCALATION)
    memory.learn("queue plain")
    assert memory.texts("queue") == ["queue plain"]
    assert len(memory.given("queue", exclude_pinned=False)) == 2

    def pinned():
        return memory.store.read_sync(lambda conn: recall.pinned_for(conn, Role.PRIMARY, memory.session.id))

    assert [f.content for f in pinned()] == ["queue pinned"]
    memory.learn(*(f"{n} " + "x" * 90 for n in range(30)), pinned=True)
    assert 5 < len(pinned()) < 15
    assert sum(len(rules.line(f).encode()) + 1 for f in pinned()) <= 1024


def test_a_forgotten_fact_is_not_given_and_a_restored_one_is(memory):
    red, _ = memory.learn("red queue", "blue queue")
    memory.store.write_sync(lambda db: percepts.forget(db, red.id))
    assert memory.texts("red queue") == ["blue queue"]
    memory.store.write_sync(lambda db: percepts.restore(db, red.id))
    assert memory.texts("red queue")[0] == "red queue"


@pytest.mark.parametrize("status", ["staged", "quarantined"])
def test_what_does_not_count_yet_is_not_given(memory, status):
    memory.learn("queue one")
    memory.sql("update percepts set status = ?", status)
    assert memory.given("queue one") == []
    assert memory.given("") == []


def test_what_the_agent_was_told_makes_room_for_what_is_new(memory):
    first, *_ = memory.learn("queue one", "queue two", "queue three")
    told = {fact.id for fact in memory.given("queue", max_items=2)}
    assert len(told) == 2
    rest = memory.given("queue", max_items=2, told=told)
    assert len(rest) == 1 and rest[0].id not in told
    assert first.id in {fact.id for fact in memory.given("queue", told=["no such id"])}


def test_weight_breaks_a_tie_and_decides_nothing_else(memory):
    light, heavy = memory.learn("alpha queue", "beta queue", now=1)
    memory.store.write_sync(lambda db: percepts.set_weight(db, light.id, 100))
    memory.store.write_sync(lambda db: percepts.set_weight(db, heavy.id, 1000))
    assert memory.texts("queue")[0] == "beta queue"
    assert memory.texts("the alpha queue")[0] == "alpha queue"


def test_of_facts_that_say_nearly_the_same_one_is_given(memory):
    memory.learn(
        "The deploy job of the shop runs every Friday at noon.", "the deploy job of the shop runs every friday at noon"
    )
    assert len(memory.given("when does the deploy job run?")) == 1


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The database of the shop listens on port 5432.", "The database of the shop listens on port 5433."),
        ("Use tabs in the files of the shop.", "Do not use tabs in the files of the shop."),
        ("The report is written to out/a.json at night.", "The report is written to out/b.json at night."),
    ],
)
def test_facts_that_differ_in_a_value_or_in_sign_are_no_copies(memory, one, other):
    memory.learn(one, other)
    assert set(memory.texts(one)) == {one, other}


def test_other_scripts_are_found(memory):
    memory.learn(
        "the banner is green",
        "数据库使用端口五四三二",
        "قاعدة البيانات في الخادم",
        "ฐานข้อมูลอยู่บนเซิร์ฟเวอร์",
        "サーバーは東京にあります",
    )
    assert memory.texts("数据库在哪里?") == ["数据库使用端口五四三二"]
    assert memory.texts("端口是多少") == ["数据库使用端口五四三二"], "two letters make a word"
    assert memory.texts("أين البيانات") == ["قاعدة البيانات في الخادم"]
    assert memory.texts("ฐานข้อมูลอยู่ที่ไหน") == ["ฐานข้อมูลอยู่บนเซิร์ฟเวอร์"]
    assert memory.texts("東京のサーバー") == ["サーバーは東京にあります"]


@pytest.mark.parametrize(
    ("fact", "prompt"),
    [
        ("see payments/handler.py", "what is in handler.py?"),
        ("getUserById is slow", "profile userById please"),
        ("error E17 means that the counter ran backwards", "what does E17 mean"),
        ("LARKSPUR_READONLY switches writes off", "set LARKSPUR_READONLY"),
        ("we stay on Python 3.11", "can I use Python 3.11?"),
    ],
)
def test_identifiers_are_found_also_by_their_parts(memory, fact, prompt):
    memory.fill(40)
    memory.learn(fact)
    assert memory.texts(prompt)[0] == fact


def test_the_words_of_the_moment_find_a_fact(memory):
    from tests.store.makers import make_turn

    turn = make_turn(memory.store, memory.session, "why does the carousel flicker on old tablets?")
    memory.learn("the banner is green", session=None)
    memory.learn("CSS containment is switched off there", turn_id=turn.id)
    assert memory.texts("the carousel flickers again") == ["CSS containment is switched off there"]


def test_a_superseded_fact_is_found_as_what_replaced_it(memory):
    old, new = memory.learn("We use Postgres for the orders.", "The order store was moved to ScyllaDB.")
    memory.supersede(old, new)
    (fact,) = memory.given("is Postgres used for orders?")
    assert fact.id == new.id
    assert fact.aside == "was “We use Postgres for the orders.” until 2023-11-14"
    assert "(was “We use Postgres for the orders.” until 2023-11-14)" in rules.line(fact)


def test_a_question_about_the_past_is_given_what_was_and_what_is(memory):
    old, new = memory.learn("We use Postgres for the orders.", "The order store was moved to ScyllaDB.")
    memory.supersede(old, new)
    given = memory.given("what did we use for the orders before?")
    assert [f.id for f in given] == [old.id, new.id]
    assert given[0].aside == f"held until 2023-11-14, now {new.short_id}"


def test_the_last_of_a_chain_stands_for_all_before_it(memory):
    facts = memory.learn("the limit was five apples", "ten apples", "twenty pears")
    memory.supersede(facts[0], facts[1])
    memory.supersede(facts[1], facts[2])
    assert [f.id for f in memory.given("the limit of five")] == [facts[2].id]


def test_a_ring_of_superseded_facts_gives_nothing_and_ends(memory):
    one, two = memory.learn("the limit is five", "the limit is ten")
    memory.supersede(one, two)
    memory.supersede(two, one)
    assert memory.given("the limit") == []


@pytest.mark.parametrize("how", ["forgotten", "for the other agent", "in another session", "gone"])
def test_a_superseded_fact_whose_successor_may_not_be_given_is_not_given_either(memory, how):
    other = make_session(memory.store, "/elsewhere")
    (old,) = memory.learn("We use Postgres for the orders.", session=None)
    (new,) = memory.learn(
        "The order store was moved to ScyllaDB.", session=other if how == "in another session" else ...
    )
    memory.supersede(old, new)
    if how == "forgotten":
        memory.store.write_sync(lambda db: percepts.forget(db, new.id))
    if how == "for the other agent":
        memory.store.write_sync(lambda db: percepts.share(db, new.id, consumer=Consumer.ESCALATION))
    if how == "gone":
        memory.sql("delete from percepts where id = ?", new.id)
    assert memory.given("is Postgres used for orders?") == []


def test_a_conflict_is_given_as_a_pair(memory):
    one, two = memory.learn("The API speaks JSON.", "All bodies are protocol buffers.")
    memory.learn(*(f"The API of partner {n} is old." for n in range(3)))
    memory.sql("update percepts set status = 'suspect' where id in (?, ?)", one.id, two.id)
    memory.sql(
        "insert into percept_edges (source, target, kind, created_ms) values (?, ?, 'contradicts', 1)", two.id, one.id
    )
    given = memory.given("does the API speak JSON?")
    assert [f.id for f in given[:2]] == [one.id, two.id]
    assert given[0].aside.startswith(f"{two.short_id} of ") and given[0].aside.endswith(" contradicts it")
    assert given[1].aside.startswith(f"{one.short_id} of ")


def test_a_global_fact_is_given_in_every_session(memory):
    other = make_session(memory.store, "/elsewhere")
    memory.learn("queue global", session=None)
    memory.learn("queue shared", scope=PerceptScope.GLOBAL)
    assert {f.content for f in memory.given("queue", session=other)} == {"queue global", "queue shared"}


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(text=st.text(st.characters(), max_size=60) | st.text('"*():^-+{}\\%_ANDORNET#\x00', max_size=40))
def test_no_text_makes_recall_fail(memory, text):
    if not memory.store.read_sync(lambda conn: conn.execute("select 1 from percepts").fetchone()):
        memory.learn(*(f"fact {n}" for n in range(6)), "数据库 NEAR queue* AND x_y")
    assert len(memory.given(text)) <= 25
    assert memory.why(text).given == tuple(memory.given(text))
    memory.found(text)


@pytest.mark.parametrize(
    "prompt",
    [
        "\ud800 queue",
        "queue " * 100_000,
        "\x00queue",
        "💥" * 10_000 + " queue",
        "queue" + " " * 500_000,
        "a1" * 100_000 + " queue",
    ],
    ids=["surrogate", "huge", "nul", "emoji", "blank", "one word"],
)
def test_hostile_prompts_are_only_words(memory, prompt):
    memory.learn("queue one", *(f"note {n}" for n in range(5)))
    assert memory.texts(prompt) == ["queue one"]


def test_a_pasted_log_does_not_hide_the_question(memory):
    memory.fill(60)
    memory.learn("the importer fails on empty dates")
    log = "\n".join(f"2026-01-02 host{n} worker[{n}]: xq{n}zz trace {n * 7919:x}" for n in range(3_000))
    assert memory.texts(f"why does the importer fail?\n{log}")[0] == "the importer fails on empty dates"
    assert memory.texts(f"{log}\nwhy does the importer fail?")[0] == "the importer fails on empty dates"


def test_a_damaged_index_is_got_round_and_made_anew(memory):
    memory.learn(*(f"queue {n}" for n in range(9)), "the banner is green")
    memory.sql("update percepts_fts_data set block = zeroblob(3)")
    path = memory.store.path
    assert len(memory.given("queue")) == 9
    assert recall.damaged(path)
    assert len(memory.found("queue")) == 9
    memory.store.write_sync(lambda db: recall.repair(db, path))
    assert not recall.damaged(path)
    assert memory.why("queue").words == ("queue",)
    assert len(memory.given("queue")) == 9


def test_without_any_index_the_facts_of_most_weight_are_looked_through(memory):
    memory.learn("the queue retries", "the banner is green")
    memory.sql("drop table percepts_fts")
    assert memory.texts("does the queue retry?") == ["the queue retries"]
    assert "damaged" in memory.why("queue").note
    assert [hit.percept.content for hit in memory.found("queue")] == ["the queue retries"]
    assert recall.damaged(memory.store.path)
