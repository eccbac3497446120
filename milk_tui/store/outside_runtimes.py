"""Sessions of runtimes that the program does not drive: what their hooks gave them already (``semantics.md`` §4).

These functions take a plain connection: the hook answers in a tenth of a second and imports no more than it needs.
"""

from __future__ import annotations

import json
import sqlite3

from msgspec import Struct

from milk_tui.store.rows import storable

KEPT_MS = 30 * 86_400_000
"""A session that was silent for so long is over; it is then told everything anew."""
MOST_TOLD = 2_000


class Runtime(Struct, frozen=True, kw_only=True):
    """One session of a runtime. ``told``: ids of the facts that it was given to marks of their texts."""

    client: str
    remote_id: str
    directory: str = ""
    prompts: int = 0
    told: dict[str, str] = {}
    subagents: int = 0
    """Sub-agents that have begun and not ended, where calls inside them can't be told from others."""
    names_subagents: bool = False
    """True once a call named the sub-agent that it came from."""
    cue: int = 0
    """The revision of the agent's own memory that it was told of."""


def find(conn: sqlite3.Connection, client: str, remote_id: str, directory: str) -> Runtime:
    """The session as it is known; a new one when it is not."""
    row = conn.execute(
        "select * from outside_runtimes where client = ? and remote_id = ?", (storable(client), storable(remote_id))
    ).fetchone()
    if row is None:
        return Runtime(client=client, remote_id=remote_id, directory=directory)
    return Runtime(
        client=client,
        remote_id=remote_id,
        directory=row["directory"],
        prompts=row["prompts"],
        told=_told(row["told"]),
        subagents=row["subagents"],
        names_subagents=bool(row["names_subagents"]),
        cue=row["cue"],
    )


def keep(conn: sqlite3.Connection, runtime: Runtime, now: int) -> None:
    """Remember it, in the caller's transaction; those that were silent for long go."""
    told = dict(list(runtime.told.items())[-MOST_TOLD:])
    conn.execute("delete from outside_runtimes where updated_ms < ?", (now - KEPT_MS,))
    conn.execute(
        "insert into outside_runtimes"
        " (client, remote_id, directory, updated_ms, prompts, told, subagents, names_subagents, cue)"
        " values (?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict (client, remote_id) do update set"
        " updated_ms = excluded.updated_ms, prompts = excluded.prompts, told = excluded.told,"
        " subagents = excluded.subagents, names_subagents = excluded.names_subagents,"
        " cue = excluded.cue",
        (
            storable(runtime.client),
            storable(runtime.remote_id),
            storable(runtime.directory),
            now,
            runtime.prompts,
            json.dumps(told),
            runtime.subagents,
            runtime.names_subagents,
            runtime.cue,
        ),
    )


def note_waits(conn: sqlite3.Connection, remote_id: str) -> bool:
    """True when a note of the recall helper waits for the session: only then is more of it imported."""
    row = conn.execute(
        "select 1 from notes where session_id = ? and status in ('pending', 'claimed') limit 1", (storable(remote_id),)
    ).fetchone()
    return row is not None


def _told(text: str) -> dict[str, str]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return {str(key): str(mark) for key, mark in value.items()} if isinstance(value, dict) else {}
