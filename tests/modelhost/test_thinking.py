"""Reasoning told apart from the answer."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from milk_tui.modelhost.thinking import ThinkingBlocks, ThinkSplitter

CASES = [
    ("hello", "", "hello"),
    ("<think>why</think>\n\nbecause", "why", "because"),
    ("\n <thinking>why</thinking>because", "why", "because"),
    ("<think>a</think><think>b</think>c", "ab", "c"),
    ("<think></think>answer", "", "answer"),
    ("<think>never ends", "never ends", ""),
    ("<think>a < b </thin </think>x", "a < b </thin ", "x"),
    ("write <think>x</think> in a template", "", "write <think>x</think> in a template"),
    ("<thin ice>", "", "<thin ice>"),
    ("<thi", "", "<thi"),
    ("  \n", "", "  \n"),
    ("<think>a</think>  ", "a", ""),
    ("", "", ""),
]


def split(chunks: list[str]) -> tuple[str, str]:
    splitter = ThinkSplitter()
    pieces = [piece for chunk in chunks for piece in splitter.feed(chunk)] + splitter.close()
    return "".join(t for inside, t in pieces if inside), "".join(t for inside, t in pieces if not inside)


@pytest.mark.parametrize(("text", "thought", "answer"), CASES)
def test_reasoning_at_the_beginning_is_told_apart(text: str, thought: str, answer: str) -> None:
    assert split([text]) == (thought, answer)
    assert split(list(text)) == (thought, answer)


@given(
    st.lists(st.sampled_from(["<think>", "</think>", "<thinking>", "</thinking>", " ", "\n", "<", "thi", "a"])),
    st.data(),
)
def test_the_split_is_the_same_for_every_way_of_cutting(parts: list[str], data: st.DataObject) -> None:
    text = "".join(parts)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=6)))
    chunks = [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    assert split(chunks) == split([text])


def test_a_long_run_of_white_space_is_not_held_back_for_ever() -> None:
    splitter = ThinkSplitter()
    shown = "".join(text for _, text in splitter.feed(" " * 100_000))
    assert len(shown) == 100_000


def test_signed_blocks_are_put_together_and_unsigned_ones_left_out() -> None:
    blocks = ThinkingBlocks()
    blocks.add([{"type": "thinking", "thinking": "a", "index": 0}])
    blocks.add([{"type": "thinking", "thinking": "b", "index": 0}, {"type": "thinking", "thinking": "z", "index": 2}])
    blocks.add([{"type": "thinking", "thinking": "", "signature": "s", "index": 0}])
    blocks.add([{"type": "redacted_thinking", "data": "xx", "index": 1}])
    assert blocks.finish() == [
        {"type": "thinking", "thinking": "ab", "signature": "s"},
        {"type": "redacted_thinking", "data": "xx"},
    ]
