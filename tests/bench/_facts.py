"""Databases with our own labelled facts (``tests/data/memory``), learned the way the program learns them."""

from __future__ import annotations

import contextlib
import json
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from milk_tui.core.records import AgentName, Consumer, PerceptScope, Producer, Role
from milk_tui.recall import Phase, Semantic
from milk_tui.store import Store, percepts, sessions, turns

DATA = Path(__file__).parents[1] / "data" / "memory"
AGENTS = (
    AgentName(role=Role.PRIMARY, name="qwen", model="ollama_chat/qwen", nonce="abc123"),
    AgentName(role=Role.ESCALATION, name="claude", model="anthropic/claude", nonce="xyz789"),
)


def lines(name: str) -> list[dict[str, Any]]:
    with (DATA / name).open(encoding="utf-8") as file:
        return [json.loads(line) for line in file]


@dataclass(frozen=True, slots=True)
class Memory:
    """A database and where its facts are: by label, their ids; by project, its session."""

    store: Store
    ids: dict[str, str]
    sessions: dict[str, str]


@contextlib.contextmanager
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="milk-recall-") as name:
        yield Path(name)


@contextlib.contextmanager
def labelled(*, everywhere: bool) -> Iterator[Memory]:
    """All labelled facts in one database. ``everywhere``: every session sees all of them, as after their promotion;
    else a project's facts belong to its session and the person's to all."""
    with folder() as path:
        store = Store.open(path / "milk.db")
        try:
            yield Memory(store, *store.write_sync(lambda db: _learn(db, lines("facts.jsonl"), everywhere)))
        finally:
            store.close()


@contextlib.contextmanager
def semantic(store: Store, *, wait_s: float = 600) -> Iterator[Semantic]:
    """The semantic side with every fact embedded; raises RuntimeError when it isn't installed."""
    worker = Semantic(store.path)
    worker.start()
    try:
        state = worker.wait(wait_s)
        if state.phase is not Phase.READY:
            raise RuntimeError(state.what)
        worker.embedded(wait_s)
        yield worker
    finally:
        worker.close()


def session(db: Any, directory: str, agents: tuple[AgentName, AgentName] = AGENTS) -> str:
    primary, escalation = agents
    return sessions.create(db, directory=directory, primary=primary, escalation=escalation).id


def turn(db: Any, session_id: str, prompt: str, now: int) -> int:
    return turns.add(db, session_id, prompt, owner="bench", now=now).id


def _learn(db: Any, facts: list[dict[str, Any]], everywhere: bool) -> tuple[dict[str, str], dict[str, str]]:
    places: dict[str, str] = {}
    ids: dict[str, str] = {}
    for number, fact in enumerate(facts):
        project = fact["project"]
        if project not in places:
            places[project] = session(db, f"/{project}")
        now = int(datetime.fromisoformat(fact["created"]).replace(tzinfo=UTC).timestamp() * 1000) + number
        talk = session(db, f"/{project}/{number}")
        for prompt in (fact["context"], fact["source"]):
            moment = turn(db, talk, prompt, now)
        ids[fact["id"]] = percepts.add(
            db,
            content=fact["content"],
            producer=Producer(fact["producer"]),
            session_id=places[project],
            scope=PerceptScope.GLOBAL if everywhere or project == "person" else PerceptScope.SESSION,
            consumer=Consumer(fact["consumer"]),
            turn_id=moment,
            allow_secret=True,
            now=now,
        ).percept.id
    for fact in facts:
        if fact["superseded_by"]:
            db.execute(
                "update percepts set status = 'superseded', superseded_by = ?, valid_to_ms ="
                " (select created_ms from percepts where id = ?) where id = ?",
                (ids[fact["superseded_by"]], ids[fact["superseded_by"]], ids[fact["id"]]),
            )
    return ids, places
