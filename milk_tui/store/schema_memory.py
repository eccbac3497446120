"""What the life of facts needs beside the facts themselves: the periods that were counted, and where imports are from.

A row of ``consolidations`` is one period (``core/lifecycle.py``): it stays when its session is deleted, because the day
on which global facts lost weight belongs to all sessions. ``percept_imports.original`` is what a file said of a fact
that its row does not hold, as JSON.
"""

from __future__ import annotations

CONSOLIDATIONS = """
create table consolidations (
    session_id text not null,
    last_turn_id integer not null,
    at_ms integer not null,
    global_day text,
    forgotten integer not null default 0,
    promoted integer not null default 0,
    told integer not null default 0 check (told in (0, 1)),
    primary key (session_id, last_turn_id)
) without rowid;
create index consolidations_untold on consolidations (at_ms) where told = 0;
create index consolidations_by_day on consolidations (global_day) where global_day is not null;
"""

IMPORTS = """
create table percept_imports (
    percept_id text primary key references percepts (id) on delete cascade,
    at_ms integer not null,
    file text not null,
    trusted integer not null default 0 check (trusted in (0, 1)),
    original text not null default '{}'
) without rowid;
"""
