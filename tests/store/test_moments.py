"""The words of the moment in which a fact is learned."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from milk_tui.core.records import Producer
from milk_tui.store import moments, percepts
from milk_tui.store.moments import around
from tests.store.makers import answered, end_leg, make_leg, make_session, make_turn


def kept(store):
    row = store.read_sync(
        lambda conn: conn.execute("select source, context from percepts order by seq desc").fetchone()
    )
    return row["source"], row["context"]


@pytest.mark.parametrize(
    ("text", "position", "expected"),
    [
        ("One. Two. Three. Four. Five.", 17, "Two. Three. Four."),
        ("One. Two.", 0, "One."),
        ("One. Two.", 99, "One. Two."),
        ("", 0, ""),
        ("a line\nanother line\nlast", 20, "a line another line last"),
        ("没有空格。第二句。", 5, "没有空格。 第二句。"),
    ],
)
def test_the_sentences_around_a_place(text, position, expected):
    assert around(text, position) == expected


@given(st.text(max_size=2_000), st.integers(-5, 3_000))
def test_they_are_one_bounded_line(text, position):
    found = around(text, position)
    assert len(found) <= moments.SAID_CHARS and "\n" not in found


def test_a_fact_keeps_the_prompt_what_was_said_around_it_and_what_came_before(store, session):
    answered(store, session, "where do we deploy?", "To the cluster in Oslo.")
    leg = make_leg(store, make_turn(store, session, "why is the queue slow?"))
    text = "I looked. The workers wait for locks. They retry. Nothing else. The end."
    stage = {"leg_id": leg.id, "producer": Producer.PRIMARY, "content": "locks slow the queue"}
    store.write_sync(lambda db: percepts.stage(db, **stage, position=text.index("They retry")))
    end_leg(store, leg, text)
    store.write_sync(lambda db: percepts.make_live(db, leg.id))
    source, context = kept(store)
    assert source == "why is the queue slow? I looked. The workers wait for locks. They retry."
    assert context == "where do we deploy? To the cluster in Oslo."


def test_a_staged_fact_has_the_prompt_already(store, session):
    leg = make_leg(store, make_turn(store, session, "why is the queue slow?"))
    store.write_sync(
        lambda db: percepts.stage(db, leg_id=leg.id, producer=Producer.PRIMARY, content="locks", position=0)
    )
    assert kept(store)[0] == "why is the queue slow?"


def test_what_the_person_teaches_has_the_newest_turn_of_the_session(store, session):
    answered(store, session, "where do we deploy?", "To the cluster. It is in Oslo.")
    other = make_session(store, "/elsewhere")
    answered(store, other, "unrelated", "unrelated")
    store.write_sync(lambda db: percepts.add(db, content="deploys are on Friday", session_id=session.id))
    assert kept(store) == ("where do we deploy? To the cluster. It is in Oslo.", "")


def test_a_fact_outside_of_any_session_has_no_moment(store):
    store.write_sync(lambda db: percepts.add(db, content="deploys are on Friday"))
    assert kept(store) == ("", "")


def test_another_turn_before_is_read_when_the_first_says_little(store, session):
    for prompt in ("the first of all", "the second one", "ok", "x " * 300, "go on"):
        answered(store, session, prompt, "")
    store.write_sync(lambda db: percepts.add(db, content="a fact", session_id=session.id))
    assert kept(store)[1] == ("x " * 300).strip()[: moments.PROMPT_CHARS // 2 - 1] + "…"
    answered(store, session, "and now", "")
    store.write_sync(lambda db: percepts.add(db, content="another fact", session_id=session.id))
    assert kept(store)[1].endswith("go on") and kept(store)[1].startswith("x x")


def test_huge_and_hostile_moments_are_bounded_and_clean(store, session):
    answered(store, session, "a\x1b[2J\u202e" * 100_000, "b" * 1_000_000)
    leg = make_leg(store, make_turn(store, session, "p\x00" * 500_000))
    store.write_sync(lambda db: percepts.stage(db, leg_id=leg.id, producer=Producer.PRIMARY, content="a fact"))
    source, context = kept(store)
    assert len(source) <= moments.PROMPT_CHARS + moments.SAID_CHARS + 1
    assert len(context) <= moments.CONTEXT_CHARS
    assert "\n" not in source + context
