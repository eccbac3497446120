"""Short ways to facts and to what recall says about them."""

from __future__ import annotations

from milk_tui import recall
from milk_tui.core.records import Role
from milk_tui.store import percepts

FILLER = (
    "the {n}. shelf holds paint",
    "tray {n} is for screws",
    "lamp {n} hangs over the door",
    "row {n} of the garden has beans",
    "bus {n} leaves at noon",
)


class Memory:
    """The facts of one session; ``None`` as session means global ones."""

    def __init__(self, store, session):
        self.store = store
        self.session = session

    def learn(self, *contents, session=..., **more):
        session = self.session if session is ... else session

        def write(db):
            return [
                percepts.add(db, content=content, session_id=session and session.id, **more).percept
                for content in contents
            ]

        return self.store.write_sync(write)

    def fill(self, count=300):
        """Facts about other things, so many that the floor stands at its height."""
        self.learn(*(FILLER[n % len(FILLER)].format(n=n) for n in range(count)))

    def sql(self, statement, *parameters):
        self.store.write_sync(lambda db: db.execute(statement, parameters))

    def supersede(self, old, new, *, at=1_700_000_000_000):
        self.sql(
            "update percepts set status = 'superseded', superseded_by = ?, valid_to_ms = ? where id = ?",
            new.id,
            at,
            old.id,
        )

    def given(self, prompt, role=Role.PRIMARY, session=None, **more):
        session_id = (session or self.session).id
        return self.store.read_sync(
            lambda conn: recall.for_leg(conn, role=role, session_id=session_id, prompt=prompt, **more)
        )

    def texts(self, prompt, role=Role.PRIMARY, **more):
        return [fact.content for fact in self.given(prompt, role, **more)]

    def why(self, prompt, role=Role.PRIMARY, **more):
        return self.store.read_sync(
            lambda conn: recall.why(conn, prompt, role=role, session_id=self.session.id, **more)
        )

    def found(self, text, *, everywhere=False, **more):
        session_id = None if everywhere else self.session.id
        return self.store.read_sync(lambda conn: recall.find(conn, text, session_id=session_id, **more))
