"""What a server prints beside its protocol goes into a log: cleaned, without keys, never enough to fill a disk."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, TextIO

from milk_tui.safe_log import safe

LINE_BYTES = 8_000
"""The longest piece of a line that is kept; what follows stands on lines of its own."""
MOST_BYTES = 1_000_000
"""Of one connection; what comes beyond is read and dropped, so that the server does not wait."""
JOIN_S = 1.0


@contextmanager
def cleaned(log: Path) -> Iterator[TextIO]:
    """A file to write to for a child: what it prints there is added to ``log``."""
    reading, writing = os.pipe()
    try:
        kept = os.fdopen(os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), "ab", buffering=0)
    except OSError:
        os.close(reading)
        os.close(writing)
        raise
    copying = threading.Thread(target=_copy, args=(reading, kept), name="server-log", daemon=True)
    copying.start()
    try:
        with os.fdopen(writing, "w", encoding="utf-8") as errors:
            yield errors
    finally:
        copying.join(JOIN_S)


def _copy(reading: int, kept: BinaryIO) -> None:
    """Until every process that holds the other end has gone."""
    left = MOST_BYTES
    with os.fdopen(reading, "rb") as said, kept:
        while line := said.readline(LINE_BYTES):
            if left <= 0:
                continue
            text = safe(line.decode("utf-8", "replace").removesuffix("\n")).encode() + b"\n"
            left -= len(text)
            if left <= 0:
                text += b"[what it printed beyond this is left out]\n"
            with suppress(OSError):
                kept.write(text)
