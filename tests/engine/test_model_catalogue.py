"""The models that a person may choose from, with what is known about them."""

from __future__ import annotations

from pathlib import Path

import pytest

from milk_tui.config import AgentConfig, Config, PrivacyConfig
from milk_tui.core.records import Role
from milk_tui.engine import model_catalogue
from milk_tui.engine.model_catalogue import Offer, offers, opened, typed
from tests.engine.conftest import Stage
from tests.support.ollama_server import OllamaServer

CONFIG = Config(agents={"mine": AgentConfig(model="openai/gpt-made"), "near": AgentConfig(model="ollama_chat/near")})


async def last(config: Config, stage: Stage, recent=None, environ=None) -> dict[str, Offer]:
    environ = {"OPENAI_API_KEY": "x", "MILK_TUI_PROBE_PORTS": "none"} if environ is None else environ
    found = [each async for each in offers(config, Role.PRIMARY, stage.workspace.host, recent or {}, environ)]
    return {offer.spec.model: offer for offer in found[-1]}


async def test_what_a_key_opens_comes_with_window_and_price(stage: Stage) -> None:
    found = await last(Config(), stage)
    made = found["openai/gpt-made"]
    assert (made.group, made.window_tokens, made.input_usd) == ("OpenAI", 128_000, 2.5e-06)
    assert made.spec.api_key_env == "OPENAI_API_KEY"
    assert (found["openai/gpt-other"].window_tokens, found["openai/gpt-other"].input_usd) == (None, None)
    assert "openai/tts-made" not in found
    assert found["embedded:small"].input_usd == 0.0


async def test_the_configs_own_come_first_and_know_what_the_list_knows(stage: Stage) -> None:
    found = await last(CONFIG, stage)
    assert next(iter(found)) == "openai/gpt-made"
    assert (found["openai/gpt-made"].group, found["openai/gpt-made"].window_tokens) == ("config", 128_000)


async def test_what_was_used_last_stands_first(stage: Stage) -> None:
    found = await last(CONFIG, stage, {("embedded:tiny", "smollm2"): 5, ("ollama_chat/near", "x"): 9})
    assert list(found)[:2] == ["ollama_chat/near", "embedded:tiny"]


async def test_the_models_of_a_local_server_are_there(stage: Stage) -> None:
    async with OllamaServer() as server:
        found = await last(Config(), stage, environ={"MILK_TUI_PROBE_PORTS": f"Ollama={server.port}"})
    local = [offer for offer in found.values() if offer.group == "local"]
    assert local and all(offer.input_usd == 0.0 and offer.spec.api_base for offer in local)


async def test_nothing_hosted_is_offered_where_only_local_ones_are_allowed(stage: Stage) -> None:
    found = await last(Config(privacy=PrivacyConfig(local_only=True)), stage)
    assert not [model for model in found if model.startswith("openai/")]


async def test_recent_models_are_those_that_worked(stage: Stage) -> None:
    await stage.say("SCN:say hello")
    recent = await stage.workspace.players.recent()
    assert ("openai/fast", "fast") in recent


def test_the_keys_that_are_set_open_their_providers() -> None:
    assert opened({"GROQ_API_KEY": "x", "OPENROUTER_API_KEY": "y", "XAI_API_KEY": ""}) == {
        "groq": "GROQ_API_KEY",
        "openrouter": "OPENROUTER_API_KEY",
    }


@pytest.mark.parametrize(
    ("word", "model"),
    [("openai/new-one", "openai/new-one"), ("embedded:tiny", "embedded:tiny"), ("claude:opus", "opus"), ("x y", None)],
)
def test_a_typed_name_is_an_offer_when_it_can_be_a_model(word: str, model: str | None, tmp_path: Path) -> None:
    offer = typed(Config(), Role.PRIMARY, word)
    assert (offer.spec.model if offer else None) == model


def test_one_model_is_offered_once() -> None:
    offer = typed(Config(), Role.PRIMARY, "openai/a")
    assert offer is not None
    assert len(model_catalogue.ranked([offer, offer], {})) == 1
