"""Facts that came from a file: where they are from, and what they become when the person approves them.

Until then a fact is tainted: no agent's word stands behind it, and its weight is that of the system. What the file
claims of it (who said it, how much it weighs) is kept aside and counts from the approval on; that it is pinned is
never taken from a file.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct

from milk_tui.core.archive import Mark
from milk_tui.core.order_patterns import IN_TAINTED
from milk_tui.core.order_scan import looks_like_order
from milk_tui.core.records import BIRTH_WEIGHT, PINNED_WEIGHT, Percept, PerceptStatus, Producer
from milk_tui.core.text import one_line
from milk_tui.store import percept_lists
from milk_tui.store.rows import decode, encode, id_list, storable

if TYPE_CHECKING:
    from sqlite_utils import Database

TAINTED_WEIGHT = BIRTH_WEIGHT[Producer.SYSTEM]
"""The most that a fact weighs that nobody has approved."""
IMPORTED = "imported"
ACTOR = "import"
HELD = "held back: it "
"""Begins the note of a fact in quarantine; the scan's reason follows."""
_ORDERS = frozenset(HELD + wording.kind for wording in IN_TAINTED)


class _Claim(Struct, frozen=True):
    """What a file may say of who stated a fact."""

    producer: Producer = Producer.USER
    agent_name: str = ""
    weight: int | None = None
    pinned: bool = False
    note: str = ""


def put(db: Database, found: Iterable[tuple[str, Mark]]) -> None:
    """Keep where facts, given by their ids, are from."""
    db.conn.executemany(
        "insert into percept_imports (percept_id, at_ms, file, trusted, original) values (?, ?, ?, ?, ?)",
        ((id_, mark.at_ms, storable(mark.file), mark.trusted, encode(mark.original)) for id_, mark in found),
    )


def marks(conn: sqlite3.Connection, ids: str) -> dict[str, Mark]:
    """Those of the percepts that are from a file, by id; ``ids`` is an ``id_list``."""
    rows = conn.execute("select * from percept_imports where percept_id in (select value from json_each(?))", (ids,))
    return {
        row["percept_id"]: Mark(
            at_ms=row["at_ms"],
            file=row["file"],
            trusted=bool(row["trusted"]),
            original=decode(row["original"], dict[str, Any]) or {},
        )
        for row in rows
    }


def pending(conn: sqlite3.Connection) -> list[Percept]:
    """Imported facts that a person can approve together, oldest first: those that are given as untrusted, and those
    that are held back only because an untrusted fact may tell nobody what to do."""
    return [fact for fact in _unapproved(conn) if not dangerous(fact)]


def held(conn: sqlite3.Connection) -> list[Percept]:
    """Imported facts that are held back until a person has looked at each."""
    return [fact for fact in _unapproved(conn) if dangerous(fact)]


def dangerous(fact: Percept) -> bool:
    """True for one that would be held back wherever it came from; its note says why it is."""
    return fact.status is PerceptStatus.QUARANTINED and (
        fact.note not in _ORDERS or bool(looks_like_order(fact.content))
    )


def _unapproved(conn: sqlite3.Connection) -> list[Percept]:
    return percept_lists.select(
        conn,
        "p.tainted = 1 and p.status in ('live', 'suspect', 'quarantined')"
        " and p.id in (select percept_id from percept_imports where trusted = 0) order by p.seq",
    )


def seen_in_file(conn: sqlite3.Connection, percept_id: str) -> bool:
    """True when an import brought the fact, or confirmed it."""
    row = conn.execute(
        "select 1 from percept_events where percept_id = ? and actor = ? and undone = 0 limit 1", (percept_id, ACTOR)
    ).fetchone()
    return row is not None


def vouched(conn: sqlite3.Connection, percept: Percept) -> dict[str, Any]:
    """The columns that change when the person approves the fact; nothing for one that is from no file.

    A line of a list becomes the person's own fact; one of an export is again who said it there, and weighs what it did.
    """
    mark = marks(conn, id_list([percept.id])).get(percept.id) if percept.tainted else None
    if mark is None or mark.trusted:
        return {}
    claim = _claimed(mark.original)
    born = BIRTH_WEIGHT[claim.producer]
    weight = born if claim.weight is None or claim.pinned else max(0, min(PINNED_WEIGHT, claim.weight))
    return {
        "producer": claim.producer,
        "agent_name": one_line(claim.agent_name, 100),
        "weight": max(percept.weight, weight),
        "note": one_line(claim.note, 200),
    }


def _claimed(original: Mapping[str, Any]) -> _Claim:
    try:
        return msgspec.convert({name: original[name] for name in _Claim.__struct_fields__ if name in original}, _Claim)
    except msgspec.ValidationError:
        return _Claim()
