"""A tool as a model is told about it, what a call of it says, and what it brings."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import msgspec

from milk_tui.core import wild_json


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool as a model is told about it; ``parameters`` is a JSON Schema object."""

    name: str
    description: str
    parameters: dict[str, Any]


@dataclass(frozen=True, slots=True)
class ToolOutcome:
    content: str
    ok: bool = True


ToolRunner = Callable[[str, str, str], Awaitable[ToolOutcome]]
"""``(call_id, name, arguments_json) -> outcome``; never raises for a bad call, it says so in the outcome."""


def arguments_of(text: str) -> dict[str, Any] | None:
    """The arguments of a call as an object; ``None`` when they are anything else. No text at all means no arguments."""
    if not text.strip():
        return {}
    try:
        return msgspec.json.decode(text, type=dict[str, Any])
    except (ValueError, RecursionError):
        return None


def as_object(text: str) -> str:
    """Arguments as the JSON of an object, which is how providers take them back; several fail on what a model wrote
    badly. Byte for byte the same in the turn and when it is replayed, so that the prefix of requests stays."""
    if not text.strip():
        return "{}"
    return text if arguments_of(text) is not None else wild_json.encode({"text": text})
