"""While the screen is up, only the screen writes to the terminal.

Libraries, child processes and the interpreter itself write to the file descriptors 1 and 2; those lead to
a log file meanwhile, and the screen has a descriptor of its own.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from milk_tui.paths import make_private
from milk_tui.ui.browser import IN_BROWSER

LONGEST_LOG = 1_000_000
"""Bytes of an old log that are kept; a longer one is begun anew."""


@contextmanager
def only_the_screen(log: Path) -> Iterator[int]:
    """Lead descriptors 1 and 2 to ``log``; gives the terminal's own descriptor.

    Textual draws on ``sys.__stderr__``, which is the terminal meanwhile; in a browser on ``sys.__stdout__``, which is
    the pipe to the server. A log that can't be written is done without.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    before = (os.dup(1), os.dup(2))
    terminal_fd = os.dup(1 if IN_BROWSER else 2)
    streams = (sys.__stdout__, sys.__stderr__)
    terminal = open(terminal_fd, "w", encoding="utf-8", errors="replace", closefd=False)  # noqa: SIM115
    sink = _open_log(log)
    try:
        os.dup2(sink, 1)
        os.dup2(sink, 2)
        sys.__stdout__ = sys.__stderr__ = terminal  # type: ignore[misc]
        yield terminal_fd
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        with suppress(OSError):  # the terminal may be gone
            terminal.flush()
        sys.__stdout__, sys.__stderr__ = streams  # type: ignore[misc]
        for number, descriptor in enumerate(before, 1):
            os.dup2(descriptor, number)
            os.close(descriptor)
        os.close(terminal_fd)
        os.close(sink)


def _open_log(log: Path) -> int:
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW
    try:
        make_private(log.parent)
        if log.exists() and log.stat().st_size > LONGEST_LOG:
            flags |= os.O_TRUNC
        return os.open(log, flags, 0o600)
    except OSError:
        return os.open(os.devnull, os.O_WRONLY)
