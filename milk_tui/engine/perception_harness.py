"""What the program itself writes into the perception when a leg ends: results, files, doubts (``semantics.md`` §5)."""

from __future__ import annotations

from dataclasses import replace as replace_outcome
from typing import TYPE_CHECKING

from msgspec.structs import replace

from milk_tui.core import perception_doubt, perception_harness
from milk_tui.core.perception_view import HARNESS
from milk_tui.core.records import Layer, Leg, PerceptionEntry, ToolCall, ToolStatus
from milk_tui.core.tool_calls import ToolOutcome
from milk_tui.engine import perception_writing
from milk_tui.store import perception, sessions, tool_calls

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from sqlite_utils import Database


def after_leg(db: Database, leg: Leg, *, now: int) -> list[PerceptionEntry]:
    """Note what the leg's tools did, and mark what they speak against; what changed."""
    calls = [
        call
        for call in tool_calls.of_legs(db.conn, [leg.id]).get(leg.id, ())
        if not perception_harness.is_memory(call.name)
    ]
    if not calls:
        return []
    told = _noted(db, leg, calls, now)
    return told + _doubted(db, leg, calls, now)


def _noted(db: Database, leg: Leg, calls: list[ToolCall], now: int) -> list[PerceptionEntry]:
    directory = sessions.get(db.conn, leg.session_id).directory
    before = {entry.key: entry for entry in perception.current(db.conn, leg.session_id, Layer.WORKING)}

    def value(key: str) -> str:
        entry = before.get(key)
        return entry.value if entry is not None else ""

    lines = {
        perception_harness.RESULTS: perception_harness.results(value(perception_harness.RESULTS), calls),
        perception_harness.TOUCHED: perception_harness.touched(value(perception_harness.TOUCHED), calls, directory),
    }
    entries = [
        PerceptionEntry(layer=Layer.WORKING, key=key, value=text, writer=HARNESS, turn_id=leg.turn_id, updated_ms=now)
        for key, text in lines.items()
        if text
    ]
    return perception_writing.write(db, leg.session_id, entries, now=now, as_of=leg.turn_id)


def _doubted(db: Database, leg: Leg, calls: list[ToolCall], now: int) -> list[PerceptionEntry]:
    marked: dict[tuple[Layer, str], PerceptionEntry] = {}
    entries = [entry for entry in perception.current(db.conn, leg.session_id) if not entry.proposed]
    for call in calls:
        ended = now if call.ended_ms is None else call.ended_ms
        earlier = [e for e in entries if e.updated_ms <= ended and (e.layer, e.key) not in marked]
        for doubt in perception_doubt.doubts(earlier, call):
            entry = next(e for e in earlier if (e.layer, e.key) == (doubt.layer, doubt.key))
            marked[(doubt.layer, doubt.key)] = replace(entry, stale=doubt.why)
    perception.append(db, leg.session_id, marked.values(), as_of=leg.turn_id, now=now)
    return list(marked.values())


class LegDoubts:
    """What the agent of a running leg is told when a result speaks against what it believes; each entry once."""

    def __init__(
        self, entries: Iterable[PerceptionEntry], written: Mapping[tuple[Layer, str], PerceptionEntry]
    ) -> None:
        """``written``: what the agent writes during the leg, as it grows."""
        self._entries = {(entry.layer, entry.key): entry for entry in entries}
        self._written = written
        self._told: dict[tuple[Layer, str], PerceptionEntry] = {}

    def told(self, name: str, arguments: str, outcome: ToolOutcome, status: ToolStatus) -> ToolOutcome:
        """The outcome, with a line about what it speaks against."""
        call = ToolCall(
            id=0, leg_id=0, call_id="", name=name, arguments=arguments, status=status, result=outcome.content
        )
        now = {**self._entries, **self._written}
        fresh = [entry for key, entry in now.items() if self._told.get(key) is not entry]
        found = perception_doubt.doubts(fresh, call)
        self._told.update(((doubt.layer, doubt.key), now[(doubt.layer, doubt.key)]) for doubt in found)
        line = perception_doubt.told(found)
        return replace_outcome(outcome, content=f"{outcome.content}\n{line}") if line else outcome
