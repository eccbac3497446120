"""``milk-tui doctor --terminal``: what this terminal can do, asked of it and tried with the person."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from milk_tui.cli.check import Check, check
from milk_tui.core.errors import MilkError


class NoTerminalError(MilkError):
    """There is no terminal to look at: wrong usage, exit code 2."""


def run(configured: Mapping[str, Iterable[str]], *, wait: float) -> list[Check]:
    """Every look and, where ``wait`` is not 0, every try. ``configured``: ``[keys]`` of the config. Raises
    NoTerminalError."""
    from milk_tui.cli import terminal_checks, terminal_tries
    from milk_tui.cli.terminal_line import Line
    from milk_tui.ui.actions import keymap

    reading = _terminal()
    found: list[Check] = []
    line = Line(reading, reading)
    try:
        with line.raw():
            try:
                found += terminal_checks.look(line)
                found += terminal_tries.programs(os.environ)
                if wait:
                    found += terminal_tries.Tries(line, wait, terminal_tries.fragile(keymap(configured))).all()
            except EOFError:
                found.append(check("terminal", "line", "error", "the terminal went away"))
            except KeyboardInterrupt:
                found.append(check("terminal", "the rest", "info", "not tried"))
            with suppress(OSError):
                line.write("\r\x1b[K")
    finally:
        os.close(reading)
    order = list(dict.fromkeys(one.section for one in found))
    return sorted(found, key=lambda one: order.index(one.section))


def _terminal() -> int:
    """The person's terminal, open to read and write; also where the output is a pipe."""
    if sys.stdin.isatty():
        with suppress(OSError):
            return os.open(os.ttyname(sys.stdin.fileno()), os.O_RDWR | os.O_NOCTTY)
    with suppress(OSError):
        if not sys.stdin.isatty() and sys.stdout.isatty():
            return os.open(Path("/dev/tty"), os.O_RDWR | os.O_NOCTTY)
    raise NoTerminalError("There is no terminal here to look at.", "Run it in the terminal that milk-tui is used in.")
