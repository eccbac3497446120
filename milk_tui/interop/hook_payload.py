"""What Claude Code says at a boundary of a session: the JSON that it gives a hook (``agents.md`` §1.5). Pure."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from milk_tui.paths import INSIDE_VARIABLE

PROMPT = "UserPromptSubmit"
TOOL = "PreToolUse"
START = "SessionStart"
SUBAGENT_END = "SubagentStop"
EVENTS = (PROMPT, TOOL, START, SUBAGENT_END)
"""Those that are asked for in a settings file. Nothing is ever answered to Stop: it would run the model again."""

SUBAGENT_TOOLS = frozenset({"Task", "Agent"})
FORGETS = frozenset({"compact", "clear"})
"""Starts after which the runtime no longer knows what it was told."""

QUERY_CHARS = 2_000
PROMPT_CHARS = 12_000
_ARGUMENT_CHARS = 400


@dataclass(frozen=True, slots=True)
class Boundary:
    """What happened in the other program."""

    event: str
    remote_id: str
    directory: Path
    query: str = ""
    """What facts are looked for with."""
    prompt: str = ""
    """What the person said, at a prompt."""
    tool: str = ""
    source: str = ""
    subagent: bool = False
    """True inside a sub-agent, which is no boundary."""


def read(payload: bytes, environ: Mapping[str, str]) -> Boundary | None:
    """What a payload says; ``None`` when it is none that anything is done about."""
    if environ.get(INSIDE_VARIABLE):
        return None
    try:
        values = json.loads(payload)
    except (ValueError, RecursionError):
        return None
    if not isinstance(values, dict):
        return None
    event, remote_id = _text(values, "hook_event_name"), _text(values, "session_id")
    if event not in EVENTS or not remote_id:
        return None
    where = environ.get("CLAUDE_PROJECT_DIR") or _text(values, "cwd")
    if not where:
        return None
    return Boundary(
        event=event,
        remote_id=remote_id[:200],
        directory=Path(os.path.realpath(where)),
        query=(_text(values, "prompt") if event == PROMPT else _said(values.get("tool_input")))[:QUERY_CHARS],
        prompt=_text(values, "prompt")[:PROMPT_CHARS] if event == PROMPT else "",
        tool=_text(values, "tool_name"),
        source=_text(values, "source"),
        subagent=bool(_text(values, "agent_id") or _text(values, "parent_tool_use_id")),
    )


def _text(values: dict[str, Any], key: str) -> str:
    value = values.get(key)
    return value if isinstance(value, str) else ""


def _said(arguments: object) -> str:
    """The words in a tool's arguments: its paths and commands first, long texts cut."""
    if not isinstance(arguments, dict):
        return ""
    texts = [value for value in arguments.values() if isinstance(value, str)]
    return " ".join(text[:_ARGUMENT_CHARS] for text in sorted(texts, key=len))
