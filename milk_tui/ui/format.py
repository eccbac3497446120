"""Numbers, times and names as the screen writes them; everything is measured in terminal cells."""

from __future__ import annotations

import time
from bisect import bisect_right
from pathlib import Path

from rich.cells import cell_len, set_cell_size

FULL, EMPTY = "▰", "▱"
SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"

PRIMARY_MARK = "●"
ESCALATION_MARK = "◆"
PIN_MARK = "★"
HELPER_MARK = "◌"
USER_MARK = "❯"
SYSTEM_MARK = "◇"

ROLE_MARKS = {"primary": PRIMARY_MARK, "escalation": ESCALATION_MARK}
PRODUCER_MARKS = {
    "user": USER_MARK,
    "primary": PRIMARY_MARK,
    "escalation": ESCALATION_MARK,
    "helper": HELPER_MARK,
    "system": SYSTEM_MARK,
}


def gauge(fraction: float, cells: int = 5) -> str:
    """A bar of ``cells``: anything above nothing fills at least one, anything below all leaves one
    empty."""
    fraction = min(1.0, max(0.0, fraction))
    filled = round(fraction * cells)
    if 0 < fraction < 1:
        filled = min(max(filled, 1), cells - 1)
    return FULL * filled + EMPTY * (cells - filled)


def percent(fraction: float) -> str:
    return f"{round(fraction * 100)} %"


def count(number: int) -> str:
    """``940`` · ``1.2k`` · ``12.4k`` · ``3.1M``"""
    for limit, divisor, unit in ((1_000, 1, ""), (999_950, 1_000, "k"), (10**15, 1_000_000, "M")):
        if number < limit:
            return f"{number}" if divisor == 1 else f"{number / divisor:.1f}{unit}"
    return f"{number:.1e}"


def money(dollars: float) -> str:
    """``$0.08``; what is below a cent keeps two figures."""
    return f"${dollars:.2f}" if dollars >= 0.01 or dollars == 0 else f"${dollars:.2g}"


def elapsed(seconds: float) -> str:
    """``7 s`` · ``2:05`` · ``1:02:05``"""
    whole = int(seconds)
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def clock(ms: int) -> str:
    """The local time of day, ``14:02``."""
    return time.strftime("%H:%M", time.localtime(ms / 1000))


def when(ms: int, now_ms: int) -> str:
    """How long ago, in one word or two; a date when it is more than a week."""
    minutes = max(0, now_ms - ms) // 60_000
    if minutes < 1:
        return "just now"
    for size, unit in ((60, "min"), (24, "h"), (7, "d")):
        if minutes < size:
            return f"{minutes} {unit} ago"
        minutes //= size
    return time.strftime("%Y-%m-%d", time.localtime(ms / 1000))


def moment(ms: int) -> str:
    """A local date and time, ``2026-03-01 14:02``."""
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(ms / 1000))


def weight(thousandths: int) -> str:
    return f"{thousandths / 1000:.2f}"


def directory(path: str) -> str:
    """The path with the home folder as ``~``."""
    home = str(Path.home())
    return "~" + path[len(home) :] if home != "/" and (path + "/").startswith(home + "/") else path


def plural(number: int, one: str, many: str = "") -> str:
    return f"{number} {one if number == 1 else many or one + 's'}"


def fit(text: str, cells: int) -> str:
    """The text in at most ``cells`` cells; what is cut ends in ``…``."""
    if cells <= 0:
        return ""
    if cell_len(text) <= cells:
        return text
    return _head(text, cells - 1).rstrip() + "…"


def fit_left(text: str, cells: int) -> str:
    """The end of the text in at most ``cells`` cells, for paths."""
    if cells <= 0:
        return ""
    if cell_len(text) <= cells:
        return text
    return "…" + _head(text[::-1], cells - 1)[::-1]


def pad(text: str, cells: int) -> str:
    """The text in exactly ``cells`` cells, on the left."""
    return set_cell_size(fit(text, cells), cells)


def wrap(text: str, cells: int, rows: int | None = None) -> list[str]:
    """Break a line of text between words into rows of at most ``cells``.

    The last of ``rows`` is cut with ``…``. A word longer than a row is broken where the row ends. At
    least one row comes back.
    """
    cells = max(1, cells)
    result: list[str] = []
    rest = text.strip()
    while rest and (rows is None or len(result) < rows):
        if cell_len(rest) <= cells:
            result.append(rest)
            return result
        if rows is not None and len(result) == rows - 1:
            result.append(fit(rest, cells))
            return result
        head = _head(rest, cells + 1)
        cut = head.rfind(" ")
        taken = head[:cut] if cut > 0 else _head(rest, cells) or rest[0]
        result.append(taken.rstrip())
        rest = rest[len(taken) :].lstrip()
    return result or [""]


def _head(text: str, cells: int) -> str:
    """The longest beginning of the text that is at most ``cells`` cells wide."""
    if cells <= 0:
        return ""
    if text.isascii():
        return text[:cells]
    text = text[: cells * 4]
    cut = bisect_right(range(len(text) + 1), cells, key=lambda end: cell_len(text[:end])) - 1
    return text[: max(0, cut)]
