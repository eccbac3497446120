"""Sessions of other programs, taken into the database (``foreign.py`` has how they are read).

The same session a second time brings only what was said in it since; one that somebody went on with here is left as it
is. A session is taken whole, in one transaction, or not at all.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from milk_tui.core.errors import MilkError
from milk_tui.core.records import AgentName, PerceptScope, Role
from milk_tui.interop.foreign import ForeignSession, ForeignTurn, Found, Reader, Source
from milk_tui.store import session_imports, sessions
from milk_tui.store.session_imports import PastLeg, PastTool

if TYPE_CHECKING:
    import sqlite3

    from sqlite_utils import Database

    from milk_tui.interop.memory_import import Report


class Plan(Struct, frozen=True, kw_only=True):
    """What an import does, or would do, with one session."""

    session: ForeignSession
    new_turns: int
    """Turns that are not here yet."""
    session_id: str | None = None
    """The session here that they are added to; ``None``: a new one is made."""
    why: str = ""
    """Why nothing is done with it."""


def reader(source: Source) -> Reader:
    """How that program's sessions are read."""
    from milk_tui.interop import foreign_chats, foreign_claude, foreign_milk

    readers: Mapping[Source, Reader] = {
        Source.MILK: foreign_milk.sessions,
        Source.CLAUDE_CODE: foreign_claude.sessions,
        Source.ELIA: foreign_chats.elia,
        Source.OTERM: foreign_chats.oterm,
        Source.CHATGPT: foreign_chats.chatgpt,
    }
    return readers[source]


def place(source: Source, environ: Mapping[str, str] = os.environ) -> Path | None:
    """Where that program keeps its sessions, unless it was told otherwise; ``None`` where only the person can know."""
    home = Path(environ.get("HOME") or Path.home())
    data = Path(environ.get("XDG_DATA_HOME") or home / ".local" / "share")
    mac = home / "Library" / "Application Support"
    match source:
        case Source.MILK:
            return home / ".milk"
        case Source.CLAUDE_CODE:
            return Path(environ.get("CLAUDE_CONFIG_DIR") or home / ".claude")
        case Source.ELIA:
            return data / "elia" / "elia.sqlite"
        case Source.OTERM:
            folder = environ.get("OTERM_DATA_DIR") or ((mac if sys.platform == "darwin" else data) / "oterm")
            return Path(folder) / "store.db"
        case Source.CHATGPT:
            return None


def guess(path: Path) -> Source | None:
    """Whose a file or folder seems to be; ``None`` when it can't be told."""
    if path.is_dir():
        if (path / "sessions" / "index.json").exists() or path.name == ".milk":
            return Source.MILK
        if (path / "conversations.json").exists():
            return Source.CHATGPT
        return Source.CLAUDE_CODE if (path / "projects").is_dir() or any(path.glob("*.jsonl")) else None
    if path.suffix == ".jsonl":
        return Source.CLAUDE_CODE
    if path.name == "conversations.json":
        return Source.CHATGPT
    if path.suffix in (".db", ".sqlite"):
        return Source.OTERM if path.name == "store.db" else Source.ELIA
    return Source.MILK if path.suffix == ".json" and path.parent.name == "sessions" else None


def found(source: Source, path: Path) -> Found:
    """What is there to be read. Raises FileRefusedError when there is nothing at all."""
    return reader(source)(path)


def plan(conn: sqlite3.Connection, session: ForeignSession) -> Plan:
    """What would be done with it now."""
    here = session_imports.find(conn, session.source, session.key)
    if here is None:
        return Plan(session=session, new_turns=len(session.turns))
    if here.deleted:
        return Plan(session=session, new_turns=0, why="you deleted it here")
    more = len(session.turns) - here.turns
    if more <= 0:
        return Plan(session=session, new_turns=0, session_id=here.session_id, why="it is here already")
    if not here.untouched:
        return Plan(session=session, new_turns=0, session_id=here.session_id, why="somebody went on with it here")
    return Plan(session=session, new_turns=more, session_id=here.session_id)


def take(db: Database, planned: Plan, *, directory: str, nonces: Mapping[Role, str], now: int) -> str:
    """Do what was planned, in the caller's transaction; the session's id here.

    ``directory``: where a session belongs that names none; ``nonces``: for the agents of a new one.
    """
    session = planned.session
    session_id = planned.session_id or _made(db, session, directory, nonces)
    turns = session.turns[len(session.turns) - planned.new_turns :]
    for turn in turns:
        _take_turn(db, session_id, turn, session.created_ms)
    if session.need and planned.session_id is None:
        _keep_need(db, session_id, session.need, now)
    session_imports.remember(
        db,
        session.source,
        session.key,
        session_id,
        len(session.turns),
        updated_ms=session.updated_ms or now,
        now=now,
    )
    return session_id


def _made(db: Database, session: ForeignSession, directory: str, nonces: Mapping[Role, str]) -> str:
    """A session with the agents that spoke last in each role."""
    spoke = {answer.role: answer for turn in session.turns for answer in turn.answers}
    agents = {
        role: AgentName(role=role, name=answer.agent, model=answer.model, nonce=nonces[role])
        for role, answer in spoke.items()
    }
    nobody = AgentName(role=Role.PRIMARY, name="primary", model="", nonce=nonces[Role.PRIMARY])
    primary, escalation = agents.get(Role.PRIMARY, nobody), agents.get(Role.ESCALATION)
    if escalation is not None and escalation.name.casefold() == primary.name.casefold():
        escalation = None
    made = sessions.create(
        db,
        directory=session.directory or directory,
        primary=primary,
        escalation=escalation,
        title=session.title,
        now=session.created_ms or None,
    )
    return made.id


def _take_turn(db: Database, session_id: str, turn: ForeignTurn, otherwise_ms: int) -> None:
    turn_id = session_imports.add_turn(db, session_id, turn.prompt, turn.at_ms or otherwise_ms)
    for answer in turn.answers:
        past = PastLeg(
            role=answer.role,
            agent_name=answer.agent,
            model=answer.model,
            at_ms=answer.at_ms or otherwise_ms,
            text=answer.text,
            thinking=answer.thinking,
            tools=tuple(
                PastTool(
                    call_id=tool.call_id,
                    name=tool.name,
                    arguments=tool.arguments,
                    result=tool.result,
                    ok=tool.ok,
                    position=tool.position,
                )
                for tool in answer.tools
            ),
        )
        session_imports.add_leg(db, session_id, turn_id, past)


def _keep_need(db: Database, session_id: str, need: str, now: int) -> None:
    from milk_tui.engine import commit
    from milk_tui.store import turns

    latest = turns.last_id(db.conn, session_id)
    made = commit.need_bricks(db.conn, session_id, need, turn_id=latest, author="user", now=now)
    commit.save(db, session_id, made)


def take_memory(db: Database, file: Path, *, session_id: str | None, now: int) -> Report:
    """The Go program's facts of a session, or of all (``None``), as an import: tainted until they are approved.
    Raises FileRefusedError."""
    from milk_tui.interop import foreign_milk, memory_import

    scope = PerceptScope.GLOBAL if session_id is None else PerceptScope.SESSION
    prepared = memory_import.prepare(foreign_milk.memory(file, scope, now))
    return memory_import.take(db, prepared, session_id=session_id, scope=scope, now=now)


def source_of(path: Path) -> Source:
    """Raises MilkError when it can't be told whose it is."""
    if not path.exists():
        raise MilkError(f"{path}: there is no such file or folder.")
    source = guess(path)
    if source is None:
        known = ", ".join(source.value for source in Source)
        raise MilkError(f"{path}: it can't be told which program it is of.", f"Say it with --from: {known}.")
    return source
