"""The private memory of each agent, by name, across sessions and directories (``semantics.md`` §7).

``exchanges.revision`` is the revision of the envelope (``agents.revision``) that the entry made. ``exchange_events``
outlives the entries, so that an event is told once. ``private_calls`` holds what only the calling agent's own thread
may show of a call: the row in ``tool_calls``, which summaries, exports and the screen read, has a placeholder.
``remote_sessions.seen_ms`` is null until something was acknowledged there.
"""

from __future__ import annotations

EXCHANGES = """
create table exchanges (
    agent_name text not null collate nocase,
    event_id text not null,
    revision integer not null,
    ts_ms integer not null,
    kind text not null
        check (kind in ('escalation-concluded', 'handback', 'loop-trip', 'task-completed')),
    session_id text not null,
    label text not null,
    peers text not null,
    takeaway text not null,
    primary key (agent_name, event_id)
) without rowid;
create unique index exchanges_by_revision on exchanges (agent_name, revision);

create table exchange_events (
    agent_name text not null collate nocase,
    event_id text not null,
    primary key (agent_name, event_id)
) without rowid;

create table agent_sections (
    agent_name text not null collate nocase,
    section text not null check (section in ('long_term', 'shared', 'daily', 'relationships', 'dedup_state')),
    updated_ms integer not null,
    text text not null,
    primary key (agent_name, section)
) without rowid;

create table cycles (
    id integer primary key autoincrement,
    agent_name text not null collate nocase,
    turn_id integer not null,
    session_id text not null,
    ts_ms integer not null,
    text text not null,
    unique (agent_name, turn_id)
);

create table private_calls (
    tool_id integer primary key references tool_calls (id) on delete cascade,
    arguments text not null,
    result text not null default ''
);

alter table remote_sessions add column seen_ms integer;
"""
