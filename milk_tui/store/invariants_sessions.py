"""What can't be in sessions, turns, legs and what belongs to them (``invariants.py``)."""

from __future__ import annotations

from milk_tui.store.invariants import Impossible

_LINES = "case {0} when '' then 0 else length({0}) - length(replace({0}, char(10), '')) + 1 end"
_NO_NUL = "instr({0}, char(0)) = 0"
"""SQLite counts a text only up to its first NUL."""


def _size(table: str, column: str, text: str, counted: str, shown: str) -> Impossible:
    wrong = f"{column} <> {counted} and {_NO_NUL.format(text)}"
    return Impossible(
        shown, f"select id from {table} where {wrong}", f"update {table} set {column} = {counted} where {wrong}"
    )


TURNS: tuple[Impossible, ...] = (
    Impossible(
        "a prompt waits in a turn that has begun",
        "select id from turns where queued = 1 and status <> 'pending'",
        "update turns set queued = 0 where queued = 1 and status <> 'pending'",
    ),
    Impossible(
        "a prompt waits though an agent has worked on it",
        "select id from turns where status = 'pending' and exists"
        " (select 1 from legs where turn_id = turns.id and status <> 'pending')",
        "update turns set status = 'interrupted', queued = 0 where status = 'pending' and exists"
        " (select 1 from legs where turn_id = turns.id and status <> 'pending')",
    ),
    _size("turns", "prompt_chars", "prompt", "length(prompt)", "the size beside a prompt is not its size"),
    _size("turns", "prompt_lines", "prompt", _LINES.format("prompt"), "the lines beside a prompt are not its lines"),
    Impossible(
        "a session's revision is not the number of its turns",
        "select id from sessions where revision <> (select count(*) from turns where session_id = sessions.id)",
        "update sessions set revision = (select count(*) from turns where session_id = sessions.id)"
        " where revision <> (select count(*) from turns where session_id = sessions.id)",
    ),
    Impossible(
        "a session has no primary agent",
        "select id from sessions where not exists"
        " (select 1 from session_agents where session_id = sessions.id and role = 'primary')",
        instead="Nobody can say which agent it was. Delete the session, or restore a copy.",
    ),
    Impossible(
        "an agent of a session is not known by name",
        "select distinct name from session_agents where name not in (select name from agents)",
        "insert into agents (name) select distinct name from session_agents where true on conflict do nothing",
    ),
    Impossible(
        "more turns were imported than are there",
        "select key from session_imports where turns >"
        " (select count(*) from turns where session_id = session_imports.session_id)",
        instead="Counting fewer would import turns twice. Delete the session and import it again.",
    ),
    Impossible(
        "something attached belongs to a turn of another session",
        "select attachments.id from attachments join turns on turns.id in (turn_id, shown_turn_id)"
        " where turns.session_id <> attachments.session_id",
        "update attachments set session_id = (select session_id from turns where id = coalesce(turn_id, shown_turn_id))"
        " where (select count(distinct session_id) from turns where id in (turn_id, shown_turn_id)) = 1"
        " and session_id <> (select session_id from turns where id = coalesce(turn_id, shown_turn_id))",
        instead="It belongs to two sessions at once; restore a copy.",
    ),
)

LEGS: tuple[Impossible, ...] = (
    Impossible(
        "a leg ended without a time of its end",
        "select id from legs where status not in ('pending', 'running') and ended_ms is null",
        "update legs set ended_ms = started_ms where status not in ('pending', 'running') and ended_ms is null",
    ),
    Impossible(
        "a leg ended before it began",
        "select id from legs where ended_ms < started_ms",
        "update legs set ended_ms = started_ms where ended_ms < started_ms",
    ),
    Impossible(
        "a leg runs and has an end",
        "select id from legs where status in ('pending', 'running') and ended_ms is not null",
        "update legs set ended_ms = null where status in ('pending', 'running') and ended_ms is not null",
    ),
    Impossible(
        "a leg works on a turn of another session",
        "select legs.id from legs join turns on turns.id = legs.turn_id where legs.session_id <> turns.session_id",
        instead="The turn and the leg name two sessions, and either may be right; restore a copy.",
    ),
    Impossible(
        "a leg runs in a turn that has ended",
        "select legs.id from legs join turns on turns.id = legs.turn_id"
        " where legs.status = 'running' and turns.status not in ('pending', 'running')",
        "update legs set status = 'interrupted', ended_ms = started_ms where status = 'running'"
        " and turn_id in (select id from turns where status not in ('pending', 'running'))",
    ),
    Impossible(
        "a leg runs behind the next one of its turn",
        "select legs.id from legs where status in ('pending', 'running') and exists"
        " (select 1 from legs later where later.turn_id = legs.turn_id and later.id > legs.id)",
        "update legs set status = 'interrupted', ended_ms = started_ms where status in ('pending', 'running') and"
        " exists (select 1 from legs later where later.turn_id = legs.turn_id and later.id > legs.id)",
    ),
    Impossible(
        "a leg was acknowledged without being done",
        "select id from legs where acked_ms is not null and status <> 'done'",
        "update legs set acked_ms = null where acked_ms is not null and status <> 'done'",
    ),
    Impossible(
        "a tool call runs in a leg that has ended",
        "select tool_calls.id from tool_calls join legs on legs.id = tool_calls.leg_id"
        " where tool_calls.status = 'running' and legs.status not in ('pending', 'running')",
        "update tool_calls set status = 'cancelled', ended_ms = started_ms where status = 'running'"
        " and leg_id in (select id from legs where status not in ('pending', 'running'))",
    ),
    Impossible(
        "a tool call ended without a time of its end",
        "select id from tool_calls where status <> 'running' and ended_ms is null",
        "update tool_calls set ended_ms = started_ms where status <> 'running' and ended_ms is null",
    ),
    Impossible(
        "a tool call ended before it began",
        "select id from tool_calls where ended_ms < started_ms",
        "update tool_calls set ended_ms = started_ms where ended_ms < started_ms",
    ),
    Impossible(
        "the number of calls beside a leg is not theirs",
        "select id from legs where tools <> (select count(*) from tool_calls where leg_id = legs.id)",
        "update legs set tools = (select count(*) from tool_calls where leg_id = legs.id)"
        " where tools <> (select count(*) from tool_calls where leg_id = legs.id)",
    ),
    Impossible(
        "something that an agent said beside its answer waits for a leg that has ended",
        "select captures.id from captures join legs on legs.id = captures.leg_id"
        " where captures.status = 'staged' and legs.status not in ('pending', 'running')",
        "update captures set status = 'dropped' where status = 'staged'"
        " and leg_id in (select id from legs where status not in ('pending', 'running'))",
    ),
    _size("legs", "text_chars", "text", "length(text)", "the size beside a text is not its size"),
    _size("legs", "text_lines", "text", _LINES.format("text"), "the lines beside a text are not its lines"),
    _size("legs", "thinking_chars", "thinking", "length(thinking)", "the size beside thinking is not its size"),
    Impossible(
        "pieces of what a leg was given are missing",
        "select leg_id from segments group by leg_id having count(*) <> max(position) + 1",
        instead="What was sent can't be made up. The conversation itself is whole.",
    ),
    Impossible(
        "a text that agents were given is not the one that its name stands for",
        "select hash from segment_texts where hash <> sha256_of(text)",
        instead="What was sent can't be made up. The conversation itself is whole.",
    ),
    Impossible(
        "a changed file belongs to a leg of another session",
        "select file_changes.id from file_changes join legs on legs.id = leg_id"
        " where legs.session_id <> file_changes.session_id",
        "update file_changes set leg_id = null where leg_id in"
        " (select id from legs where legs.session_id <> file_changes.session_id)",
    ),
    Impossible(
        "a permission was kept twice",
        "select max(id) from grants group by agent_name, tool, directory, arguments, pattern, session_id"
        " having count(*) > 1",
        "delete from grants where id not in (select min(id) from grants"
        " group by agent_name, tool, directory, arguments, pattern, session_id)",
    ),
)

BRICKS: tuple[Impossible, ...] = (
    Impossible(
        "versions of a brick are missing",
        "select session_id || ' ' || kind from bricks group by session_id, kind having count(*) <> max(version)",
        instead="A lost text can't be made up. The newest version holds; an edit makes a new one.",
    ),
    Impossible(
        "two briefs were given to one leg",
        "select min(id) from bricks where kind = 'escalation_brief' and delivered_leg is not null"
        " group by delivered_leg having count(*) > 1",
        instead="What was given can't be taken back.",
    ),
    Impossible(
        "a brief was given to a leg that is not of its session",
        "select bricks.id from bricks join legs on legs.id = delivered_leg where legs.session_id <> bricks.session_id",
        instead="Which leg it was can't be known; the text is whole.",
    ),
    Impossible(
        "an entry of a working set belongs to no session",
        "select id from perception_entries where layer = 'working' and session_id is null",
        instead="Nobody can be given it; which session it was is lost.",
    ),
    Impossible(
        "an invariant stands in a slice",
        "select id from perception_entries where layer = 'invariant' and slice <> ''",
        "update perception_entries set slice = '' where layer = 'invariant' and slice <> ''",
    ),
)

ALL = (*TURNS, *LEGS, *BRICKS)
