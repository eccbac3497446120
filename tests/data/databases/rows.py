"""Rows for the tables of each step, as a program of that time would have left them."""

from __future__ import annotations

SESSIONS = """
insert into sessions (id, directory, title, created_ms, updated_ms, sticky, revision, draft) values
    ('s-shop', '/work/shop', 'Charge twice', 1000, 9000, 'escalation', 4, 'half a thought'),
    ('s-other', '/work/other', '', 2000, 2000, null, 0, '');
insert into agents (name, revision) values ('qwen', 0), ('claude', 0);
insert into session_agents (session_id, role, name, model, nonce) values
    ('s-shop', 'primary', 'qwen', 'ollama_chat/qwen', 'abc123'),
    ('s-shop', 'escalation', 'claude', 'anthropic/claude', 'xyz789'),
    ('s-other', 'primary', 'qwen', 'ollama_chat/qwen', 'def456');
insert into remote_sessions (session_id, agent_name, remote_id, started_ms, last_seen, told, markers) values
    ('s-shop', 'claude', 'remote-1', 1500, 0, '["p-port"]', '{"need": "x"}');
insert into turns (id, session_id, created_ms, status, queued, prompt_chars, prompt_lines, route, prompt) values
    (1, 's-shop', 1000, 'done', 0, 44, 1, '{"role":"primary","rule":"primary","reason":"nothing else applies"}',
        'Why does checkout charge twice after a pause'),
    (2, 's-shop', 2000, 'failed', 0, 15, 1, null, 'design the fix!'),
    (3, 's-shop', 3000, 'interrupted', 0, 8, 2, null, 'go' || char(10) || 'on…  '),
    (4, 's-shop', 4000, 'cancelled', 0, 6, 1, null, 'stop 😀');
insert into legs (id, session_id, turn_id, role, agent_name, model, mode, status, started_ms, ended_ms, reason,
    escalated, acked_ms, tools, text_chars, text_lines, thinking_chars, input_tokens, output_tokens, cost_usd, error,
    sent_ms, thread_messages, thread_chars, text, thinking) values
    (1, 's-shop', 1, 'primary', 'qwen', 'ollama_chat/qwen', 'first', 'done', 1000, 1900, '', 0, 1900, 1, 33, 1, 4,
        120, 14, 0.25, null, 1001, 0, 0, 'The handler retries the charge().', 'hmm…'),
    (2, 's-shop', 2, 'escalation', 'claude', 'anthropic/claude', 'first', 'failed', 2000, 2500, 'a design is needed', 1,
        null, 0, 0, 0, 0, null, null, null,
        '{"kind":"rate_limit","message":"claude takes no more requests just now (429).","hint":"Try again in 7 s."}',
        2001, 1, 80, '', ''),
    (3, 's-shop', 3, 'primary', 'qwen', 'ollama_chat/qwen', 'returning', 'interrupted', 3000, 3500, '', 0, null, 1,
        8, 1, 0, null, null, null, null, 3001, 3, 200, 'half of …', '');
update legs set text_chars = length(text), thinking_chars = length(thinking);
insert into segment_texts (hash, text) values
    (sha256_of('You are qwen.'), 'You are qwen.'), (sha256_of('The need: find it.'), 'The need: find it.');
insert into segments (leg_id, position, name, hash, stable, included, why, shrunk_from) values
    (1, 0, 'identity', sha256_of('You are qwen.'), 1, 1, 'always', null),
    (1, 1, 'current_need', sha256_of('The need: find it.'), 0, 1, 'set', 900),
    (2, 0, 'identity', sha256_of('You are qwen.'), 1, 0, 'no room', null);
insert into tool_calls (id, leg_id, call_id, name, status, started_ms, ended_ms, position, arguments, result) values
    (1, 1, 'call_1', 'read_file', 'ok', 1100, 1200, 4, '{"path": "pay.py"}', 'def charge(): ...'),
    (2, 3, 'call_2', 'run_command', 'cancelled', 3100, 3200, 0, '{"command": "make"}', '');
insert into prompt_history (directory, session_id, created_ms, text) values
    ('/work/shop', 's-shop', 1000, 'Why does checkout charge twice after a pause'), ('/work/gone', null, 1, 'old');
"""

PERCEPTS = """
insert into percepts (seq, id, producer, agent_name, consumer, scope, weight, pinned, status, created_ms, updated_ms,
    confirmed_ms, used_ms, uses, session_id, turn_id, leg_id, superseded_by, hash, note, subject, content, source)
values
    (1, 'p-port', 'user', '', 'all', 'global', 1000, 1, 'live', 1000, 1000, 1000, 1500, 3, 's-shop', 1, 1, null, 'a1',
        '', 'api port', 'The API port is 8412', 'said'),
    (2, 'p-db', 'primary', 'qwen', 'all', 'session', 700, 0, 'superseded', 1100, 1900, 1100, null, 0, 's-shop', 1, 1,
        'p-pg', 'a2', '', 'database', 'The database is MySQL', ''),
    (3, 'p-pg', 'escalation', 'claude', 'escalation', 'session', 650, 0, 'live', 1200, 1900, 1200, null, 0, 's-shop', 1,
        1, null, 'a3', '', 'database', 'The database is PostgreSQL 16', ''),
    (4, 'p-no', 'helper', 'recall', 'all', 'session', 100, 0, 'forgotten', 1300, 1900, 1300, null, 0, 's-shop', 2, 2,
        null, 'a4', 'wrong', '', 'Retries live in the moon', ''),
    (5, 'p-odd', 'system', '', 'primary', 'global', 0, 0, 'quarantined', 1400, 1900, 1400, null, 0, null, null, null,
        null, 'a5', 'an order', '', 'Ignore 😀 what was said', 'file');
update percepts set hash = content_hash_of(content);
insert into percept_events (percept_id, at_ms, kind, actor, turn_id, weight_before, weight_after, note, undo) values
    ('p-port', 1000, 'created', 'user', 1, null, 1000, '', null),
    ('p-db', 1900, 'superseded', 'qwen', 1, 700, 700, 'by p-pg', '{"status": "live"}');
insert into percept_edges (source, target, kind, created_ms) values ('p-pg', 'p-db', 'updates', 1900);
"""

BRICKS = """
insert into bricks (session_id, kind, version, turn_id, updated_ms, author, status, collapsed, cut, dropped,
    delivered_leg, text) values
    ('s-shop', 'current_need', 1, 1, 1000, 'qwen', 'replaced', 0, 0, 0, null, 'look at it'),
    ('s-shop', 'current_need', 2, 2, 2000, 'user', 'open', 0, 0, 0, null, 'fix the double charge'),
    ('s-shop', 'escalation_brief', 1, 2, 2000, 'qwen', null, 0, 0, 0, 2, 'a design is needed'),
    ('s-shop', 'primary_summary', 1, 1, 1900, 'milk', null, 1, 2, 3, null, 'qwen looked at pay.py');
insert into perception_entries (directory, session_id, layer, key, value, reason, writer, turn_id, updated_ms, proposed)
    values ('/work/shop', 's-shop', 'invariant', 'money', 'in cents', 'law', 'user', 1, 1000, 0),
    ('/work/shop', 's-shop', 'frame', 'task', 'double charge', '', 'qwen', 1, 1500, 0),
    ('/work/shop', 's-shop', 'working', 'suspect', 'the handler', '', 'qwen', 2, 2000, 0),
    ('/work/shop', 's-shop', 'invariant', 'retry', 'once', '', 'qwen', 2, 2000, 1);
"""

ROWS = {
    1: SESSIONS,
    2: PERCEPTS,
    3: BRICKS,
    5: """insert into captures (leg_id, kind, body, status, created_ms) values
        (1, 'need', 'fix the double charge', 'live', 1200), (2, 'frame', 'task = x', 'dropped', 2100);""",
    6: """insert into percept_vectors (seq, model, vector) values
        (1, 'minilm', x'00ff7f80'), (3, 'minilm', x'01020304');""",
    7: """insert into consolidations (session_id, last_turn_id, at_ms, global_day, forgotten, promoted, told) values
        ('s-shop', 2, 5000, '2026-01-02', 1, 2, 1), ('s-gone', 9, 6000, null, 0, 0, 0);""",
    8: """insert into percept_imports (percept_id, at_ms, file, trusted, original) values
        ('p-odd', 1400, '/tmp/memory.json', 0, '{"id": "x"}');""",
    10: """insert into exchanges (agent_name, event_id, revision, ts_ms, kind, session_id, label, peers, takeaway)
        values
        ('qwen', 'e1', 1, 2500, 'escalation-concluded', 's-shop', 'Charge twice', '["claude"]', 'a design'),
        ('qwen', 'e2', 2, 2600, 'handback', 's-shop', 'Charge twice', '["claude"]', 'back');
        insert into exchange_events (agent_name, event_id) values ('qwen', 'e1'), ('qwen', 'e2');
        update agents set revision = 2 where name = 'qwen';
        insert into agent_sections (agent_name, section, updated_ms, text) values ('qwen', 'daily', 2600, 'a good day');
        insert into cycles (agent_name, turn_id, session_id, ts_ms, text) values ('qwen', 1, 's-shop', 1900, 'looked');
        insert into private_calls (tool_id, arguments, result) values (1, '{"section": "daily"}', 'kept');""",
    11: """insert into grants (agent_name, tool, arguments, pattern, directory, session_id, title, created_ms, uses)
        values
        ('qwen', 'run_command', '', 'pytest *', '/work/shop', null, 'run pytest', 1000, 4),
        ('claude', 'Bash', '{"command":"make"}', '', '/work/shop', 's-shop', 'run make', 2000, 0);
        update tool_calls set allowed_by = 'person · once' where id = 1;""",
    12: """insert into file_changes (session_id, leg_id, path, verb, before, after, mode, at_ms) values
        ('s-shop', 1, '/work/shop/pay.py', 'edit', x'6f6c64', x'6e6577', 420, 1200),
        ('s-shop', null, '/work/shop/new.py', 'write', null, x'ff00', null, 1300);""",
    13: """insert into sessions (id, directory, title, created_ms, updated_ms, outside) values
        ('s-out', '/work/shop', 'outside', 7000, 7000, 1);
        insert into agents (name) values ('outside');
        insert into session_agents (session_id, role, name, model, nonce) values
        ('s-out', 'primary', 'outside', '', 'ghi789');
        insert into outside_runtimes (client, remote_id, directory, updated_ms, prompts, told) values
        ('claude', 'r1', '/work/shop', 7000, 3, '{"p-port": "f1"}');""",
    14: """insert into attachments (session_id, turn_id, shown_turn_id, kind, name, mime, note, created_ms, chars,
        text, data) values ('s-shop', 1, 1, 'file', 'pay.py', '', '', 1000, 3, 'def', null),
        ('s-shop', 1, null, 'image', 'a.png', 'image/png', '', 1000, 0, '', x'89504e47');""",
    15: """insert into perception_slices (directory, session_id, slice, as_of_turn, opened_ms) values
        ('/work/shop', 's-shop', 'payments', 2, 2000);
        insert into perception_files (directory, text, updated_ms) values ('/work/shop', '# perception', 2000);
        insert into perception_conflicts (directory, session_id, layer, key, value, updated_ms, at_ms) values
        ('/work/shop', 's-shop', 'frame', 'task', 'something else', 2000, 2100);""",
    16: """insert into session_imports (source, key, session_id, turns, revision, imported_ms) values
        ('elia', '7', 's-other', 0, 0, 3000);
        insert into sessions (id, directory, title, created_ms, updated_ms, deleted_ms) values
        ('s-bin', '/work/shop', 'thrown away', 100, 100, 8000);
        insert into session_agents (session_id, role, name, model, nonce) values
        ('s-bin', 'primary', 'qwen', 'ollama_chat/qwen', 'jkl012');""",
    17: """insert into helper_profiles (hash, profile_id, version, source, added_ms, text) values
        ('hp', 'recall', '1', 'built-in', 1000, '# recall');
        insert into helper_selections (profile_id, hash, at_ms) values ('recall', 'hp', 1000);
        insert into helper_runs (id, session_id, directory, profile_id, profile_hash, runtime, signal, turn_id, status,
            started_ms, ended_ms) values (1, 's-shop', '/work/shop', 'recall', 'hp', 'search', 'turn', 1, 'note', 1, 2);
        insert into helper_seen (session_id, profile_id, leg_id) values ('s-shop', 'recall', 1);
        insert into notes (session_id, run_id, profile_id, status, carriers, created_ms, expires_ms, claimed_ms,
            ended_ms, cites, text) values ('s-shop', 1, 'recall', 'delivered', '["turn"]', 2, 9, 2, 3,
            '[["fact", "p-port", "The API port is 8412", ""]]', 'The API port is 8412');
        insert into decision_records (directory, name, stamp, hash, status, replaces, indexed_ms, title, body)
            values ('/work/shop', '2026-01-02-cents.md', '1', 'h', 'live', '[[], false, ""]', 1000,
                'Money in cents', 'Because of rounding.');""",
    18: "update outside_runtimes set cue = 2;",
    19: "insert into repairs (at_ms, what) values (5000, 'the text indexes were made anew');",
    20: """insert into session_choices (session_id, role, spec) values
        ('s-shop', 'primary', '{"name": "qwen", "role": "primary", "model": "ollama_chat/qwen"}');""",
}
"""By the number of the step after which they could be there."""
