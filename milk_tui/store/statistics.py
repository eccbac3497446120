"""The figures of a session's turns, legs, routes and facts; no text is read."""

from __future__ import annotations

import sqlite3

from milk_tui.core.records import LegStatus, Role
from milk_tui.core.statistics import FactCount, LegFigures, RouteCount, Statistics
from milk_tui.store.rows import tuples


def of_session(conn: sqlite3.Connection, session_id: str) -> Statistics:
    """Everything for the statistics screen; 10,000 turns take some tens of milliseconds."""
    return Statistics(
        turns=conn.execute("select count(*) from turns where session_id = ?", (session_id,)).fetchone()[0],
        legs=tuple(_legs(conn, session_id)),
        routes=tuple(
            RouteCount(rule=rule, role=role, turns=number)
            for rule, role, number in tuples(
                conn,
                "select coalesce(json_extract(route, '$.rule'), ''), coalesce(json_extract(route, '$.role'), ''),"
                " count(*) from turns where session_id = ? and route is not null group by 1, 2 order by 3 desc, 1",
                (session_id,),
            )
        ),
        facts=tuple(
            FactCount(producer=producer, status=status, facts=number)
            for producer, status, number in tuples(
                conn,
                "select producer, status, count(*) from percepts where session_id = ? group by 1, 2 order by 3 desc",
                (session_id,),
            )
        ),
        learned=tuple(
            tuples(
                conn,
                "select turn_id, count(*) from percepts where session_id = ? and turn_id is not null group by 1 order"
                " by 1",
                (session_id,),
            )
        ),
    )


def _legs(conn: sqlite3.Connection, session_id: str) -> list[LegFigures]:
    rows = tuples(
        conn,
        "select id, turn_id, role, agent_name, model, status, started_ms, ended_ms, escalated, tools, input_tokens,"
        " output_tokens, cached_tokens, cost_usd from legs where session_id = ? and status <> 'pending' order by id",
        (session_id,),
    )
    roles = {role.value: role for role in Role}
    statuses = {status.value: status for status in LegStatus}
    return [
        LegFigures(
            leg_id=leg,
            turn_id=turn,
            role=roles[role],
            agent=agent,
            model=model,
            status=statuses[status],
            seconds=None if ended is None else max(0.0, (ended - started) / 1000),
            escalated=escalated == 1,
            tools=tools,
            sent=sent,
            written=written,
            cached=cached,
            cost_usd=cost,
        )
        for leg, turn, role, agent, model, status, started, ended, escalated, tools, sent, written, cached, cost in rows
    ]
