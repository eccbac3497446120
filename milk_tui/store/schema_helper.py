"""What the recall helper keeps (``semantics.md`` §6): profiles, runs, notes, and the decision records that it searches.

A note or run belongs to a conversation: ``session_id`` is milk's own session, or whatever a hook names a session
outside of the screen by; hence no foreign key. ``helper_leases`` is who works for a conversation and until when;
``helper_pending`` the one signal that waits behind it; ``helper_seen`` how far a profile has read.
"""

from __future__ import annotations

HELPER = """
create table helper_profiles (
    hash text primary key,
    profile_id text not null,
    version text not null,
    source text not null,
    added_ms integer not null,
    text text not null
) without rowid;

create table helper_selections (
    id integer primary key autoincrement,
    profile_id text not null,
    hash text not null references helper_profiles (hash),
    at_ms integer not null
);
create index helper_selections_by_profile on helper_selections (profile_id, id);

create table helper_runs (
    id integer primary key autoincrement,
    session_id text not null,
    directory text not null,
    profile_id text not null,
    profile_hash text not null,
    runtime text not null,
    model text not null default '',
    signal text not null,
    turn_id integer,
    status text not null
        check (status in ('running', 'note', 'quiet', 'failed', 'refused', 'cancelled', 'interrupted')),
    started_ms integer not null,
    ended_ms integer,
    input_bytes integer not null default 0,
    output_bytes integer not null default 0,
    input_tokens integer,
    output_tokens integer,
    reason text not null default ''
);
create index helper_runs_by_session on helper_runs (session_id, id);
create index helper_runs_running on helper_runs (status) where status = 'running';

create table helper_leases (
    session_id text primary key,
    holder text not null,
    run_id integer not null,
    expires_ms integer not null
) without rowid;

create table helper_pending (
    session_id text primary key,
    signal text not null,
    turn_id integer,
    at_ms integer not null,
    payload text not null default '{}'
) without rowid;

create table helper_seen (
    session_id text not null,
    profile_id text not null,
    leg_id integer not null,
    primary key (session_id, profile_id)
) without rowid;

create table notes (
    id integer primary key autoincrement,
    session_id text not null,
    run_id integer references helper_runs (id) on delete set null,
    profile_id text not null default '',
    status text not null check (status in ('pending', 'claimed', 'delivered', 'expired', 'dropped')),
    carriers text not null,
    created_ms integer not null,
    expires_ms integer not null,
    claimed_ms integer,
    claimed_by text not null default '',
    ended_ms integer,
    receiver text not null default '',
    carrier text not null default '',
    reason text not null default '',
    cites text not null,
    text text not null
);
create index notes_by_session on notes (session_id, status, id);
create index notes_open on notes (status, expires_ms) where status in ('pending', 'claimed');

create table decision_records (
    id integer primary key autoincrement,
    directory text not null,
    name text not null,
    stamp text not null,
    hash text not null,
    date text not null default '',
    status text not null check (status in ('live', 'superseded', 'broken')),
    superseded_by text not null default '',
    replaces text not null default '[]',
    percept_id text not null default '',
    problem text not null default '',
    indexed_ms integer not null,
    title text not null,
    body text not null,
    unique (directory, name)
);

create virtual table decision_records_fts using fts5 (
    title, body, content = 'decision_records', content_rowid = 'id', tokenize = 'porter unicode61'
);
create virtual table decision_records_terms using fts5vocab (decision_records_fts, 'row');
create trigger decision_records_insert after insert on decision_records begin
    insert into decision_records_fts (rowid, title, body) values (new.id, new.title, new.body);
end;
create trigger decision_records_delete after delete on decision_records begin
    insert into decision_records_fts (decision_records_fts, rowid, title, body)
        values ('delete', old.id, old.title, old.body);
end;
create trigger decision_records_update after update of title, body on decision_records begin
    insert into decision_records_fts (decision_records_fts, rowid, title, body)
        values ('delete', old.id, old.title, old.body);
    insert into decision_records_fts (rowid, title, body) values (new.id, new.title, new.body);
end;
"""
