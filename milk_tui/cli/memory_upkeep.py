"""``milk-tui memory consolidate``: what the end of a session does to the facts, now, or only said."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from milk_tui.cli import output
from milk_tui.cli.options import Options, json_option, pass_options

if TYPE_CHECKING:
    from collections.abc import Iterable

    from milk_tui.core.lifecycle import Change
    from milk_tui.core.records import Session
    from milk_tui.store.consolidation import Planned

SHOWN_CHARS = 60


@click.command()
@click.option("--session", metavar="NAME", help="Another session than the most recent of this directory.")
@click.option("--dry-run", is_flag=True, help="Say what would change, and why; change nothing.")
@click.option("--purge", is_flag=True, help="Delete the facts that faded more than 30 days ago, for good.")
@json_option
@pass_options
def consolidate(options: Options, session: str | None, dry_run: bool, purge: bool, as_json: bool) -> None:
    """Let facts gain and lose weight now.

    This happens by itself when a session ends. It counts once for each time that something was asked in the session
    since. Facts that become too light fade and can be restored, heavy ones become global.
    """
    from milk_tui.cli.stored import opened, session_called
    from milk_tui.store import consolidation

    with opened(options) as store:
        meant = session_called(store, session)
        ended = store.read_sync(lambda conn: consolidation.due(conn, meant.id))
        planned = store.read_sync(lambda conn: consolidation.plan(conn, ended)) if ended else None
        if ended and not dry_run:
            store.write_sync(lambda db: consolidation.consolidate(db, ended))
        gone = 0
        if purge:
            gone = (
                len(store.read_sync(lambda conn: consolidation.expired(conn)))
                if dry_run
                else store.write_sync(lambda db: consolidation.purge(db))
            )
        last = store.read_sync(lambda conn: consolidation.last_ms(conn, meant.id))
    if as_json:
        rows = planned.changes.rows if planned else ()
        output.as_json({"session": meant.id, "due": ended is not None, "changes": rows, "purged": gone})
        return
    _say(planned, meant, last, dry_run)
    if purge:
        output.line(f"{_facts(gone)} that faded long ago {'would be deleted' if dry_run else 'deleted'}.", err=True)


def _say(planned: Planned | None, session: Session, last: int | None, dry_run: bool) -> None:
    name = session.title or session.id[:8]
    if planned is None:
        since = f"since {output.clock(last)}" if last else "yet"
        output.line(f"Nothing to do: nothing was answered in “{name}” {since}.", err=True)
        return
    if not planned.changes.rows:
        output.line(f"No fact of “{name}” changes.", err=True)
        return
    by_fact: dict[str, list[Change]] = {}
    for row in planned.changes.rows:
        by_fact.setdefault(row.percept_id, []).append(row)
    output.table(
        [
            (
                planned.facts[id_].short_id,
                f"{rows[0].before / 1000:.2f} → {rows[-1].after / 1000:.2f}",
                "merged" if id_ in planned.twins else rows[-1].step.value,
                _why(planned, id_, rows),
                output.short(planned.facts[id_].content, SHOWN_CHARS),
            )
            for id_, rows in by_fact.items()
        ],
        head=("id", "weight", "what", "why", "fact"),
    )
    forgotten, promoted = len(planned.changes.forgotten), len(planned.changes.promoted) - len(planned.twins)
    would = "would change" if dry_run else "changed"
    output.line(f"{_facts(len(by_fact))} {would}: {forgotten} faded, {promoted} became global.", err=True)


def _why(planned: Planned, percept_id: str, rows: Iterable[Change]) -> str:
    reasons = [row.reason for row in rows]
    if percept_id in planned.twins:
        reasons[-1] = f"#{planned.twins[percept_id][:6]} says the same in every session"
    return "; ".join(reasons)


def _facts(number: int) -> str:
    return f"{number:,} fact{'s' if number != 1 else ''}"
