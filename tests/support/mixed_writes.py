"""One of several programs that write to one database at once, everything mixed.

``python -m tests.support.mixed_writes DATABASE SESSION NAME COUNT``: facts, edits, pins, forgets, turns with legs,
notes, perception, bricks, exchanges, one transaction each, in the session. Every read-modify-write checks itself.
Prints, as JSON, what of it must be there at the end.
"""

from __future__ import annotations

import json
import random
import sys
from collections import Counter
from typing import Any

from milk_tui.core.exchanges import ExchangeKind, Happened
from milk_tui.core.records import (
    Brick,
    BrickKind,
    ContextMode,
    Layer,
    LegStatus,
    PerceptionEntry,
    Role,
    RouteDecision,
    TurnStatus,
)
from milk_tui.store import Store, agents, bricks, exchanges, legs, notes, perception, percepts, turns
from milk_tui.store.clock import now_ms

SHARED = "shared"
ROUTE = RouteDecision(role=Role.PRIMARY, rule="primary", reason="mixed")
KINDS = ("fact", "edit", "pin", "turn", "fact", "note", "perception", "forget", "brick", "exchange")


class Writer:
    """``facts`` is what must be there: by id, the text, whether it is pinned, the status."""

    def __init__(self, store: Store, session_id: str, name: str) -> None:
        self.store = store
        self.session_id = session_id
        self.name = name
        self.facts: dict[str, tuple[str, bool, str]] = {}
        self.done: Counter[str] = Counter()
        self.turns: list[int] = []
        self.rng = random.Random(name)

    def run(self, count: int) -> None:
        for number in range(count):
            kind = KINDS[number % len(KINDS)]
            if kind in ("edit", "pin", "forget") and not self._living():
                kind = "fact"
            getattr(self, f"_{kind}")(number)
            self.done[kind] += 1
            if number % 50 == 0:
                self.store.read_sync(lambda conn: turns.index(conn, self.session_id))

    def _living(self) -> list[str]:
        return [id_ for id_, (_, _, status) in self.facts.items() if status == "live"]

    def _fact(self, number: int) -> None:
        text = f"fact {number} of {self.name}"
        made = self.store.write_sync(lambda db: percepts.add(db, content=text, session_id=self.session_id)).percept
        self.facts[made.id] = (text, False, "live")

    def _edit(self, number: int) -> None:
        id_ = self.rng.choice(self._living())
        text = f"edited {number} of {self.name}"
        self.store.write_sync(lambda db: percepts.edit(db, id_, text))
        self.facts[id_] = (text, self.facts[id_][1], "live")

    def _pin(self, number: int) -> None:
        id_ = self.rng.choice(self._living())
        text, pinned, status = self.facts[id_]
        self.store.write_sync(lambda db: percepts.pin(db, id_, not pinned))
        self.facts[id_] = (text, not pinned, status)

    def _forget(self, number: int) -> None:
        id_ = self.rng.choice(self._living())
        text, pinned, _ = self.facts[id_]
        self.store.write_sync(lambda db: percepts.forget(db, id_))
        self.facts[id_] = (text, pinned, "forgotten")

    def _turn(self, number: int) -> None:
        """Three transactions, as a turn has them."""
        owner = self.store.owner_id

        def begin(db: Any) -> tuple[int, int]:
            turn = turns.add(db, self.session_id, f"{self.name} asks {number}", owner=owner)
            assert turns.start(db, turn.id, ROUTE, owner=owner)
            leg = legs.create(
                db, turn.id, role=Role.PRIMARY, agent_name="fast", model="m", mode=ContextMode.CONTINUATION, owner=owner
            )
            assert legs.claim(db, leg.id)
            return turn.id, leg.id

        turn_id, leg_id = self.store.write_sync(begin)
        self.store.write_sync(lambda db: legs.save_progress(db, leg_id, text="half"))

        def end(db: Any) -> None:
            assert legs.finish(db, leg_id, LegStatus.DONE, text=f"answer {number}")
            assert turns.finish(db, turn_id, TurnStatus.DONE)

        self.store.write_sync(end)
        self.turns.append(turn_id)

    def _note(self, number: int) -> None:
        """A note, and whatever waits is taken: by one of the programs alone."""

        def write(db: Any) -> int:
            cite = (notes.Cite("fact", "", ""),)
            notes.add(db.conn, self.session_id, f"note {number} of {self.name}", cites=cite, now=now_ms())
            return len(notes.claim(db.conn, self.session_id, notes.TURN_STARTED, by=self.name, now=now_ms()))

        self.done["claimed"] += self.store.write_sync(write)

    def _perception(self, number: int) -> None:
        entry = PerceptionEntry(layer=Layer.WORKING, key=f"{self.name} {number % 7}", value=f"step {number}")
        self.store.write_sync(lambda db: perception.append(db, self.session_id, [entry]))

    def _brick(self, number: int) -> None:
        """The next version of one brick, whoever wrote the one before."""

        def write(db: Any) -> None:
            before = bricks.newest(db.conn, self.session_id, BrickKind.PRIMARY_SUMMARY)
            version = before.version + 1 if before else 1
            text = f"{self.name} {number}"
            brick = Brick(kind=BrickKind.PRIMARY_SUMMARY, text=text, version=version, turn_id=0, updated_ms=now_ms())
            bricks.save(db, self.session_id, brick)
            newest = bricks.newest(db.conn, self.session_id, BrickKind.PRIMARY_SUMMARY)
            assert newest is not None and newest.text == text

        self.store.write_sync(write)

    def _exchange(self, number: int) -> None:
        happened = Happened(
            event_id=f"{self.name} {number}",
            ts_ms=number,
            kind=ExchangeKind.HANDBACK,
            session_id=self.session_id,
            label="both",
            speaker=SHARED,
            takeaway=f"{self.name} {number}",
        )

        def write(db: Any) -> None:
            before = agents.revision(db.conn, SHARED)
            assert exchanges.append(db, happened) == (SHARED,)
            assert agents.revision(db.conn, SHARED) == before + 1

        self.store.write_sync(write)


def main() -> None:
    database, session_id, name, count = sys.argv[1:5]
    store = Store.open(database)
    writer = Writer(store, session_id, name)
    writer.run(int(count))
    store.close()
    print(json.dumps({"facts": writer.facts, "done": writer.done, "turns": writer.turns}))


if __name__ == "__main__":
    main()
