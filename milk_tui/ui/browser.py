"""Whether this program is the one behind a page of ``milk-tui serve``; asked before anything of the screen is there."""

from __future__ import annotations

import os
from typing import Final

DRIVER: Final = "milk_tui.ui.browser_driver:BrowserDriver"
"""What draws in a browser, as Textual's environment names it."""
IN_BROWSER: Final = os.environ.get("TEXTUAL_DRIVER") == DRIVER
_OURS = ("TEXTUAL_DRIVER", "TEXTUAL_COLOR_SYSTEM", "COLUMNS", "LINES", "ROWS")


def keep_from_children() -> None:
    """Take what only this process was told out of the environment: what the agents start has no page."""
    for name in _OURS:
        os.environ.pop(name, None)
