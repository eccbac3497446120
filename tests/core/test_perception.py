"""What agents write about the task is read, kept in one form, and given back as it was read."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from milk_tui.core import perception as p
from milk_tui.core.perception_view import expired, unreasoned
from milk_tui.core.records import Layer, PerceptionEntry

PIECES = [*"ab1. -*[]:\n\t#<é_?/İ", "reason:", "blocked on ", "stale?", "[reason: x]", "- ", "1. ", "key: "]
words = st.lists(st.sampled_from(PIECES), max_size=14).map("".join)


@settings(max_examples=1000, deadline=None)
@given(st.sampled_from(list(Layer)), words, words, words, words, words)
def test_the_normal_form_of_an_entry_is_what_is_read_back(layer, key, value, reason, blocker, stale):
    entry = p.normal(PerceptionEntry(layer=layer, key=key, value=value, reason=reason, blocker=blocker, stale=stale))
    assert p.normal(entry) == entry
    if entry.value:
        assert p.parse(layer, p.rendered(entry)) == (entry,)


@given(st.sampled_from(list(Layer)), words)
def test_what_any_text_says_is_the_same_when_it_is_written_and_read_again(layer, body):
    entries = [entry for entry in p.parse(layer, body) if entry.value]
    again = p.parse(layer, p.render(entries))
    assert p.parse(layer, p.render(again)) == again


def frame(body: str) -> dict[str, PerceptionEntry]:
    return {entry.key: entry for entry in p.parse(Layer.FRAME, body)}


def test_a_list_is_one_entry_whose_lines_have_their_own_reasons_and_blockers():
    found = frame(
        "decided:\n  - points are integer [reason: no fractional currency]\n  - idempotent\n"
        "open: does the bonus apply? [blocked on product]"
    )
    items = p.items(found["decided"])
    assert [(item.text, item.reason) for item in items] == [
        ("points are integer", "no fractional currency"),
        ("idempotent", ""),
    ]
    assert (found["open"].value, found["open"].blocker) == ("does the bonus apply?", "product")
    assert unreasoned(found["decided"]) == ("idempotent",)


def test_a_decision_without_a_reason_is_marked_and_nothing_else_is():
    assert unreasoned(frame("decided store: Postgres")["decided store"]) == ("Postgres",)
    assert unreasoned(frame("decided store: Postgres [reason: joins]")["decided store"]) == ()
    assert unreasoned(frame("decided: [reason: speed]\n- one\n- two")["decided"]) == ()
    assert unreasoned(frame("story: points")["story"]) == ()


def test_a_list_key_that_is_said_twice_in_a_block_gathers_and_any_other_is_replaced():
    found = frame("decided: one [reason: a]\ndecided: two [reason: b]\nstory: x\nstory: y")
    assert found["decided"].value == "one [reason: a]\ntwo [reason: b]"
    assert found["story"].value == "y"


def test_invariants_may_be_written_as_a_list_of_entries():
    found = p.parse(Layer.INVARIANT, "- stack: Python\n- forbidden: writes to ./vendor/\n- never push on Fridays")
    assert [(entry.key, entry.value) for entry in found] == [
        ("stack", "Python"),
        ("forbidden", "writes to ./vendor/\nnever push on Fridays"),
    ]


def test_an_empty_value_asks_for_removal():
    assert [(entry.key, entry.value) for entry in p.parse(Layer.WORKING, "file:\nnext: go on")] == [
        ("file", ""),
        ("next", "go on"),
    ]


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("Decided Store", "decided store"),
        ("  a\nb ", "a b"),
        ("1. x", "x"),
        ("", "note"),
        ("[x]", "x"),
        ("é" * 60, "é" * 40),
    ],
)
def test_any_text_becomes_a_key(text, key):
    assert p.key_of(text) == key


def test_a_working_entry_expires_when_twelve_turns_have_passed_without_it():
    entry = PerceptionEntry(layer=Layer.WORKING, key="file", value="a.py", turn_id=1)
    turns = list(range(13, 0, -1))
    assert not expired(entry, turns[1:12])
    assert expired(entry, turns[:12])
    assert not expired(replace(entry, turn_id=2), turns[:12])
    assert not expired(replace(entry, layer=Layer.FRAME), turns[:12])
