"""What was mended by itself: kept so that the doctor can say it later."""

from __future__ import annotations

REPAIRS = """
create table repairs (
    id integer primary key,
    at_ms integer not null,
    what text not null
);
"""
