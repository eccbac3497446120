"""Calls of the memory tools, for models and clients that have tool calling (``semantics.md`` §2 "Tools").

A tool and the tag of the same meaning end in the same function: the ``MemorySink`` of whoever calls. The names are one
set in every transport: litellm, a runtime's own control channel, MCP over standard streams.
"""

from __future__ import annotations

from typing import Any, Protocol, TypeVar

import msgspec

from milk_tui.core.records import Layer
from milk_tui.core.tool_calls import ToolOutcome, ToolSpec
from milk_tui.tools import memory_specs as names
from milk_tui.tools.memory_specs import MOST_LISTED, NAMES, specs

__all__ = ["NAMES", "MemorySink", "ToolSpec", "call", "specs"]

DEFAULT_LISTED = 25
_ARGUMENT_CHARS = 200_000
T = TypeVar("T")


class MemorySink(Protocol):
    """Where the calls of one agent go. Every function answers with text for the model and raises for nothing that a
    call can hold."""

    async def recall(self, query: str, limit: int | None) -> ToolOutcome: ...

    async def get(self, reference: str) -> ToolOutcome: ...

    async def browse(self, pinned: bool | None, limit: int, offset: int) -> ToolOutcome: ...

    async def remember(self, fact: str) -> ToolOutcome: ...

    async def forget(self, reference: str, reason: str) -> ToolOutcome: ...

    async def need(self, text: str) -> ToolOutcome: ...

    async def escalate(self, reason: str) -> ToolOutcome: ...

    async def perceive(self, layer: Layer, body: str) -> ToolOutcome: ...


class _Query(msgspec.Struct):
    query: str = ""
    limit: int | None = None


class _Id(msgspec.Struct):
    id: str
    reason: str = ""


class _Listed(msgspec.Struct):
    pinned: bool | None = None
    limit: int | None = None
    offset: int | None = None


class _Fact(msgspec.Struct):
    fact: str
    consumer: str | None = ""


class _Need(msgspec.Struct):
    need: str


class _Reason(msgspec.Struct):
    reason: str


class _Perception(msgspec.Struct):
    layer: Layer
    entries: str | dict[str, str]


async def call(sink: MemorySink, name: str, arguments: str) -> ToolOutcome:
    """Do one memory tool's work; a call that can't be read is answered with what was wrong, never raised.

    ``arguments`` is the JSON text as the model wrote it; numbers and truth values may stand in quotes.
    """
    try:
        return await _call(sink, name, arguments)
    except (msgspec.DecodeError, RecursionError, ValueError) as error:
        return ToolOutcome(f"The arguments of {name} can't be read: {error}.", ok=False)


async def _call(sink: MemorySink, name: str, arguments: str) -> ToolOutcome:
    match name:
        case names.RECALL:
            asked = _read(arguments, _Query)
            return await sink.recall(asked.query, None if asked.limit is None else _within(asked.limit, 1, 25))
        case names.GET:
            return await sink.get(_read(arguments, _Id).id)
        case names.LIST:
            listed = _read(arguments, _Listed)
            limit = DEFAULT_LISTED if listed.limit is None else _within(listed.limit, 1, MOST_LISTED)
            return await sink.browse(listed.pinned, limit, _within(listed.offset or 0, 0, 1_000_000))
        case names.RECORD:
            fact = _read(arguments, _Fact)
            consumer = (fact.consumer or "").strip().lstrip("@")
            return await sink.remember((f"@{consumer}: " if consumer else "") + fact.fact)
        case names.FORGET:
            gone = _read(arguments, _Id)
            return await sink.forget(gone.id, gone.reason)
        case names.NEED:
            return await sink.need(_read(arguments, _Need).need)
        case names.ESCALATE:
            return await sink.escalate(_read(arguments, _Reason).reason)
        case names.PERCEIVE:
            told = _read(arguments, _Perception)
            return await sink.perceive(told.layer, _lines(told.entries))
        case _:
            return ToolOutcome(f"There is no tool named {name}.", ok=False)


def _read(arguments: str, kind: type[T]) -> T:
    if len(arguments) > _ARGUMENT_CHARS:
        raise ValueError(f"they have {len(arguments):,} characters")
    values: Any = msgspec.json.decode(arguments.strip() or "{}")
    if isinstance(values, str):
        values = msgspec.json.decode(values.strip() or "{}")
    return msgspec.convert({} if values is None else values, kind, strict=False)


def _lines(entries: str | dict[str, str]) -> str:
    """Some models write the lines as an object."""
    if isinstance(entries, str):
        return entries
    return "\n".join(f"{' '.join(key.split())}: {' '.join(value.split())}" for key, value in entries.items())


def _within(number: int, least: int, most: int) -> int:
    return max(least, min(most, number))
