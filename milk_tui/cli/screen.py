"""The full screen: the shortest way from the shell to the first paint."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from milk_tui.core.errors import MilkError
from milk_tui.ui.browser import IN_BROWSER

if TYPE_CHECKING:
    from milk_tui.engine.launch import Launch


def open_screen(launch: Launch, *, plain: bool = False) -> int:
    """Run the screen until the person leaves it; the exit code."""
    if not IN_BROWSER and not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise MilkError(
            "The screen needs a terminal on standard input and output.",
            'Without one use: milk-tui -p "prompt"',
        )
    from milk_tui.ui.background import THE_TERMINAL

    with THE_TERMINAL.asked(sys.stdin.fileno(), sys.stdout.fileno(), os.environ):
        from milk_tui.ui.app import run

        return run(launch, plain=plain) or 0
