"""What a session's answers have cost, and how often anybody escalated lately."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection

from milk_tui.core.spending import HOUR_MS, Spent
from milk_tui.store.rows import one


def spent(conn: sqlite3.Connection, session_id: str, *, free_models: Collection[str], now: int) -> Spent:
    """``free_models``: those that run on this machine; their answers cost nothing that anybody reports."""
    rows = conn.execute(
        "select model, coalesce(sum(cost_usd), 0), sum(cost_usd is null and (status in ('done', 'empty') or"
        " input_tokens is not null or output_tokens is not null)) from legs where session_id = ? group by model",
        (session_id,),
    ).fetchall()
    escalations = conn.execute(
        "select count(*) from legs where escalated = 1 and role = 'escalation' and started_ms > ?"
        " and status <> 'pending'",
        (now - HOUR_MS,),
    ).fetchone()
    return Spent(
        usd=sum(usd for _, usd, _ in rows),
        unknown=sum(unknown for model, _, unknown in rows if model not in free_models),
        escalations=int(one(escalations, "the escalations")[0]),
    )


def escalation_answers_in_a_row(conn: sqlite3.Connection, session_id: str) -> int:
    """How many answers the escalation agent has given since the primary's last, or since the session went back."""
    row = conn.execute(
        "select count(*) from legs where session_id = :session and role = 'escalation' and status = 'done' and id >"
        " coalesce((select max(id) from legs where session_id = :session and role = 'primary'"
        " and status in ('done', 'empty')), 0)",
        {"session": session_id},
    ).fetchone()
    return int(one(row, "the answers")[0])


def answered_last(conn: sqlite3.Connection, session_id: str, *, before_turn: int) -> tuple[str, str] | None:
    """The prompt of the newest turn before that one, and the role of the leg that answered it; ``None`` when that
    turn was not answered."""
    row = conn.execute(
        "select t.prompt, l.role, l.status from turns t left join legs l on l.id ="
        " (select max(id) from legs where turn_id = t.id)"
        " where t.session_id = ? and t.id < ? and coalesce(json_extract(t.route, '$.rule'), '') <> 'command'"
        " order by t.id desc limit 1",
        (session_id, before_turn),
    ).fetchone()
    if row is None or row[2] not in ("done", "empty"):
        return None
    return str(row[0]), str(row[1])
