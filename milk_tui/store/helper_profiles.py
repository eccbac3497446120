"""Versions of helper profiles by content hash, and which was selected when (``semantics.md`` §6)."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

from msgspec import Struct

from milk_tui.store.rows import storable

if TYPE_CHECKING:
    from sqlite_utils import Database

KEPT = 50
"""Selections that are remembered for each profile."""


class Version(Struct, frozen=True, kw_only=True):
    """A stored text of a profile; ``source`` is the file, or ``built in``."""

    hash: str
    profile_id: str
    version: str
    source: str
    added_ms: int
    text: str


class Selection(Struct, frozen=True, kw_only=True):
    at_ms: int
    hash: str
    version: str
    source: str


def known(conn: sqlite3.Connection, content_hash: str) -> Version | None:
    row = conn.execute("select * from helper_profiles where hash = ?", (content_hash,)).fetchone()
    return Version(**dict(row)) if row else None


def add(db: Database, version: Version) -> bool:
    """Store a text; False when it was stored before."""
    cursor = db.execute(
        "insert into helper_profiles (hash, profile_id, version, source, added_ms, text) values (?, ?, ?, ?, ?, ?)"
        " on conflict do nothing",
        (
            version.hash,
            version.profile_id,
            version.version,
            storable(version.source),
            version.added_ms,
            storable(version.text),
        ),
    )
    return cursor.rowcount == 1


def select(db: Database, profile_id: str, content_hash: str, *, now: int) -> None:
    """From now on this version runs. Selections beyond the last ``KEPT`` are forgotten, texts stay."""
    db.execute(
        "insert into helper_selections (profile_id, hash, at_ms) values (?, ?, ?)", (profile_id, content_hash, now)
    )
    db.execute(
        "delete from helper_selections where profile_id = ? and id <="
        " (select id from helper_selections where profile_id = ? order by id desc limit 1 offset ?)",
        (profile_id, profile_id, KEPT),
    )


def selected(conn: sqlite3.Connection, profile_id: str) -> Version | None:
    """The version that runs."""
    row = conn.execute(
        "select p.* from helper_selections s join helper_profiles p using (hash) where s.profile_id = ?"
        " order by s.id desc limit 1",
        (profile_id,),
    ).fetchone()
    return Version(**dict(row)) if row else None


def selections(conn: sqlite3.Connection, profile_id: str) -> list[Selection]:
    """Newest first."""
    rows = conn.execute(
        "select s.at_ms, s.hash, p.version, p.source from helper_selections s join helper_profiles p using (hash)"
        " where s.profile_id = ? order by s.id desc",
        (profile_id,),
    )
    return [Selection(**dict(row)) for row in rows]


def by_prefix(conn: sqlite3.Connection, profile_id: str, prefix: str) -> list[Version]:
    """Stored versions whose hash begins so, or whose version is called so."""
    rows = conn.execute(
        "select * from helper_profiles where profile_id = ? and (substr(hash, 1, length(?)) = ? or version = ?)",
        (profile_id, prefix, prefix, prefix),
    )
    return [Version(**dict(row)) for row in rows]
