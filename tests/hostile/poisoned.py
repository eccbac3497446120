"""A database in which every text is hostile, as a program that cleans nothing would have left it.

The texts are written past all doors, so that each place where one comes out has to hold by itself.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING

from milk_tui.core.records import (
    AgentName,
    ContextMode,
    ErrorKind,
    Layer,
    LegError,
    LegStatus,
    PerceptionEntry,
    PerceptScope,
    Producer,
    Receipt,
    Role,
    RouteDecision,
    ScorePart,
    Segment,
    Session,
    ToolStatus,
    Usage,
)
from milk_tui.engine import perception_writing
from milk_tui.store import Store, legs, percepts, receipts, sessions, tool_calls, turns
from milk_tui.store.rows import storable
from tests.data.hostile import short_items
from tests.ui.pictures import made_session

if TYPE_CHECKING:
    from sqlite_utils import Database

PRIMARY = AgentName(role=Role.PRIMARY, name="qwen", model="scripted/fast", nonce="aaaaaa")
ESCALATION = AgentName(role=Role.ESCALATION, name="claude", model="scripted/deep", nonce="bbbbbb")
NOW = made_session.BEGAN_MS

COLUMNS = {
    "agent_sections": ("text",),
    "attachments": ("name", "note", "text"),
    "bricks": ("text", "author"),
    "cycles": ("text",),
    "decision_records": ("name", "title", "body", "problem"),
    "exchanges": ("label", "takeaway"),
    "file_changes": ("path",),
    "grants": ("agent_name", "tool", "title"),
    "helper_runs": ("model", "reason", "profile_id"),
    "legs": ("text", "thinking", "reason", "agent_name", "model", "thread_note"),
    "notes": ("text", "reason", "profile_id"),
    "percept_events": ("note", "actor"),
    "percept_imports": ("file",),
    "perception_conflicts": ("value", "reason", "blocker", "writer"),
    "perception_entries": ("value", "reason", "blocker", "stale", "writer"),
    "percepts": ("content", "agent_name", "subject", "note", "source", "context"),
    "prompt_history": ("text",),
    "segment_texts": ("text",),
    "segments": ("why",),
    "sessions": ("title",),
    "tool_calls": ("name", "arguments", "result", "allowed_by"),
    "turns": ("prompt",),
}
"""Every column that holds what somebody said."""


def make(database: Path, directory: Path) -> Session:
    """Write it; the session of the directory that is used last is the big one."""
    made_session.make(database, directory)
    store = Store.open(database)
    try:
        session = store.write_sync(lambda db: _session(db, str(directory.resolve()), store.owner_id))
        store.write_sync(lambda db: _others(db, session))
        store.write_sync(_poison)
    finally:
        store.close()
    return session


def _session(db: Database, directory: str, owner: str) -> Session:
    now = NOW + 10_000_000
    session = sessions.create(
        db, directory=directory, primary=PRIMARY, escalation=ESCALATION, title="poisoned", now=now
    )
    for number, item in enumerate(short_items()):
        now += 60_000
        role = Role.ESCALATION if number % 7 == 3 else Role.PRIMARY
        agent = ESCALATION if role is Role.ESCALATION else PRIMARY
        turn = turns.add(db, session.id, f"prompt {number}", owner=owner, now=now)
        text = storable(item.text)
        part = ScorePart(text[:200], 1.0, text[:200])
        route = RouteDecision(role=role, rule=text[:40] or "primary", reason=text[:400], parts=(part,))
        turns.start(db, turn.id, route, owner=owner)
        leg = legs.create(
            db,
            turn.id,
            role=role,
            agent_name=agent.name,
            model=agent.model,
            mode=ContextMode.CONTINUATION,
            owner=owner,
            now=now,
            escalated=role is Role.ESCALATION,
            reason="because",
        )
        legs.claim(db, leg.id, now=now)
        call = tool_calls.start(db, leg.id, call_id=f"c{number}", name="tool", arguments="{}", position=number % 9)
        tool_calls.finish(db, call.id, ToolStatus.OK if number % 2 else ToolStatus.FAILED, "result")
        segment = Segment(name="identity", text=f"s{number}", stable=True, included=bool(number % 3), why="why")
        receipts.save(
            db,
            Receipt(
                leg_id=leg.id,
                turn_id=turn.id,
                role=role,
                agent_name=agent.name,
                mode=leg.mode,
                segments=(segment,),
                sent_ms=now,
            ),
        )
        error = LegError(kind=ErrorKind.SERVER, message=text[:300] or "x", hint=text[:200]) if number % 5 == 0 else None
        status = LegStatus.FAILED if error else LegStatus.DONE
        legs.finish(db, leg.id, status, text="text", thinking="thought", usage=Usage(), error=error, now=now + 5)
        turns.finish(db, turn.id, "failed" if error else "done")
        fact = percepts.add(
            db,
            content=f"fact {number}",
            session_id=session.id,
            scope=PerceptScope.GLOBAL if number % 4 == 0 else PerceptScope.SESSION,
            producer=list(Producer)[number % 3],
            pinned=number % 40 == 0,
            now=now,
        ).percept
        if number % 11 == 0:
            db.execute("update percepts set status = 'quarantined', tainted = 1 where id = ?", (fact.id,))
        entry = PerceptionEntry(
            layer=list(Layer)[number % 3],
            key=f"key {number}",
            value="value",
            reason="reason" if number % 3 == 0 else "",
            writer="qwen",
            turn_id=turn.id,
            updated_ms=now,
            proposed=number % 3 == 0 and number % 2 == 0,
        )
        perception_writing.write(db, session.id, [entry], now=now)
    return sessions.get(db.conn, session.id)


def _others(db: Database, session: Session) -> None:
    """Rows of the tables that a conversation alone does not fill."""
    turn = turns.last_id(db.conn, session.id)
    for number, item in enumerate(short_items()):
        text, now = storable(item.text), NOW + number
        rows = {
            "prompt_history": {
                "directory": session.directory, "session_id": session.id, "created_ms": now, "text": text,
            },
            "notes": {
                "session_id": session.id, "status": "pending" if number < 3 else "dropped", "carriers": "[]",
                "created_ms": now, "expires_ms": now + 10**12, "text": text,
                "cites": json.dumps([["fact", text[:40], text[:40]]]),
            },
            "helper_runs": {
                "session_id": session.id, "directory": session.directory, "profile_id": "recall",
                "profile_hash": "x", "runtime": "lexical", "signal": "turn-started", "status": "failed",
                "started_ms": now, "reason": text,
            },
            "attachments": {
                "session_id": session.id, "turn_id": turn, "shown_turn_id": turn, "name": text, "created_ms": now,
                "kind": "file" if number % 2 else "command", "text": text,
            },
            "grants": {
                "agent_name": "qwen", "tool": "run_shell", "arguments": "" if number % 2 else text or "x",
                "pattern": text or "x" if number % 2 else "", "directory": session.directory, "title": text,
                "created_ms": now,
            },
            "file_changes": {
                "session_id": session.id, "path": text, "verb": "edit", "before": item.data, "after": b"x",
                "at_ms": now,
            },
            "exchanges": {
                "agent_name": "qwen", "event_id": f"e{number}", "revision": number + 1, "ts_ms": now,
                "kind": "handback", "session_id": f"s{number}", "label": text, "peers": json.dumps([text[:40]]),
                "takeaway": text,
            },
            "sessions": {
                "id": f"{number:08x}-aaaa-4aaa-8aaa-aaaaaaaaaaaa", "title": text, "created_ms": now,
                "updated_ms": now, "directory": session.directory if number % 2 else f"/{text}",
            },
        }  # fmt: skip
        for table, row in rows.items():
            db.table(table).insert(row)
    for number, (name, model) in enumerate(zip(_texts(), _texts(7), strict=False)):
        if number >= len(short_items()):
            break
        db.table("session_agents").insert(
            {
                "session_id": f"{number:08x}-aaaa-4aaa-8aaa-aaaaaaaaaaaa",
                "role": "primary",
                "name": name,
                "model": model,
                "nonce": f"n{number:05}",
            }
        )
    facts = [row[0] for row in db.execute("select id from percepts").fetchall()]
    for number, fact in enumerate(facts):
        db.table("percept_imports").insert({"percept_id": fact, "at_ms": NOW, "file": f"f{number}", "trusted": 0})


def _texts(start: int = 0) -> Iterator[str]:
    texts = [storable(item.text) for item in short_items()]
    return cycle(texts[start:] + texts[:start])


def _poison(db: Database) -> None:
    db.execute("pragma defer_foreign_keys = on")
    for shift, (table, columns) in enumerate(COLUMNS.items()):
        rowid = "hash" if table == "segment_texts" else "rowid"
        for offset, column in enumerate(columns):
            rows = db.execute(_KEYS.get(table, f"select {rowid} from {table} order by 1")).fetchall()
            texts = _texts((shift * 13 + offset * 29) % 300)
            where = _WHERE.get(table, f"{rowid} = ?")
            pairs = [(text if text.strip() else f"{text}.", key) for (key, *_), text in zip(rows, texts, strict=False)]
            for text, key in pairs:
                db.execute(f"update or ignore {table} set {column} = ? where {where}", (text, key))


_KEYS = {
    "agent_sections": "select agent_name from agent_sections",
    "exchanges": "select event_id from exchanges",
    "percept_imports": "select percept_id from percept_imports",
    "segments": "select distinct leg_id from segments",
}
_WHERE = {
    "agent_sections": "agent_name = ?",
    "exchanges": "event_id = ?",
    "percept_imports": "percept_id = ?",
    "segments": "leg_id = ?",
}
