"""5,000 chunks of 8 characters in a session of 10,000 turns, against one of 10 turns (``quality.md``: ratio <= 1.2,
``ms_per_chunk`` <= 1)."""

from __future__ import annotations

from typing import Any

from tests.bench import Options
from tests.bench._transcript import compare


def run(options: Options) -> dict[str, Any]:
    """Processor time for each chunk at 1,000 chunks a second, repaints included, in the large session."""
    result = compare("stream", "processor_ms", options)
    return {"ratio": result["ratio"], "ms_per_chunk": result["large_ms"], **result}
