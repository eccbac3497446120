"""A session with fixed times, sizes and words, so that its screens look the same wherever they are drawn."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from milk_tui.core.records import (
    AgentName,
    Brick,
    BrickKind,
    ContextMode,
    Layer,
    LegStatus,
    NeedStatus,
    PerceptionEntry,
    Receipt,
    Role,
    RouteDecision,
    Segment,
    Usage,
)
from milk_tui.engine import perception_writing
from milk_tui.store import Store, bricks, legs, receipts, sessions, turns

if TYPE_CHECKING:
    from sqlite_utils import Database

BEGAN_MS = 1_767_967_320_000
"""9 January 2026, 14:02 UTC."""
MINUTE_MS = 60_000
TURNS = 14
ESCALATED = (4, 9)
PRIMARY = AgentName(role=Role.PRIMARY, name="qwen", model="scripted/fast", nonce="aaaaaa")
ESCALATION = AgentName(role=Role.ESCALATION, name="claude", model="scripted/deep", nonce="bbbbbb")


def make(database: Path, directory: Path) -> None:
    """Write the session into a new database."""
    database.parent.mkdir(parents=True, exist_ok=True)
    store = Store.open(database)
    try:
        store.write_sync(_session(str(directory.resolve()), store.owner_id))
    finally:
        store.close()


def segments(turn: int, role: Role) -> tuple[Segment, ...]:
    """What an agent is given in a turn."""
    other = "claude" if role is Role.PRIMARY else "qwen"
    return (
        Segment(name="identity", text="You are one of two. " * 20, stable=True, included=True, why="who the agent is"),
        Segment(
            name="instructions",
            text="Say facts in tags. " * 130,
            stable=True,
            included=True,
            why="how memory, need and escalation work",
        ),
        Segment(
            name="pinned",
            text="Money is integer cents everywhere. " * 3,
            stable=True,
            included=True,
            why="pinned when the session began: 1",
        ),
        Segment(name="frame", text="", stable=False, included=False, why="unchanged since its last leg"),
        Segment(
            name="current_need",
            text="Stop the double charge after a gateway timeout",
            stable=False,
            included=True,
            why="set by qwen in turn 1",
        ),
        Segment(
            name="primary_summary" if role is Role.ESCALATION else "escalation_summary",
            text=f"{other} did this and that.\n" * (20 * turn),
            stable=False,
            included=True,
            why="what the other one did",
            shrunk_from=12_000 if turn > 8 else None,
        ),
    )


def _session(directory: str, owner: str) -> Callable[[Database], None]:
    def write(db: Database) -> None:
        session = sessions.create(
            db, directory=directory, primary=PRIMARY, escalation=ESCALATION, title="double charge", now=BEGAN_MS
        )
        for number in range(1, TURNS + 1):
            now = BEGAN_MS + number * MINUTE_MS
            turn = turns.add(db, session.id, f"step {number}", owner=owner, now=now)
            role = Role.ESCALATION if number in ESCALATED else Role.PRIMARY
            turns.start(db, turn.id, RouteDecision(role=role, rule="primary", reason="because"), owner=owner)
            _leg(db, turn.id, role, number, owner, now)
            _believe(db, session.id, number, now)
        _bricks(db, session.id)

    return write


def _leg(db: Database, turn_id: int, role: Role, number: int, owner: str, now: int) -> None:
    agent = PRIMARY if role is Role.PRIMARY else ESCALATION
    leg = legs.create(
        db,
        turn_id,
        role=role,
        agent_name=agent.name,
        model=agent.model,
        mode=ContextMode.FIRST if number == 1 else ContextMode.CONTINUATION,
        owner=owner,
        now=now,
    )
    legs.claim(db, leg.id, now=now)
    given = segments(number, role)
    receipt = Receipt(
        leg_id=leg.id,
        turn_id=turn_id,
        role=role,
        agent_name=agent.name,
        mode=leg.mode,
        segments=given,
        sent_ms=now,
        thread_messages=2 * number,
        thread_chars=900 * number,
    )
    receipts.save(db, receipt)
    sent = 800 + 260 * number
    known = number % 5 != 0
    usage = Usage(
        input_tokens=sent if known else None,
        output_tokens=120 if known else None,
        cached_tokens=(0 if number in (1, ESCALATED[0]) else sent * 4 // 5) if known else None,
        cache_write_tokens=200 if known and role is Role.ESCALATION else None,
    )
    legs.finish(db, leg.id, LegStatus.DONE, text=f"done with step {number}", usage=usage, now=now + 9_000)
    turns.finish(db, turn_id, "done")


_BELIEFS = {
    1: [
        (Layer.FRAME, "slice", "refunds", ""),
        (Layer.FRAME, "story", "a refund names its order", ""),
        (Layer.FRAME, "slice", "no double charge", ""),
        (Layer.WORKING, "file", "payments/handler.py", ""),
    ],
    3: [(Layer.WORKING, "hypothesis", "pay() retries on its own", "")],
    4: [
        (Layer.FRAME, "decided", "the cart makes the key", "both retries then carry the same one"),
        (Layer.FRAME, "open", "who cleans old keys up? [blocked on billing]\nhow long do keys live?", ""),
    ],
    9: [
        (Layer.FRAME, "constraints", "billing deploys before cart", ""),
        (Layer.WORKING, "next", "billing/worker.py", ""),
    ],
    12: [(Layer.FRAME, "decided also", "keep @retry in the handler", "")],
}


def _believe(db: Database, session_id: str, number: int, now: int) -> None:
    writer = "claude" if number in ESCALATED else "qwen"
    for layer, key, value, reason in _BELIEFS.get(number, ()):
        entry = PerceptionEntry(
            layer=layer, key=key, value=value, reason=reason, writer=writer, turn_id=number, updated_ms=now
        )
        perception_writing.write(db, session_id, [entry], now=now)
    if number == 6:
        stale = PerceptionEntry(
            layer=Layer.WORKING,
            key="hypothesis",
            value="pay() retries on its own",
            writer="qwen",
            turn_id=3,
            updated_ms=now,
            stale="pytest failed after it: test_charges_once",
        )
        money = PerceptionEntry(
            layer=Layer.INVARIANT,
            key="money",
            value="integer cents, never a float",
            writer="qwen",
            turn_id=6,
            updated_ms=now,
            proposed=True,
        )
        stack = PerceptionEntry(
            layer=Layer.INVARIANT, key="stack", value="python 3.11, postgres", writer="user", turn_id=6, updated_ms=now
        )
        perception_writing.write(db, session_id, [stale, money, stack], now=now)


def _bricks(db: Database, session_id: str) -> None:
    now = BEGAN_MS + TURNS * MINUTE_MS
    summary = "\n".join(f"## Turn {n}\nuser: step {n}\nqwen: done with step {n}" for n in range(10, TURNS + 1))
    for brick in (
        Brick(
            kind=BrickKind.NEED,
            text="Stop the double charge after a gateway timeout",
            version=1,
            turn_id=1,
            updated_ms=BEGAN_MS,
            author="primary",
            status=NeedStatus.OPEN,
        ),
        Brick(
            kind=BrickKind.BRIEF,
            text="The key has to be made in cart, carried by the queue, checked in billing",
            version=2,
            turn_id=9,
            updated_ms=now,
            author="primary",
            delivered_leg=9,
        ),
        Brick(
            kind=BrickKind.PRIMARY_SUMMARY,
            text=summary * 20,
            version=12,
            turn_id=TURNS,
            updated_ms=now,
            collapsed=4,
            cut=2,
            dropped=3,
        ),
        Brick(
            kind=BrickKind.ESCALATION_SUMMARY,
            text="One key for each order, made once.",
            version=3,
            turn_id=9,
            updated_ms=now,
            author="user",
        ),
    ):
        bricks.save(db, session_id, brick)
