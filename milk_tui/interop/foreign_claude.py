"""Claude Code's transcripts: ``projects/<folder>/<session>.jsonl``, one object a line.

What its sub-agents said, what it put into the conversation by itself and the summaries of a compaction are no part of
the conversation.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from milk_tui.core.records import Role
from milk_tui.core.text import one_line
from milk_tui.interop.foreign import ForeignSession, Found, Source, Talk, Unreadable, milliseconds, texts
from milk_tui.interop.foreign_files import json_lines, listed
from milk_tui.interop.memory_lines import FileRefusedError

AGENT = "claude"
_OWN_WORDS = ("<command-", "<local-command-", "<system-reminder>", "Caveat: The messages below were generated")
_INTERRUPTED = "[Request interrupted by user"


def sessions(root: Path) -> Found:
    """``root`` is the program's folder, its folder of projects, one project, or one transcript."""
    folder = root / "projects" if (root / "projects").is_dir() else root
    for file in listed(folder, "**/*.jsonl"):
        if file.parent.name == "subagents" or file.stem.startswith("agent-"):
            continue
        try:
            found = _session(file)
        except (FileRefusedError, OSError) as error:
            yield Unreadable(file.name, one_line(str(error), 200))
            continue
        if found is not None:
            yield found


def _session(file: Path) -> ForeignSession | None:
    talk = Talk()
    key, title, named, directory = file.stem, "", "", ""
    for line in json_lines(file):
        title = _word(line.get("summary")) or _word(line.get("aiTitle")) or title
        named = _word(line.get("customTitle")) or named
        if line.get("isSidechain") or line.get("isMeta") or line.get("isCompactSummary"):
            continue
        message = line.get("message")
        if line.get("type") not in ("user", "assistant") or not isinstance(message, dict):
            continue
        key = _word(line.get("sessionId")) or key
        directory = directory or _word(line.get("cwd"))
        at_ms = milliseconds(line.get("timestamp"))
        if line["type"] == "user":
            _said_by_person(talk, message.get("content"), at_ms)
        elif message.get("model") != "<synthetic>":
            _said_by_agent(talk, message, at_ms)
    return talk.session(Source.CLAUDE_CODE, key, title=named or title, directory=directory)


def _said_by_person(talk: Talk, content: object, at_ms: int | None) -> None:
    for part in content if isinstance(content, list) else ():
        if isinstance(part, dict) and part.get("type") == "tool_result":
            talk.result(_word(part.get("tool_use_id")), texts(part.get("content")), ok=not part.get("is_error"))
    said = texts(content).strip()
    if said and not said.startswith((*_OWN_WORDS, _INTERRUPTED)):
        talk.prompt(said, at_ms)


def _said_by_agent(talk: Talk, message: dict[str, Any], at_ms: int | None) -> None:
    content = message.get("content")
    parts = content if isinstance(content, list) else [{"type": "text", "text": content}]
    for part in parts:
        if not isinstance(part, dict):
            continue
        text, thinking = "", ""
        match part.get("type"):
            case "text":
                text = _word(part.get("text"))
            case "thinking":
                thinking = _word(part.get("thinking"))
            case "tool_use":
                pass
            case _:
                continue
        answer = talk.answer(
            text,
            role=Role.PRIMARY,
            agent=AGENT,
            model=_word(message.get("model")),
            thinking=thinking,
            at_ms=at_ms,
        )
        if part.get("type") == "tool_use":
            arguments = msgspec.json.encode(part.get("input") or {}).decode()
            talk.call(answer, _word(part.get("id")), _word(part.get("name")), arguments)


def _word(value: object) -> str:
    return value if isinstance(value, str) else ""
