"""How much each leg was given, beside the leg: so that a list or a chart of thousands reads no text."""

from __future__ import annotations

SIZES = """
alter table legs add column sent_chars integer not null default 0;

update legs set sent_chars = coalesce(
    (
        select sum(length(text)) from segments join segment_texts using (hash)
        where segments.leg_id = legs.id and included
    ),
    0
)
where sent_ms is not null;

create index legs_sent on legs
    (session_id, id, turn_id, role, sent_ms, sent_chars, thread_chars, tools,
     input_tokens, output_tokens, cached_tokens, cache_write_tokens)
    where sent_ms is not null;
"""
