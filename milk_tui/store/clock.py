"""The only clock of the store; rules get their times passed in."""

from __future__ import annotations

import time


def now_ms() -> int:
    """UTC in milliseconds since 1970."""
    return time.time_ns() // 1_000_000
