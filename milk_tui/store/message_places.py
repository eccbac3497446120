"""Where words stand in a session: in prompts and answers, as they were said, from the first turn to the last."""

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


def find(conn: sqlite3.Connection, session_id: str, words: str) -> list[Place]:
    """Every place of the words as they are written, case ignored, in the order of the conversation.

    Reads all that was said: about 5 ms for each MB. At most ``MOST`` places. Blank words are nowhere.
    """
    wanted = words.casefold()
    if not wanted.strip():
        return []
    found: list[Place] = []
    rows = conn.execute(
        "select t.id as turn_id, null as leg_id, t.prompt as text from turns t where t.session_id = ?1"
        " union all select l.turn_id, l.id, l.text from legs l where l.session_id = ?1"
        " order by 1, 2",
        (session_id,),
    )
    for row in rows:
        count = row["text"].casefold().count(wanted)
        found += [Place(row["turn_id"], row["leg_id"], number) for number in range(count)]
        if len(found) >= MOST:
            return found[:MOST]
    return found
