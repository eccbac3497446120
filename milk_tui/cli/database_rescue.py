"""``milk-tui doctor --database --rescue FILE``: what can be read of a damaged database, and what is lost."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from milk_tui.cli.check import Check, check
from milk_tui.core.errors import MilkError


def rescue(damaged: Path, into: Path) -> Iterator[Check]:
    """One line for each table that had rows, and what to do with the new file."""
    from milk_tui.store import rescue as rescuing

    try:
        found = rescuing.rescue(damaged, into)
    except OSError as error:
        yield check("files", "rescue", "error", f"{damaged}: {error.strerror or error}", "Name another file.")
        return
    except MilkError as problem:
        yield check("files", "rescue", "error", f"{damaged}: {problem.what}", problem.hint)
        return
    for table, rows, lost in found:
        gone = "nobody knows how many are lost" if lost is None else f"{lost:,} lost" if lost else "none lost"
        yield check("files", table, "warning" if lost != 0 else "ok", f"{rows:,} saved, {gone}")
    yield check(
        "files",
        "rescue",
        "info",
        f"{damaged} was left as it is; what could be read is in {into}",
        f"Look at it: milk-tui --database {into}. Then move it to where the damaged one was.",
    )
