"""What a scripted model does: replies as data, written as directives inside a prompt.

``SCN:NAME argument`` in the newest prompt; an argument ends with its line or at the next ``SCN:``. The same
words drive the loopback servers and the scripted host, so that one prompt means one thing everywhere.

- ``say TEXT``: stream the text; ``\\n``, ``\\t``, ``\\e``, ``\\\\``, ``\\xHH``, ``\\uHHHH`` are understood.
- ``think TEXT``: stream reasoning.
- ``tool NAME JSON``: call a tool; several make several calls in one answer; the JSON may be broken.
- ``tag KIND BODY``: say ``<milk:KIND:nonce>BODY</…>`` with the nonce found in the system text.
- ``repeat N TEXT``: stream the text N times, one chunk each. ``count N TEXT``: with 1, 2, … N behind it.
- ``huge N``: one chunk of N characters.
- ``chunk N``: characters a chunk (8). ``delay S``: seconds between chunks (0).
- ``slow S``: seconds before the first byte. ``pause S``: seconds at this point.
- ``stall``: go silent at this point and keep the connection. ``until FILE``: silent until the file is there.
- ``cut [clean]``: break the connection at this point, or end the stream early but properly.
- ``fail TEXT``: send an error in the middle of the stream.
- ``malformed``: send a piece that is no JSON. ``type TEXT``: answer a web page of this content type.
- ``empty``: finish without a word. ``finish REASON``: finish like this (``length``, ``content_filter``).
- ``role NAME``: send the role late and as this name. ``model NAME``: name another model in the answer.
- ``wire WHAT``: break the bytes of HTTP themselves (``wire_faults``).
- ``err CODE [S]``: refuse with this HTTP status and ``retry-after: S``, with ``err CODE date S`` as the time of day.
  ``message TEXT``: what it says.
- ``flaky N CODE [S]``: refuse the first N requests with this prompt, then go on.
- ``linger``: send the end of the answer, then keep the connection open in silence. ``usage off``: report none.
- ``host WHAT``: the scripted host itself does this: ``die``, ``hang`` or ``rubbish``.
- ``then``: what follows belongs to the request after the tool results.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

_DIRECTIVE = re.compile(r"SCN:([a-z]+)(?:[ \t]+((?:(?!SCN:)[^\n])*))?")
_ESCAPE = re.compile(r"\\(x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|[nte\\])")
_NONCE = re.compile(r"<milk:[A-Za-z]+:([a-z0-9]{6})>")
_PLAIN = {"n": "\n", "t": "\t", "e": "\x1b", "\\": "\\"}


@dataclass(frozen=True, slots=True)
class Say:
    """One chunk of the answer."""

    text: str


@dataclass(frozen=True, slots=True)
class Think:
    """One chunk of the reasoning."""

    text: str


@dataclass(frozen=True, slots=True)
class Call:
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Pause:
    """Seconds of silence; ``None`` for ever."""

    seconds: float | None


@dataclass(frozen=True, slots=True)
class Until:
    """Silence until a file is there: how a test decides when the answer goes on."""

    file: str

    async def passed(self) -> None:
        while not Path(self.file).exists():  # noqa: ASYNC110, ASYNC240 (nothing tells when a file appears)
            await asyncio.sleep(0.02)


@dataclass(frozen=True, slots=True)
class Cut:
    """The connection breaks; ``clean``: the stream ends properly, but without its end."""

    clean: bool = False


@dataclass(frozen=True, slots=True)
class Fail:
    """The server says, in the stream, that it failed."""

    message: str


@dataclass(frozen=True, slots=True)
class Malformed:
    pass


@dataclass(frozen=True, slots=True)
class HostDoes:
    """The host process dies, hangs or prints rubbish; a server breaks the connection instead."""

    what: str


Step = Say | Think | Call | Pause | Until | Cut | Fail | Malformed | HostDoes


@dataclass(frozen=True, slots=True)
class Reply:
    """One answer. ``status`` other than 200 refuses with ``message`` and, when set, ``retry_after``
    seconds."""

    steps: tuple[Step, ...] = ()
    status: int = 200
    message: str = ""
    retry_after: float | None = None
    retry_by_date: bool = False
    slow_s: float = 0.0
    delay_s: float = 0.0
    content_type: str = ""
    finish: str = ""
    late_role: str = ""
    model: str = ""
    wire: str = ""
    usage: bool = True
    linger: bool = False

    @property
    def text(self) -> str:
        return "".join(s.text for s in self.steps if isinstance(s, Say))

    @property
    def calls(self) -> list[Call]:
        return [s for s in self.steps if isinstance(s, Call)]


@dataclass(frozen=True, slots=True)
class Conversation:
    """What a reply depends on, whatever protocol it came by."""

    prompt: str
    """The newest prompt of the person."""
    system: str = ""
    round: int = 0
    """Answers given since that prompt: tool rounds."""
    results: tuple[str, ...] = ()
    """Tool results since the last answer."""
    messages: int = 1
    schema: dict[str, Any] | None = None
    """The JSON Schema that the answer has to keep."""


@dataclass(slots=True)
class Scenario:
    """Turns a conversation into a reply and counts what ``flaky`` needs."""

    seen: Counter[str] = field(default_factory=Counter)

    def reply(self, talk: Conversation) -> Reply:
        rounds = _rounds(talk.prompt)
        if not rounds:
            return say(default_answer(talk))
        if talk.round >= len(rounds):
            return say(f"Done: {' | '.join(talk.results)}" if talk.results else default_answer(talk))
        return self._build(rounds[talk.round], talk)

    def parse(self, directives: str, talk: Conversation) -> Reply:
        """A reply from directives that did not come in the prompt."""

        return self._build(next(iter(_rounds(directives)), []), talk)

    def _build(self, directives: Sequence[tuple[str, str]], talk: Conversation) -> Reply:
        reply = Reply()
        chunk = 8
        for name, argument in directives:
            match name:
                case "chunk":
                    chunk = max(1, int(argument))
                case "flaky":
                    times, _, rest = argument.partition(" ")
                    key = f"{talk.round} {talk.prompt}"
                    self.seen[key] += 1
                    if self.seen[key] <= int(times):
                        return _refuse(reply, rest)
                case "tag":
                    kind, _, body = argument.partition(" ")
                    nonces = _NONCE.findall(talk.system)
                    nonce = nonces[0] if nonces else "nononc"
                    text = f"<milk:{kind}:{nonce}>{body}</milk:{kind}:{nonce}>"
                    reply = _add(reply, *(Say(piece) for piece in pieces(text, chunk)))
                case _:
                    reply = _apply(reply, name, argument, chunk)
        return reply


def _apply(reply: Reply, name: str, argument: str, chunk: int) -> Reply:
    match name:
        case "say":
            return _add(reply, *(Say(piece) for piece in pieces(unescape(argument), chunk)))
        case "think":
            return _add(reply, *(Think(piece) for piece in pieces(unescape(argument), chunk)))
        case "tool":
            tool, _, arguments = argument.partition(" ")
            return _add(reply, Call(tool, arguments.strip()))
        case "repeat":
            times, _, text = argument.partition(" ")
            return _add(reply, *[Say(unescape(text) or "again ")] * int(times))
        case "count":
            times, _, text = argument.partition(" ")
            return _add(reply, *(Say(f"{unescape(text)}{number} ") for number in range(1, int(times) + 1)))
        case "huge":
            return _add(reply, Say("x" * int(argument)))
        case "delay":
            return replace(reply, delay_s=float(argument))
        case "slow":
            return replace(reply, slow_s=float(argument))
        case "pause":
            return _add(reply, Pause(float(argument)))
        case "until":
            return _add(reply, Until(argument))
        case "stall":
            return _add(reply, Pause(None))
        case "cut":
            return _add(reply, Cut(clean=argument == "clean"))
        case "host":
            return _add(reply, HostDoes(argument))
        case "linger":
            return replace(reply, linger=True)
        case "fail":
            return _add(reply, Fail(unescape(argument) or "Overloaded"))
        case "malformed":
            return _add(reply, Malformed())
        case "type":
            return replace(reply, content_type=argument or "text/html")
        case "empty":
            return reply
        case "finish":
            return replace(reply, finish=argument)
        case "role":
            return replace(reply, late_role=argument)
        case "model":
            return replace(reply, model=argument)
        case "wire":
            return replace(reply, wire=argument)
        case "err":
            return _refuse(reply, argument)
        case "message":
            return replace(reply, message=unescape(argument))
        case "usage":
            return replace(reply, usage=argument != "off")
        case _:
            return _add(reply, Say(f"[no such directive: {name}]"))


def _add(reply: Reply, *steps: Step) -> Reply:
    return replace(reply, steps=(*reply.steps, *steps))


def _refuse(reply: Reply, argument: str) -> Reply:
    code, _, seconds = argument.partition(" ")
    by_date = seconds.startswith("date ")
    seconds = seconds.removeprefix("date ")
    return replace(
        reply, status=int(code), retry_after=float(seconds) if seconds else None, retry_by_date=by_date
    )


def _rounds(text: str) -> list[list[tuple[str, str]]]:
    found = [(m[1], (m[2] or "").rstrip()) for m in _DIRECTIVE.finditer(text)]
    if not found:
        return []
    rounds: list[list[tuple[str, str]]] = [[]]
    for name, argument in found:
        if name == "then":
            rounds.append([])
        else:
            rounds[-1].append((name, argument))
    return rounds


def newest_prompt(text: str) -> str:
    """What the person wrote of a user message: what stands after the context that was put before it."""

    return text.rpartition("\n[/Context from milk]\n")[2].strip()


def say(text: str, chunk: int = 8) -> Reply:
    return Reply(steps=tuple(Say(piece) for piece in pieces(text, chunk)))


def pieces(text: str, size: int) -> Iterator[str]:
    return (text[at : at + size] for at in range(0, len(text), size))


def unescape(text: str) -> str:
    def one(found: re.Match[str]) -> str:
        mark = found[1]
        return _PLAIN[mark] if mark in _PLAIN else chr(int(mark[1:], 16))

    return _ESCAPE.sub(one, text)


def default_answer(talk: Conversation) -> str:
    """A small deterministic assistant: it says what it was given."""

    if talk.schema is not None:
        return json.dumps(example(talk.schema, " ".join(talk.prompt.split())[:80]))
    words = " ".join(talk.prompt.split())
    shown = words if len(words) <= 200 else words[:199] + "…"
    return f"You said: {shown} ({talk.messages} messages so far.)"


def example(schema: dict[str, Any], text: str) -> Any:
    """A value that keeps the schema: the first of an enumeration, ``text`` for a string."""

    if "const" in schema:
        return schema["const"]
    if schema.get("enum"):
        return schema["enum"][0]
    match schema.get("type"):
        case "object" | None:
            return {name: example(part, text) for name, part in schema.get("properties", {}).items()}
        case "array":
            return [example(schema["items"], text)] if "items" in schema else []
        case "integer" | "number":
            return 0
        case "boolean":
            return False
        case "null":
            return None
        case _:
            return text
