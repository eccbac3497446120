"""Providers that misbehave, through the real host (``quality.md``, providers row)."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from milk_tui.core.records import ErrorKind, Message, MessageToolCall, Usage
from milk_tui.modelhost.client import HostState, ModelHost, ModelHostError
from milk_tui.modelhost.protocol import (
    CompleteRequest,
    Delta,
    Done,
    Failed,
    Timeouts,
    ToolCallMade,
    ToolDef,
)
from tests.modelhost.conftest import HOST_KEY
from tests.modelhost.helpers import answer, calls_of, text_of, thoughts_of, usage_of
from tests.support.anthropic_server import AnthropicServer
from tests.support.openai_server import OpenAIServer
from tests.support.polling import until

pytestmark = [pytest.mark.slow, pytest.mark.asyncio(loop_scope="session")]

Server = OpenAIServer | AnthropicServer
CLAUDE = "anthropic/claude-sonnet-4-5"
LOOK = ToolDef(name="look", description="Look at it.", parameters={"type": "object", "properties": {}})


@pytest.fixture(params=["openai", "anthropic"])
def server(request: pytest.FixtureRequest) -> Iterator[Server]:
    yield request.getfixturevalue(request.param)


def asked(server: Server, prompt: str, **more: Any) -> CompleteRequest:
    model = "openai/loopback" if isinstance(server, OpenAIServer) else CLAUDE
    fields: dict[str, Any] = {"model": model, "api_base": server.url, "api_key_env": "MILK_TEST_KEY"}
    fields["messages"] = (Message(role="user", content=prompt),)
    return CompleteRequest(**{**fields, **more})


def written(path: Path) -> str:
    return path.read_text("utf-8")


async def test_an_answer_streams_piece_by_piece_with_its_usage(real_host: ModelHost, server: Server) -> None:
    events = await answer(real_host, asked(server, "SCN:chunk 3 SCN:say hello there"))
    assert [event.text for event in events if isinstance(event, Delta)] == ["hel", "lo ", "the", "re"]
    assert usage_of(events).known
    assert events[-1] == Done(id=events[-1].id, stop="finished")


async def test_an_answer_that_is_not_streamed_is_the_same(real_host: ModelHost, server: Server) -> None:
    streamed = await answer(real_host, asked(server, "SCN:say hello SCN:tool look {}", tools=(LOOK,)))
    whole = await answer(real_host, asked(server, "SCN:say hello SCN:tool look {}", tools=(LOOK,), stream=False))
    assert text_of(whole) == text_of(streamed) == "hello"
    assert calls_of(whole) == calls_of(streamed) == [("look", "{}")]
    assert usage_of(whole).known
    assert isinstance(whole[-1], Done) and whole[-1].stop == "tool_calls"


async def test_a_provider_that_reports_no_usage_has_unknown_usage(real_host: ModelHost, openai: OpenAIServer) -> None:
    assert usage_of(await answer(real_host, asked(openai, "SCN:say hello SCN:usage off"))) == Usage()


async def test_reasoning_is_told_apart_from_the_answer(real_host: ModelHost, server: Server) -> None:
    events = await answer(real_host, asked(server, "SCN:think let me see SCN:say done"))
    assert (thoughts_of(events), text_of(events)) == ("let me see", "done")


async def test_reasoning_inside_the_text_is_told_apart_too(real_host: ModelHost, openai: OpenAIServer) -> None:
    events = await answer(real_host, asked(openai, "SCN:chunk 3 SCN:say <think>let me see</think>\\n\\ndone"))
    assert (thoughts_of(events), text_of(events)) == ("let me see", "done")


async def test_reasoning_only_ends_without_text(real_host: ModelHost, server: Server) -> None:
    events = await answer(real_host, asked(server, "SCN:think hm"))
    assert (thoughts_of(events), text_of(events)) == ("hm", "")
    assert isinstance(events[-1], Done)


async def test_an_empty_answer_ends_without_text(real_host: ModelHost, server: Server) -> None:
    events = await answer(real_host, asked(server, "SCN:empty"))
    assert text_of(events) == "" and isinstance(events[-1], Done)


async def test_tool_calls_arrive_whole_and_broken_ones_as_they_were_written(
    real_host: ModelHost, server: Server
) -> None:
    prompt = 'SCN:say well SCN:tool look {"at": "it"}SCN:tool look {brokenSCN:tool look'
    events = await answer(real_host, asked(server, prompt, tools=(LOOK,)))
    assert calls_of(events) == [("look", '{"at": "it"}'), ("look", "{broken"), ("look", "")]
    assert len({event.call_id for event in events if isinstance(event, ToolCallMade)}) == 3
    assert isinstance(events[-1], Done) and events[-1].stop == "tool_calls"


@pytest.mark.parametrize(
    ("directives", "kind"),
    [
        ("SCN:err 401", ErrorKind.AUTH),
        ("SCN:err 403", ErrorKind.AUTH),
        ("SCN:err 404", ErrorKind.NOT_FOUND),
        ("SCN:err 429", ErrorKind.RATE_LIMIT),
        ("SCN:err 500", ErrorKind.SERVER),
        ("SCN:err 503", ErrorKind.SERVER),
        ("SCN:err 529", ErrorKind.SERVER),
        ("SCN:err 400 SCN:message tools: not supported by this model", ErrorKind.BAD_REQUEST),
        ("SCN:err 400 SCN:message This model's maximum context length is 10 tokens", ErrorKind.CONTEXT_TOO_LONG),
        ("SCN:cut", ErrorKind.CUT),
        ("SCN:say some text SCN:cut", ErrorKind.CUT),
        ("SCN:say some text SCN:cut clean", ErrorKind.CUT),
        ("SCN:say some text SCN:fail Overloaded", ErrorKind.SERVER),
        ("SCN:type text/html", ErrorKind.BAD_ANSWER),
        ("SCN:type application/json", ErrorKind.BAD_ANSWER),
        ("SCN:say x SCN:finish content_filter", ErrorKind.REFUSED),
    ],
)
async def test_each_way_to_fail_has_its_kind_and_a_message(
    real_host: ModelHost, server: Server, directives: str, kind: ErrorKind
) -> None:
    last = (await answer(real_host, asked(server, directives)))[-1]
    assert isinstance(last, Failed) and last.kind is kind
    assert last.message and last.hint and "\n" not in last.message
    after = await answer(real_host, asked(server, "SCN:say usable"))
    assert text_of(after) == "usable"


async def test_a_web_page_instead_of_a_whole_answer_is_a_bad_answer(real_host: ModelHost, openai: OpenAIServer) -> None:
    last = (await answer(real_host, asked(openai, "SCN:type text/html", stream=False)))[-1]
    assert isinstance(last, Failed) and last.kind is ErrorKind.BAD_ANSWER


async def test_a_piece_that_is_no_json_is_a_failure(real_host: ModelHost, server: Server) -> None:
    last = (await answer(real_host, asked(server, "SCN:say a SCN:malformed SCN:say b")))[-1]
    assert isinstance(last, Failed)
    assert last.kind in (ErrorKind.BAD_ANSWER, ErrorKind.CUT)


async def test_what_came_before_a_failure_is_kept(real_host: ModelHost, server: Server) -> None:
    events = await answer(real_host, asked(server, "SCN:say kept SCN:cut"))
    assert text_of(events) == "kept"


async def test_a_rate_limit_says_how_long_to_wait(real_host: ModelHost, server: Server) -> None:
    last = (await answer(real_host, asked(server, "SCN:err 429 3")))[-1]
    assert isinstance(last, Failed) and last.retry_after_s == 3.0


@pytest.mark.parametrize("directives", ["SCN:slow 30", "SCN:stall", "SCN:say begun SCN:stall"])
async def test_silence_before_or_in_an_answer_ends_in_time(
    real_host: ModelHost, server: Server, directives: str
) -> None:
    impatient = Timeouts(first_s=0.5, idle_s=0.5)
    last = (await answer(real_host, asked(server, directives, timeouts=impatient)))[-1]
    assert isinstance(last, Failed) and last.kind is ErrorKind.TIMEOUT
    await until(lambda: server.dropped == 1)


async def test_an_answer_that_is_whole_counts_although_the_connection_stays_open(
    real_host: ModelHost, server: Server
) -> None:
    impatient = Timeouts(first_s=30, idle_s=0.5)
    events = await answer(real_host, asked(server, "SCN:say whole SCN:linger", timeouts=impatient))
    assert text_of(events) == "whole" and isinstance(events[-1], Done)
    await until(lambda: server.dropped == 1)


async def test_a_slow_answer_that_keeps_coming_is_not_cut_off(real_host: ModelHost, server: Server) -> None:
    patient = Timeouts(first_s=30, idle_s=1)
    events = await answer(real_host, asked(server, "SCN:chunk 1 SCN:delay 0.15 SCN:say slow answer", timeouts=patient))
    assert text_of(events) == "slow answer"


async def test_nobody_listening_is_unreachable(real_host: ModelHost, server: Server) -> None:
    request = asked(server, "hello", api_base="http://127.0.0.1:9")
    last = (await answer(real_host, request))[-1]
    assert isinstance(last, Failed) and last.kind is ErrorKind.UNREACHABLE
    assert "127.0.0.1:9" in last.message


@pytest.mark.parametrize(
    ("fields", "kind"),
    [
        ({"model": "nobody-knows-me"}, ErrorKind.NOT_FOUND),
        ({"model": "openai/x", "api_key_env": "MILK_NO_SUCH_VARIABLE"}, ErrorKind.AUTH),
        ({"model": "ollama_chat/x", "api_base": "http://127.0.0.1:9"}, ErrorKind.UNREACHABLE),
    ],
)
async def test_what_can_t_be_asked_fails_with_a_hint(
    real_host: ModelHost, fields: dict[str, Any], kind: ErrorKind
) -> None:
    request = CompleteRequest(messages=(Message(role="user", content="hello"),), **fields)
    last = (await answer(real_host, request))[-1]
    assert isinstance(last, Failed) and last.kind is kind
    assert last.hint


async def test_a_huge_piece_arrives_whole(real_host: ModelHost, server: Server) -> None:
    assert len(text_of(await answer(real_host, asked(server, "SCN:huge 1000000")))) == 1_000_000


async def test_the_same_piece_many_times_is_no_error(real_host: ModelHost, server: Server) -> None:
    events = await answer(real_host, asked(server, "SCN:repeat 300 again,"))
    assert text_of(events) == "again," * 300


async def test_a_role_that_comes_late_or_wrong_does_no_harm(real_host: ModelHost, openai: OpenAIServer) -> None:
    assert text_of(await answer(real_host, asked(openai, "SCN:say fine SCN:role user"))) == "fine"


async def test_escapes_and_half_characters_pass_as_data(real_host: ModelHost, openai: OpenAIServer) -> None:
    events = await answer(real_host, asked(openai, "SCN:chunk 1 SCN:say \\e[31m\\ud83d\\u202e\\x00end"))
    assert text_of(events).endswith("end") and "\x1b[31m" in text_of(events)


async def test_stopping_closes_the_connection(real_host: ModelHost, server: Server) -> None:
    task = asyncio.create_task(answer(real_host, asked(server, "SCN:say begun SCN:stall")))
    await until(lambda: server.open == 1)
    task.cancel()
    await until(lambda: server.dropped == 1, timeout_s=5)
    assert server.open == 0


async def test_stopping_before_the_first_byte_closes_the_connection(real_host: ModelHost, server: Server) -> None:
    task = asyncio.create_task(answer(real_host, asked(server, "SCN:slow 30")))
    await until(lambda: server.open == 1)
    task.cancel()
    await until(lambda: server.dropped == 1, timeout_s=5)


async def test_answers_run_side_by_side(real_host: ModelHost, openai: OpenAIServer) -> None:
    slow = asyncio.create_task(answer(real_host, asked(openai, "SCN:say slow SCN:stall")))
    await until(lambda: openai.open == 1)
    assert text_of(await answer(real_host, asked(openai, "SCN:say quick"))) == "quick"
    slow.cancel()


async def test_what_the_request_says_reaches_the_body(real_host: ModelHost, openai: OpenAIServer) -> None:
    schema = {"type": "json_schema", "json_schema": {"name": "d", "schema": {"type": "object", "properties": {}}}}
    await answer(
        real_host,
        asked(
            openai,
            "hello",
            tools=(LOOK,),
            temperature=0.25,
            max_tokens=7,
            stop=("END",),
            response_format=schema,
            extra_body={"grammar": "root ::= x", "cache_prompt": True},
            params={"seed": 5, "api_base": "http://127.0.0.1:9"},
        ),
    )
    body = openai.requests[-1].body
    assert body["temperature"] == 0.25 and body["max_tokens"] == 7 and body["stop"] == ["END"]
    assert body["response_format"] == schema
    assert body["grammar"] == "root ::= x" and body["cache_prompt"] is True
    assert body["seed"] == 5
    assert body["tools"][0]["function"]["name"] == "look"


async def test_a_schema_is_kept_by_the_scripted_model(real_host: ModelHost, openai: OpenAIServer) -> None:
    schema = {"type": "object", "properties": {"action": {"enum": ["answer"]}, "text": {"type": "string"}}}
    wanted = {"type": "json_schema", "json_schema": {"name": "d", "schema": schema}}
    events = await answer(real_host, asked(openai, "hi you", response_format=wanted))
    assert json.loads(text_of(events)) == {"action": "answer", "text": "hi you"}


async def test_the_key_goes_to_the_server_it_is_named_for_and_nowhere_else(
    real_host: ModelHost, server: Server
) -> None:
    await answer(real_host, asked(server, "hello"))
    await answer(real_host, asked(server, "hello", api_key_env=""))
    with_key, without = (json.dumps(request.headers) for request in server.requests)
    assert HOST_KEY in with_key
    assert "canary" not in without


async def test_an_error_that_quotes_the_key_is_shown_without_it(real_host: ModelHost, openai: OpenAIServer) -> None:
    last = (await answer(real_host, asked(openai, "SCN:err 401")))[-1]
    assert isinstance(last, Failed)
    assert HOST_KEY not in last.message and "[redacted]" in last.message


async def test_cache_points_reach_anthropic_as_breakpoints_and_the_cache_is_read(
    real_host: ModelHost, anthropic: AnthropicServer
) -> None:
    static = Message(role="system", content="static text " * 50, cache_point=True)
    frame = Message(role="system", content="frame", cache_point=True)
    prompts = [Message(role="user", content="one"), Message(role="user", content="two")]
    first = await answer(real_host, asked(anthropic, "", messages=(static, frame, prompts[0]), cache_ttl="1h"))
    second = await answer(real_host, asked(anthropic, "", messages=(static, frame, prompts[1]), cache_ttl="1h"))
    blocks = anthropic.requests[-1].body["system"]
    assert [block["text"] for block in blocks] == [static.content, "frame"]
    assert all(block["cache_control"] == {"type": "ephemeral", "ttl": "1h"} for block in blocks)
    written, read = usage_of(first).cache_write_tokens, usage_of(second).cached_tokens
    assert written and read == written
    assert usage_of(second).cost_usd


async def test_a_tool_loop_with_signed_thinking_goes_back_unchanged(
    real_host: ModelHost, anthropic: AnthropicServer
) -> None:
    question = Message(role="user", content='SCN:think hm SCN:tool look {"a": 1}\nSCN:then SCN:say done')
    thinking = {"params": {"thinking": {"type": "enabled", "budget_tokens": 1024}}, "max_tokens": 4096}
    first = await answer(
        real_host, asked(anthropic, "", messages=(question,), tools=(LOOK,), cache_ttl="5m", **thinking)
    )
    call = next(event for event in first if isinstance(event, ToolCallMade))
    assert isinstance(first[-1], Done)
    made = MessageToolCall(id=call.call_id, name=call.name, arguments=call.arguments)
    result = Message(role="tool", content="seen", tool_call_id=call.call_id, cache_point=True)
    second = await answer(
        real_host,
        asked(
            anthropic,
            "",
            messages=(question, Message(role="assistant", tool_calls=(made,)), result),
            tools=(LOOK,),
            cache_ttl="5m",
            thinking_blocks={1: first[-1].thinking_blocks},
            **thinking,
        ),
    )
    assert text_of(second) == "done"
    sent = anthropic.requests[-1].body["messages"]
    assert sent[1]["content"][0] == {"type": "thinking", "thinking": "hm", "signature": "signed-0"}
    assert sent[1]["content"][1]["input"] == {"a": 1}
    assert "cache_control" in json.dumps(sent[2])


async def test_a_broken_call_in_the_thread_can_be_sent_again(real_host: ModelHost, server: Server) -> None:
    call = MessageToolCall(id="c1", name="look", arguments="{broken")
    messages = (
        Message(role="user", content="SCN:then SCN:say on we go"),
        Message(role="assistant", tool_calls=(call,)),
        Message(role="tool", content="The arguments are broken.", tool_call_id="c1"),
    )
    assert text_of(await answer(real_host, asked(server, "", messages=messages, tools=(LOOK,)))) == "on we go"


async def test_a_cost_is_known_only_for_models_with_a_price(
    real_host: ModelHost, openai: OpenAIServer, anthropic: AnthropicServer
) -> None:
    assert usage_of(await answer(real_host, asked(openai, "hello"))).cost_usd is None
    assert usage_of(await answer(real_host, asked(anthropic, "hello"))).cost_usd


async def test_questions_about_models(real_host: ModelHost, openai: OpenAIServer) -> None:
    served = await real_host.models("openai", api_base=openai.url)
    assert served == ("openai/loopback", "openai/loopback-large")
    assert CLAUDE in await real_host.models("anthropic")
    known = await real_host.info(CLAUDE)
    assert known.window_tokens and known.tools and known.priced
    unknown = await real_host.info("openai/nobody-knows-me")
    assert unknown.window_tokens is None and not unknown.priced
    counted = await real_host.count("openai/gpt-4", "hello world")
    assert (counted.tokens, counted.estimated) == (2, False)
    assert (await real_host.count("ollama_chat/qwen", "hello world")).estimated
    with pytest.raises(ModelHostError) as caught:
        await real_host.models("openai", api_base="http://127.0.0.1:9/v1")
    assert caught.value.kind is ErrorKind.UNREACHABLE


async def test_the_log_holds_neither_keys_nor_prompts(real_host: ModelHost, server: Server, host_log: Path) -> None:
    prompts = ["canary-prompt SCN:err 500", "canary-prompt SCN:err 401", "canary-prompt SCN:say x SCN:malformed"]
    for prompt in prompts:
        await answer(real_host, asked(server, prompt))
    await answer(real_host, asked(server, "SCN:err 400 SCN:message canary-prompt is not allowed"))
    log = written(host_log)
    assert "litellm is ready" in log and "server after" in log
    assert "canary" not in log
    assert real_host.state is HostState.READY
