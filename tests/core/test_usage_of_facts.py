"""When an answer counts as a use of a fact: the rule is deterministic and prefers to see none."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from milk_tui.core.records import Percept
from milk_tui.core.usage_of_facts import MOST_CHARS, used
from tests.core.test_lifecycle import fact

ID = "3fa9c1d2-0000-4000-8000-000000000000"


def knows(content: str, percept_id: str = ID) -> Percept:
    return fact(percept_id, content=content)


@pytest.mark.parametrize(
    ("content", "prompt", "answer"),
    [
        ("The port is 8412.", "What's the port?", "It's 8412."),
        ("The port is 8412.", "Start the server.", "It listens on port 8412 now."),
        ("Retries live in the queue.", "Why does it charge twice?", "Look: retries live in the queue. So it does."),
        ("Deploys happen on Tuesdays.", "When do deploys happen?", "On Tuesdays."),
        ("We indent with 4 spaces.", "Format it.", "Done, indented with 4 spaces."),
        ("Orders are in table order_items.", "Where are they?", "In `order_items`, where orders are kept."),
        ("The timeout is 30 s.", "What is the timeout?", "It is 30 seconds."),
        ("数据库使用SQLite。", "数据库是什么?", "好的。使用SQLite。"),
        ("Never push on Fridays.", "Can I push today, Friday?", "You never push on Fridays, so wait."),
        ("Anything at all.", "Which fact says so?", "That is #3fa9c1."),
    ],
)
def test_an_answer_that_says_what_only_the_fact_says_used_it(content: str, prompt: str, answer: str) -> None:
    assert used([knows(content)], answer=answer, prompt=prompt) == (ID,)


@pytest.mark.parametrize(
    ("content", "prompt", "answer", "why"),
    [
        ("The port is 8412.", "How long did it take?", "It took 8412 ms.", "the value of something else"),
        ("Retries live in the queue.", "Where do retries live?", "Retries live somewhere.", "the prompt's own words"),
        ("Retries live in the queue.", "Why twice?", "The queue is slow.", "one word of several"),
        ("Retries live in the queue.", "Where?", "Retries do not live in the queue.", "the opposite"),
        ("Never push on Fridays.", "Push it.", "I always push on Fridays.", "the opposite"),
        ("We indent with 4 spaces.", "Format it.", "I changed 4 files.", "a small number"),
        ("Deploys happen on Tuesdays.", "What is a good day?", "Tuesdays.", "one word that nobody asked for"),
        ("The port is 8412.", "What's the port?", "", "no answer"),
        ("The port is 8412.", "What's the port 8412 for?", "Port 8412 is for HTTP.", "a value of the prompt"),
        ("Anything at all.", "Which?", "#3fa9c wins, and #deadbe.", "half an id"),
    ],
)
def test_what_the_answer_can_have_from_elsewhere_is_no_sign(content: str, prompt: str, answer: str, why: str) -> None:
    assert used([knows(content)], answer=answer, prompt=prompt) == (), why


def test_what_many_facts_have_in_common_tells_none_of_them() -> None:
    verbs = ("backs", "logs", "mails")
    crowd = [knows(f"Checkout service {verb} nightly", f"{number:032x}") for number, verb in enumerate(verbs)]
    crowd.append(knows("Checkout service restarts nightly", "f" * 32))
    said = used(crowd, answer="The checkout service runs nightly.", prompt="What runs?")
    assert said == ()


def test_words_far_apart_are_no_sentence() -> None:
    answer = "The retries were fine.\nYou can live with it.\nThe queue is long."
    assert used([knows("Retries live in the queue.")], answer=answer, prompt="Report.") == ()


def test_of_several_facts_those_that_were_used_are_named_in_their_order() -> None:
    facts = [knows("The port is 8412.", "a" * 32), knows("The team is in Graz.", "b" * 32)]
    facts.append(knows("Retries live in the queue.", "c" * 32))
    answer = "Retries live in the queue. It listens on port 8412."
    assert used(facts, answer=answer, prompt="Tell me.") == ("a" * 32, "c" * 32)


def test_an_answer_is_read_up_to_a_bound() -> None:
    answer = "x " * MOST_CHARS + "\nThe port is 8412."
    assert used([knows("The port is 8412.")], answer=answer, prompt="What?") == ()


@given(st.lists(st.text(max_size=80), max_size=4), st.text(max_size=300), st.text(max_size=80))
def test_any_text_gives_some_of_the_facts_each_once(contents: list[str], answer: str, prompt: str) -> None:
    facts = [knows(content, f"{number:032x}") for number, content in enumerate(contents)]
    found = used([*facts, *facts], answer=answer, prompt=prompt)
    assert len(set(found)) == len(found)
    assert set(found) <= {each.id for each in facts}
    assert found == used(facts, answer=answer, prompt=prompt)


@given(st.text(min_size=1, max_size=80))
def test_a_prompt_that_says_it_all_leaves_nothing_to_use(content: str) -> None:
    assert used([knows(content)], answer=content.replace("#", ""), prompt=content) == ()
