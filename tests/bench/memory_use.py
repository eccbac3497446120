"""Resident memory of the screen's process when it has come to rest: a session of 10,000 turns and facts / an empty one.

Read from ``/proc``: Linux only.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from tests.bench import Options
from tests.bench._session import used_home
from tests.bench.startup import ROOT, home
from tests.support.terminal import Terminal

READY = "to ● bench"
"""What the prompt's frame says when session and agents are there."""


def run(options: Options) -> dict[str, object]:
    runs = options.runs or (1 if options.quick else 5)
    many = int(options.extra.get("turns", 10_000))
    samples: dict[str, list[float]] = {"large": [], "empty": []}
    with tempfile.TemporaryDirectory(prefix="milk-tui-bench-") as folder:
        environs = {
            "large": used_home(Path(folder), "used", Path(folder), many=many),
            "empty": home(Path(folder), "empty"),
        }
        for _ in range(runs):
            for name, environ in environs.items():
                samples[name].append(resident_mb(environ, Path(folder)))
    medians = {name: statistics.median(values) for name, values in samples.items()}
    return {
        "ratio": round(medians["large"] / medians["empty"], 3),
        "large_mb": round(medians["large"], 1),
        "empty_mb": round(medians["empty"], 1),
        "turns": many,
        "samples": {name: [round(value, 1) for value in values] for name, values in samples.items()},
    }


def resident_mb(environ: Mapping[str, str], cwd: Path) -> float:
    """Of the program in a terminal, after it has been scrolled through ten pages and back."""
    env = {
        "PYTHONPATH": str(ROOT),
        "MILK_TUI_HOST_COMMAND": f"{sys.executable} -m tests.support.scripted_host",
        **environ,
    }
    with Terminal.spawn([sys.executable, "-m", "milk_tui"], env=env, cwd=cwd, cols=120, rows=40) as terminal:
        terminal.wait_for(READY, 60)
        terminal.settle(1.0, 10)
        terminal.press("f6")
        for key in ["pageup"] * 10 + ["end"]:
            terminal.press(key)
            terminal.settle(0.2, 3)
        status = Path(f"/proc/{terminal.pid}/status").read_text()
        terminal.kill()
    (line,) = (line for line in status.splitlines() if line.startswith("VmRSS:"))
    return int(line.split()[1]) / 1024
