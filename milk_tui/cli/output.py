"""What every command prints, in one way: JSON, aligned rows, errors in one line.

Text from models, files and people is cleaned before it reaches the terminal (``quality.md``, "Hostile text").
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from typing import Any

import click

from milk_tui.core import text


def line(message: str = "", *, err: bool = False) -> None:
    """Print a text as it is meant to be read: cleaned, line breaks kept."""
    click.echo(text.clean(message), err=err)


def as_json(value: Any) -> None:
    """Print ``value`` (records included) as one JSON document, readable and safe in a terminal."""
    import msgspec

    builtins = msgspec.to_builtins(value, str_keys=True)
    dumped = json.dumps(builtins, ensure_ascii=not _prints_unicode(), indent=2)
    click.echo(_escape_controls(dumped))


def _prints_unicode() -> bool:
    encoding = getattr(sys.stdout, "encoding", None) or "ascii"
    return encoding.lower().replace("-", "") in ("utf8", "utf16", "utf32")


def _escape_controls(dumped: str) -> str:
    """JSON escapes C0 itself; C1, bidi and other unprintable characters are escaped here, so that the
    document says exactly what is stored and a terminal still shows it as text."""
    if dumped.isascii():
        return dumped
    return "".join(c if c == "\n" or c.isprintable() else _escape(c) for c in dumped)


def _escape(character: str) -> str:
    return json.dumps(character)[1:-1]


def table(rows: Iterable[Sequence[str]], *, head: Sequence[str] = (), indent: str = "") -> None:
    """Columns aligned by what a terminal shows (wide characters count two); the last column is not padded."""
    from rich.cells import cell_len

    cleaned = [[text.one_line(cell, 2_000) for cell in row] for row in ([head] if head else [])]
    cleaned += [[text.one_line(cell, 2_000) for cell in row] for row in rows]
    if not cleaned:
        return
    widths = [max(cell_len(row[i]) for row in cleaned) for i in range(len(cleaned[0]) - 1)]
    for row in cleaned:
        cells = [cell + " " * (width - cell_len(cell)) for cell, width in zip(row, widths, strict=False)]
        click.echo((indent + "  ".join([*cells, row[-1]])).rstrip())


def error(message: str) -> None:
    """One line on standard error: what, where, what to do; an error may quote a key, and that is taken out."""
    from milk_tui.safe_log import safe

    click.echo(f"milk-tui: {text.one_line(safe(message), 2_000)}", err=True)


def short(words: str, limit: int) -> str:
    """The words on one line of at most ``limit`` characters."""
    return text.one_line(words, limit)


def clock(ms: int) -> str:
    """Day and minute, local time."""
    import datetime

    return datetime.datetime.fromtimestamp(ms / 1000).astimezone().strftime("%Y-%m-%d %H:%M")


def when(ms: int, now_ms: int) -> str:
    """A time as people read it: how long ago when it is less than a week, else the day (local time)."""
    seconds = max(0, now_ms - ms) // 1000
    for limit, unit, name in ((60, 1, "s"), (3_600, 60, "min"), (86_400, 3_600, "h"), (604_800, 86_400, "d")):
        if seconds < limit:
            return f"{seconds // unit} {name} ago"
    return clock(ms)[:10]
