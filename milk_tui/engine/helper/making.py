"""The runtime that the configuration names (``semantics.md`` §6)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from milk_tui.config import Config
from milk_tui.core.errors import ConfigError, MilkError
from milk_tui.core.records import Role
from milk_tui.engine.helper.runtimes import EmbeddedRuntime, LexicalRuntime, ModelRuntime, Runtime
from milk_tui.engine.roster import keyed
from milk_tui.modelhost.protocol import CompleteRequest, Timeouts

if TYPE_CHECKING:
    from milk_tui.embedded.manager import EmbeddedManager
    from milk_tui.modelhost.client import ModelHost

_SOURCE = "helper.model"


async def make(
    config: Config, host: Callable[[], ModelHost | None], embedded: Callable[[], EmbeddedManager]
) -> Runtime:
    """Raises MilkError when it can't be driven: no model named, a hosted one where only local ones are allowed."""
    wanted = config.helper
    match wanted.runtime:
        case "lexical":
            return LexicalRuntime()
        case "claude-cli":
            from milk_tui.engine.helper.claude import ClaudeRuntime

            _allowed(config, local=False)
            return ClaudeRuntime(wanted.command or ("claude",), wanted.model)
        case "embedded":
            return _embedded(wanted.model or config.embedded.size, _running(host), embedded)
        case _:
            return _litellm(config, _running(host), embedded)


def _running(host: Callable[[], ModelHost | None]) -> ModelHost:
    found = host()
    if found is None:
        raise MilkError("The memory helper's model can't be asked yet.", "The model host is starting.")
    return found


def _allowed(config: Config, *, local: bool) -> None:
    if config.privacy.local_only and not local:
        raise ConfigError("helper.runtime: only agents on this machine are allowed.", "See privacy.local_only.")


def _embedded(size: str, host: ModelHost, manager: Callable[[], EmbeddedManager]) -> Runtime:
    name = size.removeprefix("embedded:")

    async def request() -> CompleteRequest:
        endpoint = await manager().ready(name)
        return CompleteRequest(
            model=f"openai/{endpoint.model}",
            messages=(),
            api_base=endpoint.base_url,
            api_key=endpoint.api_key,
            max_tokens=80,
            timeouts=Timeouts(connect_s=10.0, first_s=300.0, idle_s=120.0),
        )

    return EmbeddedRuntime(name, host, request)


def _litellm(config: Config, host: ModelHost, manager: Callable[[], EmbeddedManager]) -> Runtime:
    from milk_tui.engine import agent_spec

    word = config.helper.model
    if not word:
        raise ConfigError("helper.model: missing.", 'Say which, such as model = "ollama_chat/qwen2.5-coder".')
    spec = agent_spec.from_word(config, Role.PRIMARY, word, _SOURCE)
    if spec.own_program:
        raise ConfigError(f"helper.model: {word} is a program of its own.", 'Set helper.runtime = "claude-cli".')
    if spec.embedded_size:
        return _embedded(spec.embedded_size, host, manager)
    _allowed(config, local=spec.local)
    base = CompleteRequest(
        model=spec.model,
        messages=(),
        api_base=spec.api_base,
        api_key_env=spec.api_key_env,
        temperature=spec.temperature,
        max_tokens=spec.max_tokens,
        timeouts=Timeouts(first_s=config.timeouts.first_byte, idle_s=config.timeouts.idle),
    )
    return ModelRuntime(keyed(host, spec), base, local=spec.local, tools=spec.tools is not False)
