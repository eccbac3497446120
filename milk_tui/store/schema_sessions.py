"""The tables around sessions, as the text that made them (see ``schema.py``)."""

from __future__ import annotations

IMPORTS = """
create table session_imports (
    source text not null,
    key text not null,
    session_id text not null references sessions (id) on delete cascade,
    turns integer not null,
    revision integer not null,
    imported_ms integer not null,
    primary key (source, key)
) without rowid;
create index session_imports_by_session on session_imports (session_id);

alter table sessions add column deleted_ms integer;
create index sessions_deleted on sessions (deleted_ms) where deleted_ms is not null;
"""
