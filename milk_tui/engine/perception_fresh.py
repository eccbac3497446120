"""A new session from the perception alone (``semantics.md`` §5 "Acceptance"): no thread, no summary, no need.

Invariants and the open slice's frame are the directory's already. The working set comes along as it is given to agents
now, with the next steps and the touched files even where they are old; so do the pinned facts of the session.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from milk_tui.core.perception_harness import TOUCHED
from milk_tui.core.perception_view import expired
from milk_tui.core.records import Layer, PerceptScope, Session
from milk_tui.engine import casting
from milk_tui.store import percept_lists, perception, perception_slices, percepts, sessions

if TYPE_CHECKING:
    from sqlite_utils import Database

_LASTING = ("next", TOUCHED)


def begin(db: Database, old: Session, *, now: int) -> Session:
    """Begin the session; the old one stays as it is."""
    session = sessions.create(db, directory=old.directory, primary=casting.unknown())
    perception_slices.open_one(db, session.id, perception_slices.of_session(db.conn, old.id), as_of=0, now=now)
    turns = perception.recent_turns(db.conn, old.id)
    working = [
        replace(entry, turn_id=None)
        for entry in perception.current(db.conn, old.id, Layer.WORKING)
        if entry.key.startswith(_LASTING) or not expired(entry, turns)
    ]
    perception.append(db, session.id, working, as_of=0, now=now)
    for fact in percept_lists.groups(db.conn, old.id, limit=1_000).pinned:
        if fact.scope is PerceptScope.SESSION:
            percepts.add(
                db,
                content=fact.content,
                producer=fact.producer,
                session_id=session.id,
                consumer=fact.consumer,
                pinned=True,
                subject=fact.subject,
                agent_name=fact.agent_name,
                allow_secret=True,
                now=now,
            )
    return session
