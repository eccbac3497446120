"""The Go program's sessions: ``~/.milk/sessions/*.json``, each beside its facts in ``~/.milk/memory``."""

from __future__ import annotations

import uuid
from pathlib import Path
from typing import Any

import msgspec

from milk_tui.core.archive import ArchivedEdge, ArchivedFact
from milk_tui.core.lifecycle import EdgeKind
from milk_tui.core.records import Consumer, PerceptScope, Producer, Role
from milk_tui.interop.foreign import Found, Source, Talk, Unreadable, milliseconds
from milk_tui.interop.foreign_files import json_of, listed
from milk_tui.interop.memory_files import Format, Parsed
from milk_tui.interop.memory_lines import Exported, FileRefusedError

GLOBAL_MEMORY = "global.json"
_ROLES = {
    "local": Role.PRIMARY,
    "primary": Role.PRIMARY,
    "claude": Role.ESCALATION,
    "escalation": Role.ESCALATION,
}
_AGENTS = {Role.PRIMARY: "local", Role.ESCALATION: "claude"}
_PRODUCERS = {
    "user": Producer.USER,
    "local": Producer.PRIMARY,
    "primary": Producer.PRIMARY,
    "claude": Producer.ESCALATION,
    "escalation": Producer.ESCALATION,
}


def sessions(root: Path) -> Found:
    """``root`` is the program's folder, its folder of sessions, or one session."""
    folder = root / "sessions" if (root / "sessions").is_dir() else root
    for file in listed(folder, "*.json"):
        if file.name == "index.json":
            continue
        data = json_of(file)
        if isinstance(data, Unreadable):
            yield data
            continue
        if not isinstance(data, dict) or not isinstance(data.get("history"), list):
            yield Unreadable(file.name, "it is no session of milk")
            continue
        memory = file.parent.parent / "memory" / file.name
        found = _talk(data["history"]).session(
            Source.MILK,
            _word(data.get("id")) or file.stem,
            title=_word(data.get("name")),
            directory=_word(data.get("cwd")),
            created_ms=milliseconds(data.get("created_at")),
            need=_word(data.get("current_need")),
            memory=memory if memory.is_file() else None,
        )
        if found is not None:
            yield found


def global_memory(root: Path) -> Path | None:
    """The file with the facts of all sessions, where there is one."""
    file = root / "memory" / GLOBAL_MEMORY
    return file if file.is_file() else None


def _talk(history: list[Any]) -> Talk:
    talk = Talk()
    for message in history:
        if not isinstance(message, dict):
            continue
        said, at_ms = _word(message.get("content")), milliseconds(message.get("timestamp"))
        role = _ROLES.get(_word(message.get("agent")), Role.PRIMARY)
        match message.get("role"):
            case "user":
                talk.prompt(said, at_ms)
            case "assistant":
                thinking = _word(message.get("thinking"))
                answer = talk.answer(said, role=role, agent=_AGENTS[role], thinking=thinking, at_ms=at_ms)
                for number, call in enumerate(message.get("tool_calls") or ()):
                    if isinstance(call, dict):
                        call_id = _word(call.get("id")) or f"call-{len(talk.turns)}-{number}"
                        talk.call(answer, call_id, _word(call.get("name")), _word(call.get("arguments")))
            case "tool_result":
                talk.result(_word(message.get("tool_call_id")) or talk.last_call(), said)
    return talk


def memory(file: Path, scope: PerceptScope, now: int) -> Parsed:
    """The facts of one of its memory files, as an import takes them. Raises FileRefusedError."""
    data = json_of(file)
    if isinstance(data, Unreadable):
        raise FileRefusedError(file.name, None, data.why)
    told = data.get("percepts") if isinstance(data, dict) else None
    if not isinstance(told, list):
        raise FileRefusedError(file.name, None, "it is no memory of milk")
    ids = {_word(each.get("id")): _id(each) for each in told if isinstance(each, dict)}
    edges = [edge for edge in data.get("edges") or () if isinstance(edge, dict)]
    facts = [
        _fact(each, scope, now, tuple(_edges(each, edges, ids, now))) for each in told if _word(_of(each, "content"))
    ]
    return Parsed(name=file.name, format=Format.JSONL, exported=Exported(facts=tuple(enumerate(facts, start=1))))


def _fact(told: dict[str, Any], scope: PerceptScope, now: int, edges: tuple[ArchivedEdge, ...]) -> ArchivedFact:
    weight = told.get("w")
    created = milliseconds(told.get("created_at")) or now
    updated = milliseconds(told.get("updated_at")) or created
    consumer = _word(told.get("consumer"))
    return ArchivedFact(
        id=_id(told),
        content=_word(told.get("content"))[:8_000],
        producer=_PRODUCERS.get(_word(told.get("producer")), Producer.SYSTEM),
        consumer=Consumer(_ROLES[consumer].value) if consumer in _ROLES else Consumer.ALL,
        scope=scope,
        weight=round(min(max(weight, 0.0), 1.0) * 1000) if isinstance(weight, int | float) else 400,
        pinned=told.get("core") is True,
        created_ms=created,
        updated_ms=updated,
        confirmed_ms=updated,
        edges=edges,
    )


def _edges(told: dict[str, Any], edges: list[dict[str, Any]], ids: dict[str, str], now: int) -> list[ArchivedEdge]:
    kinds = {kind.value: kind for kind in EdgeKind}
    return [
        ArchivedEdge(kind=kinds[_word(edge.get("relation"))], target=ids[_word(edge.get("to"))], created_ms=now)
        for edge in edges
        if _word(edge.get("from")) == _word(told.get("id"))
        and _word(edge.get("to")) in ids
        and _word(edge.get("relation")) in kinds
    ]


def _id(told: dict[str, Any]) -> str:
    """Its own when it is one of ours too, else one that is always the same for it."""
    try:
        return str(uuid.UUID(_word(told.get("id"))))
    except ValueError:
        return str(uuid.uuid5(uuid.NAMESPACE_OID, msgspec.json.encode(told, order="deterministic").decode()))


def _of(told: object, key: str) -> object:
    return told.get(key) if isinstance(told, dict) else None


def _word(value: object) -> str:
    return value if isinstance(value, str) else ""
