"""One turn of Claude Code: its lines as the events that every back end sends (``agents.md`` §1.3–1.6).

The same text comes three times (deltas, ``assistant``, ``result``); only the deltas count. An ``assistant`` whose
message sent no deltas is another matter: the stream broke and was asked for again in one piece, and replaces what was
shown of the broken block.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

import msgspec

from milk_tui.agents.events import (
    AgentEvent,
    BlockReplaced,
    BlockStarted,
    Compacted,
    LegEnd,
    Progress,
    RemoteStarted,
    Retrying,
    TextDelta,
    ThinkDelta,
    ToolResult,
    ToolStart,
    UsageReported,
)
from milk_tui.agents.mcp_tools import OWN_TOOLS
from milk_tui.core.records import ErrorKind, LegError, Usage
from milk_tui.core.text import clean, one_line

SYNTHETIC = "<synthetic>"
"""The model of messages that the program itself writes: errors, which ``result`` says again."""

_STATUS = {
    400: ErrorKind.BAD_REQUEST,
    401: ErrorKind.AUTH,
    403: ErrorKind.AUTH,
    404: ErrorKind.NOT_FOUND,
    413: ErrorKind.CONTEXT_TOO_LONG,
    429: ErrorKind.RATE_LIMIT,
}
_LOGIN = re.compile(r"(?i)/login|log(?:ged)? in|api key|credential|authenticat|oauth")
_TOO_LONG = re.compile(r"(?i)prompt is too long|context (?:window|length)|too many tokens")
_LIMIT = re.compile(r"(?i)\b(?:usage|session|rate|weekly|daily) limit|hit your .{0,30}limit|out of .{0,20}usage")
_NETWORK = re.compile(r"(?i)connect|network|fetch failed|ECONN|ENOTFOUND|socket|offline")
_TIMEOUT = re.compile(r"(?i)timed? ?out")


@dataclass(slots=True)
class ClaudeTurn:
    """``feed`` every line of the turn; ``end`` is set by the one that ends it. ``spent``: the session's cost so far."""

    uuid: str
    spent: float | None = None
    remote_id: str = ""
    """The session as the runtime names it."""
    version: str = ""
    text: str = ""
    """Everything of the answer that was said, for a caller that wants to know whether there was anything."""
    end: LegEnd | None = None
    _queued: bool = False
    _message: str = ""
    _running: bool = False
    """Whether the message that streams has not ended."""
    _finished: int = 0
    """Blocks of it that came whole."""
    _since_mark: list[tuple[int, str]] = field(default_factory=list)
    _streamed: set[str] = field(default_factory=set)
    _block: int = 0
    _gap: bool = False
    """Whether the next text is another paragraph."""
    _calls: set[str] = field(default_factory=set)

    def feed(self, message: dict[str, Any]) -> list[AgentEvent]:
        """The events of one line. Lines of an unknown kind or shape say nothing."""
        kind = message.get("type")
        if kind == "command_lifecycle":
            self._lifecycle(message)
            return []
        if self._queued or self.end is not None:
            return []
        inside = bool(message.get("parent_tool_use_id"))
        match kind:
            case "stream_event" if not inside:
                return [*self._stream(_dict(message.get("event"))), *self._abandoned(message)]
            case "assistant":
                return self._assistant(_dict(message.get("message")), inside)
            case "user":
                return self._results(_dict(message.get("message")))
            case "system":
                return self._system(message)
            case "rate_limit_event":
                return _limit(_dict(message.get("rate_limit_info")))
            case "result":
                return self._result(message)
            case _:
                return []

    def _lifecycle(self, message: dict[str, Any]) -> None:
        """Newer versions say when a prompt's turn begins: what comes before belongs to a turn of the runtime's own."""
        if message.get("command_uuid") == self.uuid:
            self._queued = message.get("state") == "queued"

    def _system(self, message: dict[str, Any]) -> list[AgentEvent]:
        match message.get("subtype"):
            case "init":
                self.remote_id = _argument(message.get("session_id")) or self.remote_id
                self.version = _said(message.get("claude_code_version"), 40)
                return [RemoteStarted(self.remote_id, model=_said(message.get("model"), 80))] if self.remote_id else []
            case "api_retry":
                status, what = _count(message.get("error_status")), _said(message.get("error"), 120)
                reason = " ".join(str(part) for part in ("the model's server says", status, what) if part)
                delay = _number(message.get("retry_delay_ms")) or 0
                return [Retrying(int(_number(message.get("attempt")) or 1), delay / 1000, reason)]
            case "status" if message.get("status") == "compacting":
                return [Progress("compacting its conversation")]
            case "compact_boundary":
                told = _dict(message.get("compact_metadata"))
                before, after = _count(told.get("pre_tokens")), _count(told.get("post_tokens"))
                return [Compacted(before, after)]
            case _:
                return []

    def _stream(self, event: dict[str, Any]) -> list[AgentEvent]:
        match event.get("type"):
            case "message_start":
                return self._begin(str(_dict(event.get("message")).get("id") or ""))
            case "content_block_start":
                self._block = _count(event.get("index")) or 0
                block = _dict(event.get("content_block"))
                self._gap = self._gap or (block.get("type") == "text" and bool(self._since_mark))
                if block.get("type") == "tool_use":
                    return [Progress(f"preparing {_said(block.get('name'), 80).removeprefix(OWN_TOOLS)}")]
                return self._say(str(block.get("text") or "")) if block.get("type") == "text" else []
            case "content_block_delta":
                delta = _dict(event.get("delta"))
                match delta.get("type"):
                    case "text_delta":
                        return self._say(str(delta.get("text") or ""))
                    case "thinking_delta":
                        return [ThinkDelta(str(delta.get("thinking") or ""))]
            case "message_stop":
                self._running = False
        return []

    def _abandoned(self, message: dict[str, Any]) -> list[AgentEvent]:
        """What the line takes back of the message that it ends (newer versions)."""
        told = message.get("abandoned_blocks")
        return self._take_back(_count(told.get("from_block_index")) or 0) if isinstance(told, dict) else []

    def _begin(self, message_id: str) -> list[AgentEvent]:
        self._message, self._running, self._finished = message_id, True, 0
        self._streamed.add(message_id)
        self._gap = self._gap or bool(self._since_mark)
        self._since_mark = []
        return [BlockStarted()]

    def _say(self, text: str) -> list[AgentEvent]:
        if not text:
            return []
        if self._gap and self.text and not self.text.endswith("\n\n"):
            text = "\n\n" + text
        self._gap = False
        self._since_mark.append((self._block, text))
        self.text += text
        return [TextDelta(text)]

    def _take_back(self, first: int) -> list[AgentEvent]:
        """The blocks from ``first`` on were never said; those before it stay."""
        kept = [text for block, text in self._since_mark if block < first]
        gone = [text for block, text in self._since_mark if block >= first]
        if not gone:
            return []
        self.text = self.text[: len(self.text) - sum(len(text) for _, text in self._since_mark)] + "".join(kept)
        self._since_mark = [(block, text) for block, text in self._since_mark if block < first]
        self._gap = bool(kept)
        return [BlockReplaced(self._message), *(TextDelta(text) for text in kept)]

    def _assistant(self, message: dict[str, Any], inside: bool) -> list[AgentEvent]:
        if message.get("model") == SYNTHETIC:
            return []
        blocks = [_dict(block) for block in _list(message.get("content"))]
        if inside:
            return [start for block in blocks for start in self._tool(block, inside=True)]
        message_id = str(message.get("id") or "")
        if message_id in self._streamed:
            self._finished += message_id == self._message
            return [start for block in blocks for start in self._tool(block)]
        return self._whole(message_id, blocks)

    def _whole(self, message_id: str, blocks: list[dict[str, Any]]) -> list[AgentEvent]:
        """A message that came in one piece, perhaps instead of one that broke."""
        made = self._take_back(self._finished) if self._running else []
        replaced = bool(made)
        if not replaced:
            made += self._begin(message_id)
        self._running = False
        for number, block in enumerate(blocks):
            self._block = self._finished + number
            match block.get("type"):
                case "text":
                    self._gap = self._gap or any(at != self._block for at, _ in self._since_mark)
                    made += self._say(str(block.get("text") or ""))
                case "thinking":
                    made.append(ThinkDelta(str(block.get("thinking") or "")))
                case _:
                    made += self._tool(block)
        return made

    def _tool(self, block: dict[str, Any], *, inside: bool = False) -> list[AgentEvent]:
        call_id = str(block.get("id") or "")
        if block.get("type") != "tool_use" or not call_id or call_id in self._calls:
            return []
        self._calls.add(call_id)
        if not inside:
            self._gap = False
        name = _said(block.get("name"), 80).removeprefix(OWN_TOOLS) or "tool"
        arguments = msgspec.json.encode(block.get("input") or {}).decode()
        return [ToolStart(call_id, name, arguments, sub_agent=inside)]

    def _results(self, message: dict[str, Any]) -> list[AgentEvent]:
        made: list[AgentEvent] = []
        for block in map(_dict, _list(message.get("content"))):
            call_id = str(block.get("tool_use_id") or "")
            if block.get("type") == "tool_result" and call_id in self._calls:
                self._calls.discard(call_id)
                made.append(ToolResult(call_id, not block.get("is_error"), _text(block.get("content"))))
                self._since_mark = []
        return made

    def _result(self, message: dict[str, Any]) -> list[AgentEvent]:
        made: list[AgentEvent] = [self._usage(message)]
        said = clean(str(message.get("result") or ""))
        failed = bool(message.get("is_error"))
        reason = str(message.get("terminal_reason") or "")
        if not failed and not self.text and not self._streamed and said.strip():
            made += self._say(said)
        if reason.startswith("aborted"):
            self.end = LegEnd("cancelled")
        elif message.get("subtype") == "error_max_turns" or (not failed and message.get("stop_reason") == "max_tokens"):
            self.end = LegEnd("length")
        elif failed or str(message.get("subtype") or "").startswith("error"):
            errors = "; ".join(str(e) for e in _list(message.get("errors")))
            self.end = LegEnd("error", failure(_count(message.get("api_error_status")), said or errors))
        else:
            self.end = LegEnd()
        return [*made, self.end]

    def _usage(self, message: dict[str, Any]) -> UsageReported:
        told = _dict(message.get("usage"))
        names = ("input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
        plain, output, read, written = (_count(told.get(name)) for name in names)
        total = _number(message.get("total_cost_usd"))
        thought = _count(_dict(told.get("output_tokens_details")).get("thinking_tokens"))
        counted = any((plain, output, read, written))
        usage = Usage(
            input_tokens=sum(n or 0 for n in (plain, read, written)) if counted else None,
            output_tokens=output if counted else None,
            cached_tokens=read if counted else None,
            cache_write_tokens=written if counted else None,
            reasoning_tokens=thought if counted else None,
            cost_usd=cost_since(self.spent, total),
        )
        if total is not None:
            self.spent = total
        return UsageReported(usage, session_cost_usd=total)


def _limit(told: dict[str, Any]) -> list[AgentEvent]:
    """A word when the account's allowance is nearly or wholly used up."""
    match told.get("status"):
        case "allowed_warning":
            return [Progress("the account's usage limit is near")]
        case "rejected":
            return [Progress("the account's usage limit is reached")]
        case _:
            return []


def cost_since(before: float | None, total: float | None) -> float | None:
    """What this turn cost, of a session's running total. A total below the one before is a new count."""
    if total is None:
        return None
    return total - before if before is not None and total >= before else total


def failure(status: int | None, said: str) -> LegError:
    """The error of a turn, by the API's status and the words of the program."""
    what = one_line(clean(said).removeprefix("API Error: "), 300) or "Claude Code failed without saying why"
    kind = _STATUS.get(status or 0)
    if kind is None and status is not None and status >= 500:
        kind = ErrorKind.SERVER
    if _TOO_LONG.search(what):
        kind = ErrorKind.CONTEXT_TOO_LONG
    elif kind is None and _LIMIT.search(what):
        kind = ErrorKind.RATE_LIMIT
    elif kind in (None, ErrorKind.BAD_REQUEST) and _LOGIN.search(what):
        kind = ErrorKind.AUTH
    elif kind is None:
        kind = ErrorKind.TIMEOUT if _TIMEOUT.search(what) else ErrorKind.SERVER
        kind = ErrorKind.UNREACHABLE if kind is ErrorKind.SERVER and _NETWORK.search(what) else kind
    return LegError(kind=kind, message=what, hint=_HINTS.get(kind, "Send the prompt again."))


_HINTS = {
    ErrorKind.AUTH: "Run `claude` in a terminal and log in with /login.",
    ErrorKind.CONTEXT_TOO_LONG: "Start it anew: /escalate fresh.",
    ErrorKind.NOT_FOUND: "Correct its model in the config.",
    ErrorKind.RATE_LIMIT: "Wait, or let the other agent answer.",
    ErrorKind.UNREACHABLE: "Look at the network, or let the other agent answer.",
}


def _text(content: Any) -> str:
    """The text of a tool's result; other parts by their kind."""
    if isinstance(content, str):
        return content
    blocks = map(_dict, _list(content))
    return "\n".join(
        str(block.get("text") or "") if block.get("type") == "text" else f"[{_said(block.get('type'), 20)}]"
        for block in blocks
    )


def _said(value: Any, limit: int) -> str:
    return one_line(clean(value), limit) if isinstance(value, str) else ""


def _argument(value: Any) -> str:
    """An id that is given back as an argument of the program's; empty where it could be taken for an option."""
    said = _said(value, 200)
    return "" if said.startswith("-") else said


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
