"""What the program costs while nobody does anything: CPU seconds of a minute / those of the smallest app.

Both programs run side by side in terminals of the same size, ours with an answered session, the input focused; all
their processes count (the model host too). Only what happens after the start has come to rest is measured, in windows
one after another; ``bytes_written`` says what was drawn meanwhile. Read from ``/proc``: Linux only.
"""

from __future__ import annotations

import select
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from tests.bench import Options
from tests.bench.memory_use import READY
from tests.bench.startup import ROOT, compile_bytecode, home
from tests.support.terminal import Terminal

WINDOW_S, QUICK_S = 30.0, 10.0
REST_S = 12.0
"""Seconds after the answer until nothing of it and of the start is left to do."""


def run(options: Options) -> dict[str, object]:
    runs = options.runs or (3 if options.quick else 5)
    seconds = float(options.extra.get("seconds", QUICK_S if options.quick else WINDOW_S))
    compile_bytecode()
    with tempfile.TemporaryDirectory(prefix="milk-tui-bench-") as folder:
        env = {
            "PYTHONPATH": str(ROOT),
            "MILK_TUI_HOST_COMMAND": f"{sys.executable} -m tests.support.scripted_host",
            **home(Path(folder), "idle"),
        }
        milk = Terminal.spawn([sys.executable, "-m", "milk_tui"], env=env, cwd=folder)
        smallest = Terminal.spawn(
            [sys.executable, "-m", "tests.support.smallest_app"], env={"PYTHONPATH": str(ROOT)}, cwd=folder
        )
        with milk, smallest:
            milk.wait_for(READY, 60)
            milk.send("say hello")
            milk.press("enter")
            milk.wait_for(lambda screen: READY in screen and "hello" in screen, 60)
            programs = {"milk_tui": milk, "smallest_app": smallest}
            _read_for(programs.values(), REST_S)
            samples: dict[str, list[float]] = {name: [] for name in programs}
            woken: dict[str, list[int]] = {name: [] for name in programs}
            for _ in range(runs):
                before = {name: (cpu_s(each.pid), each.raw_bytes) for name, each in programs.items()}
                _read_for(programs.values(), seconds)
                for name, each in programs.items():
                    cpu, written = before[name]
                    samples[name].append((cpu_s(each.pid) - cpu) * 60 / seconds)
                    woken[name].append(each.raw_bytes - written)
    medians = {name: statistics.median(values) for name, values in samples.items()}
    return {
        "ratio": round(medians["milk_tui"] / medians["smallest_app"], 3),
        "milk_tui_cpu_s_per_min": round(medians["milk_tui"], 3),
        "smallest_app_cpu_s_per_min": round(medians["smallest_app"], 3),
        "bytes_written": {name: statistics.median(values) for name, values in woken.items()},
        "samples": {name: [round(value, 4) for value in values] for name, values in samples.items()},
    }


def cpu_s(pid: int) -> float:
    """CPU seconds that a process and all below it have used, by the nanosecond."""
    return sum(
        int(task.joinpath("schedstat").read_text().split()[0]) / 1e9
        for process in tree(pid)
        for task in Path(f"/proc/{process}/task").iterdir()
    )


def tree(pid: int) -> Iterator[int]:
    """The process and all below it that are there now."""
    yield pid
    for task in Path(f"/proc/{pid}/task").iterdir():
        for child in task.joinpath("children").read_text().split():
            yield from tree(int(child))


def _read_for(terminals: object, seconds: float) -> None:
    """Take what the programs write, so that none waits for its terminal."""
    by_fd = {each.fd: each for each in terminals}  # type: ignore[attr-defined]
    until = time.monotonic() + seconds
    while (left := until - time.monotonic()) > 0:
        for fd in select.select(list(by_fd), [], [], left)[0]:
            by_fd[fd].pump(0)
