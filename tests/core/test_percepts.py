"""What may become a fact, what it weighs, and which facts an agent is given."""

from __future__ import annotations

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from milk_tui.core import percepts as rules
from milk_tui.core.errors import PerceptRefusedError
from milk_tui.core.percepts import SecretRefusedError
from milk_tui.core.records import Consumer, Percept, PerceptScope, PerceptStatus, Producer

DAY = 86_400_000


def percept(content: str, weight: int = 700, confirmed: int = 0, number: int = 0, **more) -> Percept:
    return Percept(
        **{
            "id": f"{number:08x}-0000",
            "content": content,
            "producer": Producer.PRIMARY,
            "agent_name": "qwen",
            "consumer": Consumer.ALL,
            "scope": PerceptScope.SESSION,
            "weight": weight,
            "pinned": False,
            "status": PerceptStatus.LIVE,
            "created_ms": 20_575 * DAY,
            "updated_ms": 0,
            "confirmed_ms": confirmed,
            **more,
        }
    )


texts = st.text(max_size=200) | st.text("ab \u200d\u200b\u0301\x1b[0m\n\tÅ\u212b", max_size=30)


@given(texts)
def test_normalising_is_idempotent_and_leaves_one_clean_line(text):
    once = rules.normalise(text)
    assert rules.normalise(once) == once
    assert once == unicodedata.normalize("NFC", once)
    assert once == " ".join(once.split())
    assert not any(unicodedata.category(char) == "Cc" for char in once)


visible_words = st.lists(st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1, max_size=12), max_size=8)


@given(visible_words, st.sampled_from([" ", "\n", "\t \u00a0", " \u200b ", "\r\n"]))
def test_the_hash_sees_the_words_and_not_how_they_are_spaced(several, space):
    assert rules.content_hash(space + space.join(several) + space) == rules.content_hash(" ".join(several))


@given(texts)
def test_the_hash_sees_characters_and_not_how_they_are_composed(text):
    assert rules.content_hash(unicodedata.normalize("NFD", text)) == rules.content_hash(text)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("use tabs", "do not use tabs"),
        ("port 8080", "port 8081"),
        ("use Postgres", "use postgres"),
        ("a b", "ab"),
    ],
)
def test_what_could_differ_in_meaning_differs_in_hash(one, other):
    assert rules.content_hash(one) != rules.content_hash(other)


def test_a_fact_is_admitted_as_one_clean_line():
    assert rules.admit("  the \x1b[31mhandler\x1b[0m\n retries\u202e ") == "the handler retries"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "no text"),
        (" \n\x00\u200b", "no text"),
        ("x" * 2001, "2,001 characters"),
        ("<milk:percept:abc123>x", "tag"),
        ("see </MILK:need:zzzzzz>", "tag"),
        ("see < / milk : frame", "tag"),
        ("the mark is q1w2e3", "tag"),
        ("the key is sk-" + "ant-" + "q7" * 12, "Anthropic key"),
    ],
)
def test_what_is_no_fact_is_refused_with_a_reason(text, why):
    with pytest.raises(PerceptRefusedError) as refused:
        rules.admit(text, nonces=["q1w2e3", ""])
    assert why in refused.value.what


def test_exactly_2000_characters_are_a_fact():
    assert len(rules.admit("ab " * 666 + "cd")) == 2000


def test_spaces_do_not_count_towards_the_limit():
    assert rules.admit("a" + " " * 5000 + "b") == "a b"


def test_a_secret_passes_only_when_it_is_allowed_and_is_never_repeated():
    text = "postgres://admin:s3cr3t99@db/x"
    with pytest.raises(SecretRefusedError) as refused:
        rules.admit(text)
    assert refused.value.kind == "connection string with a password"
    assert "s3cr3t99" not in str(refused.value)
    assert rules.admit(text, allow_secret=True) == text


def test_an_override_for_secrets_overrides_nothing_else():
    with pytest.raises(PerceptRefusedError):
        rules.admit("<milk:percept:abc123>", allow_secret=True)


def test_the_ninth_fact_of_a_turn_is_a_flood():
    rules.check_flood(7)
    with pytest.raises(PerceptRefusedError):
        rules.check_flood(8)


@pytest.mark.parametrize(
    ("producer", "weight"),
    [
        (Producer.USER, 900),
        (Producer.PRIMARY, 700),
        (Producer.ESCALATION, 700),
        (Producer.HELPER, 600),
        (Producer.SYSTEM, 400),
    ],
)
def test_weight_at_birth_follows_from_the_producer_and_the_pin(producer, weight):
    assert rules.birth(producer) == weight
    assert rules.birth(producer, pinned=True) == 1000


def test_a_line_names_id_date_producer_and_text():
    assert (
        rules.line(percept("the queue retries", number=0xA1B2C3D4)) == "#a1b2c3 2026-05-02 primary: the queue retries"
    )


@pytest.mark.parametrize("ms", [-1, 0, 10**18])
def test_a_line_stands_any_time(ms):
    assert rules.line(percept("x", created_ms=ms)).endswith("primary: x")


@given(st.text(max_size=300))
def test_a_line_is_one_line_that_opens_and_closes_no_block(text):
    line = rules.line(percept(text + "[Remembered facts]\n[/Remembered facts]"))
    assert len(line.splitlines()) == 1
    assert re.search(r"(?<!\\)\[/?Remembered facts", line) is None


def test_more_shared_words_rank_before_more_weight():
    off = percept("the banner is green", weight=1000, number=1)
    near = percept("checkout retries in the queue", weight=100, number=2)
    nearer = percept("checkout charges twice when the queue retries", weight=100, number=3)
    ranked = rules.rank([off, near, nearer], "why does checkout charge twice after a retry?")
    assert [p.id for p in ranked] == [nearer.id, near.id, off.id]


def test_weight_then_the_last_confirmation_break_ties():
    light = percept("a", weight=100, confirmed=9, number=1)
    old = percept("b", weight=700, confirmed=1, number=2)
    new = percept("c", weight=700, confirmed=2, number=3)
    assert rules.rank([light, old, new], "") == [new, old, light]


def test_the_subject_counts_as_words_of_the_fact():
    plain, about = percept("it is blue", number=1), percept("it is blue", subject="error banner", number=2)
    assert rules.rank([plain, about], "banner colour")[0] == about


facts = st.lists(
    st.builds(
        percept,
        st.text(max_size=400),
        st.integers(0, 1000),
        st.integers(0, 2**40),
        st.integers(0, 2**32 - 1),
    ),
    max_size=40,
)


@given(facts, st.integers(0, 30), st.integers(0, 3000))
def test_packing_never_exceeds_its_bounds_and_keeps_the_order(ranked, max_items, max_bytes):
    kept = rules.pack(ranked, max_items=max_items, max_bytes=max_bytes)
    assert len(kept) <= max_items
    assert sum(len(rules.line(p).encode()) + 1 for p in kept) <= max_bytes
    rest = iter(ranked)
    assert all(any(p is other for other in rest) for p in kept)


@given(facts, st.integers(1, 30), st.integers(1, 3000))
def test_what_was_left_out_would_not_have_fitted(ranked, max_items, max_bytes):
    kept = rules.pack(ranked, max_items=max_items, max_bytes=max_bytes)
    if len(kept) < max_items:
        used = sum(len(rules.line(p).encode()) + 1 for p in kept)
        left_out = [p for p in ranked if not any(p is k for k in kept)]
        assert all(used + len(rules.line(p).encode()) + 1 > max_bytes for p in left_out)


def test_a_fact_that_does_not_fit_is_skipped_and_the_next_one_tried():
    big, small = percept("x" * 1900, number=1), percept("small", number=2)
    assert rules.pack([big, small], max_bytes=100) == [small]


def test_by_default_25_facts_and_2048_bytes():
    assert len(rules.pack([percept("a", number=n) for n in range(60)])) == 25
    wide = [percept("é" * 100, number=n) for n in range(30)]
    kept = rules.pack(wide)
    assert 0 < len(kept) < 25
    assert 2048 - 250 < sum(len(rules.line(p).encode()) + 1 for p in kept) <= 2048


@given(st.text())
def test_nothing_that_a_text_holds_makes_ranking_fail(text):
    assert len(rules.rank([percept(text), percept("b", number=1)], text)) == 2
