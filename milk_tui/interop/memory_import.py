"""Memory from a file: an export of milk, lists in Markdown, memory files of other programs (``recall.md``, "Safety").

An import is tainted: its facts are data of unknown origin. They weigh little, are never pinned, retire nothing and are
not made global by themselves until the person approves them (``store/percept_imports.py``); what reads like an order is
held back. A person's own backup is another thing: ``memory_restore``.

A file is read as a whole before anything is written, and written in one transaction. The same file a second time
changes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
from milk_tui.store.ids import SHORT_DIGITS, free_percept_id
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
    ids: tuple[str, ...] = ()
    """Of the new ones that hold."""


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


class Item(Struct, frozen=True):
    """A fact of the file as far as it can be judged by itself. ``said`` is what an export says of it."""

    line: int
    content: str
    subject: str
    said: ArchivedFact | None
    refused: str = ""
    order: str = ""
    """Why it is held back, in words that follow "it …"."""


class Prepared(Struct, frozen=True, kw_only=True):
    """A file whose facts were judged, each by itself."""

    name: str
    items: tuple[Item, ...]
    left_out: dict[str, int]


def prepare(parsed: Parsed) -> Prepared:
    """Judge the facts of a file. It takes most of an import's time and needs no database. Blocks."""
    if parsed.exported is not None:
        items = [_item(line, fact.content, fact.subject, fact) for line, fact in parsed.exported.facts]
    else:
        drafts = parsed.listed.drafts if parsed.listed else ()
        items = [_item(draft.line, draft.text, draft.subject, None) for draft in drafts]
    left_out = parsed.listed.left_out if parsed.listed else {}
    return Prepared(name=one_line(parsed.name, 100), items=tuple(items), left_out=left_out)


def _item(line: int, text: str, subject: str, said: ArchivedFact | None) -> Item:
    try:
        content = rules.admit(text)
    except PerceptRefusedError as refused:
        return Item(line, "", "", said, refused=_why(refused))
    return Item(line, content, subject, said, order=looks_like_order(text, tainted=True))


def _why(refused: PerceptRefusedError) -> str:
    return refused.what.removeprefix("Not stored: ").rstrip(".")


def take(db: Database, file: Prepared, *, session_id: str | None, scope: PerceptScope, now: int) -> Report:
    """Import a file, in the caller's transaction. ``session_id`` is the session that the facts go to, and in reach of
    which they may be known already; global facts go to none."""
    return _Import(db, file.name, session_id, scope, now).run(file)


class _Import:
    def __init__(self, db: Database, name: str, session_id: str | None, scope: PerceptScope, now: int) -> None:
        self._db = db
        self._name = name
        self._session_id = session_id if scope is PerceptScope.SESSION else None
        self._reach = session_id
        self._scope = scope
        self._now = now
        self._nonces = agents.nonces(db.conn)
        self._tally = Tally()
        self._here: dict[str, str] = {}
        """From the file's ids to those that the facts have here."""
        self._new: dict[str, tuple[Item, ArchivedFact]] = {}
        self._shorts: set[str] = set()

    def run(self, file: Prepared) -> Report:
        seen: dict[str, str] = {}
        for item in file.items:
            if refused := item.refused or self._refused(item.content):
                self._tally.refuse(item.line, refused)
                continue
            digest = rules.content_hash(item.content)
            here = seen.get(digest)
            if here is not None:
                self._tally.unchanged += 1
            elif (twin := self._twin(digest)) is not None:
                here = twin.id
                self._met(item, twin)
            else:
                wanted = item.said.id if item.said else None
                here = seen[digest] = free_percept_id(self._db.conn, wanted, self._shorts)
                self._shorts.add(here[:SHORT_DIGITS])
                self._new[here] = item, self._fact(here, item)
            if item.said is not None:
                self._here[item.said.id] = here
        facts = [self._joined(item, fact) for item, fact in self._new.values()]
        percept_archive.put(self._db, facts)
        for fact in facts:
            percept_archive.put_edges(self._db, fact.id, fact.edges)
        self._count(facts)
        holding = tuple(fact.id for fact in facts if fact.status is PerceptStatus.LIVE)
        return structs.replace(self._tally.report(file.left_out), ids=holding)

    def _count(self, facts: Sequence[ArchivedFact]) -> None:
        self._tally.new = len(facts)
        held = [fact.id for fact in facts if fact.status is PerceptStatus.QUARANTINED]
        for percept in percept_lists.many(self._db.conn, held).values():
            if percept_imports.dangerous(percept):
                self._tally.held.append(percept)
            else:
                self._tally.orders += 1

    def _refused(self, content: str) -> str:
        """Why a text that was admitted can't be taken here: it has the mark of a tag that counts here."""
        if not any(nonce in content for nonce in self._nonces):
            return ""
        try:
            rules.admit(content, nonces=self._nonces)
        except PerceptRefusedError as refused:
            return _why(refused)
        return ""

    def _twin(self, digest: str) -> Percept | None:
        """What is here in the same words, in whatever state; what holds before what doesn't."""
        found = percept_lists.select(
            self._db.conn,
            "p.hash = ? and p.status <> 'staged' and (p.scope = 'global' or p.session_id = ?)"
            " order by p.status in ('live', 'suspect') desc, p.scope = 'global' desc, p.seq limit 1",
            (digest, self._reach),
        )
        return found[0] if found else None

    def _met(self, item: Item, twin: Percept) -> None:
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

    def _fact(self, here: str, item: Item) -> ArchivedFact:
        said = item.said
        status = _status(said)
        note = f"imported from {self._name}"
        if status is PerceptStatus.QUARANTINED:
            note = f"held back where it is from, {self._name}"
        if status is PerceptStatus.LIVE and item.order:
            status, note = PerceptStatus.QUARANTINED, HELD + item.order
        weight = min(TAINTED_WEIGHT, said.weight) if said else TAINTED_WEIGHT
        event = ArchivedEvent(
            at_ms=self._now, kind=IMPORTED, actor=ACTOR, weight_after=weight, note=f"from {self._name}"
        )
        return ArchivedFact(
            id=here,
            content=item.content,
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

    def _joined(self, item: Item, fact: ArchivedFact) -> ArchivedFact:
        """The fact as it is stored: what it says of others is said of those that are here, and what the file said
        otherwise is in its mark."""
        said = item.said
        if said is None:
            return structs.replace(fact, imported=Mark(at_ms=self._now, file=self._name))
        edges = tuple(
            structs.replace(edge, target=self._here[edge.target])
            for edge in said.edges
            if self._here.get(edge.target) in self._new
        )
        successor = self._here.get(said.superseded_by or "", said.superseded_by)
        stored = structs.replace(fact, superseded_by=successor, edges=edges)
        claims = {name: value for name, value in archive.fields(said).items() if name in _CLAIMS}
        original = {**archive.differences(said, stored), **claims}
        return structs.replace(stored, imported=Mark(at_ms=self._now, file=self._name, original=original))

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


def _status(said: ArchivedFact | None) -> PerceptStatus:
    """What did not hold where it is from doesn't hold here; what was in doubt there is not in doubt here."""
    if said is None or said.status in (PerceptStatus.LIVE, PerceptStatus.SUSPECT):
        return PerceptStatus.LIVE
    return said.status
