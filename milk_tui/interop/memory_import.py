"""Memory from a file: an export of milk, lists in Markdown, memory files of other programs (``recall.md``, "Safety").

An import is tainted: its facts are data of unknown origin. They weigh little, are never pinned, retire nothing and are
not made global by themselves until the person approves them (``store/percept_imports.py``); what reads like an order is
held back. A person's own backup is another thing: ``memory_restore``.

A file is read as a whole before anything is written, and written in one transaction. The same file a second time
changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct, structs

from milk_tui.core import archive
from milk_tui.core import percepts as rules
from milk_tui.core.archive import ArchivedEvent, ArchivedFact, Mark
from milk_tui.core.errors import PerceptRefusedError
from milk_tui.core.order_scan import looks_like_order
from milk_tui.core.records import Consumer, Percept, PerceptScope, PerceptStatus, Producer
from milk_tui.core.text import one_line
from milk_tui.interop.memory_files import Parsed
from milk_tui.store import agents, percept_archive, percept_events, percept_imports, percept_lists, percept_rows
from milk_tui.store.ids import free_percept_id
from milk_tui.store.percept_imports import ACTOR, HELD, IMPORTED, TAINTED_WEIGHT

if TYPE_CHECKING:
    from sqlite_utils import Database

SHOWN = 100
"""Refusals that a report names; the others are counted."""
SUBJECT_CHARS = 200
MOMENT_CHARS = 2_000
_CLAIMS = ("producer", "agent_name", "weight", "pinned", "note")
"""What a file says of who stated a fact: kept for its approval, also where it is the same as what is stored."""


class Refusal(Struct, frozen=True):
    line: int
    why: str


class Report(Struct, frozen=True, kw_only=True):
    """What an import did, or would do."""

    new: int = 0
    orders: int = 0
    """Those of the new ones that tell agents what to do, and are given to nobody before they are approved."""
    held: tuple[Percept, ...] = ()
    """Those of the new ones that a person must look at one by one: the note of each says why."""
    known: int = 0
    """Known facts that are confirmed."""
    unchanged: int = 0
    """What is here already: by an earlier import, or as replaced, faded or held back."""
    kept: int = 0
    """Facts of a backup that were changed here since: they stay as they are."""
    refused: int = 0
    refusals: tuple[Refusal, ...] = ()
    """The first of the refused ones."""
    left_out: dict[str, int] = msgspec.field(default_factory=dict)
    """What the file holds beside facts, by kind."""
    sessions: int = 0
    """Sessions of a backup that were not here."""


_COUNTS = ("new", "orders", "known", "unchanged", "kept", "refused", "sessions")


class Tally(Struct):
    """A report while it grows."""

    new: int = 0
    orders: int = 0
    known: int = 0
    unchanged: int = 0
    kept: int = 0
    refused: int = 0
    sessions: int = 0
    held: list[Percept] = msgspec.field(default_factory=list)
    refusals: list[Refusal] = msgspec.field(default_factory=list)

    def refuse(self, line: int, why: str) -> None:
        self.refused += 1
        if len(self.refusals) < SHOWN:
            self.refusals.append(Refusal(line, why))

    def report(self, left_out: Mapping[str, int]) -> Report:
        counts = {name: getattr(self, name) for name in _COUNTS}
        return Report(**counts, held=tuple(self.held), refusals=tuple(self.refusals), left_out=dict(left_out))


class _Item(Struct, frozen=True):
    """A fact of the file. ``said`` is what an export says of it."""

    line: int
    text: str
    subject: str
    said: ArchivedFact | None = None


def take(db: Database, parsed: Parsed, *, session_id: str | None, scope: PerceptScope, now: int) -> Report:
    """Import a file, in the caller's transaction. ``session_id`` is the session that the facts go to, and in reach of
    which they may be known already; global facts go to none."""
    return _Import(db, parsed.name, session_id, scope, now).run(parsed)


class _Import:
    def __init__(self, db: Database, name: str, session_id: str | None, scope: PerceptScope, now: int) -> None:
        self._db = db
        self._name = one_line(name, 100)
        self._session_id = session_id if scope is PerceptScope.SESSION else None
        self._reach = session_id
        self._scope = scope
        self._now = now
        self._nonces = agents.nonces(db.conn)
        self._tally = Tally()
        self._here: dict[str, str] = {}
        """From the file's ids to those that the facts have here."""
        self._new: dict[str, tuple[_Item, ArchivedFact]] = {}

    def run(self, parsed: Parsed) -> Report:
        seen: dict[str, str] = {}
        for item in _items(parsed):
            try:
                content = rules.admit(item.text, nonces=self._nonces)
            except PerceptRefusedError as refused:
                self._tally.refuse(item.line, refused.what.removeprefix("Not stored: ").rstrip("."))
                continue
            digest = rules.content_hash(content)
            here = seen.get(digest)
            if here is not None:
                self._tally.unchanged += 1
            elif (twin := self._twin(digest)) is not None:
                here = twin.id
                self._met(item, twin)
            else:
                here = seen[digest] = free_percept_id(self._db.conn, item.said.id if item.said else None)
                self._put(here, content, item)
            if item.said is not None:
                self._here[item.said.id] = here
        for item, fact in self._new.values():
            self._join(item, fact)
        return self._tally.report(parsed.listed.left_out if parsed.listed else {})

    def _twin(self, digest: str) -> Percept | None:
        """What is here in the same words, in whatever state; what holds before what doesn't."""
        found = percept_lists.select(
            self._db.conn,
            "p.hash = ? and p.status <> 'staged' and (p.scope = 'global' or p.session_id = ?)"
            " order by p.status in ('live', 'suspect') desc, p.scope = 'global' desc, p.seq limit 1",
            (digest, self._reach),
        )
        return found[0] if found else None

    def _met(self, item: _Item, twin: Percept) -> None:
        """The fact is here already."""
        if twin.status is PerceptStatus.FORGOTTEN:
            event = percept_events.last(self._db.conn, twin.id, "forgotten")
            if event is not None and event[0].actor == Producer.USER:
                self._tally.refuse(item.line, f"you removed this fact ({twin.short_id})")
                return
        if not twin.holds or percept_imports.seen_in_file(self._db.conn, twin.id):
            self._tally.unchanged += 1
            return
        confirmed = self._past(item.said.confirmed_ms if item.said else None)
        values = {"confirmed_ms": max(twin.confirmed_ms, confirmed)}
        note = f"also in {self._name}"
        percept_rows.change(self._db, twin, "confirmed", values, actor=ACTOR, note=note, now=self._now)
        self._tally.known += 1

    def _put(self, here: str, content: str, item: _Item) -> None:
        said = item.said
        status = _status(said)
        note = f"imported from {self._name}"
        if status is PerceptStatus.QUARANTINED:
            note = f"held back where it is from, {self._name}"
        if status is PerceptStatus.LIVE and (why := looks_like_order(item.text, tainted=True)):
            status, note = PerceptStatus.QUARANTINED, HELD + why
        weight = min(TAINTED_WEIGHT, said.weight) if said else TAINTED_WEIGHT
        event = ArchivedEvent(
            at_ms=self._now, kind=IMPORTED, actor=ACTOR, weight_after=weight, note=f"from {self._name}"
        )
        fact = ArchivedFact(
            id=here,
            content=content,
            subject=self._tidy(item.subject, SUBJECT_CHARS),
            producer=Producer.SYSTEM,
            consumer=said.consumer if said else Consumer.ALL,
            scope=self._scope,
            weight=weight,
            status=status,
            tainted=True,
            created_ms=self._past(said.created_ms if said else None),
            updated_ms=self._now,
            confirmed_ms=self._past(said.confirmed_ms if said else None),
            valid_from_ms=self._past(said.valid_from_ms if said else None),
            valid_to_ms=said.valid_to_ms if said else None,
            superseded_by=said.superseded_by if said else None,
            session_id=self._session_id,
            note=note,
            source=self._tidy(said.source, MOMENT_CHARS) if said else "",
            context=self._tidy(said.context, MOMENT_CHARS) if said else "",
            events=(event,),
        )
        percept_archive.put(self._db, fact)
        percept_imports.put(self._db, here, Mark(at_ms=self._now, file=self._name))
        self._new[here] = item, fact
        self._tally.new += 1
        if status is PerceptStatus.QUARANTINED:
            percept = percept_lists.many(self._db.conn, [here])[here]
            if percept_imports.dangerous(percept):
                self._tally.held.append(percept)
            else:
                self._tally.orders += 1

    def _join(self, item: _Item, fact: ArchivedFact) -> None:
        """Everything is stored: what a fact says of others is said of those that are here, and what the file said
        otherwise is kept."""
        said = item.said
        if said is None:
            return
        successor = self._here.get(said.superseded_by or "", said.superseded_by)
        edges = tuple(
            structs.replace(edge, target=self._here[edge.target])
            for edge in said.edges
            if self._here.get(edge.target) in self._new
        )
        if successor != fact.superseded_by:
            self._db.execute("update percepts set superseded_by = ? where id = ?", (successor, fact.id))
        percept_archive.put_edges(self._db, fact.id, edges)
        stored = structs.replace(fact, superseded_by=successor, edges=edges)
        claims = {name: value for name, value in archive.fields(said).items() if name in _CLAIMS}
        original = {**archive.differences(said, stored), **claims}
        percept_imports.put(self._db, fact.id, Mark(at_ms=self._now, file=self._name, original=original))

    def _past(self, ms: int | None) -> int:
        """A time that a file says, which is not in the future."""
        return self._now if ms is None else min(ms, self._now)

    def _tidy(self, text: str, limit: int) -> str:
        """A text beside the fact: one line; nothing when it holds what no fact may."""
        line = one_line(text, limit)
        try:
            return rules.admit(line, nonces=self._nonces)
        except PerceptRefusedError:
            return ""


def _items(parsed: Parsed) -> Iterator[_Item]:
    if parsed.exported is not None:
        for line, fact in parsed.exported.facts:
            yield _Item(line, fact.content, fact.subject, fact)
    elif parsed.listed is not None:
        for draft in parsed.listed.drafts:
            yield _Item(draft.line, draft.text, draft.subject)


def _status(said: ArchivedFact | None) -> PerceptStatus:
    """What did not hold where it is from doesn't hold here; what was in doubt there is not in doubt here."""
    if said is None or said.status in (PerceptStatus.LIVE, PerceptStatus.SUSPECT):
        return PerceptStatus.LIVE
    return said.status
