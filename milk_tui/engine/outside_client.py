"""Who a client outside the screen is: one of the configured agents, or somebody else.

Somebody else is given only what is for all; what it states is tainted and belongs to a session of its own in the
directory. The name is taken from how the client was started, never from what a call says.
"""

from __future__ import annotations

import re
from pathlib import PurePath

from msgspec import Struct
from msgspec.structs import replace

from milk_tui.config import Config, Provider
from milk_tui.core.readers import EVERYBODY, Reader
from milk_tui.core.records import Producer, Role, Session
from milk_tui.core.text import one_line

UNNAMED = "a client"
_NAME_CHARS = 40
_CLAUDE = "claude-code"


class Client(Struct, frozen=True, kw_only=True):
    """``known``: it is an agent of the person's; ``role``: the one that it has, if it has one now."""

    name: str = UNNAMED
    known: bool = False
    role: Role | None = None
    asked: str = ""
    """The name that the person gave with ``--as``; it may be the one of an agent of a session."""

    @property
    def reader(self) -> Reader:
        return self.role or EVERYBODY

    @property
    def producer(self) -> Producer:
        """Nobody's word stands behind what an unknown client states, like an import."""
        if not self.known:
            return Producer.SYSTEM
        return Producer.PRIMARY if self.role is Role.PRIMARY else Producer.ESCALATION

    @property
    def tainted(self) -> bool:
        return not self.known

    def in_session(self, session: Session | None) -> Client:
        """The same in a session: there an agent may have another role than in the configuration, or a name that only
        the session knows."""
        if session is None:
            return self
        names = {name.casefold() for name in (self.asked, self.name if self.known else "") if name}
        for role in Role:
            agent = session.agent(role)
            if agent is not None and agent.name.casefold() in names:
                return replace(self, name=agent.name, known=True, role=role)
        return self


def named(config: Config, name: str) -> Client:
    """The client that the person calls ``name``: an agent of the configuration, or (``in_session``) of a session."""
    name = one_line(name, _NAME_CHARS)
    found = next((own for own in config.agents if own.casefold() == name.casefold()), None)
    if found is not None:
        return Client(name=found, known=True, role=_role(config, found), asked=name)
    for role in Role:
        word = config.named(role)
        if word and name.casefold() in _words(word):
            return Client(name=name, known=True, role=role, asked=name)
    return Client(name=name or UNNAMED, asked=name)


def calling_itself(config: Config, program: str) -> Client:
    """The agent that such a program drives, going by its name in a protocol; ``claude-code`` is Claude Code."""
    program = one_line(program, _NAME_CHARS)
    if program.casefold().startswith(_CLAUDE):
        return of_provider(config, Provider.CLAUDE_CLI, program)
    stem = _stem(program)
    for name in _by_rank(config, Provider.ACP):
        if stem and stem in {_stem(PurePath(word).name) for word in config.agents[name].command}:
            return Client(name=name, known=True, role=_role(config, name))
    return Client(name=program or UNNAMED)


def of_provider(config: Config, provider: Provider, program: str = _CLAUDE) -> Client:
    """The configured agent of that provider, one that has a role before one that has none."""
    name = next(iter(_by_rank(config, provider)), None)
    if name is None:
        return Client(name=one_line(program, _NAME_CHARS) or UNNAMED)
    return Client(name=name, known=True, role=_role(config, name))


def _by_rank(config: Config, provider: Provider) -> list[str]:
    names = [name for name, agent in config.agents.items() if agent.provider is provider]
    return sorted(names, key=lambda name: _role(config, name) is None)


def _role(config: Config, name: str) -> Role | None:
    return next((role for role in Role if config.named(role).casefold() == name.casefold()), None)


def _words(word: str) -> set[str]:
    """What an agent may be called that the configuration names only by its model."""
    from milk_tui.engine.agent_spec import short_name

    return {word.casefold(), short_name(word).casefold()}


def _stem(program: str) -> str:
    """``codex`` of ``codex-acp`` and of ``codex-mcp-client``."""
    return re.split(r"[^a-z0-9]+", program.casefold().lstrip("@"))[0]
