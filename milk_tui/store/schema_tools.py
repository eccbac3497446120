"""What the person allowed, who allowed each tool call, and what the tools changed in files.

A row of ``grants`` holds for one agent and one tool in one directory: for these exact ``arguments``, or, when that is
empty, for every request that names the same ``pattern``. ``session_id`` is null when it holds always. A row of
``file_changes`` keeps a file as it was before and after one call, so that the session can show and undo it; null
content means that there was no file.
"""

from __future__ import annotations

GRANTS = """
create table grants (
    id integer primary key autoincrement,
    agent_name text not null,
    tool text not null,
    arguments text not null,
    pattern text not null,
    directory text not null,
    session_id text references sessions (id) on delete cascade,
    title text not null,
    created_ms integer not null,
    used_ms integer,
    uses integer not null default 0,
    check ((arguments = '') <> (pattern = ''))
);
create index grants_by_tool on grants (agent_name, tool, directory);
create index grants_by_session on grants (session_id);
alter table tool_calls add column allowed_by text not null default '';
"""

FILE_CHANGES = """
create table file_changes (
    id integer primary key autoincrement,
    session_id text not null references sessions (id) on delete cascade,
    leg_id integer references legs (id) on delete set null,
    path text not null,
    verb text not null check (verb in ('write', 'edit', 'move', 'delete', 'revert')),
    before blob,
    after blob,
    mode integer,
    at_ms integer not null
);
create index file_changes_by_session on file_changes (session_id, id);
"""
