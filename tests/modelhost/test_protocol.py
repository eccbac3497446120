"""The lines between the host and its client."""

from __future__ import annotations

import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from milk_tui.core.records import ErrorKind, Message, MessageToolCall, Usage
from milk_tui.modelhost import protocol
from milk_tui.modelhost.protocol import CompleteRequest, Delta, Done, Failed, ToolCallMade, UsageGiven

REQUEST = CompleteRequest(
    model="openai/x",
    messages=(
        Message(role="system", content="be brief", cache_point=True),
        Message(role="assistant", tool_calls=(MessageToolCall(id="1", name="look", arguments="{}"),)),
        Message(role="tool", content="seen", tool_call_id="1"),
    ),
    extra_body={"grammar": "root ::= x"},
    thinking_blocks={1: [{"type": "thinking", "thinking": "hm", "signature": "s"}]},
    api_key="sk-very-secret",
)


@pytest.mark.parametrize(
    "answer",
    [
        Delta(id=1, text="a\nb\x1b[31m\u2028"),
        ToolCallMade(id=2, index=0, call_id="c", name="look", arguments="{broken"),
        UsageGiven(id=3, usage=Usage(input_tokens=0)),
        Done(id=4, stop="length", thinking_blocks=[{"type": "thinking"}]),
        Failed(id=5, kind=ErrorKind.RATE_LIMIT, message="slowly", retry_after_s=1.5),
    ],
)
def test_an_answer_is_one_line_and_comes_back_the_same(answer: protocol.HostEvent) -> None:
    line = protocol.encode(answer)
    assert line.count(b"\n") == 1 and line.endswith(b"\n")
    assert protocol.decode_answer(line) == answer


def test_a_request_comes_back_the_same() -> None:
    request = protocol.Complete(id=7, request=REQUEST)
    assert protocol.decode_request(protocol.encode(request)) == request


@given(st.text(st.characters(), max_size=50))
def test_any_text_can_be_sent(text: str) -> None:
    answer = protocol.decode_answer(protocol.encode(Delta(id=1, text=text)))
    assert isinstance(answer, Delta)
    lone = any(0xD800 <= ord(character) <= 0xDFFF for character in text)
    assert lone or answer.text == text


def test_half_a_character_becomes_a_mark_instead_of_an_error() -> None:
    request = protocol.Complete(
        id=1, request=CompleteRequest(model="m", messages=(Message(role="user", content="a\ud83d"),))
    )
    assert json.loads(protocol.encode(request))["request"]["messages"][0]["content"] == "a\ufffd"


@pytest.mark.parametrize("line", [b"", b"[]", b"{}", b'{"op":"delete"}', b'{"op":"ping"}', b"\xff", b'{"op":'])
def test_what_is_no_request_is_refused(line: bytes) -> None:
    with pytest.raises(msgspec.DecodeError):
        protocol.decode_request(line)


def test_a_request_shown_in_a_traceback_holds_no_key_and_no_prompt() -> None:
    assert repr(REQUEST) == "CompleteRequest(model='openai/x', messages=3, tools=0)"
