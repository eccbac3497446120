"""What perception needs beside its entries: which slice is open, the file beside the code, and what was in dispute.

Invariants and frames belong to the directory, so they outlive the session that wrote them (``semantics.md`` §5).
``as_of_turn`` is the last turn of the session when a version was made; ``turn_id`` the one in which its words were
written, which a mark on an entry does not change.
"""

from __future__ import annotations

PERCEPTION = """
create table perception_kept (
    id integer primary key autoincrement,
    directory text not null,
    slice text not null default '',
    session_id text references sessions (id) on delete set null,
    layer text not null check (layer in ('invariant', 'frame', 'working')),
    key text not null,
    value text not null,
    reason text not null default '',
    blocker text not null default '',
    stale text not null default '',
    writer text not null default '',
    turn_id integer,
    as_of_turn integer not null default 0,
    updated_ms integer not null,
    proposed integer not null default 0 check (proposed in (0, 1))
);
insert into perception_kept (id, directory, slice, session_id, layer, key, value, reason, writer, turn_id, as_of_turn,
        updated_ms, proposed)
    select id, directory, slice, session_id, layer, key, value, reason, writer, turn_id, coalesce(turn_id, 0),
        updated_ms, proposed from perception_entries;
drop table perception_entries;
alter table perception_kept rename to perception_entries;
create index perception_by_directory on perception_entries (directory, layer, slice, key, id);
create index perception_by_session on perception_entries (session_id, layer, key, id);
create trigger perception_with_session before delete on sessions begin
    delete from perception_entries where session_id = old.id and layer = 'working';
end;

create table perception_slices (
    id integer primary key autoincrement,
    directory text not null,
    session_id text references sessions (id) on delete set null,
    slice text not null,
    as_of_turn integer not null default 0,
    opened_ms integer not null
);
create index perception_slices_by_directory on perception_slices (directory, id);
create index perception_slices_by_session on perception_slices (session_id, id);

create table perception_files (
    directory text primary key,
    text text not null,
    updated_ms integer not null
) without rowid;

create table perception_conflicts (
    id integer primary key autoincrement,
    directory text not null,
    session_id text references sessions (id) on delete cascade,
    layer text not null check (layer in ('invariant', 'frame', 'working')),
    slice text not null default '',
    key text not null,
    value text not null,
    reason text not null default '',
    blocker text not null default '',
    writer text not null default '',
    turn_id integer,
    updated_ms integer not null,
    at_ms integer not null,
    settled integer not null default 0 check (settled in (0, 1))
);
create index perception_conflicts_by_directory on perception_conflicts (directory, settled, id);
"""
