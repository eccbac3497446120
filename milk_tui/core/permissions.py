"""What an agent asks before it does something, and what the person answers (``quality.md`` "permissions")."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from enum import StrEnum

from msgspec import Struct

from milk_tui.core.records import Role


class Scope(StrEnum):
    """How long an answer holds."""

    ONCE = "once"
    SESSION = "session"
    ALWAYS = "always"


class Question(Struct, frozen=True, kw_only=True):
    """A question of the agent with answers to choose from; any other text may be answered too."""

    text: str
    header: str = ""
    choices: tuple[str, ...] = ()
    multiple: bool = False


class PermissionRequest(Struct, frozen=True, kw_only=True):
    """One request, shown to the person as it is here; every text is cleaned. Nothing is granted beyond it."""

    id: str
    """Unique in the program."""
    role: Role
    agent_name: str
    tool: str
    """The tool's own name, such as ``run_command`` or ``Bash``."""
    arguments: str
    """All arguments as JSON: what a grant is bound to."""
    title: str
    """One line: what would be done, such as ``run pytest -q``."""
    body: str = ""
    """The whole command, diff or text; empty when the title says all."""
    language: str = ""
    """How the body is highlighted: ``bash``, ``diff``, ``json`` …"""
    directory: str = ""
    """Where it would be done."""
    pattern: str = ""
    """What "always" would cover besides these exact arguments; empty: these exact arguments alone."""
    scopes: tuple[Scope, ...] = (Scope.ONCE, Scope.SESSION, Scope.ALWAYS)
    """What may be chosen; writes outside the directory are asked every time: ``ONCE`` alone."""
    call_id: str = ""
    """The tool call that it is asked for, so that the call's record says who allowed it; empty when unknown."""
    questions: tuple[Question, ...] = ()
    """Not empty: the agent asks the person something instead of asking for a permission."""


class Verdict(Struct, frozen=True, kw_only=True):
    """The answer. ``by``: person · grant · rule · nobody (no person is there, or the request was withdrawn)."""

    allowed: bool
    scope: Scope = Scope.ONCE
    reason: str = ""
    """Why not, for the agent and the record."""
    by: str = "person"
    wide: bool = False
    """True when it is to hold for the request's pattern; False: for these exact arguments alone."""
    answers: dict[str, str] = {}
    """For questions: their text → the answer."""


PermissionAsker = Callable[[PermissionRequest], Awaitable[Verdict]]
"""Asks and waits for the answer; cancelling it withdraws the request. Never raises for a denial."""
