"""``milk-tui decide``: write a decision down where the memory helper looks for it."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from milk_tui.cli import output
from milk_tui.cli.options import Options, json_option, pass_options

if TYPE_CHECKING:
    from milk_tui.store import Store


@click.command()
@click.argument("decision", nargs=-1)
@click.option("--why", default="", metavar="TEXT", help="The reason: what happened, what was tried.")
@click.option("--replaces", multiple=True, metavar="FILE", help="A record that no longer holds; may be given again.")
@click.option("--date", metavar="YYYY-MM-DD", help="Another day than today.")
@click.option("--from-fact", "fact", metavar="ID", help="Make the record of a fact of the memory.")
@click.option("--to-fact", "record", metavar="FILE", help="Make a fact of a record instead.")
@click.option("--list", "listing", is_flag=True, help="List the records of this directory.")
@json_option
@pass_options
def decide(
    options: Options,
    decision: tuple[str, ...],
    why: str,
    replaces: tuple[str, ...],
    date: str | None,
    fact: str | None,
    record: str | None,
    listing: bool,
    as_json: bool,
) -> None:
    """Record a decision: one Markdown file with its date in the folder memory.

    The first sentence is its title. What it replaces is marked as superseded and no longer reminded of.
    """
    from milk_tui.cli.stored import opened
    from milk_tui.engine import decisions

    folder = decisions.folder_of(Path.cwd(), options.loaded.config.helper.records)
    with opened(options) as store:
        if listing:
            _list(store, folder, as_json)
            return
        if record:
            change = decisions.to_fact(store, folder, record)
            output.line(f"{change.percept.short_id} {change.what}: {output.short(change.percept.content, 200)}")
            return
        text = " ".join(decision).strip()
        if not text and fact is None:
            raise click.UsageError("Say what was decided, or name a fact with --from-fact.")
        wanted = decisions.said(text, why=why, replaces=replaces)
        day = _day(date)
        if fact is not None:
            wanted = decisions.of_fact(store, fact, wanted)
        written = decisions.write(store, folder, wanted, date=day)
    if as_json:
        output.as_json(written)
        return
    output.line(f"Recorded in {folder / written.name}.")


def _list(store: Store, folder: Path, as_json: bool) -> None:
    from milk_tui.engine import decisions
    from milk_tui.store import decision_records

    found = decisions.index_folder(store, folder)
    listed = store.read_sync(lambda conn: decision_records.listed(conn, str(folder)))
    if as_json:
        output.as_json(listed)
        return
    if not listed:
        output.line(f"No decision records in {folder}.", err=True)
        return
    rows = []
    for each in listed:
        state = {"superseded": f"superseded by {each.superseded_by or '?'}", "broken": f"not read: {each.problem}"}
        rows.append((each.date or "?", each.name, state.get(each.status, ""), each.title))
    output.table(rows, head=("date", "file", "", "decision"))
    if found.left_out:
        output.error(f"{found.left_out} more files are too many to be read.")


def _day(date: str | None) -> str:
    if date is None:
        return datetime.date.today().isoformat()
    try:
        return datetime.date.fromisoformat(date).isoformat()
    except ValueError:
        raise click.UsageError(f"--date {date}: write it like 2026-04-14.") from None
