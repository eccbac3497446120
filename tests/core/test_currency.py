"""What a new fact does to those that are known (``recall.md``, "Writing a fact")."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from milk_tui.core import currency
from milk_tui.core.currency import Candidate, Decision, Kind, decide, take_replaced, without_label
from milk_tui.core.percepts import normalise
from milk_tui.core.records import (
    BIRTH_WEIGHT,
    PINNED_WEIGHT,
    Consumer,
    Percept,
    PerceptScope,
    PerceptStatus,
    Producer,
)
from tests.core import currency_cases as cases

AGENTS = [Producer.PRIMARY, Producer.ESCALATION, Producer.HELPER, Producer.SYSTEM]
OLD, NEW = "The request timeout is 30 s.", "The request timeout is 60 s."


def known(content: str, number: int = 1, producer: Producer = Producer.PRIMARY, **more) -> Percept:
    pinned = more.get("pinned", False)
    return Percept(
        **{
            "id": f"{number * 0x1010101:08x}-aaaa",
            "content": normalise(content),
            "producer": producer,
            "agent_name": "qwen",
            "consumer": Consumer.ALL,
            "scope": PerceptScope.SESSION,
            "weight": PINNED_WEIGHT if pinned else BIRTH_WEIGHT[producer],
            "pinned": False,
            "status": PerceptStatus.LIVE,
            "created_ms": 1_000,
            "updated_ms": 1_000,
            "confirmed_ms": 1_000,
            **more,
        }
    )


def write(content: str, *nearest: Percept, producer: Producer = Producer.PRIMARY, **more) -> Decision:
    rest = {name: more.pop(name) for name in ("rarity", "similarity") if name in more}
    text, replaces = take_replaced(normalise(content))
    return decide(Candidate(content=text, producer=producer, replaces=replaces, **more), nearest, **rest)


@pytest.mark.parametrize(("old", "new"), cases.SUPERSEDE)
def test_a_changed_value_or_a_cue_retires(old, new):
    decision = write(new, known(old))
    assert decision.kind is Kind.SUPERSEDE
    assert decision.retired == (known(old).id,)
    assert decision.why
    assert "\n" not in decision.why


@pytest.mark.parametrize(("old", "new"), cases.NOTICED)
def test_less_evidence_asks(old, new):
    decision = write(new, known(old))
    assert decision.kind is Kind.SUSPECT
    assert decision.why


@pytest.mark.parametrize(("old", "new"), cases.ADD)
def test_another_subject_or_property_only_adds(old, new):
    assert write(new, known(old)) == Decision(kind=Kind.ADD)


@pytest.mark.parametrize(("old", "new"), cases.NOT_RETIRED)
def test_a_condition_or_another_thing_of_the_kind_retires_nothing(old, new):
    assert write(new, known(old)).retired == ()


@pytest.mark.parametrize(("old", "new"), cases.CONFIRM)
def test_the_same_in_other_words_confirms(old, new):
    assert write(new, known(old)).kind is Kind.CONFIRM
    assert write(old, known(new)).kind is Kind.CONFIRM


@pytest.mark.parametrize(("old", "new"), cases.NEVER_CONFIRM + cases.SUPERSEDE + cases.NOTICED)
def test_a_different_value_sign_or_order_is_never_a_duplicate(old, new):
    assert write(new, known(old)).kind is not Kind.CONFIRM
    assert write(old, known(new)).kind is not Kind.CONFIRM


@pytest.mark.parametrize("content", [OLD, "  The request  timeout is 30 s. ", "use Postgres", "数据库在法兰克福。"])
def test_the_same_text_confirms(content):
    assert write(content, known("Something else."), known(content, 2)).target == known("", 2).id


@pytest.mark.parametrize("producer", AGENTS)
@pytest.mark.parametrize("victim", [known(OLD, producer=Producer.USER), known(OLD, pinned=True)])
@pytest.mark.parametrize(
    "text", [NEW, "The request timeout was raised from 30 s to 60 s.", NEW + " (replaces #000000)"]
)
def test_an_agent_never_retires_a_pinned_or_a_persons_fact(producer, victim, text):
    decision = write(text, victim, producer=producer)
    assert (decision.kind, decision.target) == (Kind.SUSPECT, victim.id)
    assert "only you" in decision.why


@pytest.mark.parametrize("victim", [known(OLD, producer=Producer.USER), known(OLD, pinned=True), known(OLD)])
def test_the_person_retires_any_fact(victim):
    assert write(NEW, victim, producer=Producer.USER).kind is Kind.SUPERSEDE


@given(
    st.sampled_from(cases.SUPERSEDE + cases.NOTICED + cases.NOT_RETIRED),
    st.sampled_from(AGENTS),
    st.booleans(),
    st.booleans(),
)
def test_no_wording_gets_past_the_guards(pair, producer, pinned, tainted):
    old, new = pair
    victim = known(old, producer=Producer.USER, pinned=pinned)
    assert write(new, victim, producer=producer, tainted=tainted).retired == ()
    assert write(new, known(old), producer=producer, tainted=True).retired == ()


def test_a_tainted_fact_retires_nothing():
    decision = write(NEW, known(OLD), tainted=True)
    assert decision.kind is Kind.SUSPECT
    assert "outside" in decision.why


def test_a_fact_for_one_reader_retires_none_that_the_other_reads():
    assert write(NEW, known(OLD), consumer=Consumer.ESCALATION).kind is Kind.SUSPECT
    own = known(OLD, consumer=Consumer.ESCALATION)
    assert write(NEW, own, consumer=Consumer.ESCALATION).kind is Kind.SUPERSEDE
    assert write(NEW, own).kind is Kind.SUPERSEDE


def test_a_fact_that_is_older_than_its_victim_is_history():
    victim = known(NEW, valid_from_ms=5_000)
    assert write(OLD, victim, valid_from_ms=4_999) == Decision(
        kind=Kind.HISTORY, target=victim.id, why="it is older than this fact"
    )
    assert write(OLD, victim, valid_from_ms=5_000).kind is Kind.SUPERSEDE
    assert write(OLD, known(NEW), valid_from_ms=999).kind is Kind.HISTORY


@pytest.mark.parametrize(
    ("text", "rest", "ids"),
    [
        ("We use ScyllaDB (replaces #a1b2c3).", "We use ScyllaDB", ("#a1b2c3",)),
        ("We use ScyllaDB. (replaces #A1B2C3)", "We use ScyllaDB.", ("#a1b2c3",)),
        ("We use ScyllaDB [replaces: #a1b2c3, #d4e5f6]", "We use ScyllaDB", ("#a1b2c3", "#d4e5f6")),
        ("We use ScyllaDB (replaces #a1b2c3, #d4e5f6, #000000)", "We use ScyllaDB", ("#a1b2c3", "#d4e5f6")),
        ("Fact #3fa2c1 supersedes fact #3fa2c1.", "Fact #3fa2c1 supersedes fact #3fa2c1.", ()),
        ("(replaces #a1b2c3)", "(replaces #a1b2c3)", ()),
        ("The tab replaces #231 in the list", "The tab replaces #231 in the list", ()),
    ],
)
def test_an_agent_may_name_what_its_fact_replaces(text, rest, ids):
    assert take_replaced(text) == (rest, ids)


def test_a_named_fact_is_retired_though_the_words_alone_would_not():
    victim, other = known("Orders are kept in Postgres."), known("Payments fail at night.", 2)
    text = "ScyllaDB holds each order twice, for two regions."
    assert write(text, other, victim).retired == ()
    decision = write(f"{text} (replaces {victim.short_id})", other, victim)
    assert decision.retired == (victim.id,)
    assert decision.cue == "replaces"


def test_a_named_fact_that_has_nothing_in_common_is_only_suspected():
    victim = known("Payments fail at night.")
    assert write(f"The logo is teal. (replaces {victim.short_id})", victim).kind is Kind.SUSPECT


def test_a_named_fact_is_not_retired_by_a_question():
    victim = known("Orders are kept in Postgres.")
    assert write(f"Should orders move to ScyllaDB? (replaces {victim.short_id})", victim).retired == ()


def test_at_most_two_are_retired_by_one_write():
    crowd = [known(f"The request timeout is {number} s.", number) for number in range(1, 20)]
    decision = write(NEW, *crowd)
    assert decision.kind is Kind.SUPERSEDE
    assert len(decision.retired) == currency.MOST_RETIRED


def test_only_the_nearest_are_looked_at():
    others = [known(f"Note {number} about the office.", number) for number in range(2, 2 + currency.NEAREST)]
    assert write(NEW, *others, known(OLD)).kind is Kind.ADD


def test_a_fact_that_does_not_hold_is_not_looked_at():
    assert write(NEW, known(OLD, status=PerceptStatus.SUPERSEDED)).kind is Kind.ADD
    assert write(OLD, known(OLD, status=PerceptStatus.FORGOTTEN)).kind is Kind.ADD


def test_a_suspect_is_looked_at():
    assert write(NEW, known(OLD, status=PerceptStatus.SUSPECT)).kind is Kind.SUPERSEDE


def test_subjects_that_have_no_word_in_common_keep_both():
    victim = known(OLD, subject="gateway")
    assert write(NEW, victim, subject="mail relay").kind is Kind.SUSPECT
    assert write(NEW, victim, subject="the gateway").kind is Kind.SUPERSEDE
    assert write(NEW, victim).kind is Kind.SUPERSEDE


def test_vectors_make_a_conflict_of_other_words_visible():
    old, new = (
        known("The nightly robot lets go of bookings after 2 years."),
        "Reservations stay for 5 years in the shop.",
    )
    assert write(new, old).kind is Kind.ADD
    assert write(new, old, similarity={old.id: 0.9}).kind is Kind.SUSPECT
    assert write(new, old, similarity={old.id: 0.5}).kind is Kind.ADD


def test_vectors_alone_retire_nothing():
    old = known("The portal is fast.")
    assert write("The portal is written in Elixir.", old, similarity={old.id: 1.0}).kind is Kind.ADD


def test_rare_words_decide_what_a_fact_is_about():
    old, new = known("The gateway of the shop has a limit of 5 MB."), "The limit of the shop is now 8 MB."
    common = {"gateway": 0.1, "shop": 5.0, "limit": 5.0}
    rare = {"gateway": 50.0, "shop": 0.1, "limit": 0.1}
    assert write(new, old, rarity=common).kind is not Kind.ADD
    assert write(new, old, rarity=lambda word: rare.get(word, 1.0)).kind is Kind.ADD


@pytest.mark.parametrize(
    "text",
    [
        "#3fa2c1 2026-03-02 primary: The endpoint listens on port 9464.",
        "#3fa2c1 2026-03-02 (primary) The endpoint listens on port 9464.",
        "- The endpoint listens on port 9464.",
        "* #3fa2c1 user: The endpoint listens on port 9464.",
        "The endpoint listens on port 9464.",
    ],
)
def test_a_fact_that_is_said_again_with_its_label_is_the_same_fact(text):
    assert without_label(text) == "The endpoint listens on port 9464."


contents = st.text(max_size=120) | st.sampled_from([text for pair in cases.SUPERSEDE + cases.ADD for text in pair])
percepts = st.lists(
    st.builds(
        known,
        contents,
        st.integers(1, 9),
        st.sampled_from(Producer),
        pinned=st.booleans(),
        status=st.sampled_from(PerceptStatus),
        tainted=st.booleans(),
    ),
    max_size=6,
    unique_by=lambda percept: percept.id,
)


@given(contents, percepts, st.sampled_from(Producer), st.booleans())
def test_whatever_is_written_the_guards_hold(
    content: str, nearest: Sequence[Percept], producer: Producer, tainted: bool
):
    text, replaces = take_replaced(normalise(content))
    decision = decide(Candidate(content=text, producer=producer, tainted=tainted, replaces=replaces), nearest)
    by_id = {percept.id: percept for percept in nearest}
    assert (decision.target in by_id) is (decision.kind is not Kind.ADD)
    assert len(decision.retired) <= currency.MOST_RETIRED
    for percept_id in decision.retired:
        victim = by_id[percept_id]
        assert victim.holds
        assert not tainted
        assert producer is Producer.USER or not (victim.pinned or victim.producer is Producer.USER)


@given(percepts.filter(bool), st.data())
def test_a_text_that_is_known_is_always_confirmed(nearest: list[Percept], data: st.DataObject):
    chosen = data.draw(st.sampled_from(nearest))
    live = known(chosen.content, 99)
    assert decide(Candidate(content=live.content, producer=Producer.PRIMARY), [live]).kind is Kind.CONFIRM


@pytest.mark.parametrize(
    "unit", ["a ", "1 ", "the ", "超", "was replaced by ", "1:", "x_", "moved from ", "now ", "not "]
)
def test_two_long_adversarial_facts_are_compared_to_the_end(unit):
    one, other = (unit * 2000)[:2000], ("z " + unit * 2000)[:2000]
    assert write(one, known(other)).kind in Kind
