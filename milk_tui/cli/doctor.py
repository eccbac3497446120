"""``milk-tui doctor``: what is here, what is missing, and what to do about it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import click

from milk_tui.cli import output
from milk_tui.cli.options import Options, json_option, pass_options

MARKS = {"ok": "✓", "info": "·", "missing": "–", "warning": "!", "error": "✗"}


@click.command()
@click.option("--database", "database_alone", is_flag=True, help="Look at the database alone.")
@click.option("--repair", is_flag=True, help="Mend what is right in one way only; a copy is made first.")
@click.option(
    "--rescue",
    "rescue_into",
    type=click.Path(dir_okay=False, path_type=Path),
    help="With --database: save what can be read of a damaged one in a new file.",
)
@click.option("--terminal", "terminal_alone", is_flag=True, help="Try this terminal: keys, colours, clipboard, widths.")
@click.option(
    "--wait",
    type=click.FloatRange(0, 600),
    default=20.0,
    show_default=True,
    help="With --terminal: seconds for each try; 0: none.",
)
@json_option
@pass_options
def doctor(
    options: Options,
    database_alone: bool,
    repair: bool,
    rescue_into: Path | None,
    terminal_alone: bool,
    wait: float,
    as_json: bool,
) -> int:
    """Check everything and say what to do.

    The installation, the files, the agents and the terminal."""
    from milk_tui.cli import checks, database_checks

    if database_alone and terminal_alone:
        raise click.UsageError("--database and --terminal exclude each other.")
    if rescue_into is not None and (repair or not database_alone):
        raise click.UsageError("--rescue is used with --database, and without --repair.")
    if terminal_alone:
        from milk_tui.cli import terminal_doctor

        try:
            found, discovery = terminal_doctor.run(_configured_keys(options), wait=wait), None
        except terminal_doctor.NoTerminalError as error:
            raise click.UsageError(str(error)) from error
    elif rescue_into is not None:
        from milk_tui.cli import database_rescue

        found, discovery = list(database_rescue.rescue(options.database_file, rescue_into)), None
    elif database_alone:
        found, discovery = list(database_checks.database(options.database_file, repair=repair)), None
    else:
        found, discovery = checks.run_all(options, repair=repair)
    broken = any(check.state == "error" for check in found)
    if as_json:
        output.as_json(
            {
                "ok": not broken,
                "agents": {
                    "primary": discovery.primary if discovery else None,
                    "escalation": discovery.escalation if discovery else None,
                },
                "checks": found,
            }
        )
    else:
        section = ""
        for check in found:
            if check.section != section:
                section = check.section
                output.line(f"\n{section}" if check is not found[0] else section)
                rows = [
                    (MARKS[c.state], c.name, c.detail + (f"  → {c.hint}" if c.hint else ""))
                    for c in found
                    if c.section == section
                ]
                output.table(rows, indent="  ")
    return 1 if broken else 0


def _configured_keys(options: Options) -> Mapping[str, Sequence[str]]:
    """The keys of the config; none where it can't be read, which the whole doctor says."""
    from milk_tui.core.errors import MilkError

    try:
        return options.loaded.config.keys
    except MilkError:
        return {}
