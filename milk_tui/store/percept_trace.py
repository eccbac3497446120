"""Where facts went: what the receipts of earlier legs say about who was given what, and when."""

from __future__ import annotations

import re
import sqlite3

from msgspec import Struct

from milk_tui.core.leg_state import Part
from milk_tui.core.records import Percept

_LINE = re.compile(r"^(?:pinned since: )?(#[0-9a-f]{6}) ", re.MULTILINE)
_PARTS = f"('{Part.FACTS}', '{Part.PINNED}', '{Part.CHANGES}')"


class Injection(Struct, frozen=True, kw_only=True):
    """A leg that was given a fact. ``part`` is the segment's name: facts · pinned · changes."""

    leg_id: int
    turn_id: int
    session_id: str
    agent_name: str
    sent_ms: int
    part: str


def last_injected(conn: sqlite3.Connection, percept: Percept) -> Injection | None:
    """The newest leg whose receipt shows the fact; ``None`` when none does."""
    row = conn.execute(
        f"""
        select l.id as leg_id, l.turn_id, l.session_id, l.agent_name, l.sent_ms, s.name as part
        from legs l join segments s on s.leg_id = l.id join segment_texts t on t.hash = s.hash
        where l.sent_ms >= ?1 and s.included and s.name in {_PARTS}
            and (instr(char(10) || t.text, char(10) || ?2) or instr(t.text, 'pinned since: ' || ?2))
        order by l.id desc limit 1
        """,
        (percept.created_ms, percept.short_id + " "),
    ).fetchone()
    return Injection(**dict(row)) if row else None


def ever_injected(conn: sqlite3.Connection) -> frozenset[str]:
    """The short ids of all facts that some leg was given, or a hook outside of the screen."""
    rows = conn.execute(
        f"select distinct t.text from segments s join segment_texts t on t.hash = s.hash"
        f" where s.included and s.name in {_PARTS}"
    )
    told = conn.execute("select distinct substr(e.key, 1, 6) from outside_runtimes o, json_each(o.told) e")
    in_legs = frozenset(short_id for (text,) in rows for short_id in _LINE.findall(text))
    return in_legs | {f"#{beginning}" for (beginning,) in told}
