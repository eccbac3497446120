from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from milk_tui.core.words import MAX_WORD, MAX_WORDS, tokens, words


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("retries", "retry"),
        ("retried", "retry"),
        ("retrying", "retry"),
        ("databases", "database"),
        ("classes", "class"),
        ("stopped", "stop"),
        ("cached", "cache"),
        ("caching", "caches"),
        ("the queue's", "queues"),
        ("STRASSE", "straße"),
        ("ＡＢＣ１", "abc1"),
    ],
)
def test_forms_of_one_word_are_one_word(one, other):
    assert words(one) == words(other) != frozenset()


@pytest.mark.parametrize(("one", "other"), [("class", "clas"), ("port", "sport"), ("v1", "v2"), ("need8", "need9")])
def test_different_words_stay_different(one, other):
    assert words(one) != words(other)


def test_words_that_say_nothing_are_left_out():
    assert tokens("What should I use for the tests, please?") == ["tests"]


def test_paths_and_identifiers_fall_into_their_parts():
    assert tokens("payments/handler_v2.py --dry-run") == ["payments", "handler", "v2", "py", "dry", "run"]


@pytest.mark.parametrize(
    ("fact", "prompt"),
    [
        ("数据库使用端口五四三二", "数据库的端口是什么"),
        ("база данных слушает порт", "какой порт"),
        ("قاعدة البيانات", "البيانات"),
        ("ฐานข้อมูลอยู่ที่นี่", "ข้อมูล"),
    ],
)
def test_other_scripts_share_words_too(fact, prompt):
    assert words(fact) & words(prompt)


@given(st.text(max_size=3000))
def test_any_text_gives_few_short_words(text):
    found = tokens(text)
    assert len(found) <= MAX_WORDS
    assert len(set(found)) == len(found)
    assert all(0 < len(word) <= MAX_WORD for word in found)


def test_a_pasted_file_costs_no_more_than_its_beginning():
    assert len(tokens(" ".join(f"word{n}" for n in range(200_000)))) == MAX_WORDS
    assert tokens("x" * 10_000_000) == ["x" * MAX_WORD]
