"""Claude Code as a helper: read-only tools, no settings, no hooks, no MCP, nothing kept (``semantics.md`` §6).

What the program says about itself in its first line is checked: one that comes up with more than it was allowed is
ended before it has answered.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from milk_tui.agents.child import ChildError, JsonChild, environment
from milk_tui.core.helper_profile import Limits
from milk_tui.core.records import Usage
from milk_tui.core.text import one_line
from milk_tui.engine.helper.briefing import Briefing
from milk_tui.engine.helper.runtimes import RunFailedError, Spent
from milk_tui.engine.helper.search import Item, Search

READ_ONLY = ("Read", "Grep", "Glob")
GUARD = "MILK_TUI_HELPER"
"""Set for everything that a helper starts: nothing that sees it starts a helper."""


def arguments(command: Sequence[str], model: str) -> list[str]:
    """The whole command. ``--tools`` limits the built-in tools and leaves those of MCP servers in place, hence the
    second flag; without settings there are no hooks, so that a helper's prompt starts no other."""
    return [
        *command,
        *("-p", "--output-format", "stream-json", "--input-format", "stream-json", "--verbose"),
        *("--model", model or "haiku"),
        *("--tools", ",".join(READ_ONLY)),
        *("--disallowedTools", "mcp__*"),
        *("--strict-mcp-config",),
        *("--setting-sources", ""),
        "--no-session-persistence",
    ]


class ClaudeRuntime:
    """``local`` is False: nobody knows where it sends what it reads."""

    name, local = "claude-cli", False

    def __init__(
        self, command: Sequence[str] = ("claude",), model: str = "", environ: Mapping[str, str] | None = None
    ) -> None:
        self.model = model or "haiku"
        self._command = arguments(command, model)
        self._environ = dict(os.environ if environ is None else environ)

    async def answer(self, asked: Briefing, found: Sequence[Item], search: Search, limits: Limits, spent: Spent) -> str:
        await search.everything()
        spent.input_bytes = asked.bytes
        child = JsonChild(self._command, env=environment(self._environ, {GUARD: "1"}), cwd=search.folder, term_s=1.0)
        try:
            await child.start()
            content = f"{asked.system}\n\nThe records are the files of the current folder.\n\n{asked.user}"
            await child.send({"type": "user", "message": {"role": "user", "content": content}})
            return await _result(child, limits, spent)
        except ChildError as error:
            raise RunFailedError(f"unavailable: {one_line(str(error), 200)}") from error
        finally:
            await child.aclose(0.0)


async def _result(child: JsonChild, limits: Limits, spent: Spent) -> str:
    begun = False
    async for message in child.messages():
        kind, subtype = message.get("type"), str(message.get("subtype", ""))
        if kind == "system" and subtype == "init":
            if problem := excess(message):
                raise RunFailedError(f"refused: {problem}")
            begun = True
        elif kind == "system" and subtype.startswith("hook"):
            raise RunFailedError("refused: it runs hooks")
        elif kind == "result":
            if not begun:
                raise RunFailedError("refused: it did not say what it may do")
            return _answer(message, limits, spent)
    raise RunFailedError(f"unavailable: {child.ending()}")


def excess(init: Mapping[str, Any]) -> str:
    """What the program has beyond reading files, as its first line says it; empty when it has nothing more."""
    tools, servers = init.get("tools"), init.get("mcp_servers")
    if not isinstance(tools, list):
        return "it does not say which tools it has"
    if more := [str(tool) for tool in tools if tool not in READ_ONLY]:
        return f"it has the tools {one_line(', '.join(more), 120)}"
    if servers:
        return "it has MCP servers"
    if init.get("hooks"):
        return "it has hooks"
    return ""


def _answer(message: Mapping[str, Any], limits: Limits, spent: Spent) -> str:
    text = str(message.get("result") or "")
    usage = message.get("usage")
    if isinstance(usage, Mapping):
        spent.usage = Usage(input_tokens=_count(usage, "input_tokens"), output_tokens=_count(usage, "output_tokens"))
    spent.output_bytes = len(text.encode("utf-8", "replace"))
    if message.get("is_error") or message.get("subtype") != "success":
        raise RunFailedError(f"the program failed: {one_line(text, 160) or message.get('subtype')}")
    if spent.output_bytes > limits.max_output_bytes:
        raise RunFailedError(f"the answer has more than {limits.max_output_bytes:,} bytes")
    if (spent.usage.output_tokens or 0) > limits.max_tokens:
        raise RunFailedError(f"it used {spent.usage.output_tokens:,} tokens, {limits.max_tokens:,} are allowed")
    return text.strip()


def _count(usage: Mapping[str, Any], name: str) -> int | None:
    value = usage.get(name)
    return value if isinstance(value, int) and value >= 0 else None
