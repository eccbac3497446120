"""Receipts: what each leg was given, piece by piece. Nonces are masked by the caller before it comes here.

Texts are kept once, by their hash: the stable part of a session's context is the same with every leg.
"""

from __future__ import annotations

import hashlib
import sqlite3
from typing import TYPE_CHECKING

from milk_tui.core.records import ContextMode, Receipt, Role, Segment
from milk_tui.store.rows import storable

if TYPE_CHECKING:
    from sqlite_utils import Database


def save(db: Database, receipt: Receipt) -> None:
    """Store the receipt of a leg; again replaces it."""
    db.execute("delete from segments where leg_id = ?", (receipt.leg_id,))
    db.execute(
        "update legs set sent_ms = ?, sent_chars = ?, thread_messages = ?, thread_chars = ?, thread_note = ?"
        " where id = ?",
        (
            receipt.sent_ms,
            receipt.chars,
            receipt.thread_messages,
            receipt.thread_chars,
            storable(receipt.thread_note),
            receipt.leg_id,
        ),
    )
    for position, segment in enumerate(receipt.segments):
        text = storable(segment.text)
        digest = hashlib.sha256(text.encode()).hexdigest()
        db.execute("insert into segment_texts (hash, text) values (?, ?) on conflict do nothing", (digest, text))
        db.execute(
            "insert into segments (leg_id, position, name, hash, stable, included, why, shrunk_from)"
            " values (?, ?, ?, ?, ?, ?, ?, ?)",
            (
                receipt.leg_id,
                position,
                segment.name,
                digest,
                segment.stable,
                segment.included,
                storable(segment.why),
                segment.shrunk_from,
            ),
        )


def get(conn: sqlite3.Connection, leg_id: int) -> Receipt | None:
    """``None`` for a leg that has none."""
    leg = conn.execute(
        "select id as leg_id, turn_id, role, agent_name, mode, sent_ms,"
        " thread_messages, thread_chars, thread_note"
        " from legs where id = ? and sent_ms is not null",
        (leg_id,),
    ).fetchone()
    if leg is None:
        return None
    rows = conn.execute(
        "select name, text, stable, included, why, shrunk_from from segments join segment_texts using (hash)"
        " where leg_id = ? order by position",
        (leg_id,),
    )
    segments = tuple(
        Segment(**{**dict(row), "stable": bool(row["stable"]), "included": bool(row["included"])}) for row in rows
    )
    return Receipt(**{**dict(leg), "role": Role(leg["role"]), "mode": ContextMode(leg["mode"])}, segments=segments)


def of_session(conn: sqlite3.Connection, session_id: str, *, limit: int = 50) -> list[Receipt]:
    """The newest receipts, newest first."""
    rows = conn.execute(
        "select id from legs where session_id = ? and sent_ms is not null order by id desc limit ?",
        (session_id, limit),
    ).fetchall()
    return [receipt for row in rows if (receipt := get(conn, row["id"])) is not None]
