"""Tool calls as text, for models that have no calls of their own (``semantics.md`` §2, ``dependencies.md``).

The form that a model is told::

    <tool_call>{"name": "grep", "arguments": {"pattern": "retry"}}</tool_call>

It is read while it streams, in whatever pieces it comes, and with patience: other names for the tag, a Markdown fence
instead of it, a list of calls, other keys, single quotes, trailing commas, a tag that is never closed. What a model
writes behind its calls is no answer but an invented result: it is dropped, and ``done`` says that no more need be read.
A block that calls no known tool is text, unless it stands in the tag itself.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Sequence
from typing import Any

from msgspec import Struct, json
from msgspec.structs import replace

from milk_tui.core.records import Message, MessageToolCall
from milk_tui.core.tool_calls import ToolSpec

OPEN, CLOSE = "<tool_call>", "</tool_call>"
RESULT = "tool_response"
STOP = (f"<{RESULT}",)
"""Where a server may stop: what comes then is invented."""
LONGEST_BODY = 64_000
MOST_CALLS = 20

_TAGS = ("<tool_call>", "<|tool_call|>", "<function_call>", "<tool_calls>", "<tool>", "[TOOL_CALLS]", "<tools>")
_FENCES = frozenset({"tool_call", "tool_calls", "tool", "tool_code", "json"})
_CLOSES = re.compile(
    r"\s*(?:</\|?(?:tool_calls?|function_call|tools?)\|?>|<\|/?(?:tool_call|end|im_end)[\w|]*>|```|\[/TOOL_CALLS\])"
)
_LONGEST_CLOSE = 24
_NAMES = ("name", "tool", "tool_name", "function", "action")
_ARGUMENTS = ("arguments", "parameters", "args", "input", "params", "tool_input", "action_input")
_LONGEST_FENCE = 24


class TextCall(Struct, frozen=True):
    """A call that was read; ``arguments`` is JSON, or what the model wrote in its place."""

    name: str
    arguments: str


class TextToolParser:
    """Takes an answer in pieces: ``feed`` gives what is to be shown, ``calls`` what was called. The result is the same
    for every way of cutting the answer."""

    def __init__(self, names: Collection[str]) -> None:
        self._names = frozenset(names)
        self._buffer = ""
        self._opened = ""
        """What opened the block that is being read; empty outside of one."""
        self._scan = _Balance()
        self._fenced = False
        """Inside a Markdown code block, where nothing is a call."""
        self.calls: list[TextCall] = []
        self.done = False
        """True when the model went on after its calls: the rest is invented."""

    def feed(self, text: str) -> str:
        """The part of the text so far that is certainly no call."""
        if self.done:
            return ""
        self._buffer += text
        return self._run(last=False)

    def close(self) -> str:
        """The end of the answer: what was held back and is text after all."""
        return "" if self.done else self._run(last=True)

    def _run(self, *, last: bool) -> str:
        shown: list[str] = []
        while not self.done:
            if self._opened:
                step = self._in_block(last)
            elif self.calls:
                step = self._behind_calls(last)
            else:
                step = self._in_text(last)
            if step is None:
                break
            shown.append(step)
        return "".join(shown)

    def _take(self, number: int) -> str:
        taken, self._buffer = self._buffer[:number], self._buffer[number:]
        return taken

    def _in_text(self, last: bool) -> str | None:
        """Text up to where a block may begin; ``None``: more is needed."""
        at = _first_mark(self._buffer, fenced=self._fenced)
        if at is None:
            return self._take(len(self._buffer)) if self._buffer else None
        if at:
            return self._take(at)
        return self._at_mark(last)

    def _at_mark(self, last: bool) -> str | None:
        """The buffer begins with ``<``, ``[`` or a backtick: a block, the beginning of one, or text."""
        buffer = self._buffer
        if buffer[0] == "`":
            return self._at_fence(last)
        for tag in _TAGS:
            if buffer.startswith(tag):
                self._begin(tag)
                return ""
        if not last and any(tag.startswith(buffer) for tag in _TAGS):
            return None
        return self._take(1)

    def _at_fence(self, last: bool) -> str | None:
        buffer = self._buffer
        run = len(buffer) - len(buffer.lstrip("`"))
        if run == len(buffer) and not last:
            return None
        if run < 3:
            return self._take(run)
        if self._fenced:
            self._fenced = False
            return self._take(run)
        line, newline, rest = buffer[run:].partition("\n")
        if not newline and not last and len(line) < _LONGEST_FENCE:
            return None
        if newline and line.strip().lower() in _FENCES:
            body = rest.lstrip()
            if not body and not last:
                return None
            if body[:1] in ("{", "["):
                self._begin(buffer[: len(buffer) - len(rest)])
                return ""
        self._fenced = True
        return self._take(run + len(line))

    def _begin(self, mark: str) -> None:
        self._opened = self._take(len(mark))
        self._scan = _Balance()

    def _in_block(self, last: bool) -> str | None:
        """The JSON of a block, once it is whole."""
        buffer = self._buffer
        end = self._scan.end(buffer)
        if end is None and not last and len(buffer) < LONGEST_BODY:
            return None if not self._scan.hopeless else self._release()
        body = buffer[: end if end is not None else len(buffer)]
        found = read_calls(body, self._names, trusted=not self._opened.startswith("`"), whole=end is not None)
        if not found:
            return self._release()
        self._take(len(body))
        self._opened = ""
        self.calls += found[: MOST_CALLS - len(self.calls)]
        return ""

    def _release(self) -> str:
        """The block calls nothing: it is text, and the code block that it may be goes on."""
        mark, self._opened = self._opened, ""
        self._fenced = mark.startswith("`")
        return mark

    def _behind_calls(self, last: bool) -> str | None:
        """Only further calls count."""
        rest = self._buffer.lstrip(" \t\r\n,;]")
        if closing := _CLOSES.match(rest):
            self._buffer = rest[closing.end() :]
            return ""
        self._buffer = rest
        for tag in _TAGS:
            if rest.startswith(tag):
                self._begin(tag)
                return ""
        if rest.startswith("{"):
            self._begin("")
            self._opened = OPEN
            return ""
        if rest.startswith("```") and (line := rest[3:].partition("\n"))[1] and line[0].strip().lower() in _FENCES:
            self._begin(rest[: len(rest) - len(line[2])])
            return ""
        undecided = len(rest) < _LONGEST_CLOSE and (not rest or rest[0] in "<[`") and ">" not in rest[1:]
        if undecided and not last:
            return None
        self.done = bool(rest)
        self._buffer = ""
        return None


class _Balance:
    """Finds the end of the first JSON object or list of a text that grows; looks at each character once."""

    def __init__(self) -> None:
        self._at = 0
        self._depth = 0
        self._string = ""
        self._escaped = False
        self.hopeless = False
        """True when what stands there can't become an object."""

    def end(self, text: str) -> int | None:
        while self._at < len(text):
            sign = text[self._at]
            self._at += 1
            if self._string:
                if self._escaped:
                    self._escaped = False
                elif sign == "\\":
                    self._escaped = True
                elif sign == self._string:
                    self._string = ""
            elif self._depth == 0:
                if sign in "{[":
                    self._depth = 1
                elif not sign.isspace():
                    self.hopeless = True
                    return None
            elif sign == '"':
                self._string = sign
            elif sign in "{[":
                self._depth += 1
            elif sign in "}]":
                self._depth -= 1
                if self._depth == 0:
                    return self._at
        return None


def _first_mark(text: str, *, fenced: bool) -> int | None:
    """Where a block may begin, or a code block ends."""
    places = [text.find(sign) for sign in (("`",) if fenced else ("<", "[", "`"))]
    found = [at for at in places if at >= 0]
    return min(found) if found else None


def read_calls(body: str, names: frozenset[str], *, trusted: bool, whole: bool) -> list[TextCall]:
    """The calls of a block's JSON; empty when it holds none. ``trusted``: it stands in the tag, so that an unknown
    name is a mistake to be told of; ``whole``: its end was found."""
    value = lenient(body if whole else _mended(body))
    items = value if isinstance(value, list) else [value]
    calls = [call for item in items if isinstance(item, dict) and (call := _call(item)) is not None]
    if not calls and trusted and (named := re.search(r"[\"']name[\"']\s*:\s*[\"']([\w.-]{1,64})[\"']", body)):
        calls = [TextCall(named[1], body)]
    if not trusted and not all(call.name in names for call in calls):
        return []
    return calls


def _call(item: dict[str, Any]) -> TextCall | None:
    nested = item.get("function")
    if isinstance(nested, dict):
        item = nested
    key = next((key for key in _NAMES if isinstance(item.get(key), str)), None)
    if key is None:
        return None
    name = str(item[key]).strip()
    given = next((key for key in _ARGUMENTS if key in item), None)
    arguments = item[given] if given else {k: v for k, v in item.items() if k not in (key, "id", "type")}
    if isinstance(arguments, str):
        parsed = lenient(arguments)
        return TextCall(name, json.encode(parsed).decode() if isinstance(parsed, dict) else arguments)
    return TextCall(name, json.encode(arguments if arguments is not None else {}).decode())


def lenient(text: str) -> object:
    """JSON as small models write it; ``None`` for what can't be read."""
    text = text.strip()
    for attempt in (text, _one_line_strings(text), re.sub(r",\s*([}\]])", r"\1", _one_line_strings(text))):
        try:
            return json.decode(attempt)
        except (ValueError, RecursionError):
            continue
    if len(text) > 8_000:
        return None
    try:
        return json.decode(json.encode(ast.literal_eval(text)))
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
        return None


def _one_line_strings(text: str) -> str:
    """Line breaks and tabs inside of strings as JSON wants them."""
    return re.sub(
        r'"(?:[^"\\]|\\.)*+"',
        lambda found: found.group().replace("\n", "\\n").replace("\t", "\\t").replace("\r", "\\r"),
        text,
        flags=re.DOTALL,
    )


def _mended(body: str) -> str:
    """An object that was cut off, with its ends."""
    stack: list[str] = []
    string = escaped = False
    for sign in body:
        if string:
            if escaped:
                escaped = False
            elif sign == "\\":
                escaped = True
            elif sign == '"':
                string = False
        elif sign == '"':
            string = True
        elif sign in "{[":
            stack.append("}" if sign == "{" else "]")
        elif sign in "}]" and stack:
            stack.pop()
    return body.rstrip().rstrip(",") + ('"' if string else "") + "".join(reversed(stack))


def instructions(tools: Sequence[ToolSpec]) -> str:
    """What a model without calls of its own is told; byte-identical for the same tools."""
    lines = [f"- {tool.name}: {tool.description} Arguments: {_arguments(tool)}" for tool in tools]
    example = tools[0].name if tools else "NAME"
    return (
        "# Tools\n\nYou can use tools. To use one, write exactly this, outside of code blocks, and stop:\n\n"
        f'{OPEN}{{"name": "{example}", "arguments": {{…}}}}{CLOSE}\n\n'
        f"The result comes to you in <{RESULT}>; never write one yourself. Without a need for a tool, just answer.\n\n"
        + "\n".join(lines)
    )


def _arguments(tool: ToolSpec) -> str:
    """A schema in a few words: small models follow those better than JSON Schema."""
    fields = tool.parameters.get("properties", {})
    needed = tool.parameters.get("required", [])
    words = []
    for name, field in fields.items():
        kind = field.get("type") or "/".join(
            str(option.get("type", "any")) for option in field.get("anyOf", ()) if option.get("type") != "null"
        )
        choices = f" ({'|'.join(map(str, field['enum']))})" if "enum" in field else ""
        words.append(f'"{name}": {kind or "any"}{choices}{"" if name in needed else " (may be left out)"}')
    return "{" + ", ".join(words) + "}"


def as_text(messages: Sequence[Message]) -> tuple[Message, ...]:
    """A conversation with its calls and results in the text form."""
    names = {call.id: call.name for message in messages for call in message.tool_calls}
    told: list[Message] = []
    for message in messages:
        if message.tool_calls:
            calls = "\n".join(_written(call) for call in message.tool_calls)
            told.append(replace(message, content=f"{message.content}\n{calls}".strip(), tool_calls=()))
        elif message.role == "tool":
            name = names.get(message.tool_call_id or "", "a tool")
            text = f'<{RESULT} name="{name}">\n{message.content}\n</{RESULT}>'
            told.append(replace(message, role="user", content=text, tool_call_id=None))
        else:
            told.append(message)
    return tuple(told)


def _written(call: MessageToolCall) -> str:
    parsed = lenient(call.arguments) if call.arguments.strip() else {}
    arguments = json.encode(parsed).decode() if isinstance(parsed, dict) else json.encode(call.arguments).decode()
    return f'{OPEN}{{"name": {json.encode(call.name).decode()}, "arguments": {arguments}}}{CLOSE}'


def grammar(names: Sequence[str]) -> str:
    """The form as a grammar of llama.cpp's server: any text, then any number of well-formed calls of known tools."""
    choices = " | ".join(json.encode(json.encode(name).decode()).decode() for name in names)
    return "\n".join(
        (
            'root ::= text (call "\\n"?)*',
            'text ::= ([^<] | "<" other)*',
            'other ::= [^t<] | "t" ([^o<] | "o" ([^o<] | "o" ([^l<] | "l" [^_<])))',
            'call ::= "<tool_call>{\\"name\\": " name ", \\"arguments\\": " object "}</tool_call>"',
            f"name ::= {choices}",
            'object ::= "{" ws (pair ("," ws pair)*)? "}" ws',
            'pair ::= string ":" ws value',
            'value ::= object | array | string | number | ("true" | "false" | "null") ws',
            'array ::= "[" ws (value ("," ws value)*)? "]" ws',
            'string ::= "\\"" ([^"\\\\\\x00-\\x1f] | "\\\\" (["\\\\/bfnrt] | "u" [0-9a-fA-F]{4}))* "\\"" ws',
            'number ::= "-"? [0-9]+ ("." [0-9]+)? ([eE] [-+]? [0-9]+)? ws',
            "ws ::= [ \\t\\n]*",
        )
    )
