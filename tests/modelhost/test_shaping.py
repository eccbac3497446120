"""What litellm is asked, from what the program asks the host."""

from __future__ import annotations

import pytest

from milk_tui.core.records import ErrorKind, Message, MessageToolCall
from milk_tui.modelhost import shaping
from milk_tui.modelhost.failures import StreamProblem
from milk_tui.modelhost.protocol import CompleteRequest

CONTROL = {"type": "ephemeral"}


def system(text: str, point: bool = True) -> Message:
    return Message(role="system", content=text, cache_point=point)


def user(text: str, point: bool = False) -> Message:
    return Message(role="user", content=text, cache_point=point)


def request(*messages: Message, ttl: str = "5m", **more: object) -> CompleteRequest:
    return CompleteRequest(model="m", messages=messages, cache_ttl=ttl, **more)  # type: ignore[arg-type]


def test_neighbours_of_the_same_role_become_one_message() -> None:
    shaped = shaping.messages(request(system("a"), system("b"), user("c"), user("d")), cached=False)
    assert shaped == [{"role": "system", "content": "a\n\nb"}, {"role": "user", "content": "c\n\nd"}]


def test_another_turn_leaves_every_earlier_byte_as_it_was() -> None:
    first = (system("a"), system("b"), user("c"), Message(role="assistant", content="d"))
    before = shaping.messages(request(*first), cached=False)
    after = shaping.messages(request(*first, user("e")), cached=False)
    assert after[: len(before)] == before


def test_cache_points_become_breakpoints_where_the_provider_reads_them() -> None:
    shaped = shaping.messages(request(system("a"), system("b", False), user("c", True)), cached=True)
    assert shaped == [
        {
            "role": "system",
            "content": [
                {"type": "text", "text": "a", "cache_control": CONTROL},
                {"type": "text", "text": "b"},
            ],
        },
        {"role": "user", "content": [{"type": "text", "text": "c", "cache_control": CONTROL}]},
    ]


def test_the_time_to_live_is_passed_on_and_none_means_no_breakpoint() -> None:
    hour = shaping.messages(request(system("a"), ttl="1h"), cached=True)
    assert hour[0]["content"][0]["cache_control"] == {"type": "ephemeral", "ttl": "1h"}
    assert "cache_control" not in shaping.messages(request(system("a"), ttl=""), cached=True)[0]["content"][0]


def test_at_most_four_breakpoints_the_first_three_and_the_last() -> None:
    points = [user(str(n), True) for n in range(6)]
    blocks = shaping.messages(request(*points), cached=True)[0]["content"]
    assert [block["text"] for block in blocks if "cache_control" in block] == ["0", "1", "2", "5"]


def test_an_empty_message_gets_no_breakpoint_and_no_block() -> None:
    assert shaping.messages(request(system(""), system("b")), cached=True)[0]["content"] == [
        {"type": "text", "text": "b", "cache_control": CONTROL}
    ]


def test_tool_calls_and_results_keep_their_ids_and_the_signed_thoughts_go_back() -> None:
    signed = [{"type": "thinking", "thinking": "hm", "signature": "s"}]
    call = MessageToolCall(id="c1", name="look", arguments='{"x":1}')
    shaped = shaping.messages(
        request(
            user("q"),
            Message(role="assistant", content="let me see", tool_calls=(call,)),
            Message(role="tool", content="seen", tool_call_id="c1", cache_point=True),
            thinking_blocks={1: signed},
        ),
        cached=True,
    )
    assert shaped[1]["thinking_blocks"] == signed
    assert shaped[1]["tool_calls"] == [
        {"id": "c1", "type": "function", "function": {"name": "look", "arguments": '{"x":1}'}}
    ]
    assert shaped[2] == {
        "role": "tool",
        "tool_call_id": "c1",
        "content": [{"type": "text", "text": "seen", "cache_control": CONTROL}],
    }


def test_the_key_comes_from_the_variable_that_is_named() -> None:
    wanted = CompleteRequest(model="openai/x", messages=(), api_key_env="MY_KEY", api_base="http://h")
    assert shaping.key(wanted, {"MY_KEY": " secret\n"}) == "secret"


def test_a_named_variable_that_is_not_set_is_an_error_that_names_it() -> None:
    wanted = CompleteRequest(model="openai/x", messages=(), api_key_env="MY_KEY")
    with pytest.raises(StreamProblem, match="MY_KEY") as caught:
        shaping.key(wanted, {"MY_KEY": " "})
    assert caught.value.kind is ErrorKind.AUTH


def test_an_address_of_ones_own_is_never_sent_the_key_of_the_provider() -> None:
    wanted = CompleteRequest(model="openai/x", messages=(), api_base="http://h")
    assert shaping.key(wanted, {"OPENAI_API_KEY": "real"}) == "none"


def test_without_an_address_the_provider_finds_its_own_key() -> None:
    assert shaping.key(CompleteRequest(model="openai/x", messages=()), {"OPENAI_API_KEY": "real"}) is None


IMAGE = "data:image/png;base64,AAAA"


def test_an_image_of_a_users_message_is_a_part_before_its_text() -> None:
    [shaped] = shaping.messages(
        CompleteRequest(model="m", messages=(Message(role="user", content="see", images=(IMAGE,)),)), cached=False
    )
    assert shaped["content"] == [
        {"type": "image_url", "image_url": {"url": IMAGE}},
        {"type": "text", "text": "see"},
    ]


def test_with_cache_points_the_images_stand_before_the_text_that_has_the_point() -> None:
    message = Message(role="user", content="see", images=(IMAGE,), cache_point=True)
    [shaped] = shaping.messages(CompleteRequest(model="m", messages=(message,), cache_ttl="5m"), cached=True)
    assert [block["type"] for block in shaped["content"]] == ["image_url", "text"]
    assert "cache_control" in shaped["content"][1]
