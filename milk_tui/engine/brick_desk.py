"""The person's hand on the bricks of a session: edit, rebuild, take an older version back. Every version is kept."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from milk_tui.core import brick_edits
from milk_tui.core import bricks as rules
from milk_tui.core.brick_edits import BrickEditError
from milk_tui.core.records import Brick, BrickKind, Role, Session
from milk_tui.engine import commit, events, exchanges
from milk_tui.store import Store, bricks, threads, turns
from milk_tui.store.clock import now_ms

if TYPE_CHECKING:
    from sqlite_utils import Database


class BrickDesk:
    """Each function returns when its change is stored and told. ``MilkError`` says what can't be done."""

    def __init__(
        self,
        store: Store,
        session: Callable[[], Session],
        publish: Callable[[events.AnyEvent], None],
        budget_chars: int,
    ) -> None:
        self._store = store
        self._session = session
        self._publish = publish
        self.budget_chars = budget_chars

    async def edit(self, kind: BrickKind, text: str) -> Brick:
        """The brick says this from now on; a summary until its agent has worked again. Raises BrickEditError."""
        session_id, now, budget = self._session().id, now_ms(), self.budget_chars

        def write(db: Database) -> list[Brick]:
            turn_id = turns.last_id(db.conn, session_id)
            if kind is BrickKind.NEED:
                made = commit.need_bricks(db.conn, session_id, text, turn_id=turn_id, author="user", now=now)
                if not made:
                    raise BrickEditError("The need is blank.", "Say in one sentence what you are trying to accomplish.")
            else:
                before = bricks.newest(db.conn, session_id, kind)
                made = [brick_edits.edited(before, kind, text, turn_id=turn_id, now_ms=now, budget=budget)]
            commit.save(db, session_id, made)
            return made

        return self._tell(await self._store.write(write))

    async def finish_need(self) -> Brick:
        """The need is fulfilled (``/done``). Raises BrickEditError when none is set."""
        session, now = self._session(), now_ms()

        def write(db: Database) -> list[Brick]:
            need = bricks.newest(db.conn, session.id, BrickKind.NEED)
            if need is None:
                raise BrickEditError("No need is set.", "Set one with /need.")
            latest = turns.last_id(db.conn, session.id)
            made = [rules.fulfilled(need, turn_id=latest, now_ms=now, author="user")]
            commit.save(db, session.id, made)
            exchanges.need_fulfilled(db, session, need, now=now)
            return made

        return self._tell(await self._store.write(write))

    async def rebuild(self, kind: BrickKind) -> Brick | None:
        """Make a summary anew from what its agent did; ``None`` when it says just that already.

        Raises BrickEditError for a brick that is not built, and for an agent that did nothing.
        """
        brick_edits.refuse_rebuild(kind)
        session, now = self._session(), now_ms()
        role = Role.PRIMARY if kind is BrickKind.PRIMARY_SUMMARY else Role.ESCALATION
        agent = session.agent(role)

        def write(db: Database) -> list[Brick]:
            newest = next(threads.digests(db.conn, session.id, role, chunk=1), None)
            if newest is None:
                raise BrickEditError(f"The {role} agent has done nothing in this session.")
            rendering = rules.full(
                threads.digests(db.conn, session.id, role),
                agent.name if agent else str(role),
                budget=self.budget_chars,
                total=threads.count(db.conn, session.id, role),
            )
            before = bricks.newest(db.conn, session.id, kind)
            if before is not None and before.text == rendering.text:
                return []
            brick = Brick(
                kind=kind,
                text=rendering.text,
                version=before.version + 1 if before else 1,
                turn_id=newest.turn_id,
                updated_ms=now,
                collapsed=rendering.collapsed,
                cut=rendering.cut,
                dropped=rendering.dropped,
            )
            commit.save(db, session.id, [brick])
            return [brick]

        made = await self._store.write(write)
        return self._tell(made) if made else None

    async def take_back(self, kind: BrickKind, version: int) -> Brick:
        """An older version's text once more, as the newest version. Raises BrickEditError when it isn't there."""
        older = await self._store.read(lambda conn: bricks.version(conn, self._session().id, kind, version))
        if older is None:
            raise BrickEditError(f"There is no version {version} of the {brick_edits.name(kind)}.")
        return await self.edit(kind, older.text)

    def _tell(self, made: Sequence[Brick]) -> Brick:
        for brick in made:
            self._publish(events.BrickChanged(session_id=self._session().id, brick=brick))
        return made[-1]
