"""Which sentences of a prompt may be kept as facts, before any model is asked."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from milk_tui.agents import embedded_facts
from milk_tui.agents.embedded_facts import MAX_CANDIDATES, MAX_FACT_CHARS, candidates, holds


def texts(prompt: str) -> list[str]:
    return [c.text for c in candidates(prompt)]


@pytest.mark.parametrize(
    ("prompt", "fact"),
    [
        ("We use PostgreSQL 16 for the shop", "We use PostgreSQL 16 for the shop."),
        ("Remember that the API port is 8412.", "The API port is 8412."),
        ("Note: deploys happen on Tuesdays only.", "Deploys happen on Tuesdays only."),
        ("For your information: the cache TTL is 15 minutes.", "The cache TTL is 15 minutes."),
        ("Our CI runs on Debian 12, please keep that in mind.", "Our CI runs on Debian 12."),
        ("By the way, our team lead is Bob.", "Our team lead is Bob."),
        ("Our API runs on port 9000. Add a health endpoint.", "Our API runs on port 9000."),
        ("The payments team owns the queue. Why is it slow?", "The payments team owns the queue."),
        ("Port 8412 is the API's.", "Port 8412 is the API's."),
        ("Test servers are in Lyon.", "Test servers are in Lyon."),
    ],
)
def test_a_statement_is_a_candidate_without_its_lead_in(prompt: str, fact: str) -> None:
    assert texts(prompt) == [fact]
    assert holds(fact, prompt)


@pytest.mark.parametrize(
    "prompt",
    [
        "What is a list comprehension?",
        "Write a function that reverses a string.",
        "fix the tests",
        "Thanks, that works!",
        "That didn't work.",
        "The build is broken again.",
        "It prints 3 instead of 4.",
        "I get an error when I run the tests.",
        "I need a script that renames files.",
        "Let's start with the parser.",
        "Port the parser to Rust.",
        "Convert 5 miles to kilometres.",
        "Check what is wrong here.",
        "Hello!",
        "def f(x): return x+1",
        "```\nWe use tabs here.\n```",
        "> We use tabs here.",
        "    We use tabs here.",
        "Here is the code:",
        "",
        "   \n\n ",
    ],
)
def test_questions_orders_reactions_and_code_are_none(prompt: str) -> None:
    assert texts(prompt) == []


def test_what_was_asked_to_be_remembered_comes_first() -> None:
    found = candidates("Our shop sells apples. Remember that the API port is 8412.")
    assert [c.asked for c in found] == [True, False]


def test_a_sentence_over_the_bound_is_none() -> None:
    assert texts("Our shop sells " + "very " * 60 + "good apples.") == []


def test_a_prompt_of_a_megabyte_is_read_only_at_its_beginning() -> None:
    assert len(candidates("Our shop sells apples number one. " * 40_000)) == 1


def test_a_fact_holds_only_when_every_word_of_it_was_said() -> None:
    prompt = "We use PostgreSQL 16 for the shop"
    assert holds("We use PostgreSQL 16 for the shop.", prompt)
    assert not holds("We use PostgreSQL 17 for the shop.", prompt)
    assert not holds("We use PostgreSQL 16 for the shop?", prompt)
    assert not holds("shop", prompt)


@pytest.mark.parametrize("prompt", ["now sort them by date", "And what about Rust?", "thanks, great", "ok, it works"])
def test_a_follow_up_is_known_by_its_beginning(prompt: str) -> None:
    assert embedded_facts.is_follow_up(prompt)


@pytest.mark.parametrize("prompt", ["Why is it slow?", "ok, write a parser for dates", "So why does it fail?"])
def test_a_prompt_of_its_own_is_no_follow_up(prompt: str) -> None:
    assert not embedded_facts.is_follow_up(prompt)


@given(st.text(max_size=400))
def test_whatever_is_typed_a_candidate_is_short_one_line_and_the_persons_words(prompt: str) -> None:
    found = candidates(prompt)
    assert len(found) <= MAX_CANDIDATES
    for candidate in found:
        assert len(candidate.text) <= MAX_FACT_CHARS
        assert "\n" not in candidate.text
        assert holds(candidate.text, prompt)
        assert candidate.sentence in prompt
