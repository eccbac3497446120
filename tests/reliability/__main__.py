"""``python -m tests.reliability --report [--deep [NAME …]] [--only NAME …] [--output FILE]``.

Prints a table in Markdown, one row for each item; exit 1 when anything was lost.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from tests.reliability.matrix import ITEMS
from tests.reliability.row import Row

HEAD = "| item | tried | survived | lost | seeds | note |\n|---|---|---|---|---|---|"


def line(row: Row) -> str:
    seeds = ", ".join(map(str, row.seeds)) if len(row.seeds) <= 3 else f"{row.seeds[0]} to {row.seeds[-1]}"
    cells = (row.item, str(row.tried), str(row.survived), str(row.lost), seeds, row.note)
    return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"


def made(name: str, deep: bool) -> list[Row]:
    """An item that breaks while it is tried counts as lost: no row is missing from the report."""
    try:
        return list(ITEMS[name](deep))
    except Exception as error:
        return [Row(name, 1, 0, 1, note=f"{type(error).__name__}: {error}")]


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.reliability", description=__doc__)
    parser.add_argument("--report", action="store_true", help="try every item and print the table")
    parser.add_argument("--only", nargs="+", choices=sorted(ITEMS), metavar="NAME", help=", ".join(ITEMS))
    parser.add_argument(
        "--deep",
        nargs="*",
        choices=sorted(ITEMS),
        metavar="NAME",
        help="more points and examples for these; for all, which takes hours, where none is named",
    )
    parser.add_argument("--output", type=Path, help="write the table to this file too")
    wanted = parser.parse_args()
    if not wanted.report:
        parser.print_help()
        return 2
    lines = [HEAD]
    print(HEAD, flush=True)
    lost = 0
    deep = set() if wanted.deep is None else set(wanted.deep or ITEMS)
    for name in wanted.only or ITEMS:
        began = time.monotonic()
        for row in made(name, name in deep):
            lost += row.lost
            lines.append(line(row))
            print(lines[-1], flush=True)
        print(f"  {name}: {time.monotonic() - began:.0f} s", file=sys.stderr, flush=True)
    if wanted.output:
        wanted.output.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return 1 if lost else 0


if __name__ == "__main__":
    sys.exit(main())
