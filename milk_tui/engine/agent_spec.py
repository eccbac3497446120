"""An agent to be made, and how one is read from the word by which a person names it."""

from __future__ import annotations

import re
from typing import Literal

from msgspec import Struct

from milk_tui.config import EMBEDDED_SIZES, Config, Provider
from milk_tui.core import acp_presets, text
from milk_tui.core.errors import ConfigError
from milk_tui.core.records import Role
from milk_tui.engine.hosted import BARE_NAMES, Hosted, hosted_of, is_local
from milk_tui.engine.local_servers import LocalModel

EMBEDDED = "embedded:"
CLAUDE = ("claude",)
THE_PERSON = "you"
"""The source of an agent that the person names while a session is open."""

EMBEDDED_NAMES = {"small": "qwen-0.5b", "tiny": "smollm2", "medium": "qwen-1.5b"}
"""What an embedded model is called in a session when nobody named it."""


class AgentSpec(Struct, frozen=True, kw_only=True):
    """Everything that a back end needs to know to make an agent."""

    name: str
    """What people and the other agent call it; unique in the session."""
    role: Role
    model: str
    """litellm's name, ``embedded:SIZE``, or the model of a program of its own (empty: the program's default)."""
    provider: Provider = Provider.LITELLM
    api_base: str = ""
    api_key_env: str = ""
    """The variable that holds the key; empty: none is needed."""
    api_key_command: tuple[str, ...] = ()
    """The program that prints the key."""
    tools: bool | Literal["auto", "text"] = "auto"
    grammar: bool | Literal["auto"] = "auto"
    window_tokens: int | None = None
    max_tokens: int | None = None
    temperature: float | None = None
    command: tuple[str, ...] = ()
    source: str = ""
    """Where it was found, such as ``Ollama at 127.0.0.1:11434``."""

    @property
    def embedded_size(self) -> str:
        """``small``, ``tiny``, ``medium``; empty for an agent that is not embedded."""
        return self.model.removeprefix(EMBEDDED) if self.provider is Provider.EMBEDDED else ""

    @property
    def own_program(self) -> bool:
        """True for an agent that is a program of its own."""
        return self.provider in (Provider.CLAUDE_CLI, Provider.ACP)

    @property
    def shown(self) -> str:
        """What drives it, for people."""
        return self.model or " ".join(self.command[:2]) or self.provider.value

    @property
    def local(self) -> bool:
        """True when nothing leaves this machine; nobody knows what a program of its own sends."""
        if self.own_program:
            return False
        return self.provider is Provider.EMBEDDED or is_local(self.model, self.api_base)


def from_word(config: Config, role: Role, word: str, source: str) -> AgentSpec:
    """The agent that ``word`` names: an agent of the config (case ignored), ``embedded:SIZE`` or
    ``embedded``, or a litellm model. Raises ``ConfigError`` when it is none of these; ``source`` says who
    said it."""
    name = next((name for name in config.agents if name.lower() == word.lower()), None)
    if name is not None:
        return from_config(config, role, name, source)
    own = program(role, word, source)
    if own is not None:
        return own
    if word == "embedded" or word.startswith(EMBEDDED):
        size = word.removeprefix("embedded").removeprefix(":") or config.embedded.size
        if size not in EMBEDDED_SIZES:
            known = ", ".join(EMBEDDED + size for size in EMBEDDED_SIZES)
            raise ConfigError(f"{_where(source)} no embedded model {_shown(word)}.", f"Known: {known}.")
        return embedded(role, size, source)
    if _shown(word) != f"'{word}'" or not ("/" in word.strip("/") or word.startswith(BARE_NAMES)):
        raise ConfigError(f"{_where(source)} no agent {_shown(word)}.", _suggestion(config, word))
    hosted = hosted_of(word)
    return AgentSpec(
        name=short_name(word), role=role, model=word, api_key_env=hosted.key if hosted else "", source=source
    )


def _where(source: str) -> str:
    return "There is" if source == THE_PERSON else f"{source}:"


def from_config(config: Config, role: Role, name: str, source: str) -> AgentSpec:
    """The agent ``[agents.NAME]``."""
    agent = config.agents[name]
    model = agent.model
    command = agent.command
    if not command and agent.provider is Provider.CLAUDE_CLI:
        command = CLAUDE
    elif not command and agent.provider is Provider.ACP and (known := acp_presets.preset(name)):
        command = known.command
    if agent.provider is Provider.EMBEDDED:
        model = EMBEDDED + (agent.model.removeprefix(EMBEDDED) or config.embedded.size)
    key = agent.api_key_env
    if not key and not agent.api_key_command and not agent.api_base and agent.provider is Provider.LITELLM:
        hosted = hosted_of(model)
        key = hosted.key if hosted else ""
    return AgentSpec(
        name=name,
        role=role,
        model=model,
        provider=agent.provider,
        api_base=agent.api_base,
        api_key_env=key,
        api_key_command=agent.api_key_command,
        tools=agent.tools,
        grammar=agent.grammar,
        window_tokens=agent.window_tokens,
        max_tokens=agent.max_tokens,
        temperature=agent.temperature,
        command=command,
        source=source,
    )


def program(role: Role, word: str, source: str) -> AgentSpec | None:
    """The agent of that word that is a program of its own: ``claude``, an ACP preset, either with ``:MODEL``."""
    name, _, model = word.partition(":")
    if name.lower() == "claude":
        return AgentSpec(
            name="claude", role=role, model=model, provider=Provider.CLAUDE_CLI, command=CLAUDE, source=source
        )
    known = acp_presets.preset(name)
    if known is None:
        return None
    return AgentSpec(
        name=known.name, role=role, model=model, provider=Provider.ACP, command=known.command, source=source
    )


def embedded(role: Role, size: str, source: str) -> AgentSpec:
    return AgentSpec(
        name=EMBEDDED_NAMES[size], role=role, model=EMBEDDED + size, provider=Provider.EMBEDDED, source=source
    )


def served(role: Role, model: LocalModel) -> AgentSpec:
    """An agent for a model that a local server offers."""
    return AgentSpec(
        name=short_name(model.model),
        role=role,
        model=model.model,
        api_base=model.server.api_base,
        window_tokens=model.window_tokens,
        source=f"{model.server.name} at {model.server.address}",
    )


def opened(role: Role, hosted: Hosted) -> AgentSpec:
    """An agent for the model that a provider's key opens."""
    model = hosted.model(role)
    return AgentSpec(name=short_name(model), role=role, model=model, api_key_env=hosted.key, source=hosted.key)


def short_name(model: str) -> str:
    """A name for people from a model's: its last part without tag, date, file ending and quantisation.

    ``ollama_chat/qwen2.5-coder:7b`` → ``qwen2.5-coder``. At most 24 characters, all allowed in a name.
    """
    name = re.split(r"[/\\]", model.rstrip("/\\:"))[-1]
    name = re.split(r"[:@]", name)[0]
    name = re.sub(r"\.(gguf|bin|safetensors)$", "", name, flags=re.IGNORECASE)
    name = re.sub(_NOISE, "", name, flags=re.IGNORECASE)
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-._")
    return name[:24].rstrip("-._").lower() or "model"


_NOISE = r"[-_.](\d{8}|\d{4}-\d{2}-\d{2}|latest|instruct|i?q\d\w*|gguf|fp16|bf16|awq|gptq)(?=$|[-_.])"


def _shown(word: str) -> str:
    return f"'{text.one_line(word, 60)}'"


def _suggestion(config: Config, word: str) -> str:
    import difflib

    close = difflib.get_close_matches(word[:60], list(config.agents), n=1, cutoff=0.5)
    if close:
        return f"Did you mean {close[0]}?"
    known = f"an agent of the config ({', '.join(config.agents)}), " if config.agents else ""
    return f"Name {known}a model such as ollama_chat/qwen2.5-coder, claude, or embedded:small."
