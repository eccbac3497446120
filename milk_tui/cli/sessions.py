"""``milk-tui sessions``: list them, read one, rename, fork or delete one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from milk_tui.cli import output, session_files
from milk_tui.cli.options import Options, json_option, pass_options

if TYPE_CHECKING:
    from milk_tui.core.records import Leg, ToolCall


@click.group()
def sessions() -> None:
    """The sessions of this directory, or of all."""


@sessions.command("list")
@click.option("--all", "everywhere", is_flag=True, help="Those of every directory.")
@click.option("--limit", type=click.IntRange(1), default=500, show_default=True, help="At most so many.")
@click.option("--search", "words", metavar="WORDS", default="", help="Those in which this was said, best first.")
@json_option
@pass_options
def list_sessions(options: Options, everywhere: bool, limit: int, words: str, as_json: bool) -> None:
    """List sessions, the most recent first.

    Those in which nothing was asked are left out.
    """
    from milk_tui.cli.stored import now_ms, opened
    from milk_tui.store import messages
    from milk_tui.store import sessions as stored

    with opened(options) as store:
        where = None if everywhere else str(Path.cwd())
        found = store.read_sync(lambda conn: stored.rows(conn, where, limit=limit))
        said = store.read_sync(lambda conn: messages.search(conn, words, limit=20 * limit)) if words else []
    rows = [row for row in found if row.turns]
    if words:
        places = {hit.session_id: place for place, hit in reversed(list(enumerate(said)))}
        rows = sorted((row for row in rows if row.id in places), key=lambda row: places[row.id])
    if as_json:
        output.as_json(rows)
        return
    if not rows:
        told = "." if everywhere else " in this directory; --all looks at those of every directory."
        output.line(f"No sessions{' in which that was said' if words else ''}{told}", err=True)
        return
    now = now_ms()
    output.table(
        [
            (
                row.id[:8],
                str(row.turns),
                output.when(row.updated_ms, now),
                row.agents,
                f"${row.cost_usd:.2f}" if row.cost_usd else "",
                *((row.directory,) if everywhere else ()),
                output.short(row.title or "(untitled)", 40),
                output.short(row.last_prompt, 60),
            )
            for row in rows
        ],
        head=("id", "turns", "used", "agents", "cost", *(("directory",) if everywhere else ()), "title", "last prompt"),
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
    from milk_tui.engine.session_export import conversation

    with opened(options) as store:
        session = session_called(store, name)
        if as_json:
            turns = [
                {"turn": each.turn, "legs": [{"leg": leg, "tools": tools} for leg, tools in each.legs]}
                for each in conversation(store, session.id, last)
            ]
            output.as_json(masked({"session": session, "turns": turns}))
            return
        agents = " · ".join(a.name for a in (session.primary, session.escalation) if a)
        output.line(f"# {session.title or session.id[:8]} · {session.directory} · {agents}")
        for each in conversation(store, session.id, last):
            turn = each.turn
            output.line(f"\n── you · turn {turn.id} · {output.clock(turn.created_ms)} · {turn.status.value}")
            output.line(turn.prompt)
            for leg, tools in each.legs:
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
@click.option(
    "--at", "last_turn", type=click.IntRange(1), metavar="TURN", help="Up to this turn: its number in `show`."
)
@click.option("--title", default="", help="The title of the copy.")
@pass_options
def fork(options: Options, name: str, last_turn: int | None, title: str) -> None:
    """Go another way from a turn on: a copy of the session up to there.

    The copy has the conversation, its bricks and its facts; the agents begin anew with them.
    """
    from milk_tui.cli.stored import opened, session_called
    from milk_tui.core import text
    from milk_tui.core.records import Role
    from milk_tui.engine.casting import new_nonce
    from milk_tui.store import session_copies

    with opened(options) as store:
        session = session_called(store, name)
        called = text.one_line(title, 200) or text.one_line(f"{session.title} (fork)", 200)
        nonces = {role: new_nonce() for role in Role}
        made = store.write_sync(
            lambda db: session_copies.fork(db, session.id, nonces=nonces, title=called, last_turn=last_turn)
        )
    output.line(f"{made.id[:8]} is a copy of {session.id[:8]}, called {called}.")


@sessions.command()
@click.argument("name")
@click.option("--for-good", is_flag=True, help="So that it can't be undone.")
@click.option("--yes", is_flag=True, help="Don't ask.")
@pass_options
def delete(options: Options, name: str, for_good: bool, yes: bool) -> None:
    """Delete a session.

    For 30 days `milk-tui sessions undelete` brings it back; then its turns and its own facts go for good. Facts of all
    sessions stay.
    """
    from milk_tui.cli.stored import opened, session_called
    from milk_tui.core.errors import MilkError
    from milk_tui.store import owner, session_trash
    from milk_tui.store import sessions as stored

    with opened(options) as store:
        session = session_called(store, name)
        told = f"{session.id[:8]} {output.short(session.title, 60)}".strip()
        if not yes:
            click.confirm(f"Delete session {told}{' for good' if for_good else ''}?", abort=True, err=True)
        working = store.read_sync(lambda conn: stored.owners(conn, session.id))
        if any(owner.alive(store.running_folder, each) for each in working):
            raise MilkError(f"Another program works on {told}.", "Stop it or wait, then delete the session.")
        if for_good:
            store.write_sync(lambda db: stored.delete(db, session.id))
        else:
            store.write_sync(lambda db: session_trash.delete(db, session.id))
    undo = "" if for_good else f" Bring it back within 30 days: milk-tui sessions undelete {session.id[:8]}"
    output.line(f"Deleted: {told}.{undo}")


@sessions.command()
@click.argument("name", required=False)
@json_option
@pass_options
def undelete(options: Options, name: str | None, as_json: bool) -> None:
    """Bring a deleted session back; without NAME list those that can be.

    NAME is its title or the beginning of its id.
    """
    from milk_tui.cli.stored import now_ms, opened
    from milk_tui.core.errors import MilkError
    from milk_tui.store import session_trash

    with opened(options) as store:
        gone = store.read_sync(session_trash.listed)
        if name is None:
            if as_json:
                output.as_json(gone)
                return
            now = now_ms()
            output.table(
                [
                    (row.id[:8], str(row.turns), output.when(row.deleted_ms, now), row.directory, row.title)
                    for row in gone
                ],
                head=("id", "turns", "deleted", "directory", "title"),
            )
            if not gone:
                output.line("No deleted session can be brought back.", err=True)
            return
        wanted = name.strip().casefold()
        meant = [
            row for row in gone if row.title.casefold() == wanted or (len(wanted) > 3 and row.id.startswith(wanted))
        ]
        if not meant:
            raise MilkError(
                f"No deleted session is called '{output.short(name, 60)}'.", "Without a name they are listed."
            )
        store.write_sync(lambda db: session_trash.restore(db, meant[0].id))
    output.line(f"Brought back: {meant[0].id[:8]} {output.short(meant[0].title, 60)}".strip())


def _print_leg(leg: Leg, tools: tuple[ToolCall, ...]) -> None:
    mark = "●" if leg.role.value == "primary" else "◆"
    told = f" · {leg.reason}" if leg.reason else ""
    output.line(f"\n── {mark} {leg.agent_name} · {output.clock(leg.started_ms)} · {leg.status.value}{told}")
    for tool in tools:
        allowed = f" · {tool.allowed_by}" if tool.allowed_by else ""
        output.line(f"   ▸ {tool.name} {output.short(tool.arguments, 80)} · {tool.status.value}{allowed}")
    if leg.text:
        output.line(leg.text)
    if leg.error:
        output.line(f"   {leg.error.message} {leg.error.hint}".rstrip())


for command in (session_files.export_session, session_files.import_sessions):
    sessions.add_command(command)
