"""Where words stand in a session: in prompts and answers as they were said, in what was thought, in what was called and
what came back, from the first turn to the last."""

from __future__ import annotations

import sqlite3

from msgspec import Struct

MOST = 5_000
"""Places that are found; more say nothing to a person."""


class Place(Struct, frozen=True):
    """One place. ``number``: the how many of its text, from 0."""

    turn_id: int
    leg_id: int | None
    """``None``: in the prompt."""
    number: int
    thinking: bool = False
    tool: int | None = None
    """The call in whose arguments or result it is."""


def find(conn: sqlite3.Connection, session_id: str, words: str) -> list[Place]:
    """Every place of the words as they are written, case ignored, in the order of the conversation.

    Reads all that was said: about 5 ms for each MB. At most ``MOST`` places. Blank words are nowhere.
    """
    wanted = words.casefold()
    if not wanted.strip():
        return []
    found: list[Place] = []
    for row in conn.execute(_SAID, (session_id,)):
        turn_id, leg_id, said = row["turn_id"], row["leg_id"], row["text"].casefold()
        number = 0
        for call in conn.execute(_CALLS, (leg_id,)) if leg_id is not None and row["calls"] else ():
            before = said.count(wanted, 0, _folded_at(row["text"], call["position"]))
            found += [Place(turn_id, leg_id, each) for each in range(number, before)]
            number = max(number, before)
            count = call["text"].casefold().count(wanted)
            found += [Place(turn_id, leg_id, each, tool=call["id"]) for each in range(count)]
        found += [
            Place(turn_id, leg_id, each, thinking=bool(row["thinking"])) for each in range(number, said.count(wanted))
        ]
        if len(found) >= MOST:
            return found[:MOST]
    return found


_SAID = (
    "select t.id as turn_id, null as leg_id, 0 as thinking, 0 as calls, t.prompt as text"
    " from turns t where t.session_id = ?1"
    " union all select l.turn_id, l.id, 1, 0, l.thinking from legs l where l.session_id = ?1 and l.thinking != ''"
    " union all select l.turn_id, l.id, 0, exists (select 1 from tool_calls c where c.leg_id = l.id), l.text"
    " from legs l where l.session_id = ?1"
    " order by 1, 2, 3 desc"
)
_CALLS = (
    "select id, position, arguments || char(10) || result as text from tool_calls"
    " where leg_id = ? order by position, id"
)


def _folded_at(text: str, position: int) -> int:
    """Where a place of the text is when its case is folded."""
    return len(text[:position].casefold())
