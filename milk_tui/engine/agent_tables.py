"""An agent as the config says it: which fields each kind has, its table, and the changes that make it the default."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from milk_tui.config import AgentConfig, Config, Provider
from milk_tui.config_file import AGENT_NAME
from milk_tui.core import acp_presets
from milk_tui.core.errors import ConfigError
from milk_tui.core.records import Role
from milk_tui.engine import agent_spec
from milk_tui.engine.agent_spec import AgentSpec

FIELDS: Mapping[Provider, tuple[str, ...]] = {
    Provider.LITELLM: (
        "model",
        "api_base",
        "api_key_env",
        "api_key_command",
        "tools",
        "grammar",
        "window_tokens",
        "max_tokens",
        "temperature",
    ),
    Provider.EMBEDDED: ("model",),
    Provider.CLAUDE_CLI: ("model", "command"),
    Provider.ACP: ("command", "model"),
}
"""What can be said about an agent of each kind; anything else means nothing there."""

KINDS: Mapping[Provider, tuple[str, str]] = {
    Provider.LITELLM: ("a model", "any model that litellm knows: hosted with a key, or a server of your own"),
    Provider.EMBEDDED: ("embedded", "a small model that runs here; no key, no server"),
    Provider.CLAUDE_CLI: ("Claude Code", "your own claude program, with its own login and tools"),
    Provider.ACP: ("an ACP program", "any agent that speaks the Agent Client Protocol"),
}
"""Kind → its name, and what it is."""

_LONGEST_NAME = 32


def table_of(spec: AgentSpec) -> dict[str, Any]:
    """``[agents.NAME]`` for the agent; what has its default is ``None``."""
    default = AgentConfig()
    model = spec.embedded_size or spec.model
    known = acp_presets.preset(spec.name)
    usual = known.command if known else agent_spec.CLAUDE if spec.provider is Provider.CLAUDE_CLI else ()
    values: dict[str, Any] = {
        "model": model or None,
        "provider": None if spec.provider is default.provider else spec.provider.value,
        "command": list(spec.command) if spec.own_program and spec.command != usual else None,
        "api_base": spec.api_base or None,
        "api_key_env": spec.api_key_env or None,
        "api_key_command": list(spec.api_key_command) or None,
    }
    for name in ("tools", "grammar", "window_tokens", "max_tokens", "temperature"):
        value = getattr(spec, name)
        values[name] = None if value == getattr(default, name) else value
    return values


def word_of(config: Config, spec: AgentSpec) -> str:
    """The word that means just this agent; empty when it needs a table of its own."""
    words = [spec.name, spec.model]
    if spec.own_program:
        words = [spec.name, f"{spec.name}:{spec.model}"]
    for word in filter(None, words):
        try:
            meant = agent_spec.from_word(config, spec.role, word, spec.source)
        except ConfigError:
            continue
        if _like(meant) == _like(spec):
            return word
    return ""


def default_changes(config: Config, spec: AgentSpec) -> tuple[dict[tuple[str, ...], Any], str]:
    """The changes of the config that make the agent the default of its role, and the word for it there."""
    role = spec.role.value
    changes: dict[tuple[str, ...], Any] = {}
    word = word_of(config, spec)
    if not word:
        word = free_name(config, spec.name)
        changes |= {("agents", word, key): value for key, value in table_of(spec).items() if value is not None}
    changes["session", role] = word
    return changes, word


def assign_changes(config: Config, role: Role, name: str) -> dict[tuple[str, ...], Any]:
    """The changes that give a role to an agent of the config; a role that it had goes to whom that one had before.

    Raises ConfigError when the two would be the same.
    """
    other = config.named(role.other)
    changes: dict[tuple[str, ...], Any] = {("session", role.value): name}
    if other.lower() == name.lower():
        changes["session", role.other.value] = config.named(role) or None
        if not config.named(role):
            for each in Role:
                if (agent := config.agents.get(name)) is not None and agent.role is each:
                    changes["agents", name, "role"] = None
    return changes


def free_name(config: Config, proposed: str) -> str:
    """The proposed name, or one like it that no agent of the config has (case ignored)."""
    taken = {name.lower() for name in config.agents}
    name, number = proposed, 2
    while name.lower() in taken:
        end = f"-{number}"
        name, number = f"{proposed[: _LONGEST_NAME - len(end)]}{end}", number + 1
    return name


def good_name(config: Config, name: str, before: str = "") -> str:
    """The name when an agent may have it; ``before`` is the one that it has. Raises ConfigError."""
    name = name.strip()
    if not AGENT_NAME.match(name):
        raise ConfigError(
            f"“{name[:40]}” is no name for an agent.",
            "Use 1 to 32 letters, digits, '.', '_' or '-', beginning with a letter or digit.",
        )
    if name.lower() != before.lower() and name.lower() in {each.lower() for each in config.agents}:
        raise ConfigError(f"There is an agent {name} already.", "Take another name.")
    return name


def address_problem(said: str) -> str:
    """What is wrong with a server's address; empty when nothing is."""
    return "" if said.startswith(("http://", "https://")) else "An address begins with http:// or https://."


def variable_problem(said: str) -> str:
    """What is wrong with the name of the variable that holds a key; empty when nothing is. A key is never taken."""
    if len(said) > 40 or said.startswith(("sk-", "sk_", "gsk_", "xai-", "AIza", "hf_")):
        return "This looks like the key itself: write the name of the variable that holds it."
    if not said.isascii() or not said.replace("_", "").isalnum() or said[0].isdigit():
        return "A variable's name has letters, digits and _."
    return ""


def _like(spec: AgentSpec) -> AgentSpec:
    return replace(spec, source="", name="")
