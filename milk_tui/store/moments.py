"""The words of the moment in which a fact is learned: they find it later, beside its own (``recall.md``, "Findings").

Both texts are one line each and bounded: a prompt may be a pasted file, an answer a megabyte.
"""

from __future__ import annotations

import re
import sqlite3

from msgspec import Struct

from milk_tui.core.secret_scan import masked
from milk_tui.core.text import one_line

PROMPT_CHARS = 800
SAID_CHARS = 400
"""Of the answer, around the place where the fact was stated."""
CONTEXT_CHARS = 900
ENOUGH_CONTEXT = 250
"""One turn before is read; another one before it when the first is shorter than this."""

_ANSWER_TAIL = 300
_SENTENCES_BEFORE = 2
_END = re.compile(r"(?<=[.!?。！？])\s+|\n+")


class Moment(Struct, frozen=True):
    source: str = ""
    """The turn's prompt, and what the answer says around the fact; without secrets, since a fact outlives its
    conversation."""
    context: str = ""
    """What was said before that turn, the last words last."""


def of_leg(conn: sqlite3.Connection, turn_id: int, leg_id: int | None, position: int | None) -> Moment:
    """When a fact was stated ``position`` characters into the leg's answer; ``None``: at its end so far."""
    row = conn.execute("select session_id, prompt from turns where id = ?", (turn_id,)).fetchone()
    if row is None:
        return Moment()
    said = ""
    if leg_id is not None:
        found = conn.execute("select text from legs where id = ?", (leg_id,)).fetchone()
        text = found[0] if found else ""
        said = around(text, len(text) if position is None else position)
    source = f"{one_line(row[1], PROMPT_CHARS)} {said}".strip()
    return Moment(masked(source), masked(_before(conn, row[0], turn_id)))


def of_session(conn: sqlite3.Connection, session_id: str) -> Moment:
    """Now, in that session: its newest turn with the end of its answer."""
    row = conn.execute("select max(id) from turns where session_id = ?", (session_id,)).fetchone()
    if row[0] is None:
        return Moment()
    leg = conn.execute("select max(id) from legs where turn_id = ?", (row[0],)).fetchone()
    return of_leg(conn, row[0], leg[0], None)


def around(text: str, position: int) -> str:
    """The sentences of the text around a position: up to two before it and one after, on one line."""
    position = max(0, min(position, len(text)))
    before = [part for part in _END.split(text[max(0, position - SAID_CHARS) : position]) if part.strip()]
    after = [part for part in _END.split(text[position : position + SAID_CHARS]) if part.strip()]
    return one_line(" ".join([*before[-_SENTENCES_BEFORE:], *after[:1]]), SAID_CHARS)


def _before(conn: sqlite3.Connection, session_id: str, turn_id: int) -> str:
    parts: list[str] = []
    rows = conn.execute(
        "select t.prompt, (select substr(l.text, -?) from legs l where l.turn_id = t.id order by l.id desc limit 1)"
        " from turns t where t.session_id = ? and t.id < ? order by t.id desc limit 2",
        (_ANSWER_TAIL, session_id, turn_id),
    )
    for prompt, answer in rows:
        parts = [one_line(prompt, PROMPT_CHARS // 2), one_line(answer or "", _ANSWER_TAIL), *parts]
        if sum(map(len, parts)) >= ENOUGH_CONTEXT:
            break
    return one_line(" ".join(filter(None, parts)), CONTEXT_CHARS)
