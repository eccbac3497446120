"""What can't be in the agents' own memory, in notes and in runs of the recall helper (``invariants.py``)."""

from __future__ import annotations

from milk_tui.store.invariants import Impossible

_EVENTS = "(select count(*) from exchange_events where agent_name = agents.name)"
_HEAD = "coalesce((select revision from agents where name = legs.agent_name collate nocase), 0)"

AGENTS: tuple[Impossible, ...] = (
    Impossible(
        "an agent's memory is newer than its revision",
        "select name from agents where revision < (select coalesce(max(revision), 0) from exchanges"
        " where agent_name = agents.name)",
        "update agents set revision = (select max(revision) from exchanges where agent_name = agents.name)"
        " where revision < (select coalesce(max(revision), 0) from exchanges where agent_name = agents.name)",
    ),
    Impossible(
        "an entry of an agent's memory could be written twice",
        "select agent_name || ' ' || event_id from exchanges where not exists (select 1 from exchange_events e"
        " where e.agent_name = exchanges.agent_name and e.event_id = exchanges.event_id)",
        "insert into exchange_events (agent_name, event_id) select agent_name, event_id from exchanges where true"
        " on conflict do nothing",
    ),
    Impossible(
        "an agent's revision is not the number of what it was told of",
        f"select name from agents where revision <> {_EVENTS}",
        f"update agents set revision = {_EVENTS} where revision < {_EVENTS}",
        instead="Counting back would hide what comes next from the agent; it is left as it is.",
    ),
    Impossible(
        "an agent has seen more of its memory than there is",
        "select r.id from remote_sessions r left join agents a on a.name = r.agent_name"
        " where r.last_seen > coalesce(a.revision, 0)",
        "update remote_sessions set last_seen = coalesce("
        "(select revision from agents where name = remote_sessions.agent_name), 0)"
        " where last_seen > coalesce((select revision from agents where name = remote_sessions.agent_name), 0)",
    ),
    Impossible(
        "a leg was given more of an agent's memory than there is",
        f"select id from legs where revision_at_delivery > {_HEAD}",
        f"update legs set revision_at_delivery = {_HEAD} where revision_at_delivery > {_HEAD}",
    ),
)

NOTES: tuple[Impossible, ...] = (
    Impossible(
        "a note was delivered and nobody knows when",
        "select id from notes where status = 'delivered' and ended_ms is null",
        "update notes set ended_ms = coalesce(claimed_ms, created_ms) where status = 'delivered' and ended_ms is null",
    ),
    Impossible(
        "a note ended and nobody knows when",
        "select id from notes where status in ('expired', 'dropped') and ended_ms is null",
        "update notes set ended_ms = coalesce(claimed_ms, created_ms)"
        " where status in ('expired', 'dropped') and ended_ms is null",
    ),
    Impossible(
        "a note waits though it has ended",
        "select id from notes where status in ('pending', 'claimed') and ended_ms is not null",
        "update notes set status = 'dropped', reason = 'it had ended'"
        " where status in ('pending', 'claimed') and ended_ms is not null",
    ),
    Impossible(
        "a note is carried by nobody",
        "select id from notes where status = 'claimed' and (claimed_ms is null or claimed_by = '')",
        "update notes set status = 'dropped', ended_ms = created_ms, reason = 'its carrier ended on the way'"
        " where status = 'claimed' and (claimed_ms is null or claimed_by = '')",
    ),
    Impossible(
        "a note was delivered that nobody had taken",
        "select id from notes where status = 'delivered' and claimed_ms is null",
        instead="Whether it was delivered twice can't be known; it is not delivered again.",
    ),
    Impossible(
        "a note of a run was kept twice",
        "select min(id) from notes where run_id is not null group by run_id having count(*) > 1",
        "update notes set status = 'dropped', ended_ms = created_ms, reason = 'it was kept twice', run_id = null"
        " where status = 'pending' and run_id is not null"
        " and id > (select min(id) from notes other where other.run_id = notes.run_id)",
        instead="Both were handed over already, which can't be taken back.",
    ),
    Impossible(
        "a note is of a run that made none",
        "select notes.id from notes join helper_runs on helper_runs.id = run_id where helper_runs.status <> 'note'",
        "update notes set run_id = null where run_id in (select id from helper_runs where status <> 'note')",
    ),
)

RUNS: tuple[Impossible, ...] = (
    Impossible(
        "a run of the helper ended without a time of its end",
        "select id from helper_runs where status <> 'running' and ended_ms is null",
        "update helper_runs set ended_ms = started_ms where status <> 'running' and ended_ms is null",
    ),
    Impossible(
        "a conversation is leased to a run that does not run",
        "select session_id from helper_leases where run_id not in"
        " (select id from helper_runs where status = 'running')",
        "delete from helper_leases where run_id not in (select id from helper_runs where status = 'running')",
    ),
)

ALL = (*AGENTS, *NOTES, *RUNS)
