"""The agents of this program run: made from what discovery found, shared by its sessions."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from milk_tui.agents.base import Agent
from milk_tui.config import Config, Provider
from milk_tui.core.records import Role
from milk_tui.engine.agent_spec import AgentSpec

if TYPE_CHECKING:
    from milk_tui.agents.litellm_agent import Host
    from milk_tui.embedded.manager import EmbeddedManager
    from milk_tui.modelhost.client import ModelHost


def build(
    spec: AgentSpec,
    config: Config,
    host: ModelHost,
    embedded: Callable[[], EmbeddedManager],
    database: Path | None = None,
) -> Agent:
    """The back end that drives the agent of ``spec``; ``embedded`` makes the manager when it is first needed.
    ``database`` is where an agent that reaches the memory by itself finds it.
    """
    if spec.provider is Provider.CLAUDE_CLI:
        return _claude(spec)
    if spec.provider is Provider.ACP:
        return _acp(spec, database)
    if spec.embedded_size:
        from milk_tui.agents.embedded_agent import EmbeddedAgent

        return EmbeddedAgent(spec.name, spec.embedded_size, embedded(), host)
    from milk_tui.agents.litellm_agent import LitellmAgent
    from milk_tui.agents.litellm_settings import LitellmSettings
    from milk_tui.modelhost.protocol import Timeouts

    timeouts = config.timeouts
    return LitellmAgent(
        spec.name,
        spec.model,
        keyed(host, spec),
        LitellmSettings(
            api_base=spec.api_base,
            api_key_env=spec.api_key_env,
            temperature=spec.temperature,
            max_tokens=spec.max_tokens,
            tools=None if spec.tools == "auto" else spec.tools,
            grammar=spec.source.startswith("llama.cpp") if spec.grammar == "auto" else spec.grammar,
            window_tokens=spec.window_tokens,
            max_rounds=config.tools.max_rounds,
            cache_ttl=config.context.cache_ttl,
            timeouts=Timeouts(first_s=timeouts.first_byte, idle_s=timeouts.idle),
        ),
    )


def keyed(host: ModelHost, spec: AgentSpec) -> Host:
    """The host as the agent asks it: with the key that a program prints, where it has one."""
    if not spec.api_key_command:
        return host
    from milk_tui.agents.key_command import KeyedHost

    return KeyedHost(host, spec.api_key_command)


def _claude(spec: AgentSpec) -> Agent:
    from milk_tui import paths
    from milk_tui.agents.claude_agent import ClaudeAgent
    from milk_tui.agents.claude_settings import ClaudeSettings

    folder = paths.runtime_dir() / "agents"
    return ClaudeAgent(spec.name, ClaudeSettings(folder=folder, command=spec.command, model=spec.model))


def _acp(spec: AgentSpec, database: Path | None) -> Agent:
    import os
    import sys

    from milk_tui import paths
    from milk_tui.agents.acp_agent import AcpAgent, AcpSettings

    own = {name: os.environ[name] for name in (paths.HOME_VARIABLE, paths.CONFIG_VARIABLE) if name in os.environ}
    if database is not None:
        own[paths.DATABASE_VARIABLE] = str(database)
    command = (sys.executable, "-P", "-m", "milk_tui", "mcp", "--as", spec.name)
    settings = AcpSettings(command=spec.command, model=spec.model, mcp_command=command, mcp_env=own)
    return AcpAgent(spec.name, settings)


class Roster:
    """Who works in each role now, and the one line that says what to do when nobody does."""

    def __init__(self) -> None:
        self.agents: dict[Role, Agent] = {}
        self.specs: dict[Role, AgentSpec] = {}
        """What each was made from."""
        self.advice: dict[Role, str] = dict.fromkeys(Role, "")
        self.local_models: set[str] = set()
        """Models that run on this machine: they cost nothing."""
        self.known = False
        """False until discovery has looked."""

    def get(self, role: Role) -> Agent | None:
        return self.agents.get(role)

    def put(self, role: Role, agent: Agent) -> Agent | None:
        """Give a role to another agent; the one that had it is the caller's to close."""
        before = self.agents.get(role)
        self.agents[role], self.advice[role] = agent, ""
        return before

    def remove(self, role: Role) -> Agent | None:
        """Nobody has the role any more; the one that had it is the caller's to close."""
        self.specs.pop(role, None)
        return self.agents.pop(role, None)

    async def leave(self, session_id: str) -> None:
        """A session is closed: what runs for it alone ends."""
        for agent in self.agents.values():
            await agent.leave(session_id)

    async def aclose(self) -> None:
        for agent in self.agents.values():
            await agent.aclose()
