"""Ollama, which speaks a protocol of its own, through the real host and the agent."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from milk_tui.agents.base import LegRequest, ToolSpec
from milk_tui.agents.events import LegEnd, Retrying, TextDelta
from milk_tui.agents.litellm_agent import LitellmAgent
from milk_tui.agents.litellm_settings import LitellmSettings
from milk_tui.core.records import ContextMode, ContextPlan, ErrorKind, Message, Role, Usage
from milk_tui.modelhost.client import ModelHost
from milk_tui.modelhost.protocol import CompleteRequest, Done, Failed, HostEvent, ToolCallMade, ToolDef, UsageGiven
from tests.modelhost.helpers import answer, calls_of, text_of, thoughts_of
from tests.support.ollama_server import OllamaServer

pytestmark = [pytest.mark.slow, pytest.mark.asyncio(loop_scope="session")]

LOOK = ToolDef(name="look", parameters={"type": "object", "properties": {}})
PLAN = ContextPlan(role=Role.PRIMARY, mode=ContextMode.FIRST, segments=())


@pytest_asyncio.fixture(loop_scope="session")
async def ollama() -> AsyncIterator[OllamaServer]:
    async with OllamaServer() as server:
        yield server


async def ask(host: ModelHost, server: OllamaServer, prompt: str, tools: tuple[ToolDef, ...] = ()) -> list[HostEvent]:
    messages = (Message(role="user", content=prompt),)
    return await answer(
        host, CompleteRequest(model="ollama_chat/qwen", api_base=server.url, messages=messages, tools=tools)
    )


async def test_text_thinking_and_tool_calls_arrive(real_host: ModelHost, ollama: OllamaServer) -> None:
    events = await ask(real_host, ollama, 'SCN:think hm SCN:say well SCN:tool look {"a": 1}', (LOOK,))
    assert (thoughts_of(events), text_of(events)) == ("hm", "well")
    assert calls_of(events) == [("look", '{"a": 1}')]
    assert all(event.call_id for event in events if isinstance(event, ToolCallMade))
    assert isinstance(events[-1], Done) and events[-1].stop == "tool_calls"
    usage = next(event.usage for event in events if isinstance(event, UsageGiven))
    assert usage != Usage() and usage.cost_usd is None


@pytest.mark.parametrize(
    ("prompt", "kind"),
    [
        ("SCN:err 404", ErrorKind.NOT_FOUND),
        ("SCN:err 500", ErrorKind.SERVER),
        ("SCN:say a SCN:cut", ErrorKind.CUT),
        ("SCN:say a SCN:cut clean", ErrorKind.CUT),
    ],
)
async def test_failures_have_their_kind(
    real_host: ModelHost, ollama: OllamaServer, prompt: str, kind: ErrorKind
) -> None:
    last = (await ask(real_host, ollama, prompt))[-1]
    assert isinstance(last, Failed) and last.kind is kind


async def test_its_models_and_their_window_are_known(real_host: ModelHost, ollama: OllamaServer) -> None:
    names = await real_host.models("ollama_chat", api_base=ollama.url)
    assert names == ("ollama_chat/llama3.2:3b", "ollama_chat/qwen2.5-coder:7b")
    info = await real_host.info("ollama_chat/qwen2.5-coder:7b", api_base=ollama.url)
    assert info.window_tokens == ollama.window and info.tools


async def test_the_agent_asks_for_a_context_that_holds_the_request(real_host: ModelHost, ollama: OllamaServer) -> None:
    agent = LitellmAgent("qwen", "ollama_chat/qwen", real_host, LitellmSettings(api_base=ollama.url))
    await agent.warm(PLAN)
    assert agent.caps.window_tokens == ollama.window
    for prompt, size in (("hello", 8_192), ("x" * 30_000, 16_384), ("x" * 300_000, ollama.window)):
        async for _ in agent.run(LegRequest(role=Role.PRIMARY, plan=PLAN, prompt=prompt)):
            pass
        assert ollama.requests[-1].body["options"]["num_ctx"] == size


async def test_a_model_without_tools_is_asked_again_without_them(real_host: ModelHost, ollama: OllamaServer) -> None:
    agent = LitellmAgent("qwen", "ollama_chat/qwen", real_host, LitellmSettings(api_base=ollama.url))
    prompt = "SCN:message registry.ollama.ai/library/qwen does not support tools SCN:flaky 1 400 SCN:say fine"
    look = ToolSpec("look", "Look.", {"type": "object", "properties": {}})
    request = LegRequest(role=Role.PRIMARY, plan=PLAN, prompt=prompt, tools=(look,))
    events = [event async for event in agent.run(request)]
    assert any(isinstance(event, Retrying) for event in events)
    assert "".join(event.text for event in events if isinstance(event, TextDelta)) == "fine"
    assert events[-1] == LegEnd("finished")
    assert "tools" in ollama.requests[0].body
    assert "tools" not in ollama.requests[-1].body
