"""As ``startup``, with a session of 10,000 turns and 10,000 facts, which is shown at once."""

from __future__ import annotations

import statistics
import sys
import tempfile
from pathlib import Path

from tests.bench import Options
from tests.bench._session import used_home
from tests.bench.startup import compile_bytecode, until_ready


def run(options: Options) -> dict[str, object]:
    runs = options.runs or (5 if options.quick else 15)
    many = int(options.extra.get("turns", 10_000))
    compile_bytecode()
    samples: dict[str, list[float]] = {"milk_tui": [], "smallest_app": []}
    with tempfile.TemporaryDirectory(prefix="milk-tui-bench-") as folder:
        programs = {
            "milk_tui": ([sys.executable, "-m", "milk_tui"], used_home(Path(folder), "used", Path(folder), many=many)),
            "smallest_app": ([sys.executable, "-m", "tests.support.smallest_app"], {}),
        }
        for number in range(runs + 1):
            for name, (argv, env) in programs.items():
                _, ready = until_ready(argv, env, Path(folder))
                if number:
                    samples[name].append(ready)
    medians = {name: statistics.median(values) for name, values in samples.items()}
    return {
        "ratio": round(medians["milk_tui"] / medians["smallest_app"], 3),
        "milk_tui_s": round(medians["milk_tui"], 3),
        "smallest_app_s": round(medians["smallest_app"], 3),
        "turns": many,
        "samples": {name: [round(value, 4) for value in values] for name, values in samples.items()},
    }
