"""Tokens are asked of the model host and remembered; without it they are estimated, and say so."""

from __future__ import annotations

from milk_tui.core.token_sizes import Tokens, estimate
from milk_tui.engine.token_counts import TokenCounter
from tests.engine.conftest import Stage
from tests.support.polling import until

EXACT, GUESSED = "openai/gpt-4", "ollama_chat/qwen"


async def test_without_a_host_sizes_are_estimated() -> None:
    counter = TokenCounter(lambda: None)
    assert await counter.count(EXACT, ["", "12345"]) == [Tokens(0, estimated=False), estimate(5)]


async def test_a_host_says_whether_it_has_the_models_own_tokenizer(stage: Stage) -> None:
    await until(lambda: stage.workspace.host.state == "ready", what="host")
    counter = stage.workspace.tokens
    assert await counter.count(EXACT, ["12345678", "1"]) == [Tokens(2, estimated=False), Tokens(1, estimated=False)]
    assert await counter.count(GUESSED, ["12345678"]) == [Tokens(2, estimated=True)]


async def test_what_was_counted_once_is_not_asked_again(stage: Stage) -> None:
    await until(lambda: stage.workspace.host.state == "ready", what="host")
    counter = stage.workspace.tokens
    first = await counter.count(EXACT, ["the same text"])
    await stage.workspace.host.aclose()
    assert await counter.count(EXACT, ["the same text"]) == first
    assert (await counter.count(EXACT, ["another text"]))[0].estimated
