"""The full screen: the shortest way from the shell to the first paint."""

from __future__ import annotations

import sys

from milk_tui.cli.options import Options
from milk_tui.core.errors import MilkError


def open_screen(options: Options, *, session: str | None, new: bool) -> int:
    """Run the screen until the person leaves it; the exit code."""
    if not sys.stdin.isatty() or not sys.stdout.isatty():
        raise MilkError(
            "The screen needs a terminal on standard input and output.",
            'Without one use: milk-tui -p "prompt"',
        )
    from milk_tui.ui.app import run

    return run(options.launch(session=session, new=new)) or 0
