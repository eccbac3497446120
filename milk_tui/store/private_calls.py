"""Calls whose contents belong to the calling agent alone (``semantics.md`` §7).

The row in ``tool_calls``, which summaries for the other agent, exports, lists and the screen read, has a placeholder.
What was asked and answered is here, for the agent's own thread.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from typing import TYPE_CHECKING

from msgspec.structs import replace

from milk_tui.core.records import ToolCall
from milk_tui.store.rows import id_list, storable

if TYPE_CHECKING:
    from sqlite_utils import Database


def keep(db: Database, tool_id: int, arguments: str) -> None:
    """The call's real arguments."""
    db.execute(
        "insert into private_calls (tool_id, arguments) values (?, ?) on conflict do nothing",
        (tool_id, storable(arguments)),
    )


def answered(db: Database, tool_id: int, result: str) -> bool:
    """The call's real result; False when the call is not a private one."""
    done = db.execute("update private_calls set result = ? where tool_id = ?", (storable(result), tool_id))
    return done.rowcount == 1


def revealed(conn: sqlite3.Connection, calls: Iterable[ToolCall]) -> tuple[ToolCall, ...]:
    """The calls as the agent that made them knows them. For that agent's own thread only."""
    calls = tuple(calls)
    if not calls:
        return calls
    rows = conn.execute(
        "select tool_id, arguments, result from private_calls where tool_id in (select value from json_each(?))",
        (id_list(call.id for call in calls),),
    )
    private = {row["tool_id"]: row for row in rows}
    return tuple(
        replace(call, arguments=row["arguments"], result=row["result"]) if (row := private.get(call.id)) else call
        for call in calls
    )
