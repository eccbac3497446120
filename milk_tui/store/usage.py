"""What a session has used so far."""

from __future__ import annotations

import sqlite3

from msgspec import Struct

from milk_tui.core.records import Usage
from milk_tui.store.legs import USAGE


class Used(Struct, frozen=True, kw_only=True):
    """The sum over the legs that reported something; ``unreported`` legs answered and said nothing of it."""

    usage: Usage
    unreported: int
    sent_where_cache_known: int
    """Input tokens of the legs that reported what came from a cache: what the cached share is a share of."""
    last_input_tokens: int | None
    """What the newest leg that reported it was given; ``None``: unknown."""


def of_session(conn: sqlite3.Connection, session_id: str) -> Used:
    sums = ", ".join(f"sum({column})" for column in USAGE)
    row = conn.execute(
        f"select {sums}, coalesce(sum(input_tokens is null and output_tokens is null"
        " and status in ('done', 'empty')), 0),"
        " coalesce(sum(case when cached_tokens is not null then input_tokens end), 0) from legs where session_id = ?",
        (session_id,),
    ).fetchone()
    last = conn.execute(
        "select case when tools = 0 then input_tokens end from legs"
        " where session_id = ? and status <> 'pending' order by id desc limit 1",
        (session_id,),
    ).fetchone()
    *totals, unreported, sent_where_known = tuple(row)
    return Used(
        usage=Usage(**dict(zip(USAGE, totals, strict=True))),
        unreported=unreported,
        sent_where_cache_known=sent_where_known,
        last_input_tokens=last[0] if last else None,
    )
