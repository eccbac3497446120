"""What an entry of the transcript is made of: plain records, no widget, no store.

An *entry* is one prompt, one leg or one notice. The list of entries is small and always in memory (``Entry``); what
an entry says (``EntryBody``) is fetched when it comes into view, through a ``BodySource``. Every text in a part is
data: it is cleaned again before it is drawn and never read as markup.
"""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from msgspec import Struct

from milk_tui.core.records import Role, ToolStatus
from milk_tui.core.tool_calls import arguments_of

Key = Hashable
"""The owner's name for an entry, such as ``("leg", 12)``; unique within a transcript."""


class EntryKind(StrEnum):
    PROMPT = "prompt"
    LEG = "leg"
    NOTICE = "notice"


class Severity(StrEnum):
    INFORMATION = "information"
    WARNING = "warning"
    ERROR = "error"


class Entry(Struct, frozen=True, gc=False):
    """One line of the list: enough to guess a height before the body is there."""

    key: Key
    kind: EntryKind
    chars: int = 0
    """Characters of the main text."""
    lines: int = 0
    """Lines of the main text; 0 when unknown."""
    extra: int = 0
    """Rows beside the text: tool lines, facts, the escalation's banner and receipt."""
    escalated: bool = False
    """True for a leg that is shown as an escalation."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """What the person typed, shown as typed."""

    text: str
    when: str = ""
    note: str = ""
    """For example "queued"."""


@dataclass(frozen=True, slots=True)
class Banner:
    """The event of an escalation: ``━━ ◆ escalated to claude: "reason" ━━``."""

    agent: str
    reason: str = ""
    what: str = "escalated to"


@dataclass(frozen=True, slots=True)
class ReceiptLine:
    """What was sent, in one line; a click on it asks for the receipt."""

    text: str
    hint: str = ""
    """The key that opens it, for example "F3"."""


@dataclass(frozen=True, slots=True)
class Header:
    """Who answers: ``● qwen · 14:02 · routed: local verb −3``."""

    agent: str
    role: Role
    when: str = ""
    route: str = ""
    why: str = ""
    """Why the turn came here, line by line; folded until it is opened. Empty: the route says it all."""


@dataclass(frozen=True, slots=True)
class Thinking:
    """The agent's reasoning; folded until it is opened."""

    text: str


@dataclass(frozen=True, slots=True)
class Markdown:
    text: str


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool call. ``summary`` and ``note`` are worked out from arguments and result when they are empty."""

    id: Hashable
    name: str
    arguments: str = ""
    result: str = ""
    status: ToolStatus = ToolStatus.RUNNING
    summary: str = ""
    note: str = ""
    took: str = ""
    """How long it ran, in words."""
    allowed_by: str = ""
    """Who allowed it; shown when the call is unfolded."""


UNDO = "[undo]"


@dataclass(frozen=True, slots=True)
class TakeBack:
    """Stands where a block has its fold: what it says was remembered can be taken back."""

    fact: str


@dataclass(frozen=True, slots=True)
class Fact:
    """A fact that came out of the leg (``remembered``), or was refused: ``verb`` says which."""

    text: str
    verb: str = "remembered"
    severity: Severity = Severity.INFORMATION
    id: str = ""
    """Of the fact; empty for what can't be taken back here."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a leg ended when it did not simply answer: what happened, and what to do."""

    text: str
    severity: Severity = Severity.INFORMATION
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens, time and cost, already put into words."""

    text: str


@dataclass(frozen=True, slots=True)
class Progress:
    """What a running leg waits for; gone when the leg has ended. ``fraction`` is 0..1."""

    text: str
    fraction: float | None = None
    severity: Severity = Severity.INFORMATION


@dataclass(frozen=True, slots=True)
class Notice:
    """One message of the program that belongs to no leg."""

    text: str
    severity: Severity = Severity.INFORMATION
    when: str = ""


Part = Prompt | Banner | ReceiptLine | Header | Thinking | Markdown | Tool | Fact | Outcome | Usage | Progress | Notice


@dataclass(frozen=True, slots=True)
class EntryBody:
    """The parts of an entry in the order in which they are shown."""

    parts: tuple[Part, ...]

    @property
    def chars(self) -> int:
        """Characters held in memory for this body."""
        return sum(part_chars(part) for part in self.parts)


class BodySource(Protocol):
    """Where bodies come from. ``get`` never blocks: the body, or ``None`` when it is not at hand.

    ``request`` starts to fetch in the background; the owner then calls ``Transcript.bodies_loaded(keys)``. A key
    whose body does not exist any more is answered with an empty body.
    """

    def get(self, key: Key) -> EntryBody | None: ...

    def request(self, keys: Sequence[Key]) -> None: ...


def interleave(text: str, tools: Iterable[tuple[int, Tool]]) -> tuple[Markdown | Tool, ...]:
    """The answer with its tool calls where they happened: ``(characters of the text before the call, call)``."""
    parts: list[Markdown | Tool] = []
    done = 0
    for position, tool in sorted(tools, key=lambda item: item[0]):
        position = min(max(position, done), len(text))
        if text[done:position].strip():
            parts.append(Markdown(text[done:position]))
        parts.append(tool)
        done = position
    if text[done:].strip():
        parts.append(Markdown(text[done:]))
    return tuple(parts)


def tool_summary(arguments: str) -> str:
    """The arguments in a few words: the values of a JSON object, or the text itself when it is none."""
    if len(arguments) > 4_000:
        return arguments[:400]
    values = arguments_of(arguments)
    if values is None:
        return arguments
    words = [value if isinstance(value, str) else json.dumps(value) for value in values.values()]
    return " ".join(word for word in words if word)


def tool_note(result: str, status: ToolStatus) -> str:
    """What came back, in two words; a failure says its first line."""
    if status is ToolStatus.OK:
        lines = result.count("\n") + (not result.endswith("\n")) if result else 0
        return "nothing" if not lines else "1 line" if lines == 1 else f"{lines:,} lines"
    first = result.strip().split("\n", 1)[0][:200]
    word = status.value if status is not ToolStatus.RUNNING else "running …"
    return f"{word}: {first}" if first and status is not ToolStatus.RUNNING else word


def part_chars(part: Part) -> int:
    """Characters held in memory for a part."""
    match part:
        case Tool():
            return len(part.arguments) + len(part.result)
        case Banner():
            return len(part.reason)
        case Header():
            return len(part.route) + len(part.why)
        case _:
            return len(part.text)
