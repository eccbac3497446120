"""The directives that tests write into prompts."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.support import openai_shape
from tests.support.scenario import Call, Conversation, Cut, Reply, Say, Scenario, Think, Until, newest_prompt, unescape


def reply(prompt: str, **more: object) -> Reply:
    return Scenario().reply(Conversation(prompt=prompt, **more))  # type: ignore[arg-type]


def test_directives_become_steps_in_their_order() -> None:
    made = reply('please SCN:think hm SCN:say hello SCN:tool look {"a": 1}\nSCN:cut')
    assert made.steps == (Think("hm"), Say("hello"), Call("look", '{"a": 1}'), Cut())


def test_text_is_cut_into_chunks_and_escapes_are_understood() -> None:
    assert [s.text for s in reply("SCN:chunk 2 SCN:say ab\\ncd").steps if isinstance(s, Say)] == ["ab", "\nc", "d"]
    assert unescape("\\e[0m \\u00e9 \\x41 \\\\ \\q") == "\x1b[0m é A \\ \\q"


def test_counted_words_are_chunks_of_their_own() -> None:
    assert [s.text for s in reply("SCN:count 3 w").steps if isinstance(s, Say)] == ["w1 ", "w2 ", "w3 "]


async def test_an_answer_can_wait_for_a_file(tmp_path: Path) -> None:
    (step,) = reply(f"SCN:until {tmp_path / 'go on'}").steps
    assert isinstance(step, Until)
    waiting = asyncio.create_task(step.passed())
    await asyncio.sleep(0)
    assert not waiting.done()
    (tmp_path / "go on").touch()
    await asyncio.wait_for(waiting, 10)


def test_rounds_are_told_apart_by_then_and_end_with_the_results() -> None:
    prompt = "SCN:tool look {}\nSCN:then SCN:say second"
    assert reply(prompt, round=0).calls == [Call("look", "{}")]
    assert reply(prompt, round=1, results=("seen",)).text == "second"
    assert reply(prompt, round=2, results=("seen",)).text == "Done: seen"


def test_flaky_refuses_the_first_requests_with_this_prompt_alone() -> None:
    scenario = Scenario()
    talk, other = Conversation(prompt="SCN:flaky 1 429 3 SCN:say ok"), Conversation(prompt="SCN:flaky 1 500 SCN:say x")
    assert (scenario.reply(talk).status, scenario.reply(other).status) == (429, 500)
    assert (scenario.reply(talk).text, scenario.reply(other).text) == ("ok", "x")


def test_a_tag_is_made_with_the_nonce_of_the_system_text() -> None:
    system = "Write <milk:KIND:abc123>BODY</milk:KIND:abc123>."
    made = reply("SCN:tag percept tests live in tests/", system=system)
    assert made.text == "<milk:percept:abc123>tests live in tests/</milk:percept:abc123>"


@pytest.mark.parametrize("context", ["", "[Context from milk]\nold: SCN:err 500\n[/Context from milk]\n\n"])
def test_only_what_the_person_wrote_counts(context: str) -> None:
    assert newest_prompt(context + "SCN:say hi") == "SCN:say hi"


def test_without_directives_it_says_what_it_was_given() -> None:
    assert reply("How  are\nyou?").text == "You said: How are you? (1 messages so far.)"


def test_a_conversation_is_read_from_a_request() -> None:
    messages = [
        {"role": "system", "content": "be"},
        {"role": "user", "content": "first"},
        {"role": "assistant", "content": "yes"},
        {"role": "user", "content": [{"type": "text", "text": "second"}]},
        {"role": "assistant", "content": "", "tool_calls": []},
        {"role": "tool", "content": "seen"},
    ]
    talk = openai_shape.conversation({"messages": messages})
    assert (talk.prompt, talk.system, talk.round, talk.results) == ("second", "be", 1, ("seen",))
