"""Uses of facts: an answer that used one makes it weigh a little more (``semantics.md`` §2)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from milk_tui.core.lifecycle import reinforced
from milk_tui.store import percept_events, percept_lists, percept_rows
from milk_tui.store.clock import now_ms
from milk_tui.store.percepts import Change

if TYPE_CHECKING:
    from sqlite_utils import Database

USED = "used"


def record(db: Database, ids: Iterable[str], *, turn_id: int, actor: str, now: int | None = None) -> list[Change]:
    """An answer of that turn used these facts; ``actor`` is the role that gave it.

    A fact counts once a turn, whoever uses it. One that was stated in the same turn by somebody else, or that came from
    an untrusted source, gains no weight.
    """
    now = now_ms() if now is None else now
    ids = list(dict.fromkeys(ids))
    known = percept_lists.many(db.conn, ids)
    changes: list[Change] = []
    for fact in (known[each] for each in ids if each in known):
        if not fact.holds or percept_events.used_in(db.conn, fact.id, turn_id):
            continue
        had = percept_events.reinforced_in(db.conn, fact.id, turn_id)
        weight = fact.weight if fact.tainted else reinforced(fact, by=None, already_this_turn=had)
        values = {"uses": fact.uses + 1, "used_ms": max(now, fact.used_ms or 0), "weight": weight}
        changed = percept_rows.change(db, fact, USED, values, actor=actor, turn_id=turn_id, now=now)
        changes.append(Change(changed, USED))
    return changes
