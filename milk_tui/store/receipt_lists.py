"""Receipts in pages, and the sizes of all of them: no text is read, so that a session may be as long as it likes."""

from __future__ import annotations

import sqlite3

from msgspec import Struct

from milk_tui.core.records import ContextMode, LegStatus, Role, Usage
from milk_tui.core.token_sizes import Measure
from milk_tui.store.legs import USAGE
from milk_tui.store.rows import tuples

PAGE = 100


class SentLeg(Struct, frozen=True, kw_only=True):
    """A receipt in a list, with what the provider reported of the leg."""

    leg_id: int
    turn_id: int
    role: Role
    agent_name: str
    model: str
    mode: ContextMode
    status: LegStatus
    sent_ms: int
    chars: int
    """Of the included segments."""
    thread_messages: int
    thread_chars: int
    tools: int
    usage: Usage

    @property
    def measure(self) -> Measure:
        return Measure(
            leg_id=self.leg_id,
            turn_id=self.turn_id,
            role=self.role,
            chars=self.chars + self.thread_chars,
            tools=self.tools,
            input_tokens=self.usage.input_tokens,
            output_tokens=self.usage.output_tokens,
            cached_tokens=self.usage.cached_tokens,
            cache_write_tokens=self.usage.cache_write_tokens,
        )


def page(
    conn: sqlite3.Connection, session_id: str, *, before_leg: int | None = None, limit: int = PAGE
) -> list[SentLeg]:
    """Receipts of a session, newest first, those of legs before ``before_leg``."""
    rows = conn.execute(
        "select id, turn_id, role, agent_name, model, mode, status, sent_ms, sent_chars, thread_messages,"
        f" thread_chars, tools, {', '.join(USAGE)} from legs"
        " where session_id = ? and sent_ms is not null and id < ? order by id desc limit ?",
        (session_id, 2**62 if before_leg is None else before_leg, limit),
    )
    return [_sent(row) for row in rows]


def count(conn: sqlite3.Connection, session_id: str) -> int:
    """How many receipts the session has."""
    row = conn.execute(
        "select count(*) from legs where session_id = ? and sent_ms is not null", (session_id,)
    ).fetchone()
    return int(row[0])


def one(conn: sqlite3.Connection, leg_id: int) -> SentLeg | None:
    """``None`` for a leg that nothing was sent with."""
    rows = conn.execute(
        "select id, turn_id, role, agent_name, model, mode, status, sent_ms, sent_chars, thread_messages,"
        f" thread_chars, tools, {', '.join(USAGE)} from legs where id = ? and sent_ms is not null",
        (leg_id,),
    )
    return next((_sent(row) for row in rows), None)


def measures(conn: sqlite3.Connection, session_id: str, *, from_leg: int = 0) -> list[Measure]:
    """The sizes of a session's legs from ``from_leg`` on, oldest first. 10,000 take some milliseconds."""
    roles = {role.value: role for role in Role}
    rows = tuples(
        conn,
        "select id, turn_id, role, sent_chars + thread_chars, tools, input_tokens, output_tokens, cached_tokens,"
        " cache_write_tokens from legs where session_id = ? and sent_ms is not null and id >= ? order by id",
        (session_id, from_leg),
    )
    return [
        Measure(
            leg_id=leg,
            turn_id=turn,
            role=roles[role],
            chars=chars,
            tools=tools,
            input_tokens=given,
            output_tokens=said,
            cached_tokens=read,
            cache_write_tokens=written,
        )
        for leg, turn, role, chars, tools, given, said, read, written in rows
    ]


def _sent(row: sqlite3.Row) -> SentLeg:
    return SentLeg(
        leg_id=row["id"],
        turn_id=row["turn_id"],
        role=Role(row["role"]),
        agent_name=row["agent_name"],
        model=row["model"],
        mode=ContextMode(row["mode"]),
        status=LegStatus(row["status"]),
        sent_ms=row["sent_ms"],
        chars=row["sent_chars"],
        thread_messages=row["thread_messages"],
        thread_chars=row["thread_chars"],
        tools=row["tools"],
        usage=Usage(**{column: row[column] for column in USAGE}),
    )
