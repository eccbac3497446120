"""Brings one text to the door of memory through a channel, and says what became of it (``recall.md``, "Safety").

``python -m tests.bench safety`` and ``tests/engine/test_safety.py`` read the same cases.
"""

from __future__ import annotations

import asyncio
import json
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from milk_tui.core.errors import PerceptRefusedError
from milk_tui.core.records import (
    AgentName,
    ContextMode,
    Leg,
    LegStatus,
    Percept,
    PerceptScope,
    PerceptStatus,
    Producer,
    Role,
)
from milk_tui.engine import admission, casting
from milk_tui.engine.capture import LegCaptures
from milk_tui.engine.commit import Ending, commit
from milk_tui.engine.events import AnyEvent, PerceptRefused
from milk_tui.interop.memory_files import Format, Parsed
from milk_tui.interop.memory_import import prepare, take
from milk_tui.interop.memory_lists import Draft, Listed
from milk_tui.store import Store, legs, percept_lists, percepts, sessions, turns
from milk_tui.store.clock import now_ms

if TYPE_CHECKING:
    from sqlite_utils import Database

CASES = Path(__file__).parents[1] / "data" / "memory" / "safety.jsonl"
NONCE = "q7w8e9"
_AGENT_CHANNELS = ("tag", "tool", "web", "file", "recalled-echo")


@dataclass(slots=True)
class Outcome:
    """``what`` is one of the data's words; ``problems`` are broken promises of the case's ``must``."""

    what: str
    problems: list[str] = field(default_factory=list)


def cases() -> list[dict[str, Any]]:
    return [json.loads(line) for line in CASES.read_text(encoding="utf-8").splitlines()]


def contained(case: dict[str, Any], outcome: Outcome) -> bool:
    """True when nothing was let in that should have stayed out, and nothing kept out that is harmless."""
    return outcome.what in (case["expect"], *case.get("accept", ())) and not outcome.problems


def bring(case: dict[str, Any]) -> Outcome:
    """One case in a database of its own."""
    with tempfile.TemporaryDirectory() as folder:
        store = Store.open(Path(folder) / "milk.db")
        try:
            return asyncio.run(_bring(store, case))
        finally:
            store.close()


async def _bring(store: Store, case: dict[str, Any]) -> Outcome:
    session = await store.write(
        lambda db: sessions.create(
            db,
            directory="/project",
            primary=AgentName(role=Role.PRIMARY, name="fast", model="m", nonce=NONCE),
            escalation=AgentName(role=Role.ESCALATION, name="deep", model="m", nonce=casting.new_nonce()),
        )
    )
    for known in case.get("memory", ()):
        await store.write(lambda db, text=known: percepts.add(db, content=text, session_id=session.id))
    before = {p.id: p for p in await _all(store)}
    events: list[AnyEvent] = []
    texts = [
        (case["text"] * case.get("grow", 1)).replace("{nonce}", NONCE).replace("{n}", str(number))
        for number in range(case.get("repeat", 1))
    ]
    refused = 0
    if case["channel"] in _AGENT_CHANNELS:
        leg = await _leg(store, session.id)
        captures = LegCaptures(
            store,
            session,
            leg,
            events.append,
            may_escalate=False,
            tainted=case["channel"] in ("web", "file"),
            facts_per_turn=8,
        )
        for text in texts:
            refused += not (await captures.remember(text)).ok
        ending = Ending(status=LegStatus.DONE, text="", replaces=captures.replaces)
        await store.write(lambda db: commit(db, leg, ending, budget_chars=12_000, now=now_ms()))
        assert refused == sum(isinstance(e, PerceptRefused) for e in events)
    else:
        way = _bring_in if case["channel"] == "import" else _state
        for text in texts:
            refused += not await way(store, session.id, text)
    return _read(case, before, await _all(store), refused)


async def _state(store: Store, session_id: str, text: str) -> bool:
    """The person says it."""

    def write(db: Database) -> None:
        change = percepts.add(db, content=text, session_id=session_id)
        if change.what == "live":
            admission.weigh(db, change.percept, now=now_ms())

    try:
        await store.write(write)
    except PerceptRefusedError:
        return False
    return True


async def _bring_in(store: Store, session_id: str, text: str) -> bool:
    """The text is an item of a file that is imported."""
    listed = Listed(drafts=(Draft(1, text),), left_out={})
    file = prepare(Parsed(name="facts.md", format=Format.MARKDOWN, listed=listed))
    report = await store.write(
        lambda db: take(db, file, session_id=session_id, scope=PerceptScope.SESSION, now=now_ms())
    )
    return report.refused == 0


async def _leg(store: Store, session_id: str) -> Leg:
    turn = await store.write(lambda db: turns.add(db, session_id, "hello", owner=store.owner_id))
    leg = await store.write(
        lambda db: legs.create(
            db,
            turn.id,
            role=Role.PRIMARY,
            agent_name="fast",
            model="m",
            mode=ContextMode.FIRST,
            owner=store.owner_id,
        )
    )
    claimed = await store.write(lambda db: legs.claim(db, leg.id))
    assert claimed is not None
    return claimed


async def _all(store: Store) -> list[Percept]:
    return await store.read(lambda conn: percept_lists.select(conn, "1 order by p.seq"))


def _read(case: dict[str, Any], before: dict[str, Percept], after: list[Percept], refused: int) -> Outcome:
    new = [p for p in after if p.id not in before]
    must = case.get("must", {})
    problems = []
    if "producer" in must and any(p.producer is Producer.USER for p in new):
        problems.append("the producer was taken from the text")
    if must.get("pinned") is False and any(p.pinned for p in new):
        problems.append("it was pinned")
    retired = [p for p in after if p.id in before and p.status is not before[p.id].status]
    if must.get("retired") == 0 and retired:
        problems.append("a fact was retired")
    if any(p.tainted and (p.weight > 700 or p.scope == "global") for p in new):
        problems.append("what came from outside weighs or reaches too much")
    if case.get("stored_as") and not any(p.content == case["stored_as"] for p in new):
        problems.append("it was stored in other words")
    standing = [p for p in new if p.status is not PerceptStatus.SUPERSEDED]
    if refused:
        if len(new) > 8:
            problems.append("more than 8 facts of a turn were kept")
        return Outcome("refused", problems)
    if not standing:
        heavier = [p for p in after if p.id in before and p.weight > before[p.id].weight]
        if heavier:
            problems.append("an echo added weight")
        return Outcome("confirmed", problems)
    if any(p.status is PerceptStatus.QUARANTINED for p in standing):
        return Outcome("quarantined", problems)
    return Outcome("tainted" if any(p.tainted for p in standing) else "stored", problems)
