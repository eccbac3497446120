"""What recall needs beside the facts themselves: pieces of words, vectors, and the facts that were replaced.

``percepts_readable`` is ``percepts_visible`` with the superseded ones, which are looked for and never given as such.
``percepts_trigram`` is the second chance of the text index: identifiers, scripts without spaces. Its texts end in two
spaces, so that every two letters begin a piece of three. ``percept_vectors`` holds 16-bit floats.
"""

from __future__ import annotations

RECALL = """
alter table percepts add column position integer;

create view percepts_readable as
    select readers.role as reader, percepts.*
    from percepts join readers on percepts.consumer = 'all' or percepts.consumer = readers.role
    where percepts.status in ('live', 'suspect', 'superseded');

insert into percepts_fts (percepts_fts, rank) values ('rank', 'bm25(1.0, 0.8, 0.6, 0.35)');

create view percepts_pieces as
    select seq, content || '  ' || subject || '  ' as text from percepts where status <> 'forgotten';

create virtual table percepts_trigram using fts5 (
    text, content = 'percepts_pieces', content_rowid = 'seq', tokenize = 'trigram', detail = 'none', columnsize = 0
);
create virtual table percepts_trigram_terms using fts5vocab (percepts_trigram, 'row');
insert into percepts_trigram (percepts_trigram) values ('rebuild');

create trigger percepts_trigram_insert after insert on percepts when new.status <> 'forgotten' begin
    insert into percepts_trigram (rowid, text)
        values (new.seq, new.content || '  ' || new.subject || '  ');
end;
create trigger percepts_trigram_delete after delete on percepts when old.status <> 'forgotten' begin
    insert into percepts_trigram (percepts_trigram, rowid, text)
        values ('delete', old.seq, old.content || '  ' || old.subject || '  ');
end;
create trigger percepts_trigram_update after update of status, content, subject on percepts
    when old.content <> new.content or old.subject <> new.subject
        or (old.status = 'forgotten') <> (new.status = 'forgotten') begin
    insert into percepts_trigram (percepts_trigram, rowid, text)
        select 'delete', old.seq, old.content || '  ' || old.subject || '  '
        where old.status <> 'forgotten';
    insert into percepts_trigram (rowid, text)
        select new.seq, new.content || '  ' || new.subject || '  '
        where new.status <> 'forgotten';
end;

drop trigger percepts_fts_update;
create trigger percepts_fts_update after update of status, content, subject, source, context on percepts
    when old.content <> new.content or old.subject <> new.subject
        or old.source <> new.source or old.context <> new.context
        or (old.status = 'forgotten') <> (new.status = 'forgotten') begin
    insert into percepts_fts (percepts_fts, rowid, content, subject, source, context)
        select 'delete', old.seq, old.content, old.subject, old.source, old.context
        where old.status <> 'forgotten';
    insert into percepts_fts (rowid, content, subject, source, context)
        select new.seq, new.content, new.subject, new.source, new.context
        where new.status <> 'forgotten';
end;

create table percept_vectors (
    id integer primary key autoincrement,
    seq integer not null unique references percepts (seq) on delete cascade,
    model text not null,
    vector blob not null
);
create trigger percept_vectors_forgotten after update of status on percepts when new.status = 'forgotten' begin
    delete from percept_vectors where seq = new.seq;
end;
create trigger percept_vectors_edited after update of content, source on percepts
    when old.content <> new.content or old.source <> new.source begin
    delete from percept_vectors where seq = new.seq;
end;
"""
