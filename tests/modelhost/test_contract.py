"""The scripted host and the real one give the same events for the same script."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from pathlib import Path

import msgspec
import pytest
import pytest_asyncio

from milk_tui.core.records import Message, MessageToolCall
from milk_tui.modelhost.client import ModelHost
from milk_tui.modelhost.protocol import (
    CompleteRequest,
    Delta,
    Failed,
    HostEvent,
    Thinking,
    Timeouts,
    ToolCallMade,
    ToolDef,
    UsageGiven,
)
from tests.support.openai_server import OpenAIServer

pytestmark = [pytest.mark.slow, pytest.mark.asyncio(loop_scope="session")]

SCRIPTS = [
    "hello",
    "SCN:chunk 3 SCN:say hello there",
    "SCN:think hm SCN:say done",
    "SCN:chunk 2 SCN:say <think>hm</think> done",
    'SCN:say well SCN:tool look {"a": 1}SCN:tool look {broken',
    "SCN:empty",
    "SCN:think only",
    "SCN:say a SCN:finish length",
    "SCN:say a SCN:finish content_filter",
    "SCN:say a SCN:usage off",
    "SCN:say a SCN:cut",
    "SCN:say a SCN:cut clean",
    "SCN:say a SCN:malformed",
    "SCN:say a SCN:fail Overloaded",
    "SCN:say a SCN:stall",
    "SCN:slow 30",
    "SCN:type text/html",
    "SCN:err 401",
    "SCN:err 403",
    "SCN:err 404",
    "SCN:err 429 7",
    "SCN:err 500",
    "SCN:err 400 SCN:message tools are not supported",
    "SCN:say whole SCN:linger",
    "SCN:repeat 20 again",
    "SCN:huge 20000",
]


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def scripted_host(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[ModelHost]:
    log: Path = tmp_path_factory.mktemp("scripted") / "host.log"
    host = ModelHost(log, [sys.executable, "-m", "tests.support.scripted_host"])
    yield host
    await host.aclose()


async def events(host: ModelHost, script: str, base: str) -> list[HostEvent]:
    """Without ids, the wording of errors and the cache's history: everything else has to be the same."""

    request = CompleteRequest(
        model="openai/x",
        api_base=base,
        messages=(Message(role="system", content="You are."), Message(role="user", content=script)),
        tools=(ToolDef(name="look"),),
        timeouts=Timeouts(first_s=1.0 if "slow" in script else 30.0, idle_s=0.5),
    )
    found: list[HostEvent] = []
    async for event in host.complete(request):
        event = msgspec.structs.replace(event, id=0)
        match event:
            case ToolCallMade():
                event = msgspec.structs.replace(event, call_id="")
            case UsageGiven(usage=usage):
                event = UsageGiven(usage=msgspec.structs.replace(usage, cached_tokens=None))
            case Failed():
                event = msgspec.structs.replace(event, message="", hint="")
        found.append(event)
    return found


@pytest.mark.parametrize("script", SCRIPTS)
async def test_both_hosts_say_the_same(
    real_host: ModelHost, scripted_host: ModelHost, openai: OpenAIServer, script: str
) -> None:
    by_script = await events(scripted_host, script, "")
    by_server = await events(real_host, script, openai.url)
    assert by_script == by_server


async def test_tool_rounds_go_on_the_same(real_host: ModelHost, scripted_host: ModelHost, openai: OpenAIServer) -> None:
    script = "SCN:tool look {}\nSCN:then SCN:think so SCN:say seen"
    for host, base in ((scripted_host, ""), (real_host, openai.url)):
        first = await events(host, script, base)
        assert any(isinstance(event, ToolCallMade) for event in first)
        request = CompleteRequest(
            model="openai/x",
            api_base=base,
            messages=(
                Message(role="user", content=script),
                Message(role="assistant", tool_calls=(MessageToolCall(id="c", name="look", arguments="{}"),)),
                Message(role="tool", content="r", tool_call_id="c"),
            ),
        )
        second = [event async for event in host.complete(request)]
        assert [event.text for event in second if isinstance(event, Thinking)] == ["so"]
        assert [event.text for event in second if isinstance(event, Delta)] == ["seen"]
