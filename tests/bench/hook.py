"""``milk-tui hook`` at a prompt, 1,000 facts in memory / Python that imports json, sqlite3 and click."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Mapping
from itertools import count
from pathlib import Path

from tests.bench import Options
from tests.bench._spawned import compared


def run(options: Options) -> dict[str, object]:
    numbers = count()

    def once(env: Mapping[str, str], project: Path) -> float:
        payload = {
            "hook_event_name": "UserPromptSubmit",
            "session_id": f"session-{next(numbers)}",
            "cwd": str(project),
            "prompt": "Which rule do the retries of module 12 go by?",
        }
        begun = time.perf_counter()
        done = subprocess.run(
            [sys.executable, "-m", "milk_tui", "hook"],
            input=json.dumps(payload).encode(),
            capture_output=True,
            env=env,
            cwd=project,
            check=True,
        )
        seconds = time.perf_counter() - begun
        assert b"additionalContext" in done.stdout, done
        return seconds

    return compared(options, once)
