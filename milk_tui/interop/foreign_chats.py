"""The databases of elia and oterm, and the export of ChatGPT: conversations with models, without tools."""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from milk_tui.core.records import Role
from milk_tui.interop.foreign import Found, Source, Talk, Unreadable, milliseconds, texts
from milk_tui.interop.foreign_files import json_of, rows_of
from milk_tui.interop.memory_lines import FileRefusedError


def elia(file: Path) -> Found:
    """Its database. A message that has other answers beside it keeps them, one after the other."""
    needed = {"chat": {"id", "model"}, "message": {"id", "chat_id", "role", "content"}}
    for chat, messages in _chats(file, needed):
        if isinstance(chat, Unreadable):
            yield chat
            continue
        talk = Talk()
        for message in messages:
            said, at_ms = _column(message, "content"), milliseconds(_column(message, "timestamp"))
            if message["role"] == "user":
                talk.prompt(said, at_ms)
            elif message["role"] == "assistant":
                model = _column(message, "model") or _column(chat, "model")
                talk.answer(said, role=Role.PRIMARY, agent=_agent(model), model=model, at_ms=at_ms)
        began = milliseconds(_column(chat, "started_at"))
        session = talk.session(Source.ELIA, str(chat["id"]), title=_column(chat, "title"), created_ms=began)
        if session is not None:
            yield session


def oterm(file: Path) -> Found:
    """Its database, which keeps no times."""
    needed = {"chat": {"id", "model"}, "message": {"id", "chat_id", "author", "text"}}
    for chat, messages in _chats(file, needed):
        if isinstance(chat, Unreadable):
            yield chat
            continue
        talk, model = Talk(), _column(chat, "model")
        for message in messages:
            if message["author"] in ("me", "user"):
                talk.prompt(_column(message, "text"))
            else:
                talk.answer(_column(message, "text"), role=Role.PRIMARY, agent=_agent(model), model=model)
        session = talk.session(Source.OTERM, str(chat["id"]), title=_column(chat, "name"))
        if session is not None:
            yield session


def _chats(file: Path, needed: dict[str, set[str]]) -> Iterator[tuple[sqlite3.Row | Unreadable, list[sqlite3.Row]]]:
    """Each chat with its messages, in order."""
    found = rows_of(file, needed, ("select * from chat order by id", "select * from message order by id"))
    if isinstance(found, Unreadable):
        yield found, []
        return
    chats, messages = found
    of_chat: dict[Any, list[sqlite3.Row]] = defaultdict(list)
    for message in messages:
        of_chat[message["chat_id"]].append(message)
    for chat in chats:
        yield chat, of_chat[chat["id"]]


def chatgpt(path: Path) -> Found:
    """``conversations.json`` of an export, or its folder. Of a conversation that branched the branch that was shown
    last is read."""
    file = path / "conversations.json" if path.is_dir() else path
    if not file.exists():
        raise FileRefusedError(str(file), None, "there is no such file")
    data = json_of(file)
    if isinstance(data, Unreadable):
        yield data
        return
    if not isinstance(data, list):
        yield Unreadable(file.name, "it is no export of ChatGPT")
        return
    for number, told in enumerate(data, start=1):
        if not isinstance(told, dict) or not isinstance(told.get("mapping"), dict):
            yield Unreadable(f"{file.name}, conversation {number:,}", "it has no messages")
            continue
        talk = Talk()
        for message in _branch(told["mapping"], told.get("current_node")):
            _say(talk, message)
        key = told.get("conversation_id") or told.get("id")
        session = talk.session(
            Source.CHATGPT,
            key if isinstance(key, str) and key else f"{told.get('create_time')}-{number}",
            title=told["title"] if isinstance(told.get("title"), str) else "",
            created_ms=milliseconds(told.get("create_time")),
        )
        if session is not None:
            yield session


def _branch(mapping: dict[str, Any], last: object) -> list[dict[str, Any]]:
    """The messages from the first to ``last``, or to the newest leaf."""
    node = last if isinstance(last, str) and last in mapping else next(reversed(mapping), None)
    way: list[dict[str, Any]] = []
    seen: set[str] = set()
    while isinstance(node, str) and node in mapping and node not in seen:
        seen.add(node)
        entry = mapping[node] if isinstance(mapping[node], dict) else {}
        if isinstance(entry.get("message"), dict):
            way.append(entry["message"])
        node = entry.get("parent")
    return way[::-1]


def _say(talk: Talk, message: dict[str, Any]) -> None:
    author = message.get("author")
    content = message.get("content")
    about = message.get("metadata")
    about = about if isinstance(about, dict) else {}
    if (
        not isinstance(author, dict)
        or not isinstance(content, dict)
        or about.get("is_visually_hidden_from_conversation")
    ):
        return
    said = texts(content.get("parts")) or (content["text"] if isinstance(content.get("text"), str) else "")
    at_ms = milliseconds(message.get("create_time"))
    if author.get("role") == "user":
        talk.prompt(said, at_ms)
    elif author.get("role") == "assistant" and said.strip() and message.get("recipient", "all") == "all":
        model = about.get("model_slug")
        model = model if isinstance(model, str) else ""
        talk.answer(said, role=Role.PRIMARY, agent="chatgpt", model=model, at_ms=at_ms)


def _agent(model: str) -> str:
    """A name for the model that spoke: its last part, without a tag."""
    return model.rsplit("/", 1)[-1].split(":")[0]


def _column(row: sqlite3.Row, name: str) -> str:
    """The text in a column that not every version has."""
    value = row[name] if name in row.keys() else None  # noqa: SIM118
    return "" if value is None else str(value)
