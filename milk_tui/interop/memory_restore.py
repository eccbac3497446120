"""A person's own backup, put back: every fact with its state, its history and its session.

Nothing that is here is changed: a fact that is here keeps what it is here. The file is trusted in what it says of
facts, never in what could harm: a text that no fact may have is refused, a change can only bring back what a fact may
be.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any

from msgspec import structs

from milk_tui.core import archive
from milk_tui.core import percepts as rules
from milk_tui.core.archive import ArchivedEvent, ArchivedFact, ArchivedSession, Mark
from milk_tui.core.errors import PerceptRefusedError
from milk_tui.core.records import PerceptStatus, Role
from milk_tui.core.text import clean, one_line
from milk_tui.engine import casting
from milk_tui.interop.memory_import import Report, Tally
from milk_tui.interop.memory_lines import Exported, FileRefusedError
from milk_tui.store import agents, percept_archive, percept_lists

if TYPE_CHECKING:
    from sqlite_utils import Database


def restore(db: Database, exported: Exported, name: str, *, now: int) -> Report:
    """Put back what is not here, in the caller's transaction, which is to be undone when it raises FileRefusedError."""
    return _Restore(db, one_line(name, 100), now).run(exported)


class _Restore:
    def __init__(self, db: Database, name: str, now: int) -> None:
        self._db = db
        self._name = name
        self._now = now
        self._nonces = agents.nonces(db.conn)
        self._tally = Tally()
        row = db.conn.execute("select coalesce(max(seq), 0) from percepts").fetchone()
        self._newest_before: int = row[0]

    def run(self, exported: Exported) -> Report:
        for session in exported.sessions:
            self._session(session)
        taken = [(line, said, fact) for line, said in exported.facts if (fact := self._fact(line, said)) is not None]
        new = {fact.id for _, _, fact in taken}
        facts = [self._joined(said, fact, new) for _, said, fact in taken]
        percept_archive.put(self._db, facts)
        for (line, said, _), fact in zip(taken, facts, strict=True):
            percept_archive.put_edges(self._db, fact.id, fact.edges)
            self._refuse_circles(line, said)
        self._tally.new = len(facts)
        return self._tally.report({})

    def _session(self, session: ArchivedSession) -> None:
        tidy = structs.replace(session, title=one_line(session.title, 200), directory=clean(session.directory))
        if not tidy.agents.get(Role.PRIMARY):
            nobody = casting.unknown()
            primary = archive.Agent(name=nobody.name, model=nobody.model)
            tidy = structs.replace(tidy, agents={Role.PRIMARY: primary, **tidy.agents})
        nonces = {role: casting.new_nonce() for role in Role}
        self._tally.sessions += percept_archive.put_session(self._db, tidy, nonces)

    def _fact(self, line: int, said: ArchivedFact) -> ArchivedFact | None:
        """The fact as it can be stored here; ``None`` when it can't, or need not."""
        here = percept_lists.many(self._db.conn, [said.id]).get(said.id)
        if here is not None:
            same = rules.content_hash(here.content) == rules.content_hash(said.content)
            self._tally.unchanged += same
            self._tally.kept += not same
            return None
        try:
            content = rules.admit(said.content, nonces=self._nonces, allow_secret=True)
            events = tuple(self._event(event, said) for event in said.events)
        except PerceptRefusedError as refused:
            self._tally.refuse(line, refused.what.removeprefix("Not stored: ").rstrip("."))
            return None
        if said.status in (PerceptStatus.LIVE, PerceptStatus.SUSPECT) and self._is_known(content, said):
            self._tally.unchanged += 1
            return None
        turn = said.turn_id if self._turn_is_here(said.turn_id, said.session_id, said.created_ms) else None
        leg = said.leg_id if turn is not None and self._leg_is_here(said.leg_id, turn) else None
        return structs.replace(
            said,
            content=content,
            events=events,
            turn_id=turn,
            leg_id=leg,
            subject=clean(said.subject),
            agent_name=clean(said.agent_name),
            note=clean(said.note),
            source=clean(said.source),
            context=clean(said.context),
        )

    def _event(self, event: ArchivedEvent, said: ArchivedFact) -> ArchivedEvent:
        undo: dict[str, Any] | None = event.undo
        if undo and isinstance(undo.get("content"), str):
            content = rules.admit(undo["content"], nonces=self._nonces, allow_secret=True)
            undo = {**undo, "content": content, "hash": rules.content_hash(content)}
        there = self._turn_is_here(event.turn_id, None, event.at_ms)
        return structs.replace(event, note=clean(event.note), undo=undo, turn_id=event.turn_id if there else None)

    def _is_known(self, content: str, said: ArchivedFact) -> bool:
        """True when the same was known before this file, in reach of the fact's session."""
        row = self._db.conn.execute(
            "select 1 from percepts where hash = ? and status in ('live', 'suspect') and seq <= ?"
            " and (scope = 'global' or session_id = ?)",
            (rules.content_hash(content), self._newest_before, said.session_id),
        ).fetchone()
        return row is not None

    def _turn_is_here(self, turn_id: int | None, session_id: str | None, at_ms: int) -> bool:
        """True when the number means the same turn here: a database that the file is not from has others."""
        if turn_id is None:
            return False
        row = self._db.conn.execute("select session_id, created_ms from turns where id = ?", (turn_id,)).fetchone()
        return row is not None and row["created_ms"] <= at_ms and session_id in (None, row["session_id"])

    def _leg_is_here(self, leg_id: int | None, turn_id: int) -> bool:
        row = self._db.conn.execute("select 1 from legs where id = ? and turn_id = ?", (leg_id, turn_id)).fetchone()
        return row is not None

    def _refuse_circles(self, line: int, said: ArchivedFact) -> None:
        """The file is whole by itself; with what is here it could still lead in a circle."""
        walked = {said.id}
        at = said.superseded_by
        while at is not None:
            if at in walked:
                raise FileRefusedError(
                    self._name, line, f"fact #{said.id[:6]} would be superseded by itself, over facts that are here"
                )
            walked.add(at)
            row = self._db.conn.execute("select superseded_by from percepts where id = ?", (at,)).fetchone()
            at = row[0] if row else None

    def _joined(self, said: ArchivedFact, fact: ArchivedFact, new: Collection[str]) -> ArchivedFact:
        """The fact with the edges whose ends are here, and with a mark that it is from a file and what the file said
        that can't be kept. A fact that had been imported where it is from, and not approved, is that here too."""
        away = {edge.target for edge in said.edges}.difference(new)
        there = percept_lists.many(self._db.conn, away) if away else {}
        edges = tuple(edge for edge in said.edges if edge.target in new or edge.target in there)
        stored = structs.replace(fact, edges=edges)
        original = archive.differences(said, stored)
        before = said.imported
        if before is not None:
            mark = structs.replace(before, original={**before.original, **original})
        else:
            mark = Mark(at_ms=self._now, file=self._name, trusted=True, original=original)
        return structs.replace(stored, imported=mark)
