"""The agents of this program run: made from what discovery found, shared by its sessions."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from milk_tui.agents.base import Agent
from milk_tui.config import Config
from milk_tui.core.records import Role
from milk_tui.engine.agent_spec import AgentSpec

if TYPE_CHECKING:
    from milk_tui.embedded.manager import EmbeddedManager
    from milk_tui.modelhost.client import ModelHost


def build(spec: AgentSpec, config: Config, host: ModelHost, embedded: Callable[[], EmbeddedManager]) -> Agent:
    """The back end that drives the agent of ``spec``; ``embedded`` makes the manager when it is first needed."""
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
        host,
        LitellmSettings(
            api_base=spec.api_base,
            api_key_env=spec.api_key_env,
            temperature=spec.temperature,
            max_tokens=spec.max_tokens,
            tools=None if spec.tools == "auto" else spec.tools,
            window_tokens=spec.window_tokens,
            max_rounds=config.tools.max_rounds,
            cache_ttl=config.context.cache_ttl,
            timeouts=Timeouts(first_s=timeouts.first_byte, idle_s=timeouts.idle),
        ),
    )


class Roster:
    """Who works in each role now, and the one line that says what to do when nobody does."""

    def __init__(self) -> None:
        self.agents: dict[Role, Agent] = {}
        self.advice: dict[Role, str] = dict.fromkeys(Role, "")
        self.local_models: set[str] = set()
        """Models that run on this machine: they cost nothing."""
        self.known = False
        """False until discovery has looked."""

    def get(self, role: Role) -> Agent | None:
        return self.agents.get(role)

    async def aclose(self) -> None:
        for agent in self.agents.values():
            await agent.aclose()
