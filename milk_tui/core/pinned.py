"""How much room pinned facts take: they have a budget of their own (``semantics.md`` §2). Pure."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from milk_tui.core import percepts as rules
from milk_tui.core.records import Consumer, Percept, Role

NEARLY_FULL = 0.8


class Room(Struct, frozen=True, kw_only=True):
    """Bytes of the pinned facts, for the agent that has most of them."""

    used: int = 0
    limit: int = rules.PINNED_BYTES
    left_out: frozenset[str] = frozenset()
    """Ids of those that some agent is not given, because they don't fit."""

    @property
    def full(self) -> bool:
        return bool(self.left_out)

    @property
    def nearly(self) -> bool:
        return self.used >= NEARLY_FULL * self.limit


def room(percepts: Iterable[Percept], limit: int = rules.PINNED_BYTES) -> Room:
    """The room that the pinned ones among these take; the order in which they are given is weight, then the last
    confirmation."""
    pinned = sorted((p for p in percepts if p.pinned and p.holds), key=lambda p: (-p.weight, -p.confirmed_ms))
    used, left_out = 0, set[str]()
    for role in Role:
        own = [p for p in pinned if p.consumer is Consumer.ALL or p.consumer.value == role.value]
        given = {p.id for p in rules.pack(own, max_items=len(own), max_bytes=limit)}
        used = max(used, sum(size(p) for p in own))
        left_out |= {p.id for p in own if p.id not in given}
    return Room(used=used, limit=limit, left_out=frozenset(left_out))


def size(percept: Percept) -> int:
    """Bytes of its line, with the line break."""
    return len(rules.line(percept).encode(errors="replace")) + 1
