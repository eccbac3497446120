"""What was said and done in a session, leg by leg, as far back as the reader goes: for bricks and threads."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

from msgspec import Struct

from milk_tui.core.digest import TurnDigest, digest
from milk_tui.core.records import Leg, Role, ToolCall, Turn
from milk_tui.store import tool_calls, turns
from milk_tui.store.legs import to_leg

CHUNK = 16


class Worked(Struct, frozen=True):
    """A leg that ended, with the turn it worked on and what it called. Without its thinking."""

    turn: Turn
    leg: Leg
    tools: tuple[ToolCall, ...]

    @property
    def chars(self) -> int:
        """What it takes in a thread: prompt, text, arguments and results."""
        called = sum(len(call.arguments) + len(call.result) for call in self.tools)
        return len(self.turn.prompt) + len(self.leg.text) + called


def worked(
    conn: sqlite3.Connection,
    session_id: str,
    *,
    role: Role | None = None,
    after_turn: int = 0,
    after_leg: int = 0,
    before_leg: int | None = None,
    chunk: int = CHUNK,
) -> Iterator[Worked]:
    """Newest first, read ``chunk`` legs at a time as the reader asks for them: the cost follows what is
    taken, not the session. Use it up inside the read or write that gave ``conn``.

    Bounds are exclusive; every way to end counts, the reader chooses.
    """
    after = max(after_leg, _before_turn(conn, session_id, after_turn)) if after_turn else after_leg
    before = 2**62 if before_leg is None else before_leg
    of_role = "" if role is None else "and role = :role"
    while True:
        rows = conn.execute(
            "select * from legs where session_id = :session and id > :after and id < :before"
            f" and turn_id > :turn and status not in ('pending', 'running') {of_role}"
            " order by id desc limit :chunk",
            {
                "session": session_id,
                "after": after,
                "before": before,
                "turn": after_turn,
                "role": role,
                "chunk": chunk,
            },
        ).fetchall()
        legs = [to_leg(row, thinking=False) for row in rows]
        calls = tool_calls.of_legs(conn, [leg.id for leg in legs])
        of_turn = turns.many(conn, {leg.turn_id for leg in legs})
        for leg in legs:
            yield Worked(of_turn[leg.turn_id], leg, calls.get(leg.id, ()))
        if len(rows) < chunk:
            return
        before = legs[-1].id


def digests(
    conn: sqlite3.Connection, session_id: str, role: Role, *, after_leg: int = 0, chunk: int = CHUNK
) -> Iterator[TurnDigest]:
    """The agent's legs for ``core.bricks``: newest first, as lazily as ``worked``."""
    for each in worked(conn, session_id, role=role, after_leg=after_leg, chunk=chunk):
        yield digest(each.turn, each.leg, each.tools)


def count(conn: sqlite3.Connection, session_id: str, role: Role, *, after_leg: int = 0) -> int:
    """How many legs of the agent have ended, after that leg."""
    row = conn.execute(
        "select count(*) from legs where session_id = ? and role = ? and id > ?"
        " and status not in ('pending', 'running')",
        (session_id, role, after_leg),
    ).fetchone()
    return int(row[0])


def thread(
    conn: sqlite3.Connection,
    session_id: str,
    role: Role,
    *,
    since_turn: int = 0,
    max_chars: int | None = None,
) -> list[Worked]:
    """The agent's own legs from ``since_turn`` on, oldest first; at most the newest that hold ``max_chars``
    characters (the one that crosses it is the last)."""
    taken: list[Worked] = []
    size = 0
    for each in worked(conn, session_id, role=role, after_turn=max(0, since_turn - 1)):
        taken.append(each)
        size += each.chars
        if max_chars is not None and size >= max_chars:
            break
    taken.reverse()
    return taken


def _before_turn(conn: sqlite3.Connection, session_id: str, turn_id: int) -> int:
    """A leg id below those of all later turns, so that the search ends there."""
    row = conn.execute(
        "select min(id) from legs where turn_id > ? and session_id = ?", (turn_id, session_id)
    ).fetchone()
    return 2**62 if row[0] is None else int(row[0]) - 1
