"""The tables, as the text that made them.

Each constant belongs to one migration step and never changes once it is released: a file that was made by it
exists somewhere. Values in the CHECK constraints are those of the enumerations in ``core/records.py`` at that
time. Sizes (``_chars``, ``_lines``) stand beside long texts, and the indexes that list a session carry them,
so that a list never reads the texts.
"""

from __future__ import annotations

APPLICATION_ID = 0x4D694C6B
"""In the file's header: this database is ours."""

SESSIONS = """
create table sessions (
    id text primary key,
    directory text not null,
    title text not null default '',
    created_ms integer not null,
    updated_ms integer not null,
    pinned_agent text check (pinned_agent in ('primary', 'escalation')),
    sticky text check (sticky in ('primary', 'escalation')),
    waiting text check (waiting in ('primary', 'escalation')),
    revision integer not null default 0,
    draft text not null default ''
);
create index sessions_by_directory on sessions (directory, updated_ms);

create table agents (
    name text primary key collate nocase,
    revision integer not null default 0
);

create table session_agents (
    session_id text not null references sessions (id) on delete cascade,
    role text not null check (role in ('primary', 'escalation')),
    name text not null collate nocase,
    model text not null,
    nonce text not null,
    primary key (session_id, role),
    unique (session_id, name)
) without rowid;

create table remote_sessions (
    id integer primary key,
    session_id text not null references sessions (id) on delete cascade,
    agent_name text not null collate nocase,
    remote_id text not null,
    started_ms integer not null,
    ended_ms integer,
    last_seen integer not null default 0,
    told text not null default '[]',
    markers text not null default '{}',
    unique (agent_name, remote_id)
);
create index remote_sessions_by_session on remote_sessions (session_id, agent_name);

create table turns (
    id integer primary key autoincrement,
    session_id text not null references sessions (id) on delete cascade,
    created_ms integer not null,
    status text not null
        check (status in ('pending', 'running', 'done', 'failed', 'cancelled', 'interrupted')),
    queued integer not null default 0 check (queued in (0, 1)),
    owner text,
    prompt_chars integer not null,
    prompt_lines integer not null,
    route text,
    prompt text not null
);
create index turns_by_session
    on turns (session_id, id, status, queued, created_ms, prompt_chars, prompt_lines);
create index turns_open on turns (status, owner) where status in ('pending', 'running');

create table legs (
    id integer primary key autoincrement,
    session_id text not null references sessions (id) on delete cascade,
    turn_id integer not null references turns (id) on delete cascade,
    role text not null check (role in ('primary', 'escalation')),
    agent_name text not null,
    model text not null,
    mode text not null check (mode in ('first', 'returning', 'resume', 'continuation')),
    status text not null
        check (status in ('pending', 'running', 'done', 'empty', 'failed', 'cancelled', 'interrupted')),
    started_ms integer not null,
    ended_ms integer,
    reason text not null default '',
    escalated integer not null default 0 check (escalated in (0, 1)),
    remote_session text,
    revision_at_delivery integer not null default 0,
    acked_ms integer,
    owner text,
    tools integer not null default 0,
    text_chars integer not null default 0,
    text_lines integer not null default 0,
    thinking_chars integer not null default 0,
    input_tokens integer,
    output_tokens integer,
    cached_tokens integer,
    cache_write_tokens integer,
    reasoning_tokens integer,
    cost_usd real,
    error text,
    sent_ms integer,
    thread_messages integer not null default 0,
    thread_chars integer not null default 0,
    thread_note text not null default '',
    text text not null default '',
    thinking text not null default ''
);
create index legs_by_session on legs
    (session_id, id, turn_id, role, status, escalated, started_ms, ended_ms,
     text_chars, text_lines, thinking_chars, tools, cost_usd);
create index legs_by_role on legs (session_id, role, id, status);
create index legs_by_turn on legs (turn_id, session_id);
create index legs_open on legs (status, owner) where status in ('pending', 'running');

create table segment_texts (
    hash text primary key,
    text text not null
) without rowid;

create table segments (
    leg_id integer not null references legs (id) on delete cascade,
    position integer not null,
    name text not null,
    hash text not null references segment_texts (hash),
    stable integer not null check (stable in (0, 1)),
    included integer not null check (included in (0, 1)),
    why text not null,
    shrunk_from integer,
    primary key (leg_id, position)
) without rowid;
create index segments_by_text on segments (hash);

create table tool_calls (
    id integer primary key autoincrement,
    leg_id integer not null references legs (id) on delete cascade,
    call_id text not null,
    name text not null,
    status text not null check (status in ('running', 'ok', 'failed', 'denied', 'cancelled')),
    started_ms integer not null default 0,
    ended_ms integer,
    position integer not null default 0,
    arguments text not null,
    result text not null default ''
);
create index tool_calls_by_leg on tool_calls (leg_id, id);

create table prompt_history (
    id integer primary key autoincrement,
    directory text not null,
    session_id text references sessions (id) on delete set null,
    created_ms integer not null,
    text text not null
);
create index prompt_history_by_directory on prompt_history (directory, id);
create index prompt_history_by_session on prompt_history (session_id);
"""

PERCEPTS = """
create table percepts (
    seq integer primary key autoincrement,
    id text not null unique,
    producer text not null check (producer in ('user', 'primary', 'escalation', 'helper', 'system')),
    agent_name text not null default '',
    consumer text not null check (consumer in ('all', 'primary', 'escalation')),
    scope text not null check (scope in ('session', 'global')),
    weight integer not null check (weight between 0 and 1000),
    pinned integer not null default 0 check (pinned in (0, 1)),
    status text not null
        check (status in ('staged', 'live', 'suspect', 'quarantined', 'superseded', 'forgotten')),
    tainted integer not null default 0 check (tainted in (0, 1)),
    created_ms integer not null,
    updated_ms integer not null,
    confirmed_ms integer not null,
    used_ms integer,
    uses integer not null default 0,
    session_id text references sessions (id) on delete set null,
    turn_id integer references turns (id) on delete set null,
    leg_id integer references legs (id) on delete set null,
    valid_from_ms integer,
    valid_to_ms integer,
    superseded_by text,
    hash text not null,
    note text not null default '',
    subject text not null default '',
    content text not null,
    source text not null default '',
    context text not null default '',
    check (scope = 'global' or session_id is not null)
);
create index percepts_by_hash on percepts (hash, status);
create index percepts_by_session on percepts (session_id);
create index percepts_of_session on percepts
    (session_id, pinned, weight desc, confirmed_ms desc, seq desc)
    where scope = 'session' and status in ('staged', 'live', 'suspect');
create index percepts_of_all on percepts (pinned, weight desc, confirmed_ms desc, seq desc)
    where scope = 'global' and status in ('staged', 'live', 'suspect');
create index percepts_by_turn on percepts (turn_id);
create index percepts_by_leg on percepts (leg_id);

create trigger percepts_with_session before delete on sessions begin
    delete from percepts where session_id = old.id and scope = 'session';
end;

create table readers (
    role text primary key check (role in ('primary', 'escalation'))
) without rowid;
insert into readers values ('primary'), ('escalation');

create view percepts_visible as
    select readers.role as reader, percepts.*
    from percepts join readers on percepts.consumer = 'all' or percepts.consumer = readers.role
    where percepts.status in ('live', 'suspect');

create table percept_events (
    id integer primary key autoincrement,
    percept_id text not null references percepts (id) on delete cascade,
    at_ms integer not null,
    kind text not null,
    actor text not null,
    turn_id integer,
    weight_before integer,
    weight_after integer,
    note text not null default '',
    undo text,
    undone integer not null default 0 check (undone in (0, 1))
);
create index percept_events_by_percept on percept_events (percept_id, id);

create table percept_edges (
    id integer primary key,
    source text not null references percepts (id) on delete cascade,
    target text not null references percepts (id) on delete cascade,
    kind text not null check (kind in ('extends', 'updates', 'derives', 'contradicts')),
    created_ms integer not null,
    unique (source, target, kind)
);
create index percept_edges_by_target on percept_edges (target);

create view percepts_indexed as
    select seq, content, subject, source, context from percepts where status <> 'forgotten';

create virtual table percepts_fts using fts5 (
    content, subject, source, context,
    content = 'percepts_indexed', content_rowid = 'seq', tokenize = 'porter unicode61'
);
insert into percepts_fts (percepts_fts, rank) values ('rank', 'bm25(1.0, 0.8, 0.5, 0.25)');

create trigger percepts_fts_insert after insert on percepts when new.status <> 'forgotten' begin
    insert into percepts_fts (rowid, content, subject, source, context)
        values (new.seq, new.content, new.subject, new.source, new.context);
end;
create trigger percepts_fts_delete after delete on percepts when old.status <> 'forgotten' begin
    insert into percepts_fts (percepts_fts, rowid, content, subject, source, context)
        values ('delete', old.seq, old.content, old.subject, old.source, old.context);
end;
create trigger percepts_fts_update after update of status, content, subject, source, context on percepts begin
    insert into percepts_fts (percepts_fts, rowid, content, subject, source, context)
        select 'delete', old.seq, old.content, old.subject, old.source, old.context
        where old.status <> 'forgotten';
    insert into percepts_fts (rowid, content, subject, source, context)
        select new.seq, new.content, new.subject, new.source, new.context
        where new.status <> 'forgotten';
end;
"""

BRICKS = """
create table bricks (
    id integer primary key autoincrement,
    session_id text not null references sessions (id) on delete cascade,
    kind text not null
        check (kind in ('current_need', 'escalation_brief', 'primary_summary', 'escalation_summary')),
    version integer not null,
    turn_id integer not null,
    updated_ms integer not null,
    author text not null,
    status text check (status in ('open', 'fulfilled', 'replaced')),
    collapsed integer not null default 0,
    cut integer not null default 0,
    dropped integer not null default 0,
    delivered_leg integer,
    text text not null,
    unique (session_id, kind, version)
);

create table perception_entries (
    id integer primary key autoincrement,
    directory text not null,
    slice text not null default '',
    session_id text not null references sessions (id) on delete cascade,
    layer text not null check (layer in ('invariant', 'frame', 'working')),
    key text not null,
    value text not null,
    reason text not null default '',
    writer text not null default '',
    turn_id integer,
    updated_ms integer not null,
    proposed integer not null default 0 check (proposed in (0, 1))
);
create index perception_by_directory on perception_entries (directory, layer, slice, key, id);
create index perception_by_session on perception_entries (session_id, layer, key, id);
"""

MESSAGES_FTS = """
create virtual table messages_fts using fts5 (text, content = '', tokenize = 'porter unicode61');

create trigger messages_prompt_insert after insert on turns begin
    insert into messages_fts (rowid, text) values (new.id * 2, new.prompt);
end;
create trigger messages_prompt_delete after delete on turns begin
    insert into messages_fts (messages_fts, rowid, text) values ('delete', old.id * 2, old.prompt);
end;
create trigger messages_prompt_update after update of prompt on turns begin
    insert into messages_fts (messages_fts, rowid, text) values ('delete', old.id * 2, old.prompt);
    insert into messages_fts (rowid, text) values (new.id * 2, new.prompt);
end;

create trigger messages_answer_insert after insert on legs
    when new.status not in ('pending', 'running') begin
    insert into messages_fts (rowid, text) values (new.id * 2 + 1, new.text);
end;
create trigger messages_answer_delete after delete on legs
    when old.status not in ('pending', 'running') begin
    insert into messages_fts (messages_fts, rowid, text) values ('delete', old.id * 2 + 1, old.text);
end;
create trigger messages_answer_update after update of status, text on legs begin
    insert into messages_fts (messages_fts, rowid, text)
        select 'delete', old.id * 2 + 1, old.text where old.status not in ('pending', 'running');
    insert into messages_fts (rowid, text)
        select new.id * 2 + 1, new.text where new.status not in ('pending', 'running');
end;
"""

CAPTURES = """
create table captures (
    id integer primary key autoincrement,
    leg_id integer not null references legs (id) on delete cascade,
    kind text not null check (kind in ('need', 'escalate', 'frame', 'working', 'invariant')),
    body text not null,
    status text not null default 'staged' check (status in ('staged', 'live', 'dropped')),
    created_ms integer not null
);
create index captures_by_leg on captures (leg_id, id);
"""
