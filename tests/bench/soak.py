"""``ratio``: the larger of latency and memory at turn 2,000 / at turn 100, the program in one process all the time
(``quality.md``, "Speed").

The whole program without a terminal: the screen draws every turn, the engine works with the scripted model host. Every
turn streams an answer and calls tools, every fourth records a fact, every tenth goes to the escalation agent, every
twenty-fifth hands itself over, and the recall helper runs beside them. ``--set turns=N`` makes it shorter.

File descriptors, threads and children are counted at both places; ``bytes_per_turn`` is what the database grew by.
Reads ``/proc``: Linux only.
"""

from __future__ import annotations

import asyncio
import os
import statistics
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.bench import Options

EARLY = 100
SPAN = 50
"""Turns before each place over which the latency is a median."""


@dataclass
class Place:
    """What the process used after a turn."""

    turn: int
    resident_mb: float
    descriptors: int
    threads: int
    children: int
    database_bytes: int


@dataclass
class Watch:
    took_s: list[float] = field(default_factory=list)
    places: list[Place] = field(default_factory=list)

    def latency_s(self, turn: int) -> float:
        return statistics.median(self.took_s[max(0, turn - SPAN) : turn])


def run(options: Options) -> dict[str, Any]:
    many = int(options.extra.get("turns", 300 if options.quick else 2_000))
    watch = asyncio.run(_live(many))
    early, late = (next(p for p in watch.places if p.turn == turn) for turn in (EARLY, many))
    before, last = (next(p for p in watch.places if p.turn == turn) for turn in (2 * EARLY, many - EARLY))
    latency = watch.latency_s(many) / watch.latency_s(EARLY)
    memory = late.resident_mb / early.resident_mb
    growth_early = (before.database_bytes - early.database_bytes) / EARLY
    growth_late = (late.database_bytes - last.database_bytes) / EARLY
    return {
        "ratio": round(max(latency, memory), 3),
        "latency_ratio": round(latency, 3),
        "memory_ratio": round(memory, 3),
        "ms_per_turn": [round(watch.latency_s(turn) * 1000, 1) for turn in (EARLY, many)],
        "resident_mb": [round(place.resident_mb, 1) for place in (early, late)],
        "descriptors": [early.descriptors, late.descriptors],
        "threads": [early.threads, late.threads],
        "children": [early.children, late.children],
        "bytes_per_turn": [round(growth_early), round(growth_late)],
        "growth_ratio": round(growth_late / growth_early, 3),
        "turns": many,
        "samples": {
            "ms": [round(took * 1000, 1) for took in watch.took_s],
            "resident_mb": [(place.turn, round(place.resident_mb, 1)) for place in watch.places],
        },
    }


def prompt(number: int) -> str:
    """What a turn does, as the scripted host reads it."""
    part = ("handler", "queue", "ledger", "basket", "gateway")[number % 5]
    tools = f'SCN:tool read_file {{"path": "{part}.py"}} SCN:tool grep {{"pattern": "def {part}"}}'
    if number % 25 == 0:
        reason = f'SCN:tool escalate {{"reason": "part {number}"}}'
        return f"look at {part} {number} {tools} SCN:then {reason} SCN:then SCN:say Done."
    said = f"In {part}.py line {number} calls itself once. " * 6
    fact = f" SCN:tag percept {part} number {number} is called from line {number * 3}." if number % 4 == 0 else ""
    return f"look at {part} {number} SCN:think where is it {tools} SCN:then SCN:say {said}{fact}"


async def _live(many: int) -> Watch:
    from milk_tui.engine.launch import Launch
    from milk_tui.engine.workspace import HOST_COMMAND_VARIABLE
    from milk_tui.ui.app import MilkApp

    watch = Watch()
    with tempfile.TemporaryDirectory(prefix="milk-tui-bench-") as folder:
        home, project = Path(folder) / "home", Path(folder) / "project"
        (project / "memory").mkdir(parents=True)
        for part in ("handler", "queue", "ledger", "basket", "gateway"):
            (project / f"{part}.py").write_text("\n".join(f"def {part}_{n}():\n    return {n}" for n in range(40)))
        records = Path(__file__).parent.parent / "data" / "reminders"
        for record in records.glob("*/memory/*.md"):
            (project / "memory" / record.name).write_bytes(record.read_bytes())
        config = home / "config" / "config.toml"
        config.parent.mkdir(parents=True)
        config.write_text(
            "[helper]\nenabled = true\nsettle = 0.5\n[memory]\nsemantic = false\n[routing]\nweigh = false\n"
            "max_escalations_per_hour = 100000\n"
        )
        config.chmod(0o600)
        os.environ |= {
            "MILK_TUI_HOME": str(home),
            "MILK_TUI_PROBE_PORTS": "none",
            "OPENAI_API_KEY": "test-key-of-no-worth",
            HOST_COMMAND_VARIABLE: f"{sys.executable} -m tests.support.scripted_host",
        }
        app = MilkApp(Launch(directory=project, primary="openai/fast", escalation="openai/deep"))
        async with app.run_test(size=(120, 40)) as pilot:
            conductor = await _opened(app)
            for number in range(1, many + 1):
                began = time.perf_counter()
                await conductor.submit(prompt(number), escalate=number % 10 == 3)
                await conductor.wait_idle()
                await pilot.pause()
                watch.took_s.append(time.perf_counter() - began)
                if number % EARLY == 0:
                    watch.places.append(_place(number, home))
    return watch


async def _opened(app: Any) -> Any:
    for _ in range(1_500):
        workspace, conductor = app.control.workspace, app.control.conductor
        if conductor and conductor.ready and workspace.host is not None and workspace.host.state == "ready":
            return conductor
        await asyncio.sleep(0.02)
    raise TimeoutError("the program did not become ready")


def _place(turn: int, home: Path) -> Place:
    status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines() if ":" in line)
    children = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
    files = [file for file in home.rglob("*.db*") if file.is_file()]
    return Place(
        turn,
        int(status["VmRSS"].split()[0]) / 1024,
        len(list(Path("/proc/self/fd").iterdir())),
        int(status["Threads"]),
        len(children),
        sum(file.stat().st_size for file in files if file.name.endswith(".db")),
    )
