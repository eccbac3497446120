"""The table of what came with a prompt, as the text that made it; see ``schema.py`` for the rules."""

from __future__ import annotations

ATTACHMENTS = """
create table attachments (
    id integer primary key autoincrement,
    session_id text not null references sessions (id) on delete cascade,
    turn_id integer references turns (id) on delete cascade,
    shown_turn_id integer references turns (id) on delete cascade,
    kind text not null check (kind in ('file', 'folder', 'image', 'command')),
    name text not null,
    mime text not null default '',
    note text not null default '',
    created_ms integer not null,
    chars integer not null default 0,
    ok integer not null default 1 check (ok in (0, 1)),
    text text not null default '',
    data blob
);
create index attachments_by_turn on attachments (turn_id, id);
create index attachments_shown on attachments (shown_turn_id, id);
create index attachments_waiting on attachments (session_id, id) where turn_id is null;
"""
