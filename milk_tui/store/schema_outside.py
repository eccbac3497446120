"""What programs outside the screen need: who reads only what is for all, where their facts belong, what they were told.

The reader ``all`` is a client that is none of the two agents. A session with ``outside`` holds what such clients of its
directory stated. A row of ``outside_runtimes`` is one session of a runtime that the program does not drive: ``told``
maps ids of facts to the hashes of the texts that were given, in the state that its hook keeps.
"""

from __future__ import annotations

OUTSIDE = """
alter table sessions add column outside integer not null default 0 check (outside in (0, 1));
create unique index sessions_outside on sessions (directory) where outside = 1;

drop view percepts_visible;
drop view percepts_readable;
drop table readers;
create table readers (
    role text primary key check (role in ('primary', 'escalation', 'all'))
) without rowid;
insert into readers values ('primary'), ('escalation'), ('all');

create view percepts_visible as
    select readers.role as reader, percepts.*
    from percepts join readers on percepts.consumer = 'all' or percepts.consumer = readers.role
    where percepts.status in ('live', 'suspect');
create view percepts_readable as
    select readers.role as reader, percepts.*
    from percepts join readers on percepts.consumer = 'all' or percepts.consumer = readers.role
    where percepts.status in ('live', 'suspect', 'superseded');

create table outside_runtimes (
    client text not null,
    remote_id text not null,
    directory text not null,
    updated_ms integer not null,
    prompts integer not null default 0,
    told text not null default '{}',
    subagents integer not null default 0,
    names_subagents integer not null default 0 check (names_subagents in (0, 1)),
    primary key (client, remote_id)
) without rowid;
create index outside_runtimes_by_age on outside_runtimes (updated_ms);
"""

CUE = """
alter table outside_runtimes add column cue integer not null default 0;
"""
"""Up to which revision of its own memory the agent was told that there is something to read."""
