"""From a key to its letter on the screen: while 200 chunks a second arrive in a session of 10,000 turns / in the idle
smallest app.

Measured on the bytes that the program writes, so that the emulator's own time is none of it.
"""

from __future__ import annotations

import os
import re
import select
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from tests.bench import Options
from tests.bench._session import used_home
from tests.bench.startup import ROOT
from tests.support.terminal import Terminal

LETTERS = "QWXZJKVYU"
"""Neither program nor session shows them by itself."""
STREAM = r"SCN:delay 0.005 SCN:repeat 100000 word\x20"
_ESCAPES = re.compile(rb"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")
_DEADLINE_S = 10.0


def run(options: Options) -> dict[str, object]:
    rounds = options.runs or (5 if options.quick else 20)
    many = int(options.extra.get("turns", 10_000))
    with tempfile.TemporaryDirectory(prefix="milk-tui-bench-") as folder:
        environ = used_home(Path(folder), "used", Path(folder), many=many)
        environ["MILK_TUI_HOST_COMMAND"] = f"{sys.executable} -m tests.support.scripted_host"
        environ["PYTHONPATH"] = str(ROOT)
        with (
            Terminal.spawn([sys.executable, "-m", "milk_tui"], env=environ, cwd=folder, cols=120, rows=40) as milk,
            Terminal.spawn(
                [sys.executable, "-m", "tests.support.smallest_app"],
                env={"PYTHONPATH": str(ROOT)},
                cwd=folder,
                cols=120,
                rows=40,
            ) as smallest,
        ):
            smallest.settle(1.0, 10)
            milk.wait_for("to ● bench", 60)
            milk.settle(1.0, 10)
            milk.send(STREAM)
            milk.press("enter")
            milk.wait_for("word word word", 60)
            samples: dict[str, list[float]] = {"milk_tui": [], "smallest_app": []}
            for _ in range(rounds):
                samples["milk_tui"] += one_round(milk)
                samples["smallest_app"] += one_round(smallest)
            milk.kill()
    p95 = {name: percentile(values, 0.95) for name, values in samples.items()}
    medians = {name: statistics.median(values) for name, values in samples.items()}
    return {
        "p95_ratio": round(p95["milk_tui"] / p95["smallest_app"], 3),
        "median_ratio": round(medians["milk_tui"] / medians["smallest_app"], 3),
        "p95_ms": round(p95["milk_tui"] * 1000, 2),
        "smallest_app_p95_ms": round(p95["smallest_app"] * 1000, 2),
        "turns": many,
        "samples": {name: [round(value * 1000, 3) for value in values] for name, values in samples.items()},
    }


def one_round(terminal: Terminal) -> list[float]:
    """Every letter once, then the line is emptied again."""
    seconds = [until_shown(terminal, letter) for letter in LETTERS]
    terminal.press("ctrl+u")
    read_for(terminal, 0.15)
    return seconds


def until_shown(terminal: Terminal, letter: str) -> float:
    """Seconds from the key to the first output that has the letter as text."""
    read_for(terminal, 0.05)
    wanted, seen, began = letter.encode(), b"", time.perf_counter()
    os.write(terminal.fd, wanted)
    while time.perf_counter() - began < _DEADLINE_S:
        if select.select([terminal.fd], [], [], 0.5)[0]:
            seen += os.read(terminal.fd, 65_536)
            if wanted in _ESCAPES.sub(b"", seen):
                return time.perf_counter() - began
    raise AssertionError(f"{letter} is not shown after {_DEADLINE_S} s")


def read_for(terminal: Terminal, seconds: float) -> None:
    """Take what the program writes, so that it never waits for its terminal."""
    until = time.perf_counter() + seconds
    while (left := until - time.perf_counter()) > 0:
        if select.select([terminal.fd], [], [], left)[0]:
            os.read(terminal.fd, 65_536)


def percentile(values: Sequence[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]
