"""What an action is, and where its keys work; ``actions.py`` lists all of them."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import NamedTuple


class Where(StrEnum):
    """The pane in which an action's keys work."""

    EVERYWHERE = "everywhere"
    SESSION = "main screen"
    PROMPT = "prompt"
    CONVERSATION = "conversation"
    PERCEPTS = "list of facts"
    MEMORY = "memory browser"
    SESSIONS = "list of sessions"
    INSPECTOR = "brick inspector"
    PERCEPTION = "perception"
    PERMISSION = "permission request"
    CHANGES = "changed files"
    HELPER = "memory helper"
    STATISTICS = "statistics"
    SETTINGS = "settings"


WAYS: Mapping[Where, str] = {
    Where.PROMPT: "next-pane",
    Where.CONVERSATION: "next-pane",
    Where.PERCEPTS: "next-pane",
    Where.PERMISSION: "next-pane",
    Where.MEMORY: "memory",
    Where.SESSIONS: "sessions",
    Where.INSPECTOR: "bricks",
    Where.PERCEPTION: "perception",
    Where.CHANGES: "changes",
    Where.HELPER: "helper",
    Where.STATISTICS: "statistics",
    Where.SETTINGS: "settings",
}
"""The action that leads to each pane which is not there at the start, by its id."""


class Takes(StrEnum):
    """What an argument of a command is, so that it can be offered while it is written (``arguments.py``)."""

    ROLE_OR_AGENT = "role or agent"
    AGENT = "agent"
    SESSION = "session"
    FACT = "fact"
    GONE_FACT = "gone fact"
    THEME = "theme"
    FILE = "file"
    EXPORT = "export file"
    CHANGED_FILE = "changed file"
    BRICK = "brick"
    SUMMARY = "summary"
    LAYER = "layer"
    ENTRY = "entry"
    SLICE = "slice"
    SCOPE = "scope"
    SERVER = "MCP server"
    FILE_DOING = "perception file"
    FRESH = "fresh"
    NEED = "need"
    TITLE = "title"
    COMMAND = "command"


class Action(NamedTuple):
    """One thing to do. ``id`` names it in the config, ``action_ID`` is the method that does it."""

    id: str
    title: str
    """One or two words: footer, palette, README."""
    help: str
    where: Where
    keys: tuple[str, ...] = ()
    command: str = ""
    """The slash command's name, without the slash; empty when it has none."""
    arguments: str = ""
    """What may follow the command: ``TEXT`` is needed, ``[TEXT]`` may be left out."""
    aliases: tuple[str, ...] = ()
    """Other names of the command, such as users of other programs type."""
    footer: bool = False
    priority: bool = False
    """True when its keys win over the focused widget's."""
    takes: tuple[Takes, ...] = ()
    """What its arguments are, one after the other; the last is the rest of the line."""

    @property
    def method(self) -> str:
        """The name as Textual's actions spell it."""
        return self.id.replace("-", "_")

    @property
    def usage(self) -> str:
        return f"/{self.command} {self.arguments}".rstrip() if self.command else ""

    @property
    def needs_argument(self) -> bool:
        return bool(self.arguments) and not self.arguments.startswith("[")
