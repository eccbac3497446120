"""Asking a host in tests, and reading what came."""

from __future__ import annotations

import os
from pathlib import Path

from milk_tui.core.records import Usage
from milk_tui.modelhost.client import ModelHost
from milk_tui.modelhost.protocol import (
    CompleteRequest,
    Delta,
    Done,
    Failed,
    HostEvent,
    Thinking,
    ToolCallMade,
    UsageGiven,
)


async def answer(host: ModelHost, request: CompleteRequest) -> list[HostEvent]:
    events = [event async for event in host.complete(request)]
    assert isinstance(events[-1], Done | Failed)
    assert not any(isinstance(event, Done | Failed) for event in events[:-1])
    return events


def text_of(events: list[HostEvent]) -> str:
    return "".join(event.text for event in events if isinstance(event, Delta))


def thoughts_of(events: list[HostEvent]) -> str:
    return "".join(event.text for event in events if isinstance(event, Thinking))


def calls_of(events: list[HostEvent]) -> list[tuple[str, str]]:
    return [(event.name, event.arguments) for event in events if isinstance(event, ToolCallMade)]


def usage_of(events: list[HostEvent]) -> Usage:
    return next(event.usage for event in events if isinstance(event, UsageGiven))


def gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    stat = Path(f"/proc/{pid}/stat")
    return stat.exists() and stat.read_text().rpartition(")")[2].split()[0] == "Z"
