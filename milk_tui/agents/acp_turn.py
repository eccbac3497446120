"""One turn of an ACP agent: its updates as the events that every back end sends (``agents.md`` §3)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import msgspec

from milk_tui.agents.asking import unified
from milk_tui.agents.claude_turn import cost_since
from milk_tui.agents.events import (
    AgentEvent,
    BlockStarted,
    LegEnd,
    Progress,
    TextDelta,
    ThinkDelta,
    ToolResult,
    ToolStart,
    UsageReported,
)
from milk_tui.agents.mcp_tools import OWN_TOOLS
from milk_tui.core.records import ErrorKind, LegError, Usage
from milk_tui.core.text import clean, one_line

RESULT_CHARS = 200_000
"""The longest tool result that is kept; a longer one says how much was left out."""


@dataclass(slots=True)
class Call:
    """A tool call as far as it was told; it comes in pieces."""

    name: str = "tool"
    title: str = ""
    arguments: dict[str, Any] = field(default_factory=dict)
    content: list[Any] = field(default_factory=list)
    output: Any = None
    status: str = "pending"
    ours: bool = False
    """One of the tools that our own server gives it: nothing to ask the person about."""
    inside: bool = False
    """Called by a sub-agent, where the agent says so."""
    asked: bool = False
    """The person is asked for it: it is complete."""
    as_asked: dict[str, Any] = field(default_factory=dict)
    """What was shown to the person."""
    started: bool = False
    ended: bool = False

    def update(self, told: dict[str, Any]) -> None:
        """Lay over what this update says; what it doesn't say stays."""
        kind, title, given = told.get("kind"), told.get("title"), told.get("rawInput")
        runtime = _dict(_dict(told.get("_meta")).get("claudeCode"))
        if isinstance(runtime.get("toolName"), str):
            self.name = one_line(clean(runtime["toolName"]), 80) or self.name
            self.ours = self.name.startswith(OWN_TOOLS)
            self.name = self.name.removeprefix(OWN_TOOLS)
        elif isinstance(kind, str) and self.name == "tool":
            self.name = one_line(clean(kind), 40) or self.name
        self.inside = self.inside or bool(runtime.get("parentToolUseId"))
        if isinstance(title, str):
            self.title = one_line(clean(title), 200)
        if isinstance(given, dict) and given:
            self.arguments = given
        if isinstance(told.get("content"), list):
            self.content = told["content"]
        if told.get("rawOutput") is not None:
            self.output = told["rawOutput"]
        if isinstance(told.get("status"), str):
            self.status = told["status"]

    @property
    def shown(self) -> dict[str, Any]:
        """The arguments, or what stands in for them."""
        return self.arguments or ({"title": self.title} if self.title else {})

    @property
    def diff(self) -> str:
        """The changes to files that it proposes or made."""
        diffs = [c for c in map(_dict, self.content) if c.get("type") == "diff"]
        return "\n".join(
            unified(clean(str(d.get("path") or "")), str(d.get("oldText") or ""), str(d.get("newText") or ""))
            for d in diffs
        )

    def result(self) -> str:
        """What it brought: texts and diffs, else the raw output."""
        texts = [str(_dict(c.get("content")).get("text") or "") for c in map(_dict, self.content)]
        whole = "\n".join(part for part in (self._changed, *texts, self.diff) if part)
        if not whole and self.output is not None:
            whole = self.output if isinstance(self.output, str) else msgspec.json.encode(self.output).decode()
        if len(whole) > RESULT_CHARS:
            return f"{whole[:RESULT_CHARS]}\n… {len(whole) - RESULT_CHARS:,} more characters"
        return whole


    @property
    def _changed(self) -> str:
        """Said above the result when the agent did something else than it had asked for."""
        if not self.asked or self.shown == self.as_asked:
            return ""
        return f"[NOT WHAT WAS ASKED FOR: {one_line(clean(str(self.shown)), 400)}]"


@dataclass(slots=True)
class AcpTurn:
    """``feed`` every update, ``finish`` with the prompt's result. ``spent``: the session's cost so far."""

    spent: float | None = None
    window: int | None = None
    """The agent's context window in tokens, once it has said so."""
    calls: dict[str, Call] = field(default_factory=dict)
    _total: float | None = None
    _message: str = ""
    _text: bool = False
    """Whether the last thing that was said is text."""

    def feed(self, update: dict[str, Any]) -> list[AgentEvent]:
        """The events of one update. Updates of an unknown kind or shape say nothing."""
        match update.get("sessionUpdate"):
            case "agent_message_chunk":
                return self._say(update)
            case "agent_thought_chunk":
                text = _dict(update.get("content")).get("text")
                return [ThinkDelta(text)] if isinstance(text, str) and text else []
            case "tool_call" | "tool_call_update":
                return self._tool(update)
            case "plan":
                return _plan(update)
            case "usage_update":
                self._usage(update)
                return []
            case _:
                return []

    def told(self, call_id: str, call: dict[str, Any]) -> Call:
        """What a permission request says about its call; it is shown with the next update."""
        known = self.calls.setdefault(call_id, Call())
        known.update(call)
        known.asked, known.as_asked = True, known.shown
        return known

    def finish(self, result: dict[str, Any]) -> list[AgentEvent]:
        """The prompt's answer: usage and the end of the leg."""
        made: list[AgentEvent] = []
        for call_id, call in self.calls.items():
            made += self._start(call_id, call)
        made += [self._reported(_dict(result.get("usage"))), _end(result.get("stopReason"))]
        return made

    def _say(self, update: dict[str, Any]) -> list[AgentEvent]:
        content = _dict(update.get("content"))
        text, message = content.get("text"), str(update.get("messageId") or "")
        if content.get("type") != "text" or not isinstance(text, str) or not text:
            return []
        made: list[AgentEvent] = []
        if self._text and message != self._message:
            made = [BlockStarted()]
            text = text if text.startswith("\n") else f"\n\n{text}"
        self._message, self._text = message, True
        return [*made, TextDelta(text)]

    def _tool(self, update: dict[str, Any]) -> list[AgentEvent]:
        call_id = str(update.get("toolCallId") or "")
        if not call_id:
            return []
        call = self.calls.setdefault(call_id, Call())
        if call.ended:
            return []
        call.update(update)
        made = self._start(call_id, call) if call.asked or call.status != "pending" else []
        if call.status in ("completed", "failed"):
            call.ended = True
            made.append(ToolResult(call_id, call.status == "completed", call.result()))
        return made

    def _start(self, call_id: str, call: Call) -> list[AgentEvent]:
        if call.started:
            return []
        call.started = True
        self._text = False
        try:
            arguments = msgspec.json.encode(call.shown).decode()
        except (TypeError, ValueError, RecursionError):
            arguments = "{}"
        return [ToolStart(call_id, call.name, arguments, sub_agent=call.inside)]

    def _usage(self, update: dict[str, Any]) -> None:
        self.window = _count(update.get("size")) or self.window
        amount = _dict(update.get("cost")).get("amount")
        currency = _dict(update.get("cost")).get("currency")
        if isinstance(amount, int | float) and not isinstance(amount, bool) and currency in (None, "USD"):
            self._total = float(amount)

    def _reported(self, told: dict[str, Any]) -> UsageReported:
        plain, read, written = (
            _count(told.get(name)) for name in ("inputTokens", "cachedReadTokens", "cachedWriteTokens")
        )
        counted = plain is not None or read is not None
        usage = Usage(
            input_tokens=sum(n or 0 for n in (plain, read, written)) if counted else None,
            output_tokens=_count(told.get("outputTokens")),
            cached_tokens=read,
            cache_write_tokens=written,
            reasoning_tokens=_count(told.get("thoughtTokens")),
            cost_usd=cost_since(self.spent, self._total) or None,
        )
        self.spent = self._total if self._total is not None else self.spent
        return UsageReported(usage, session_cost_usd=self._total)


def _end(reason: Any) -> LegEnd:
    match reason:
        case "cancelled":
            return LegEnd("cancelled")
        case "max_tokens" | "max_turn_requests":
            return LegEnd("length")
        case "refusal":
            what = "The model refused to go on."
            return LegEnd("error", LegError(kind=ErrorKind.REFUSED, message=what, hint="Say it in other words."))
        case _:
            return LegEnd()


def _plan(update: dict[str, Any]) -> list[AgentEvent]:
    """Where the agent stands in its plan, in one line."""
    told = update.get("entries")
    told = told if isinstance(told, list) else []
    entries = [e for e in map(_dict, told) if isinstance(e.get("content"), str)]
    if not entries:
        return []
    done = sum(e.get("status") == "completed" for e in entries)
    now = next((e for e in entries if e.get("status") == "in_progress"), None)
    what = one_line(clean(now["content"]), 120) if now else "done" if done == len(entries) else "made"
    return [Progress(f"plan {done}/{len(entries)}: {what}", fraction=done / len(entries))]


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
