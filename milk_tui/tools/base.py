"""What a tool is: its words for the model, its permission class, and one function that prepares a call.

A call has two halves. ``prepare`` reads the arguments and works out what would be done, down to the diff; ``run`` does
exactly that. Between them the person is asked, and nothing that was shown can change: ``run`` has no arguments of its
own, and refuses when what it was prepared for is not there any more (``quality.md`` "permissions").
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from milk_tui.core.permissions import Scope
from milk_tui.core.tool_calls import ToolOutcome, ToolSpec

if TYPE_CHECKING:
    from milk_tui.tools.site import Site

EVERY_SCOPE = (Scope.ONCE, Scope.SESSION, Scope.ALWAYS)
OUTPUT_CHARS = 30_000
"""What one call may give a model, in characters, unless the tool says less."""

T = TypeVar("T")


class Access(StrEnum):
    """The permission class of a tool: what is asked when."""

    READ = "read"
    """Nothing is asked inside the directory; outside of it every time a grant doesn't cover."""
    WRITE = "write"
    """Asked; outside the directory every time."""
    RUN = "run"
    """Asked."""
    NETWORK = "network"
    """Asked; addresses of this machine and of private networks under their own words."""
    SESSION = "session"
    """Nothing is asked: it reads what this session holds."""


class Refused(Exception):
    """A call that is not done; the text is for the model, and says what to do instead."""


@dataclass(frozen=True, slots=True)
class Call:
    """One call while it runs; ``emit`` shows a piece of output to the person."""

    id: str
    emit: Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Ask:
    """What the person is asked before it is done; see ``core.permissions.PermissionRequest``."""

    title: str
    body: str = ""
    language: str = ""
    pattern: str = ""
    directory: str = ""
    """Where it would be done; empty: the working directory."""
    scopes: tuple[Scope, ...] = EVERY_SCOPE


@dataclass(frozen=True, slots=True)
class Prepared:
    """A call that can be done; ``ask`` is ``None`` when nothing has to be asked."""

    run: Callable[[Call], Awaitable[ToolOutcome]]
    ask: Ask | None = None


@dataclass(frozen=True, slots=True)
class Tool:
    """``prepare`` raises ``Refused``, and ``msgspec.ValidationError`` for wrong arguments."""

    spec: ToolSpec
    family: str
    """What the person switches on and off in the config."""
    access: Access
    prepare: Callable[[Site, str], Awaitable[Prepared]]
    timeout_s: float | None = None
    """Seconds that ``run`` may take; ``None``: the config's."""

    @property
    def alone(self) -> bool:
        """Whether calls before it must be through and calls after it wait: it changes what they look at."""
        return self.access is Access.WRITE


class Arguments(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Base of every tool's arguments; their annotations are what the model is told."""


def tool(
    name: str,
    description: str,
    arguments: type[T],
    prepare: Callable[[Site, T], Awaitable[Prepared]],
    *,
    family: str,
    access: Access,
    timeout_s: float | None = None,
) -> Tool:
    """A tool whose JSON Schema is made from the type of its arguments."""

    async def from_text(site: Site, text: str) -> Prepared:
        return await prepare(site, read(text, arguments))

    spec = ToolSpec(name, description, schema_of(arguments))
    return Tool(spec, family, access, from_text, timeout_s)


def read(text: str, kind: type[T]) -> T:
    """The arguments of a call. Numbers and truths may stand in quotes, as small models write them.

    Raises ``msgspec.ValidationError`` that names what is wrong, ``msgspec.DecodeError`` for what is no JSON.
    """
    return msgspec.convert(msgspec.json.decode(text or "{}"), kind, strict=False)


def schema_of(arguments: type[Any]) -> dict[str, Any]:
    """The JSON Schema object of a type of arguments, without names that only its class has."""
    _, parts = msgspec.json.schema_components((arguments,))
    schema = parts[arguments.__name__]
    return {
        "type": "object",
        "properties": schema.get("properties", {}),
        "required": schema.get("required", []),
        "additionalProperties": False,
    }


def plural(number: int, word: str) -> str:
    return f"{number:,} {word}" if number == 1 else f"{number:,} {word}s"


def cut(text: str, limit: int = OUTPUT_CHARS, *, hint: str = "") -> str:
    """The text in at most ``limit`` characters: its head and its tail, and between them how much is left out."""
    if len(text) <= limit:
        return text
    mark = "\n[… {:,} characters left out" + (f": {hint}" if hint else "") + " …]\n"
    room = limit - len(mark) - 12
    head = room * 2 // 3
    return text[:head] + mark.format(len(text) - room) + text[len(text) - (room - head) :]
