"""From which size on a screen looks how (``ux.md``, "Main screen"): the style sheets name these classes."""

from __future__ import annotations

WIDTHS = [(0, "-narrow"), (80, "-medium"), (110, "-wide"), (160, "-huge")]
HEIGHTS = [(0, "-low"), (16, "-high")]


def classes(width: int, height: int) -> str:
    """The classes of a screen of that size, so that its first layout is the right one."""
    found = (max(step for step in steps if step[0] <= size) for steps, size in ((WIDTHS, width), (HEIGHTS, height)))
    return " ".join(name for _, name in found)
