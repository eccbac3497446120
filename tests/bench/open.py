"""Showing a session of 10,000 turns, against one of 10 turns (``quality.md``: ratio <= 1.5)."""

from __future__ import annotations

from typing import Any

from tests.bench import Options
from tests.bench._transcript import compare


def run(options: Options) -> dict[str, Any]:
    """From the store's rows until the last page is painted, each sample in a fresh headless app; processor time, which
    other programs on the machine do not change (the samples have the clock too)."""
    return compare("open", "processor_ms", options)
