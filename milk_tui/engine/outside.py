"""Memory for clients outside the screen: the same rules as for the agents inside it (``semantics.md`` §2).

What a known agent states belongs to the newest session of its directory, as if it had said it there; what anybody else
states is tainted and belongs to a session that no agent works in. Every call is one transaction of its own.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from milk_tui.config import Config
from milk_tui.core import blocks
from milk_tui.core import bricks as brick_rules
from milk_tui.core.currency import take_replaced
from milk_tui.core.errors import PerceptRefusedError
from milk_tui.core.perception import parse
from milk_tui.core.percepts import without_label
from milk_tui.core.records import Consumer, Layer, PerceptionEntry, Role, Session
from milk_tui.core.secret_scan import secret_kind
from milk_tui.core.tags import TagKind, split_consumer
from milk_tui.core.tool_calls import ToolOutcome
from milk_tui.engine import admission, casting, commit, memory_answers, memory_forgetting, perception_writing
from milk_tui.engine.outside_client import Client
from milk_tui.engine.outside_place import Place, nearest, place
from milk_tui.store import Store, captures, perception, percepts, sessions, turns
from milk_tui.store.clock import now_ms
from milk_tui.store.percepts import Change
from milk_tui.tools import my_memory

if TYPE_CHECKING:
    from sqlite_utils import Database

OUTSIDE_TITLE = "outside"
FLOOD_MS = 5 * 60_000
"""Where there is no turn, so many facts as a turn may give are taken in this time."""
PERCEPTION_CHARS = 8_000

_SECRET = "Not kept: it looks like it holds a secret."


class OutsideMemory:
    """The memory of one client. ``session``: the session that it works in, by id or title, when that was said."""

    def __init__(self, store: Store, config: Config, client: Client, directory: Path, *, session: str = "") -> None:
        self._store = store
        self._config = config
        self._client = client
        self._directory = directory
        self._session = session

    async def recall(self, query: str, limit: int | None) -> ToolOutcome:
        def look(conn: sqlite3.Connection) -> ToolOutcome:
            at = self.place(conn)
            most = limit or self._config.memory.max_items
            return memory_answers.recalled(conn, query, reader=at.client.reader, reach=at.reach, limit=most)

        return await self._store.read(look)

    async def get(self, reference: str) -> ToolOutcome:
        def look(conn: sqlite3.Connection) -> ToolOutcome:
            at = self.place(conn)
            return memory_answers.described(conn, reference, reader=at.client.reader, reach=at.reach)

        return await self._store.read(look)

    async def browse(self, pinned: bool | None, limit: int, offset: int) -> ToolOutcome:
        def look(conn: sqlite3.Connection) -> ToolOutcome:
            at = self.place(conn)
            return memory_answers.listed(
                conn, reader=at.client.reader, reach=at.reach, pinned=pinned, limit=limit, offset=offset
            )

        return await self._store.read(look)

    async def remember(self, fact: str) -> ToolOutcome:
        try:
            changes = await self._store.write(partial(self._remember, fact=fact, now=now_ms()))
        except PerceptRefusedError as refused:
            return ToolOutcome(str(refused), ok=False)
        first, last = changes[0], changes[-1].what
        known = " (it was known already)" if first.what in ("confirmed", "restored") or last == "confirmed" else ""
        held = " It is held back until the person accepts it." if last == "quarantined" else ""
        return ToolOutcome(f"Remembered as {first.percept.short_id}{known}.{held}")

    async def forget(self, reference: str, reason: str) -> ToolOutcome:
        now = now_ms()

        def write(db: Database) -> ToolOutcome:
            at = self.place(db.conn)
            outcome, _ = memory_forgetting.forgotten(
                db,
                reference,
                agent_name=at.client.name,
                producer=at.client.producer,
                reader=at.client.reader,
                reach=at.reach,
                reason="" if secret_kind(reason) else reason,
                now=now,
            )
            return outcome

        return await self._store.write(write)

    async def need(self, text: str) -> ToolOutcome:
        line = brick_rules.need_line(text)
        if not line:
            return ToolOutcome("The need is blank: nothing changed.", ok=False)
        if secret_kind(text):
            return ToolOutcome(_SECRET, ok=False)

        def write(db: Database) -> None:
            at, session = self._home(db)
            turn_id = at.leg.turn_id if at.leg else turns.last_id(db.conn, session.id) or 0
            author = at.client.role or at.client.name
            made = commit.need_bricks(db.conn, session.id, line, turn_id=turn_id, author=author, now=now_ms())
            commit.save(db, session.id, made)

        await self._store.write(write)
        return ToolOutcome(f"The current need is now: {line}")

    async def perceive(self, layer: Layer, body: str) -> ToolOutcome:
        if len(body) > PERCEPTION_CHARS:
            return ToolOutcome(f"Not kept: {len(body):,} characters. Say it shorter.", ok=False)
        if secret_kind(body):
            return ToolOutcome(_SECRET, ok=False)
        entries = parse(layer, body)
        if not entries:
            return ToolOutcome("There are no entries in it: write lines of 'key: value'.", ok=False)
        return await self._store.write(partial(self._perceive, layer=layer, entries=entries, now=now_ms()))

    async def escalate(self, reason: str) -> ToolOutcome:
        line = " ".join(reason.split())
        if not line:
            return ToolOutcome("Say why in one sentence.", ok=False)

        def write(db: Database) -> ToolOutcome:
            at = self.place(db.conn)
            if at.leg is None or at.session is None or at.session.escalation is None:
                return ToolOutcome(
                    "There is nobody to hand over to outside of a turn of milk's: tell the person why.", ok=False
                )
            captures.stage(db, at.leg.id, TagKind.ESCALATE, line)
            return ToolOutcome(f"{at.session.escalation.name} takes over when you stop. Stop now.")

        return await self._store.write(write)

    async def own(self, name: str, arguments: str) -> ToolOutcome:
        """A tool of the agent's own memory. Outside of a leg nothing that it reads counts as told to a session."""
        at = await self._store.read(self.place)
        if not at.client.known:
            return ToolOutcome("Only a configured agent has a memory of its own.", ok=False)
        session_id = at.leg.session_id if at.leg else ""
        own = my_memory.MyMemory(
            self._store, at.client.name, session_id=session_id, leg_id=at.leg.id if at.leg else None
        )
        return await own.call(name, arguments)

    async def pinned(self) -> ToolOutcome:
        """The pinned facts that the client may see."""

        def look(conn: sqlite3.Connection) -> ToolOutcome:
            at = self.place(conn)
            room = self._config.memory.pinned_bytes
            facts = memory_answers.pinned(conn, at.client.reader, at.reach, room)
            lines = [blocks.fact_line(fact) for fact in facts]
            return ToolOutcome(blocks.pinned(lines) or "No fact is pinned.")

        return await self._store.read(look)

    async def perception(self) -> ToolOutcome:
        """What is true of the work now, layer by layer, without what is only proposed."""

        def look(conn: sqlite3.Connection) -> ToolOutcome:
            at = self.place(conn)
            session = at.session if at.client.known else nearest(conn, self._directory)
            if session is None:
                return ToolOutcome("Nothing is noted yet.")
            parts = []
            for layer in Layer:
                entries = [e for e in perception.current(conn, session.id, layer) if not e.proposed and e.value]
                parts.append(blocks.entries(layer, [blocks.tidy(entry) for entry in entries]))
            return ToolOutcome("\n".join(filter(None, parts)) or "Nothing is noted yet.")

        return await self._store.read(look)

    def place(self, conn: sqlite3.Connection) -> Place:
        """Where a call of this moment belongs; nothing is made. Raises MilkError when the named session is gone."""
        return place(conn, self._client, self._directory, session=self._session)

    def _home(self, db: Database) -> tuple[Place, Session]:
        """The place and its session, made when there is none: for an agent one that the screen goes on with."""
        at = self.place(db.conn)
        if at.session is not None:
            return at, at.session
        outside = not at.client.known
        session = sessions.create(
            db,
            directory=str(self._directory),
            primary=casting.unknown(),
            title=OUTSIDE_TITLE if outside else "",
            outside=outside,
        )
        return replace(at, session=session, reach=(*at.reach, session.id)), session

    def _names(self, session: Session) -> tuple[str, str]:
        """The two agents' names; of a session that no screen has opened yet they are those of the configuration."""
        primary, escalation = session.primary, session.escalation
        first = primary.name if primary.model else self._config.named(Role.PRIMARY) or primary.name
        return first, escalation.name if escalation else self._config.named(Role.ESCALATION)

    def _remember(self, db: Database, fact: str, now: int) -> list[Change]:
        at, session = self._home(db)
        consumer, content = Consumer.ALL, fact.strip()
        if at.client.known:
            consumer, content = split_consumer(content, *self._names(session))
        content, replaces = take_replaced(without_label(content))
        leg, limit = at.leg, self._config.memory.facts_per_turn
        if leg is not None:
            percepts.check_turn(db.conn, leg.turn_id, limit)
        else:
            name = at.client.name if at.client.known else None
            percepts.check_time(db.conn, session.id, name, since=now - FLOOD_MS, limit=limit)
        change = percepts.add(
            db,
            content=content,
            producer=at.client.producer,
            agent_name=at.client.name,
            session_id=session.id,
            consumer=consumer,
            tainted=at.client.tainted,
            turn_id=leg.turn_id if leg else None,
            now=now,
        )
        if change.what != "live":
            return [change]
        return [change, *admission.weigh(db, change.percept, replaces=replaces, now=now)]

    def _perceive(self, db: Database, layer: Layer, entries: Sequence[PerceptionEntry], now: int) -> ToolOutcome:
        at, session = self._home(db)
        if layer is Layer.FRAME and not at.client.known:
            return ToolOutcome("Only a configured agent writes the frame; propose an invariant instead.", ok=False)
        made = [
            replace(
                entry,
                writer=at.client.name,
                turn_id=at.leg.turn_id if at.leg else None,
                updated_ms=now,
                proposed=layer is Layer.INVARIANT,
            )
            for entry in entries
        ]
        perception_writing.write(db, session.id, made, now=now)
        if layer is Layer.INVARIANT:
            return ToolOutcome("Proposed; it holds when the person accepts it.")
        return ToolOutcome(f"The {layer} is updated ({len(made)} {'entry' if len(made) == 1 else 'entries'}).")
