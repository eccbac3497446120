"""What ``milk-tui setup`` proposes: what the config says already, then what was found here, best first."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator

from msgspec import Struct
from msgspec.structs import replace

from milk_tui.config import Config
from milk_tui.core.errors import ConfigError
from milk_tui.core.records import Role
from milk_tui.engine import agent_spec, discovery
from milk_tui.engine.agent_spec import AgentSpec
from milk_tui.engine.agent_tables import address_problem, variable_problem
from milk_tui.engine.candidates import candidates
from milk_tui.engine.discovery import Discovery

_SHOWN_KINDS = ("server", "key", "program", "embedded")


class Choice(Struct, frozen=True):
    """One answer: what is shown, and the agent it stands for; ``None``: nobody."""

    shown: str
    spec: AgentSpec | None = None


class Choices:
    """One look at this machine, for both roles."""

    def __init__(self, config: Config) -> None:
        self._config = config
        self._discovery: Discovery | None = None

    def found(self) -> Iterator[str]:
        """What is here, a line each; what is missing in one line."""
        looked = self._look()
        seen = [each for each in looked.findings if each.kind in _SHOWN_KINDS]
        for each in seen:
            if each.found:
                yield f"✓ {each.detail}"
        missing = [each.what for each in seen if not each.found]
        if missing:
            yield f"– not here: {', '.join(missing)}"

    def of(self, role: Role, taken: AgentSpec | None) -> list[Choice]:
        """The choices for a role, the proposal first. ``taken``: the agent that has the other one."""
        offered: list[Choice] = []
        named = self._config.named(role)
        if named:
            try:
                spec = agent_spec.from_word(self._config, role, named, "config")
            except ConfigError:
                pass
            else:
                offered.append(Choice(f"{spec.name} = {spec.shown}  (as it is now)", spec))
        specs = asyncio.run(candidates(self._config, role))
        if role is Role.ESCALATION and not named and specs and specs[0].embedded_size:
            offered.append(Choice("nobody: only the primary answers"))
        for spec in specs:
            if taken is not None and _same(spec, taken):
                continue
            if any(each.spec is not None and _same(each.spec, spec) for each in offered):
                continue
            if self._problem(spec):
                continue
            offered.append(Choice(f"{spec.shown}  ({spec.source})", spec))
        if role is Role.ESCALATION and not any(each.spec is None for each in offered):
            offered.append(Choice("nobody: only the primary answers"))
        return offered

    def named(self, role: Role, word: str, source: str, *, api_base: str = "", key_env: str = "") -> AgentSpec:
        """The agent that a word means. Raises ConfigError for a word that means none, a bad address or variable."""
        spec = agent_spec.from_word(self._config, role, word, source)
        if spec.name in self._config.agents and spec.name.lower() == word.lower():
            spec = replace(spec, source="config")
        for flag, said, check in (("--api-base", api_base, address_problem), ("--key-env", key_env, variable_problem)):
            if said and (why := check(said)):
                raise ConfigError(f"{flag}: {why}")
        if api_base:
            spec = replace(spec, api_base=api_base, api_key_env=key_env)
        elif key_env:
            spec = replace(spec, api_key_env=key_env)
        return spec

    def _look(self) -> Discovery:
        if self._discovery is None:
            bare = Config(privacy=self._config.privacy, embedded=self._config.embedded, timeouts=self._config.timeouts)
            self._discovery = asyncio.run(discovery.discover(bare, everything=True))
        return self._discovery

    def _problem(self, spec: AgentSpec) -> str:
        try:
            discovery.usable(self._config, spec, environ=os.environ)
        except ConfigError as error:
            return error.what
        return ""


def _same(one: AgentSpec, other: AgentSpec) -> bool:
    return (one.model, one.api_base, one.command) == (other.model, other.api_base, other.command)
