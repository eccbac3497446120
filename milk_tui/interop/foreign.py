"""A conversation that another program kept, in our words: prompts, and what was answered to each.

Readers of other programs' files (``foreign_*``) fill a ``Talk`` message by message and end with a ``ForeignSession``.
Everything in it is cleaned: text from a file is data.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path

import msgspec
from msgspec import Struct

from milk_tui.core.records import Role
from milk_tui.core.text import clean, one_line

MOST_CHARS = 2_000_000
"""Of one message; the rest is cut and said."""
MOST_MESSAGES = 100_000
"""Of one session."""
NO_PROMPT = "(nothing was asked)"
"""Stands where an answer comes before any prompt."""
_LATEST_MS = 253_402_300_799_000


class Source(StrEnum):
    """The programs whose sessions can be read."""

    MILK = "milk"
    CLAUDE_CODE = "claude-code"
    ELIA = "elia"
    OTERM = "oterm"
    CHATGPT = "chatgpt"


class ForeignTool(Struct, kw_only=True):
    """A tool call; ``position``: characters of the answer before it."""

    call_id: str
    name: str
    arguments: str
    position: int
    result: str = ""
    ok: bool = True


class ForeignAnswer(Struct, kw_only=True):
    """What one agent said to one prompt."""

    role: Role
    agent: str
    model: str
    at_ms: int
    text: str = ""
    thinking: str = ""
    tools: list[ForeignTool] = msgspec.field(default_factory=list)


class ForeignTurn(Struct, kw_only=True):
    prompt: str
    at_ms: int
    answers: list[ForeignAnswer] = msgspec.field(default_factory=list)


class ForeignSession(Struct, kw_only=True):
    """``key`` is the session's own name in its program: the same session read again has the same."""

    source: Source
    key: str
    title: str
    directory: str
    created_ms: int
    updated_ms: int
    turns: list[ForeignTurn]
    need: str = ""
    """The goal that the program kept beside the conversation (the Go program's ``current_need``)."""
    memory: Path | None = None
    """The Go program's file with the session's own facts."""


class Unreadable(Struct, frozen=True):
    """A file, or a session in one, that can't be read; the others can."""

    where: str
    why: str


Found = Iterator[ForeignSession | Unreadable]
Reader = Callable[[Path], Found]


class Talk:
    """Puts messages, given in order, into turns: an answer belongs to the prompt before it."""

    def __init__(self) -> None:
        self.turns: list[ForeignTurn] = []
        self._messages = 0
        self._calls: dict[str, ForeignTool] = {}
        self._last_ms = 0

    def prompt(self, text: str, at_ms: int | None = None) -> None:
        """A prompt that says nothing is none."""
        text = _text(text).strip()
        if text and self._room():
            self.turns.append(ForeignTurn(prompt=text, at_ms=self._time(at_ms)))

    def answer(
        self, text: str, *, role: Role, agent: str, model: str = "", thinking: str = "", at_ms: int | None = None
    ) -> ForeignAnswer | None:
        """More of what the agent says; a new answer where another one spoke before. ``None`` when there is no room."""
        if not self._room():
            return None
        when = self._time(at_ms)
        answer = self._open(role, _name(agent), one_line(model, 200), when)
        for field, piece in (("text", _text(text)), ("thinking", _text(thinking))):
            said = getattr(answer, field)
            if piece.strip():
                setattr(answer, field, f"{said.rstrip()}\n\n{piece}" if said.strip() else piece)
        return answer

    def call(self, answer: ForeignAnswer | None, call_id: str, name: str, arguments: str) -> None:
        """The answer calls a tool after what it said so far."""
        if answer is None or not self._room():
            return
        tool = ForeignTool(
            call_id=one_line(call_id, 200),
            name=one_line(name, 200) or "tool",
            arguments=_text(arguments),
            position=len(answer.text),
        )
        answer.tools.append(tool)
        self._calls[tool.call_id] = tool

    def result(self, call_id: str, text: str, *, ok: bool = True) -> None:
        """What a call brought; one that nobody made is left out."""
        tool = self._calls.get(one_line(call_id, 200))
        if tool is not None:
            tool.result, tool.ok = _text(text), ok

    def last_call(self) -> str:
        """The id of the call that was made last; empty when there is none."""
        return next(reversed(self._calls), "")

    def _open(self, role: Role, agent: str, model: str, at_ms: int) -> ForeignAnswer:
        if not self.turns:
            self.turns.append(ForeignTurn(prompt=NO_PROMPT, at_ms=at_ms))
        answers = self.turns[-1].answers
        if answers and (answers[-1].role, answers[-1].agent) == (role, agent):
            answers[-1].model = answers[-1].model or model
            return answers[-1]
        answers.append(ForeignAnswer(role=role, agent=agent, model=model, at_ms=at_ms))
        return answers[-1]

    def _room(self) -> bool:
        self._messages += 1
        return self._messages <= MOST_MESSAGES

    def _time(self, at_ms: int | None) -> int:
        """Never before the message before it, so that the order stays."""
        self._last_ms = max(self._last_ms, at_ms or 0)
        return self._last_ms

    def session(
        self,
        source: Source,
        key: str,
        *,
        title: str = "",
        directory: str = "",
        created_ms: int | None = None,
        need: str = "",
        memory: Path | None = None,
    ) -> ForeignSession | None:
        """The session; ``None`` when nothing was said in it."""
        if not self.turns:
            return None
        first = self.turns[0]
        return ForeignSession(
            source=source,
            key=one_line(key, 300),
            title=one_line(title, 200) or one_line(first.prompt, 48),
            directory=one_line(directory, 4_000),
            created_ms=created_ms or first.at_ms,
            updated_ms=max(self._last_ms, created_ms or 0),
            turns=self.turns,
            need=one_line(need, 280),
            memory=memory,
        )


def milliseconds(value: object) -> int | None:
    """A time as files write it: ISO 8601 (without a zone it is UTC), or seconds since 1970; ``None`` for anything
    else."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return int(value * 1000) if 0 < value < _LATEST_MS / 1000 else None
    if not isinstance(value, str):
        return None
    try:
        moment = datetime.fromisoformat(value.strip())
    except ValueError:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    stamp = int(moment.timestamp() * 1000)
    return stamp if 0 < stamp < _LATEST_MS else None


def texts(content: object) -> str:
    """The text of a message whose content is a text, or a list of parts of which some are texts."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    parts = [
        part if isinstance(part, str) else part.get("text")
        for part in content
        if isinstance(part, str) or (isinstance(part, dict) and part.get("type", "text") == "text")
    ]
    return "\n\n".join(part for part in parts if isinstance(part, str) and part)


def _text(text: str) -> str:
    cleaned = clean(text)
    if len(cleaned) <= MOST_CHARS:
        return cleaned
    return f"{cleaned[:MOST_CHARS]}\n[{len(cleaned) - MOST_CHARS:,} more characters were left out]"


def _name(agent: str) -> str:
    return one_line(agent, 60) or "assistant"
