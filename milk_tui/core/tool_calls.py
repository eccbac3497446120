"""A tool as a model is told about it, and what a call of it brings."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any


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
