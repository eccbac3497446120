"""The person's hand on the settings: what holds and why, changing one, taking that back.

A change is written into the config file, whose remarks stay, and then taken over where that is possible while the
program runs; ``takes_effect`` says where it isn't.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from milk_tui import config as configuration
from milk_tui import config_edit, config_file, config_schema, paths
from milk_tui.config_edit import ChangedMeanwhileError
from milk_tui.config_schema import Setting
from milk_tui.core.errors import ConfigError
from milk_tui.core.records import Role
from milk_tui.engine import agent_spec, agent_tables

if TYPE_CHECKING:
    from milk_tui.config import Config, Loaded
    from milk_tui.engine.agent_spec import AgentSpec
    from milk_tui.engine.workspace import Workspace

NOW, NEXT, RESTART = "at once", "from the next prompt on", "from the next start on"

_EFFECTS: Mapping[str, str] = {
    "ui": NOW,
    "keys": NOW,
    "session": NEXT,
    "agents": NEXT,
    "context": NEXT,
    "routing": NEXT,
    "memory": NEXT,
    "memory.semantic": RESTART,
    "memory.model_path": RESTART,
    "perception": RESTART,
    "perception.dense": NEXT,
    "timeouts": NEXT,
    "timeouts.probe": NOW,
    "tools": NEXT,
    "privacy.local_only": NEXT,
}
"""By section, or by key where one differs from its section; what is not here waits for the next start."""

_ASKED_ANEW = ("timeouts", "tools", "context")
"""Sections with settings that an agent is made with."""
_WHO = ("session", "agents", "privacy", "embedded")
"""Sections that decide who plays."""
_UNDOS = 50


def takes_effect(path: tuple[str, ...]) -> str:
    """When a change of the setting holds, in words."""
    return _EFFECTS.get(".".join(path[:2])) or _EFFECTS.get(path[0]) or RESTART


class Held(Struct, frozen=True, kw_only=True):
    """A setting with the value that holds. ``source``: default · the file's name · a variable · an option; what is
    ``fixed`` by a variable or an option can be changed in the file, but that holds only without them."""

    setting: Setting
    value: Any
    source: str
    fixed: bool = False

    @property
    def is_default(self) -> bool:
        return self.source == "default"


class _Written(Struct, frozen=True, kw_only=True):
    title: str
    before: str | None
    after: str


class SettingsDesk:
    """Every function that changes something returns when the file is written and the change taken over."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._text: str | None = None
        self._known = False
        self._done: list[_Written] = []

    @property
    def file(self) -> Path:
        return self._loaded.file

    @property
    def config(self) -> Config:
        return self._workspace.config

    @property
    def _loaded(self) -> Loaded:
        return self._workspace.loaded

    async def look(self) -> None:
        """Read the file; what was changed in it since is taken over. Raises ConfigError for one that does not load."""
        text = await asyncio.to_thread(config_file.read_text, self.file)
        if self._known and text == self._text:
            return
        self._text, self._known = text, True
        if (loaded := await self._load()).config != self.config:
            await self._workspace.use_config(loaded, looks=True, anew=True)

    def held(self) -> list[Held]:
        """Every setting of the file's types; keys are the screen's to add."""
        return [self._held(setting) for setting in config_schema.settings(self.config)]

    def one(self, setting: Setting) -> Held:
        return self._held(setting)

    async def change(self, changes: config_edit.Changes, title: str) -> str:
        """Write the changes, ``None`` takes a key out; when they take effect. Raises ConfigError: nothing is written
        then."""
        if not self._known:
            await self.look()
        self._check_names(changes)
        before = self._text
        try:
            text = await asyncio.to_thread(config_edit.write, self.file, changes, seen=before)
        except ChangedMeanwhileError:
            with contextlib.suppress(ConfigError):
                await self.look()
            raise
        self._text = text
        self._done = [*self._done, _Written(title=title, before=before, after=text)][-_UNDOS:]
        await self._take_over({path[0] for path in changes})
        effects = {takes_effect(path) for path in changes}
        return next((effect for effect in (RESTART, NEXT, NOW) if effect in effects), NOW)

    async def undo(self) -> str:
        """Take back what was written last; its title, empty when there is nothing. Raises ConfigError."""
        if not self._done:
            return ""
        last = self._done[-1]
        before = last.before if last.before is not None or not self._named_file else ""
        await asyncio.to_thread(config_edit.put, self.file, before, seen=last.after)
        self._done.pop()
        self._text = before
        await self._take_over(None)
        return last.title

    async def make_default(self, spec: AgentSpec) -> str:
        """The agent has its role from now on, in every session that says nothing else; the word for it in the config.
        Raises ConfigError."""
        changes, word = agent_tables.default_changes(self.config, spec)
        await self.change(changes, f"{spec.role}: {word}")
        return word

    async def assign(self, role: Role, name: str) -> None:
        """Give a role to an agent of the config; two exchange when it had the other one. Raises ConfigError."""
        await self.change(agent_tables.assign_changes(self.config, role, name), f"{role}: {name}")

    async def remove_agent(self, name: str) -> None:
        """Take an agent out of the config, and out of its role. Raises ConfigError."""
        changes: dict[tuple[str, ...], Any] = {("agents", name): None}
        for role in Role:
            if str(getattr(self.config.session, role.value)).lower() == name.lower():
                changes["session", role.value] = None
        await self.change(changes, f"without {name}")

    @property
    def last_change(self) -> str:
        """What ``undo`` would take back; empty when there is nothing."""
        return self._done[-1].title if self._done else ""

    @property
    def _named_file(self) -> bool:
        """True when the person named the file, so that it has to be there."""
        return self._workspace.launch.config_path is not None

    def _held(self, setting: Setting) -> Held:
        key = setting.key
        value = config_schema.value_of(self.config, setting.path)
        flags = {
            "session.primary": self._workspace.launch.primary,
            "session.escalation": self._workspace.launch.escalation,
        }
        if flag := flags.get(key):
            return Held(setting=setting, value=flag, source=f"--{setting.path[-1]}", fixed=True)
        source = self._loaded.sources.get(key, "default")
        return Held(setting=setting, value=value, source=source, fixed=source == paths.MODELS_VARIABLE)

    async def _take_over(self, sections: set[str] | None) -> None:
        """Go on with what the file says now; ``None``: anything may have changed."""
        looks = sections is None or bool(sections & set(_WHO))
        anew = sections is None or bool(sections & set(_ASKED_ANEW))
        await self._workspace.use_config(await self._load(), looks=looks, anew=anew)

    async def _load(self) -> Loaded:
        return await asyncio.to_thread(configuration.load, self._workspace.launch.config_path)

    def _check_names(self, changes: config_edit.Changes) -> None:
        """A role is given to somebody that there is, or will be with these changes. Raises ConfigError."""
        made = {path[1].lower() for path, value in changes.items() if path[0] == "agents" and value is not None}
        for role in Role:
            word = changes.get(("session", role.value))
            if word and str(word).lower() not in made:
                agent_spec.from_word(self.config, role, str(word), f"session.{role}")
