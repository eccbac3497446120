"""How the program logs: no keys, no sequences for a terminal, no line that nobody wrote (``quality.md``, secrets)."""

from __future__ import annotations

import logging
from typing import TextIO

from milk_tui import own_keys

FORMAT = "%(asctime)s %(levelname)s %(name)s: %(message)s"
LONGEST = 20_000
"""Characters of one record; the middle of a longer one is left out."""


def safe(text: str) -> str:
    """A text for a log or beside an error: clean, without keys, bounded."""
    from milk_tui.core.secret_scan import masked
    from milk_tui.core.text import clean

    if len(text) > LONGEST:
        text = f"{text[: LONGEST // 2]}\n[…]\n{text[-LONGEST // 2 :]}"
    return masked(own_keys.out(clean(text)))


class SafeFormatter(logging.Formatter):
    """Every record is ``safe``; its further lines are moved in, so that only records begin a line."""

    def format(self, record: logging.LogRecord) -> str:
        return safe(super().format(record)).replace("\n", "\n    ")


def to(stream: TextIO, level: int = logging.WARNING) -> None:
    """Send all that is logged to a stream, and nowhere else."""
    handler = logging.StreamHandler(stream)
    handler.setFormatter(SafeFormatter(FORMAT))
    logging.basicConfig(handlers=[handler], level=level)


class ShortFormatter(SafeFormatter):
    """One line a record: where a traceback would follow, the error itself does."""

    def format(self, record: logging.LogRecord) -> str:
        from milk_tui.core.text import one_line

        error = record.exc_info[1] if record.exc_info else None
        short = logging.makeLogRecord({**record.__dict__, "exc_info": None, "exc_text": None, "stack_info": None})
        return super().format(short) + (f": {one_line(safe(str(error)), 300)}" if error is not None else "")


def say_warnings_safely() -> None:
    """Where no log was set up, Python prints warnings as they come; from here on harmless, and without
    tracebacks, which only ``--debug`` shows."""
    if logging.lastResort is not None:
        logging.lastResort.setFormatter(ShortFormatter("milk-tui: %(message)s"))
