"""``milk-tui sessions``: list them, read one, rename or delete one."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from milk_tui.cli import output
from milk_tui.cli.options import Options, json_option, pass_options

if TYPE_CHECKING:
    from collections.abc import Iterator

    from milk_tui.core.records import Leg, ToolCall, Turn
    from milk_tui.store import Store

AT_ONCE = 50
"""Turns that are read together, so that a session of any length needs little memory."""


@click.group()
def sessions() -> None:
    """The sessions of this directory, or of all."""


@sessions.command("list")
@click.option("--all", "everywhere", is_flag=True, help="Those of every directory.")
@click.option("--limit", type=click.IntRange(1), default=500, show_default=True, help="At most so many.")
@json_option
@pass_options
def list_sessions(options: Options, everywhere: bool, limit: int, as_json: bool) -> None:
    """List sessions, the most recent first.

    Those in which nothing was asked are left out.
    """
    from milk_tui.cli.stored import now_ms, opened
    from milk_tui.store import sessions as stored

    with opened(options) as store:
        where = None if everywhere else str(Path.cwd())
        found = store.read_sync(lambda conn: stored.rows(conn, where, limit=limit))
    rows = [row for row in found if row.turns]
    if as_json:
        output.as_json(rows)
        return
    if not rows:
        told = "." if everywhere else " in this directory; --all lists those of every directory."
        output.line(f"No sessions{told}", err=True)
        return
    now = now_ms()
    output.table(
        [
            (
                row.id[:8],
                str(row.turns),
                output.when(row.updated_ms, now),
                row.agents,
                *((row.directory,) if everywhere else ()),
                output.short(row.title or row.last_prompt or "(empty)", 60),
            )
            for row in rows
        ],
        head=("id", "turns", "used", "agents", *(("directory",) if everywhere else ()), "title"),
    )


@sessions.command()
@click.argument("name", required=False)
@click.option("--last", type=click.IntRange(1), metavar="N", help="Only the last N turns.")
@json_option
@pass_options
def show(options: Options, name: str | None, last: int | None, as_json: bool) -> None:
    """Print a session's conversation.

    NAME is its title or the beginning of its id; without one it is the most recent of this directory.
    """
    from milk_tui.cli.masking import masked
    from milk_tui.cli.stored import opened, session_called

    with opened(options) as store:
        session = session_called(store, name)
        if as_json:
            turns = [
                {"turn": turn, "legs": [{"leg": leg, "tools": tools} for leg, tools in legs]}
                for turn, legs in _turns(store, session.id, last)
            ]
            output.as_json(masked({"session": session, "turns": turns}))
            return
        agents = " · ".join(a.name for a in (session.primary, session.escalation) if a)
        output.line(f"# {session.title or session.id[:8]} · {session.directory} · {agents}")
        for turn, legs in _turns(store, session.id, last):
            output.line(f"\n── you · {output.clock(turn.created_ms)} · {turn.status.value}\n{turn.prompt}")
            for leg, tools in legs:
                _print_leg(leg, tools)


@sessions.command()
@click.argument("name")
@click.argument("title")
@pass_options
def rename(options: Options, name: str, title: str) -> None:
    """Give a session another title."""
    from milk_tui.cli.stored import opened, session_called
    from milk_tui.core import text
    from milk_tui.store import sessions as stored

    wanted = text.one_line(title, 200)
    if not wanted:
        raise click.UsageError("The title is empty.")
    with opened(options) as store:
        session = session_called(store, name)
        store.write_sync(lambda db: stored.rename(db, session.id, wanted))
    output.line(f"{session.id[:8]} is now called {wanted}.")


@sessions.command()
@click.argument("name")
@click.option("--yes", is_flag=True, help="Don't ask.")
@pass_options
def delete(options: Options, name: str, yes: bool) -> None:
    """Delete a session for good.

    Its turns and its own facts go with it; facts of all sessions stay.
    """
    from milk_tui.cli.stored import opened, session_called
    from milk_tui.core.errors import MilkError
    from milk_tui.store import owner
    from milk_tui.store import sessions as stored

    with opened(options) as store:
        session = session_called(store, name)
        told = f"{session.id[:8]} {output.short(session.title, 60)}".strip()
        if not yes:
            click.confirm(f"Delete session {told} for good?", abort=True, err=True)
        working = store.read_sync(lambda conn: stored.owners(conn, session.id))
        if any(owner.alive(store.running_folder, each) for each in working):
            raise MilkError(f"Another program works on {told}.", "Stop it or wait, then delete the session.")
        store.write_sync(lambda db: stored.delete(db, session.id))
    output.line(f"Deleted: {told}.")


def _turns(
    store: Store, session_id: str, last: int | None
) -> Iterator[tuple[Turn, list[tuple[Leg, tuple[ToolCall, ...]]]]]:
    """Each turn with its legs and their tool calls, oldest first, a few turns in memory at a time."""
    from milk_tui.store import legs, turns

    ids = [turn.id for turn in store.read_sync(lambda conn: turns.index(conn, session_id))]
    ids = ids[-last:] if last else ids
    legs_of: dict[int, list[int]] = {}
    for leg in store.read_sync(lambda conn: legs.index(conn, session_id)):
        legs_of.setdefault(leg.turn_id, []).append(leg.id)
    for start in range(0, len(ids), AT_ONCE):
        chunk = ids[start : start + AT_ONCE]
        wanted = [leg_id for turn_id in chunk for leg_id in legs_of.get(turn_id, [])]
        found = store.read_sync(partial(turns.many, turn_ids=chunk))
        bodies = store.read_sync(partial(legs.bodies, leg_ids=wanted))
        for turn_id in chunk:
            if turn_id in found:
                of_turn = [bodies[leg_id] for leg_id in legs_of.get(turn_id, []) if leg_id in bodies]
                yield found[turn_id], [(body.leg, body.tools) for body in of_turn]


def _print_leg(leg: Leg, tools: tuple[ToolCall, ...]) -> None:
    mark = "●" if leg.role.value == "primary" else "◆"
    told = f" · {leg.reason}" if leg.reason else ""
    output.line(f"\n── {mark} {leg.agent_name} · {output.clock(leg.started_ms)} · {leg.status.value}{told}")
    for tool in tools:
        output.line(f"   ▸ {tool.name} {output.short(tool.arguments, 80)} · {tool.status.value}")
    if leg.text:
        output.line(leg.text)
    if leg.error:
        output.line(f"   {leg.error.message} {leg.error.hint}".rstrip())
