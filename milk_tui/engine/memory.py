"""The person's hand on the facts of a session: what they change is stored, told to the listeners, and can be undone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from milk_tui.core import cleanup, forgetting
from milk_tui.core.cleanup import Candidates, CleanUp
from milk_tui.core.errors import MilkError, PerceptRefusedError
from milk_tui.core.lifecycle import REINFORCEMENT
from milk_tui.core.records import (
    Consumer,
    Layer,
    Percept,
    PerceptionEntry,
    PerceptScope,
    Producer,
    Session,
)
from milk_tui.engine import admission, events
from milk_tui.store import (
    Store,
    percept_browse,
    percept_changes,
    percept_edges,
    percept_lists,
    percept_trace,
    perception,
    percepts,
)
from milk_tui.store.clock import now_ms
from milk_tui.store.percepts import Change

if TYPE_CHECKING:
    import sqlite3

    from sqlite_utils import Database

DEEDS = 100
"""How many changes can be undone, one after another."""
MOST = 1_000_000
"""Facts that a clean-up looks through."""


class Deed(Struct, frozen=True, kw_only=True):
    """Something that the person did, and what it takes to undo it."""

    title: str
    """What it was, in words that go on "undone: …"."""
    facts: frozenset[str] = frozenset()
    """Ids of the facts that changed."""
    gathers: bool = False
    """The same done again with the same facts belongs to it."""
    events: tuple[int, ...] = ()
    added: tuple[str, ...] = ()
    """Facts that were not there before."""
    entries: tuple[PerceptionEntry, ...] = ()
    """Of the perception, as they were."""


class MemoryDesk:
    """Every function is called on the event loop and returns when its change is stored.

    Facts are named by id or by its beginning. ``MilkError`` says what can't be done. What several facts have done to
    them is one transaction and one undo.
    """

    def __init__(
        self, store: Store, session: Callable[[], Session], publish: Callable[[events.AnyEvent], None]
    ) -> None:
        self._store = store
        self._session = session
        self._publish = publish
        self._deeds: list[Deed] = []

    @property
    def last_deed(self) -> str:
        """What ``undo`` would take back; empty when there is nothing."""
        return self._deeds[-1].title if self._deeds else ""

    async def learn(self, text: str, *, pinned: bool = False, override_secret: bool = False) -> Percept:
        """The person states a fact; ``@NAME:`` before it restricts who gets it. Raises PerceptRefusedError."""
        session = self._session()
        learn = partial(admission.learn, session=session, pinned=pinned, allow_secret=override_secret)

        def learned(db: Database) -> list[Change]:
            return learn(db, text, now=now_ms())

        try:
            changes, recorded = await self._store.write(lambda db: percept_changes.recorded(db, learned))
        except PerceptRefusedError as refused:
            self._publish(events.PerceptRefused(session_id=session.id, content="", why=str(refused)))
            raise
        change = changes[0]
        new = (change.percept.id,) if change.what == "live" else ()
        title = f"learned {change.percept.short_id}"
        self._keep(Deed(title=title, facts=frozenset({change.percept.id}), events=recorded, added=new))
        self._tell(changes)
        return next((c.percept for c in reversed(changes) if c.percept.id == change.percept.id), change.percept)

    async def pin(self, references: Sequence[str], pinned: bool) -> None:
        """A pinned fact goes to the agents with every prompt."""
        await self._each("pinned" if pinned else "unpinned", references, partial(percepts.pin, pinned=pinned))

    async def forget(self, references: Sequence[str]) -> None:
        """Nobody is given them any more; they can be restored."""
        await self._each("forgot", references, percept_changes.forget)

    async def restore(self, references: Sequence[str]) -> None:
        """Bring forgotten and superseded facts back."""
        await self._each("restored", references, percept_changes.restore)

    async def edit(self, reference: str, text: str, *, override_secret: bool = False) -> Percept:
        """Say a fact in other words, which makes it the person's own. Raises PerceptRefusedError."""
        edit = partial(percepts.edit, content=text, allow_secret=override_secret)
        (change,) = await self._each("edited", [reference], edit)
        return change.percept

    async def weigh(self, references: Sequence[str], steps: int) -> None:
        """Add ``steps`` times 0.05 to the weights. Weighing the same facts again is undone with it."""

        def one(db: Database, reference: str) -> Change:
            fact = percept_lists.get(db.conn, reference)
            if fact is not None and fact.pinned:
                raise MilkError(f"{fact.short_id} is pinned and weighs 1.00.", "Unpin it first.")
            weight = (fact.weight if fact is not None else 0) + steps * REINFORCEMENT
            return percepts.set_weight(db, reference, weight)

        await self._each("weighed", references, one, gather=True)

    async def restrict(self, references: Sequence[str], consumer: Consumer) -> None:
        """Say which agents may be given the facts."""
        await self._each(f"gave to {consumer}", references, partial(percepts.share, consumer=consumer))

    async def promote(self, references: Sequence[str]) -> None:
        """Make facts of the session facts of every session."""
        await self._each("made global", references, partial(percepts.share, scope=PerceptScope.GLOBAL))

    async def merge(self, keep: str, gone: str) -> None:
        """Two facts say the same: the first stays, the other is superseded by it."""
        await self._do("merged two facts", lambda db: percept_changes.merge(db, keep, gone))

    async def supersede(self, old: str, new: str) -> None:
        """The second fact says what holds instead of the first."""
        await self._do("superseded a fact", lambda db: percept_changes.supersede(db, old, new))

    async def decide(self, newer: str, older: str, *, replace: bool) -> None:
        """End a conflict: the newer fact replaces the older one, or both hold."""
        title = "let the newer fact hold" if replace else "let both facts hold"
        await self._do(title, lambda db: percept_changes.decide(db, newer, older, replace=replace))

    async def judged(self, newer: str, older: str, *, replace: bool, note: str) -> None:
        """A model decided about a pair (``engine/pair_judge.py``); ``undo`` takes it back like a deed of the person."""
        decide = partial(percept_changes.decide, newer=newer, older=older, replace=replace, actor=Producer.SYSTEM)
        await self._do("what a model decided", lambda db: decide(db, note=note))

    async def settle(self, references: Sequence[str], *, accepted: bool) -> None:
        """Decide about facts that were held back, doubted or tainted: they hold, or they are forgotten.

        Of one in an undecided pair it is decided about the pair (``decide``). Of one that an agent asks to forget it is
        decided about the wish: it goes when that is accepted. Raises MilkError when there is nothing to decide.
        """
        session_id = self._session().id

        def one(db: Database, reference: str) -> list[Change]:
            fact = percept_lists.get(db.conn, reference)
            pairs = percept_edges.conflicts(db.conn, session_id, percept_id=fact.id) if fact is not None else []
            if pairs:
                return percept_changes.decide(db, *pairs[0].ids, replace=accepted)
            holds = accepted if fact is None or not forgetting.asked(fact) else not accepted
            if holds:
                return admission.approve(db, reference, now=now_ms())
            return percept_changes.reject(db, reference)

        await self._each("accepted" if accepted else "rejected", references, one)

    async def settle_proposal(self, key: str, *, accepted: bool) -> None:
        """An invariant that an agent proposed holds from now on, or goes. Raises MilkError when there is none."""
        session_id = self._session().id

        def write(db: Database) -> tuple[list[PerceptionEntry], list[PerceptionEntry]]:
            entries = [entry for entry in _invariants(db.conn, session_id) if entry.key == key]
            proposal = next((entry for entry in entries if entry.proposed), None)
            if proposal is None:
                raise MilkError(f"No invariant {key} is proposed.")
            before = next((entry for entry in entries if not entry.proposed), None)
            now = now_ms()
            changed = [replace(proposal, value="", updated_ms=now)]
            if accepted:
                changed.append(replace(proposal, proposed=False, updated_ms=now))
            perception.append(db, session_id, changed, now=now)
            holds = before or replace(proposal, proposed=False, value="")
            return ([*changed], [holds, proposal]) if accepted else ([*changed, holds], [proposal])

        told, back = await self._store.write(write)
        verb = "accepted" if accepted else "rejected"
        self._keep(Deed(title=f"{verb} the invariant {key}", entries=tuple(back)))
        self._publish(events.PerceptionChanged(session_id=session_id, entries=tuple(told)))

    async def undo(self) -> str:
        """Take back what was done last; what it was. Empty when there is nothing left to take back."""
        while self._deeds:
            deed = self._deeds.pop()
            if await self._undo(deed):
                return deed.title
        return ""

    async def bring_back(self, references: Sequence[str]) -> None:
        """Restore facts; when they are gone by what was done last, that is undone."""
        if self._deeds and self._deeds[-1].facts.issuperset(references):
            await self.undo()
        else:
            await self.restore(references)

    async def _undo(self, deed: Deed) -> bool:
        """False when everything was changed again since, so that nothing was left to undo."""
        session_id = self._session().id
        now = now_ms()

        def write(db: Database) -> list[Change]:
            changes = percept_changes.undo(db, deed.events, now=now)
            for added in deed.added:
                changes += percept_changes.forget(db, added, note="undone", now=now)
            if deed.entries:
                back = [replace(entry, updated_ms=now) for entry in deed.entries]
                perception.append(db, session_id, back, now=now)
            return changes

        changes = await self._store.write(write)
        self._tell(changes)
        if deed.entries:
            self._publish(events.PerceptionChanged(session_id=session_id, entries=deed.entries))
        return bool(changes or deed.entries)

    async def candidates(self, kind: CleanUp) -> Candidates:
        """Facts of one kind to look through, with the marks that they have at first."""
        session_id = self._session().id
        now = now_ms()

        def read(conn: sqlite3.Connection) -> Candidates:
            if kind is CleanUp.CONFLICTS:
                pairs = percept_edges.conflicts(conn, session_id, limit=MOST)
                return cleanup.conflicts([(pair.newer, pair.older) for pair in pairs])
            groups = percept_lists.groups(conn, session_id, limit=MOST)
            facts = [*groups.pinned, *groups.session, *groups.shared]
            match kind:
                case CleanUp.EXPIRED:
                    return cleanup.expired(facts, now)
                case CleanUp.LOOK_ALIKES:
                    return cleanup.look_alikes(facts)
                case _:
                    return cleanup.never_recalled(facts, percept_trace.ever_injected(conn), now)

        return await self._store.read(read)

    async def shelves(self) -> percept_browse.Shelves:
        """Every fact in reach, those that are gone too, and what is to be decided."""
        session_id, now = self._session().id, now_ms()
        return await self._store.read(lambda conn: percept_browse.shelves(conn, session_id, now=now))

    async def undecided(self) -> tuple[Sequence[percept_edges.Conflict], Sequence[PerceptionEntry]]:
        """Pairs that may not both be true, and invariants that are proposed."""
        session_id = self._session().id
        return await self._store.read(
            lambda conn: (percept_edges.conflicts(conn, session_id), percept_browse.proposals(conn, session_id))
        )

    async def _each(
        self,
        verb: str,
        references: Sequence[str],
        change: Callable[[Database, str], Change | list[Change]],
        *,
        gather: bool = False,
    ) -> list[Change]:
        """Do one thing with each fact, all or none."""

        def write(db: Database) -> list[Change]:
            found: list[Change] = []
            for reference in references:
                made = change(db, reference)
                found += made if isinstance(made, list) else [made]
            return found

        def title(changes: Sequence[Change]) -> str:
            if len(references) == 1:
                return f"{verb} {changes[0].percept.short_id}"
            return f"{verb} {len(references):,} facts"

        return await self._do(title, write, gather=gather)

    async def _do(
        self,
        title: str | Callable[[Sequence[Change]], str],
        write: Callable[[Database], list[Change]],
        *,
        gather: bool = False,
    ) -> list[Change]:
        changes, recorded = await self._store.write(lambda db: percept_changes.recorded(db, write))
        if not changes:
            return []
        said = title if isinstance(title, str) else title(changes)
        if recorded:
            facts = frozenset(change.percept.id for change in changes)
            last = self._deeds[-1] if self._deeds else None
            if gather and last is not None and last.gathers and last.facts == facts:
                recorded = self._deeds.pop().events + recorded
            self._keep(Deed(title=said, facts=facts, gathers=gather, events=recorded))
        self._tell(changes)
        return changes

    def _keep(self, deed: Deed) -> None:
        self._deeds.append(deed)
        del self._deeds[:-DEEDS]

    def _tell(self, changes: Iterable[Change]) -> None:
        for change in changes:
            self._publish(
                events.PerceptChanged(session_id=self._session().id, percept=change.percept, what=change.what)
            )


def _invariants(conn: sqlite3.Connection, session_id: str) -> list[PerceptionEntry]:
    return perception.current(conn, session_id, Layer.INVARIANT)
