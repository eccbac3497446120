"""The private memory of an agent, by its name: exchanges, sections, journal (``semantics.md`` §7).

Every function takes the name of the envelope's own agent and touches no other envelope, but for ``append``, which the
program alone calls and which writes both copies of an event.
"""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

from milk_tui.core import exchanges as rules
from milk_tui.core.exchanges import Exchange, ExchangeKind, Happened, Section
from milk_tui.store import agents
from milk_tui.store.clock import now_ms
from milk_tui.store.rows import encode, known, storable

if TYPE_CHECKING:
    from sqlite_utils import Database


def append(db: Database, event: Happened) -> tuple[str, ...]:
    """Write the event into both envelopes: entry, eviction and ``revision + 1`` in the caller's transaction.

    The names of the agents that got an entry; none when the event was written before.
    """
    return tuple(name for name, entry in rules.copies(event).items() if _add(db, name, entry))


def _add(db: Database, agent_name: str, entry: Exchange) -> bool:
    name = storable(agent_name)
    known = db.execute(
        "insert into exchange_events (agent_name, event_id) values (?, ?) on conflict do nothing",
        (name, entry.event_id),
    )
    if known.rowcount != 1:
        return False
    revision = agents.bump(db, name)
    db.execute(
        "insert into exchanges (agent_name, event_id, revision, ts_ms, kind, session_id, label, peers, takeaway)"
        " values (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            name,
            entry.event_id,
            revision,
            entry.ts_ms,
            entry.kind,
            entry.session_id,
            storable(entry.label),
            encode(entry.peers),
            storable(entry.takeaway),
        ),
    )
    db.execute(
        "delete from exchanges where agent_name = ? and revision <="
        " (select revision from exchanges where agent_name = ? order by revision desc limit 1 offset ?)",
        (name, name, rules.KEPT),
    )
    return True


def entries(conn: sqlite3.Connection, agent_name: str) -> list[Exchange]:
    """The envelope's entries, oldest first."""
    rows = conn.execute(
        "select event_id, ts_ms, kind, session_id, label, peers, takeaway, revision from exchanges"
        " where agent_name = ? order by revision",
        (agent_name,),
    )
    return [
        Exchange(
            **{
                **dict(row),
                "kind": ExchangeKind(row["kind"]),
                "peers": known(row["peers"], tuple[str, ...]) or (),
            }
        )
        for row in rows
    ]


def last_seen(
    conn: sqlite3.Connection, *, session_id: str, agent_name: str, remote_id: str | None = None
) -> int | None:
    """The highest revision that this remote session was given or has read; ``None`` for a new one. ``remote_id`` is
    ``None`` for a stateless agent: the session stands in."""
    row = conn.execute(
        "select last_seen, seen_ms from remote_sessions where agent_name = ? and remote_id = ?",
        (agent_name, session_id if remote_id is None else remote_id),
    ).fetchone()
    return int(row["last_seen"]) if row is not None and row["seen_ms"] is not None else None


def digest(
    conn: sqlite3.Connection,
    *,
    session_id: str,
    agent_name: str,
    remote_id: str | None = None,
    seen: int | None = None,
    max_bytes: int = rules.DIGEST_BYTES,
) -> rules.Digest:
    """What the agent is to be told in that session now. ``seen`` takes the place of the stored mark where the reader
    has read further since."""
    marked = last_seen(conn, session_id=session_id, agent_name=agent_name, remote_id=remote_id)
    if seen is not None:
        marked = max(seen, marked or 0)
    return rules.digest(
        entries(conn, agent_name),
        revision=agents.revision(conn, agent_name),
        session_id=session_id,
        last_seen=marked,
        max_bytes=max_bytes,
    )


def delivered(db: Database, leg_id: int, revision: int) -> None:
    """A running leg was given the envelope up to this revision; its end acknowledges it, if it ends well."""
    db.execute(
        "update legs set revision_at_delivery = max(revision_at_delivery, ?) where id = ? and status = 'running'",
        (revision, leg_id),
    )


def section(conn: sqlite3.Connection, agent_name: str, which: Section) -> str:
    """The text of a section that the agent writes; empty when it never did."""
    row = conn.execute(
        "select text from agent_sections where agent_name = ? and section = ?", (agent_name, which)
    ).fetchone()
    return str(row["text"]) if row else ""


def save_section(db: Database, agent_name: str, which: Section, text: str, *, now: int | None = None) -> None:
    """Replace a section; the envelope's revision counts exchanges and stays. ``ValueError`` for a section that agents
    don't write."""
    if which not in rules.WRITABLE:
        raise ValueError(f"section_is_read_only: {which}")
    db.execute(
        "insert into agent_sections (agent_name, section, updated_ms, text) values (?, ?, ?, ?)"
        " on conflict (agent_name, section) do update set updated_ms = excluded.updated_ms, text = excluded.text",
        (storable(agent_name), which, now_ms() if now is None else now, storable(text)),
    )


def add_cycle(
    db: Database, agent_name: str, *, turn_id: int, session_id: str, text: str, now: int | None = None
) -> bool:
    """One line of the agent's journal; False when the turn has one. The oldest beyond ``CYCLES`` leave."""
    cursor = db.execute(
        "insert into cycles (agent_name, turn_id, session_id, ts_ms, text) values (?, ?, ?, ?, ?)"
        " on conflict do nothing",
        (
            storable(agent_name),
            turn_id,
            session_id,
            now_ms() if now is None else now,
            storable(text[: rules.CYCLE_CHARS]),
        ),
    )
    db.execute(
        "delete from cycles where agent_name = ? and id <="
        " (select id from cycles where agent_name = ? order by id desc limit 1 offset ?)",
        (agent_name, agent_name, rules.CYCLES),
    )
    return cursor.rowcount == 1


def cycles(conn: sqlite3.Connection, agent_name: str) -> list[tuple[int, str]]:
    """When and what, oldest first."""
    rows = conn.execute("select ts_ms, text from cycles where agent_name = ? order by id", (agent_name,))
    return [(row["ts_ms"], row["text"]) for row in rows]
