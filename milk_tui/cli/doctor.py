"""``milk-tui doctor``: what is here, what is missing, and what to do about it."""

from __future__ import annotations

import click

from milk_tui.cli import output
from milk_tui.cli.options import Options, json_option, pass_options

MARKS = {"ok": "✓", "info": "·", "missing": "–", "warning": "!", "error": "✗"}


@click.command()
@click.option("--database", "database_alone", is_flag=True, help="Look at the database alone.")
@click.option("--repair", is_flag=True, help="Mend what is right in one way only; a copy is made first.")
@json_option
@pass_options
def doctor(options: Options, database_alone: bool, repair: bool, as_json: bool) -> int:
    """Check everything and say what to do.

    The installation, the files, the agents and the terminal."""
    from milk_tui.cli import checks, database_checks

    if database_alone:
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
