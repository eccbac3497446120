"""What was said and done in a session, leg by leg, as far back as the reader goes: for bricks and threads."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

from msgspec import Struct

from milk_tui.core.records import Leg, Role, ToolCall
from milk_tui.store import tool_calls
from milk_tui.store.legs import to_leg

CHUNK = 16


class LegDigest(Struct, frozen=True):
    """A leg that ended, with the prompt it worked on and what it called. Without its thinking."""

    turn_id: int
    prompt: str
    leg: Leg
    tools: tuple[ToolCall, ...]


def digests(
    conn: sqlite3.Connection,
    session_id: str,
    *,
    role: Role | None = None,
    after_turn: int = 0,
    after_leg: int = 0,
    before_leg: int | None = None,
    chunk: int = CHUNK,
) -> Iterator[LegDigest]:
    """Newest first, read ``chunk`` legs at a time as the reader asks for them: the cost follows what is
    taken, not the session. Use it up inside the read or write that gave ``conn``.

    Bounds are exclusive; every way to end counts, the reader chooses.
    """
    after = max(after_leg, _before_turn(conn, session_id, after_turn)) if after_turn else after_leg
    before = 2**62 if before_leg is None else before_leg
    of_role = "" if role is None else "and legs.role = :role"
    while True:
        rows = conn.execute(
            "select legs.*, turns.prompt from legs join turns on turns.id = legs.turn_id"
            " where legs.session_id = :session and legs.id > :after and legs.id < :before"
            f" and legs.turn_id > :turn and legs.status not in ('pending', 'running') {of_role}"
            " order by legs.id desc limit :chunk",
            {
                "session": session_id,
                "after": after,
                "before": before,
                "turn": after_turn,
                "role": role,
                "chunk": chunk,
            },
        ).fetchall()
        calls = tool_calls.of_legs(conn, [row["id"] for row in rows])
        for row in rows:
            leg = to_leg(row, thinking=False)
            yield LegDigest(leg.turn_id, row["prompt"], leg, calls.get(leg.id, ()))
        if len(rows) < chunk:
            return
        before = rows[-1]["id"]


def _before_turn(conn: sqlite3.Connection, session_id: str, turn_id: int) -> int:
    """A leg id below those of all later turns, so that the search ends there."""
    row = conn.execute(
        "select min(id) from legs where turn_id > ? and session_id = ?", (turn_id, session_id)
    ).fetchone()
    return 2**62 if row[0] is None else int(row[0]) - 1


def thread(
    conn: sqlite3.Connection,
    session_id: str,
    role: Role,
    *,
    since_turn: int = 0,
    max_chars: int | None = None,
) -> list[LegDigest]:
    """The agent's own legs from ``since_turn`` on, oldest first; at most the newest that hold ``max_chars``
    characters of prompt, text, arguments and results (the one that crosses it is the last)."""
    taken: list[LegDigest] = []
    size = 0
    for digest in digests(conn, session_id, role=role, after_turn=since_turn - 1):
        taken.append(digest)
        size += len(digest.prompt) + len(digest.leg.text)
        size += sum(len(call.arguments) + len(call.result) for call in digest.tools)
        if max_chars is not None and size >= max_chars:
            break
    taken.reverse()
    return taken
