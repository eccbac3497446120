"""What a helper may look into: facts and decision records, by connections that can't write (``semantics.md`` §6).

``memory search`` and ``memory get``. Everything found is remembered as given: a helper may cite it, and nothing else.
Only what both agents may see is found, so that a note never carries a fact to the wrong one.
"""

from __future__ import annotations

import sqlite3
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from msgspec import Struct

from milk_tui import recall
from milk_tui.core.cuts import plain
from milk_tui.core.helper_answer import Given
from milk_tui.core.records import Consumer, Percept, Role
from milk_tui.core.text import one_line
from milk_tui.recall import records
from milk_tui.store import Store, decision_records, percept_lists
from milk_tui.store.decision_records import Indexed
from milk_tui.store.notes import Cite

if TYPE_CHECKING:
    from milk_tui.recall import Semantic

RECORDS, FACTS = 6, 6
BODY_CHARS = 1_200
"""Of a record in a list; ``get`` gives more of it."""
WHOLE_CHARS = 6_000
FACT_CHARS = 600


class Item(Struct, frozen=True, kw_only=True):
    """Something found. ``id`` is a record's file name, or ``#`` and six digits of a fact."""

    id: str
    date: str
    kind: str
    """record · fact"""
    title: str
    text: str
    replaces: str = ""
    shared: int = 0
    """How many words that say something a record has in common with the question."""
    sure: bool = False
    """A record that the words alone make worth a reminder."""
    stored_id: str = ""
    """A fact's whole id."""


class Search:
    """``memory search`` and ``memory get`` for one run. ``given`` is all that was found, by id."""

    def __init__(self, store: Store, *, session_id: str, folder: str, semantic: Semantic | None = None) -> None:
        self._store = store
        self._session_id = session_id
        self._folder = folder
        self._semantic = semantic
        self.given: dict[str, Given] = {}
        self._cites: dict[str, Cite] = {}

    @property
    def folder(self) -> str:
        return self._folder

    def cite(self, item_id: str) -> Cite:
        """How a note keeps a citation of something that was given."""
        return self._cites[item_id]

    async def search(self, query: str, *, limit: int = RECORDS) -> list[Item]:
        """Records first, then facts; best first."""
        found = await self._store.read(lambda conn: self._search(conn, query[:8_000], limit))
        return self._give(found)

    async def get(self, item_id: str) -> Item | None:
        """One item by its id, whole as far as it goes; ``None`` when there is none that may be seen."""
        found = await self._store.read(lambda conn: self._get(conn, item_id.strip()[:200]))
        return self._give([found])[0] if found else None

    async def everything(self) -> None:
        """Take every record that holds as given: for a helper that reads the folder itself."""
        listed = await self._store.read(lambda conn: decision_records.listed(conn, self._folder))
        self._give([_record(each, 0) for each in listed if each.live])

    def _search(self, conn: sqlite3.Connection, query: str, limit: int) -> list[Item]:
        found = [
            _record(hit.record, BODY_CHARS, replaces=hit.in_place_of, shared=len(hit.words), sure=hit.sure)
            for hit in records.rank(conn, self._folder, query, limit=limit)
        ]
        facts = recall.for_leg(
            conn,
            role=Role.PRIMARY,
            session_id=self._session_id,
            prompt=query,
            max_items=FACTS * 2,
            exclude_pinned=False,
            semantic=self._semantic,
        )
        return [*found, *(_fact(fact) for fact in facts if _for_all(fact))][: limit + FACTS]

    def _get(self, conn: sqlite3.Connection, item_id: str) -> Item | None:
        if item_id.startswith("#"):
            fact = percept_lists.get(conn, item_id)
            seen = fact is not None and _for_all(fact) and self._in_reach(fact)
            return _fact(fact) if fact is not None and seen else None
        record = decision_records.get(conn, self._folder, item_id)
        return _record(record, WHOLE_CHARS) if record is not None and record.live else None

    def _in_reach(self, fact: Percept) -> bool:
        return fact.scope.value == "global" or fact.session_id == self._session_id

    def _give(self, items: list[Item]) -> list[Item]:
        for item in items:
            self.given[item.id] = Given(item.id, item.date)
            where = self._folder if item.kind == "record" else ""
            self._cites[item.id] = Cite(item.kind, item.stored_id or item.id, where, item.date)
        return items


def _for_all(fact: Percept) -> bool:
    return fact.consumer is Consumer.ALL and fact.holds and not fact.tainted


def _record(record: Indexed, limit: int, *, replaces: str = "", shared: int = 0, sure: bool = False) -> Item:
    return Item(
        id=record.name,
        date=record.date,
        kind="record",
        title=record.title,
        text=plain(record.body)[:limit],
        replaces=replaces,
        shared=shared,
        sure=sure,
    )


def _fact(fact: Percept) -> Item:
    day = datetime.fromtimestamp(fact.confirmed_ms / 1000, UTC).strftime("%Y-%m-%d")
    return Item(
        id=fact.short_id,
        date=day,
        kind="fact",
        title=one_line(plain(fact.content), 120),
        text=plain(fact.content)[:FACT_CHARS],
        stored_id=fact.id,
    )
