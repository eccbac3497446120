"""From which size on a screen looks how (``ux.md``, "Main screen"): the style sheets name these classes."""

from __future__ import annotations

WIDTHS = [(0, "-narrow"), (80, "-medium"), (110, "-wide"), (160, "-huge")]
HEIGHTS = [(0, "-low"), (18, "-high")]


def prompt_rows(height: int) -> int:
    """How many rows the prompt may grow to on a screen of that height: at most ten, never over the conversation."""
    return max(3, min(10, height // 3))


def classes(width: int, height: int) -> str:
    """The classes of a screen of that size, so that its first layout is the right one."""
    found = (max(step for step in steps if step[0] <= size) for steps, size in ((WIDTHS, width), (HEIGHTS, height)))
    return " ".join(name for _, name in found)
