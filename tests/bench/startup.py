"""From spawn until a typed key is on the screen: ``milk-tui`` with an empty database / the smallest Textual app.

The key is typed as soon as the first frame is there, as an impatient person would. Runs alternate between the two
programs, so that what else the machine does hits both. Bytecode is compiled before, as an installer does.
"""

from __future__ import annotations

import compileall
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.bench import Options
from tests.support.terminal import Terminal

ROOT = Path(__file__).resolve().parents[2]
PROBE = "Q"
"""A letter that neither program shows by itself."""
_DEADLINE_S = 60.0


def run(options: Options) -> dict[str, object]:
    runs = options.runs or (5 if options.quick else 15)
    compile_bytecode()
    samples: dict[str, list[float]] = {"milk_tui": [], "smallest_app": []}
    painted: dict[str, list[float]] = {"milk_tui": [], "smallest_app": []}
    with tempfile.TemporaryDirectory(prefix="milk-tui-bench-") as folder:
        programs = {
            "milk_tui": ([sys.executable, "-m", "milk_tui"], home(Path(folder), "empty")),
            "smallest_app": ([sys.executable, "-m", "tests.support.smallest_app"], {}),
        }
        for number in range(runs + 1):
            for name, (argv, env) in programs.items():
                first_paint, ready = until_ready(argv, env, Path(folder))
                if number:
                    painted[name].append(first_paint)
                    samples[name].append(ready)
    medians = {name: statistics.median(values) for name, values in samples.items()}
    return {
        "ratio": round(medians["milk_tui"] / medians["smallest_app"], 3),
        "milk_tui_s": round(medians["milk_tui"], 3),
        "smallest_app_s": round(medians["smallest_app"], 3),
        "first_paint_ratio": round(
            statistics.median(painted["milk_tui"]) / statistics.median(painted["smallest_app"]), 3
        ),
        "samples": {name: [round(value, 4) for value in values] for name, values in samples.items()},
    }


def home(folder: Path, name: str) -> dict[str, str]:
    """An environment with a home of the program's own, where nothing is found and nothing is fetched."""
    root = folder / name
    config = root / "config"
    config.mkdir(parents=True, mode=0o700, exist_ok=True)
    file = config / "config.toml"
    file.write_text('[session]\nprimary = "openai/bench"\n', encoding="utf-8")
    file.chmod(0o600)
    return {
        "MILK_TUI_HOME": str(root),
        "MILK_TUI_PROBE_PORTS": "none",
        "OPENAI_API_KEY": "none",
        "ANTHROPIC_API_KEY": "",
    }


def until_ready(argv: Sequence[str], env: Mapping[str, str], cwd: Path) -> tuple[float, float]:
    """Seconds until the first frame, and until a key typed then is on the screen."""
    env = {"PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "", **env}
    with Terminal.spawn(argv, env=env, cwd=cwd) as terminal:
        terminal.wait_for(lambda screen: screen.strip(), _DEADLINE_S)
        first_paint = time.perf_counter() - terminal.spawned_at
        terminal.send(PROBE)
        terminal.wait_for(PROBE, _DEADLINE_S)
        ready = time.perf_counter() - terminal.spawned_at
        terminal.kill()
        return first_paint, ready


def compile_bytecode() -> None:
    """Compile the package, as an installer does; nothing happens when that is done."""
    if os.access(ROOT / "milk_tui", os.W_OK):
        compileall.compile_dir(ROOT / "milk_tui", quiet=2)
        compileall.compile_dir(ROOT / "tests" / "support", quiet=2)
