"""What an agent was sent last, for the question whether its provider still has it in a cache."""

from __future__ import annotations

import sqlite3

from milk_tui.core.prefix_cache import Sent
from milk_tui.core.records import Role
from milk_tui.core.token_sizes import estimate
from milk_tui.store import receipts


def of_role(conn: sqlite3.Connection, session_id: str, role: Role) -> Sent | None:
    """The newest request of the role that was answered; ``None`` when there is none."""
    row = conn.execute(
        "select id, model, ended_ms, tools, input_tokens, cached_tokens, cache_write_tokens from legs"
        " where session_id = ? and role = ? and status = 'done' and sent_ms is not null order by id desc limit 1",
        (session_id, role),
    ).fetchone()
    receipt = receipts.get(conn, row["id"]) if row is not None else None
    if row is None or receipt is None:
        return None
    counted = row["input_tokens"] is not None and not row["tools"]
    chars = receipt.chars + receipt.thread_chars
    return Sent(
        model=row["model"],
        at_ms=row["ended_ms"],
        tokens=row["input_tokens"] if counted else estimate(chars).number,
        estimated=not counted,
        cached=bool(row["cached_tokens"] or row["cache_write_tokens"]),
        prefix="\n\n".join(each.text for each in receipt.segments if each.included and each.stable),
        chars=chars,
    )
