"""Which agents a session was given by the person, beside those that the config names."""

from __future__ import annotations

CHOICES = """
create table session_choices (
    session_id text not null references sessions (id) on delete cascade,
    role text not null check (role in ('primary', 'escalation')),
    spec text not null,
    primary key (session_id, role)
) without rowid;
"""
