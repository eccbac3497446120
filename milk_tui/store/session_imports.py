"""Sessions that another program kept: where each is from, and how much of it is here already."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

from msgspec import Struct

from milk_tui.core.records import ContextMode, LegStatus, Role, ToolStatus, TurnStatus
from milk_tui.store.clock import now_ms
from milk_tui.store.rows import one, sizes, storable

if TYPE_CHECKING:
    from sqlite_utils import Database


class Imported(Struct, frozen=True, kw_only=True):
    """An import of a session as it was left."""

    session_id: str
    turns: int
    """Turns of the other program's session that are here."""
    untouched: bool
    """False when somebody went on with the session here since."""
    deleted: bool
    """True when the person deleted it here."""


class PastTool(Struct, frozen=True, kw_only=True):
    call_id: str
    name: str
    arguments: str
    result: str
    ok: bool
    position: int


class PastLeg(Struct, frozen=True, kw_only=True):
    """An answer of long ago."""

    role: Role
    agent_name: str
    model: str
    at_ms: int
    text: str
    thinking: str
    tools: tuple[PastTool, ...] = ()


def find(conn: sqlite3.Connection, source: str, key: str) -> Imported | None:
    """What became of that session of that program; ``None`` when it is not here."""
    row = conn.execute(
        "select i.session_id, i.turns, i.revision = s.revision as untouched, s.deleted_ms is not null as deleted"
        " from session_imports i join sessions s on s.id = i.session_id where i.source = ? and i.key = ?",
        (source, storable(key)),
    ).fetchone()
    if row is None:
        return None
    return Imported(
        session_id=row["session_id"],
        turns=row["turns"],
        untouched=bool(row["untouched"]),
        deleted=bool(row["deleted"]),
    )


def remember(
    db: Database, source: str, key: str, session_id: str, turns: int, *, updated_ms: int, now: int | None = None
) -> None:
    """The first ``turns`` turns of it are here; the session was last used at ``updated_ms``."""
    db.execute("update sessions set updated_ms = ? where id = ?", (updated_ms, session_id))
    row = db.conn.execute("select revision from sessions where id = ?", (session_id,)).fetchone()
    db.execute(
        "insert into session_imports (source, key, session_id, turns, revision, imported_ms) values (?, ?, ?, ?, ?, ?)"
        " on conflict (source, key) do update set session_id = excluded.session_id, turns = excluded.turns,"
        " revision = excluded.revision, imported_ms = excluded.imported_ms",
        (
            source,
            storable(key),
            session_id,
            turns,
            one(row, f"session {session_id}")["revision"],
            now_ms() if now is None else now,
        ),
    )


def add_turn(db: Database, session_id: str, prompt: str, at_ms: int) -> int:
    """A prompt of long ago, done with; its id."""
    prompt = storable(prompt)
    chars, lines = sizes(prompt)
    cursor = db.execute(
        "insert into turns (session_id, created_ms, status, queued, prompt_chars, prompt_lines, prompt)"
        " values (?, ?, ?, 0, ?, ?, ?)",
        (session_id, at_ms, TurnStatus.DONE, chars, lines, prompt),
    )
    db.execute("update sessions set revision = revision + 1 where id = ?", (session_id,))
    return cursor.lastrowid or 0


def add_leg(db: Database, session_id: str, turn_id: int, past: PastLeg) -> int:
    """An answer of long ago; its id. It acknowledges nothing: the agent of now was given none of it."""
    text, thinking = storable(past.text), storable(past.thinking)
    chars, lines = sizes(text)
    said = bool(text.strip() or past.tools)
    cursor = db.execute(
        "insert into legs (session_id, turn_id, role, agent_name, model, mode, status, started_ms, ended_ms,"
        " text, text_chars, text_lines, thinking, thinking_chars, tools) values"
        " (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            session_id,
            turn_id,
            past.role,
            storable(past.agent_name),
            storable(past.model),
            ContextMode.CONTINUATION,
            LegStatus.DONE if said else LegStatus.EMPTY,
            past.at_ms,
            past.at_ms,
            text,
            chars,
            lines,
            thinking,
            len(thinking),
            len(past.tools),
        ),
    )
    leg_id = cursor.lastrowid or 0
    for tool in past.tools:
        status = ToolStatus.OK if tool.ok else ToolStatus.FAILED
        db.execute(
            "insert into tool_calls (leg_id, call_id, name, status, started_ms, ended_ms, position, arguments, result)"
            " values (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                leg_id,
                storable(tool.call_id),
                storable(tool.name),
                status,
                past.at_ms,
                past.at_ms,
                tool.position,
                storable(tool.arguments),
                storable(tool.result),
            ),
        )
    return leg_id
