"""The memory tools, for models that have tool calling (``semantics.md`` §2 "Tools").

A tool and the tag of the same meaning end in the same function: the ``MemorySink`` of the leg. The names are one set
in every transport.
"""

from __future__ import annotations

from typing import Protocol

import msgspec

from milk_tui.core.records import Layer
from milk_tui.core.tool_calls import ToolOutcome, ToolSpec


class MemorySink(Protocol):
    """Where a leg's captures go. Every function answers with one line for the model."""

    async def remember(self, fact: str) -> ToolOutcome: ...

    async def need(self, text: str) -> ToolOutcome: ...

    async def escalate(self, reason: str) -> ToolOutcome: ...

    async def perceive(self, layer: Layer, body: str) -> ToolOutcome: ...


class _Fact(msgspec.Struct):
    fact: str
    consumer: str = ""


class _Need(msgspec.Struct):
    need: str


class _Reason(msgspec.Struct):
    reason: str


class _Perception(msgspec.Struct):
    layer: Layer
    entries: str


def specs(own_name: str, other_name: str | None, *, may_escalate: bool) -> tuple[ToolSpec, ...]:
    """The tools that an agent is told about; ``escalate`` only when there is someone to hand over to."""
    names = [own_name] + ([other_name] if other_name else [])
    tools = [
        _spec(
            "record_memory",
            "Remember one durable fact about the project, the person or a decision. One sentence, true on its "
            "own. Not for what is plain from the current messages.",
            {
                "fact": ("string", "The fact, at most 2,000 characters."),
                "consumer": (
                    "string",
                    f"Leave out to share it; {' or '.join(names)} if only that agent needs it.",
                ),
            },
            required=("fact",),
        ),
        _spec(
            "set_need",
            "State in one sentence what the person is trying to accomplish, when they start or change the goal.",
            {"need": ("string", "One sentence, at most 280 characters.")},
        ),
        _spec(
            "update_perception",
            "Write down the task: 'frame' (story, acceptance, decisions with reason, open questions) when a "
            "slice starts or a decision falls; 'working' (file, hypothesis, next step) after each action; "
            "'invariant' to propose a project truth. Lines of 'key: value'; an empty value removes the key.",
            {
                "layer": ("string", "frame, working or invariant"),
                "entries": ("string", "key: value lines"),
            },
            choices={"layer": ["frame", "working", "invariant"]},
        ),
    ]
    if may_escalate and other_name:
        tools.append(
            _spec(
                "escalate",
                f"Hand this turn over to {other_name}, the deeper agent, when the task is beyond you. "
                "Then stop: it continues with a summary of the work.",
                {"reason": ("string", "One sentence: why, and what is needed.")},
            )
        )
    return tuple(tools)


def _spec(
    name: str,
    description: str,
    fields: dict[str, tuple[str, str]],
    required: tuple[str, ...] | None = None,
    choices: dict[str, list[str]] | None = None,
) -> ToolSpec:
    allowed = choices or {}
    properties = {
        key: {"type": kind, "description": text, **({"enum": allowed[key]} if key in allowed else {})}
        for key, (kind, text) in fields.items()
    }
    schema = {"type": "object", "properties": properties, "required": list(required or fields)}
    return ToolSpec(name, description, {**schema, "additionalProperties": False})


NAMES = frozenset({"record_memory", "set_need", "update_perception", "escalate"})


async def call(sink: MemorySink, name: str, arguments: str) -> ToolOutcome:
    """Do one memory tool's work; a call that can't be read is answered with what was wrong, never raised."""
    try:
        match name:
            case "record_memory":
                fact = msgspec.json.decode(arguments, type=_Fact)
                hint = f"@{fact.consumer.lstrip('@')}: " if fact.consumer.strip() else ""
                return await sink.remember(hint + fact.fact)
            case "set_need":
                return await sink.need(msgspec.json.decode(arguments, type=_Need).need)
            case "escalate":
                return await sink.escalate(msgspec.json.decode(arguments, type=_Reason).reason)
            case "update_perception":
                told = msgspec.json.decode(arguments, type=_Perception)
                return await sink.perceive(told.layer, told.entries)
            case _:
                return ToolOutcome(f"There is no tool named {name}.", ok=False)
    except msgspec.DecodeError as error:
        return ToolOutcome(f"The arguments of {name} can't be read: {error}.", ok=False)
