"""How long a small command takes, beside the least that such a command could be: Python with three modules."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from milk_tui.core.records import AgentName, Role
from milk_tui.store import Store, percepts, sessions
from tests.bench import Options
from tests.bench.startup import ROOT, compile_bytecode

LEAST = [sys.executable, "-c", "import json, sqlite3, click"]
FACTS = 1_000
_TOPICS = ("prices", "retries", "the cache", "the queue", "dates", "the login", "the export", "invoices")


def compared(options: Options, measured: Callable[[Mapping[str, str], Path], float]) -> dict[str, object]:
    """The ratio of medians; the two take turns, so that what else the machine does hits both alike."""
    runs = options.runs or (7 if options.quick else 25)
    compile_bytecode()
    samples: dict[str, list[float]] = {"milk_tui": [], "least": []}
    with tempfile.TemporaryDirectory(prefix="milk-tui-bench-") as folder:
        project = Path(folder, "project")
        project.mkdir()
        env = environment(Path(folder))
        fill(Path(folder), project)
        programs = {"milk_tui": partial(measured, env, project), "least": partial(_least, env)}
        for number in range(runs + 1):
            for name, once in programs.items():
                seconds = once()
                if number:
                    samples[name].append(seconds)
    medians = {name: statistics.median(values) for name, values in samples.items()}
    return {
        "ratio": round(medians["milk_tui"] / medians["least"], 3),
        "milk_tui_s": round(medians["milk_tui"], 4),
        "least_s": round(medians["least"], 4),
        "samples": {name: [round(value, 4) for value in values] for name, values in samples.items()},
    }


def environment(folder: Path) -> dict[str, str]:
    """A home of its own with two agents, of which one is Claude Code's; bytecode is used, as after an installation."""
    config = folder / "config" / "config.toml"
    config.parent.mkdir(mode=0o700)
    config.write_text(
        '[agents.fast]\nmodel = "openai/fast"\nrole = "primary"\n'
        '[agents.claude]\nprovider = "claude-cli"\nrole = "escalation"\n',
        encoding="utf-8",
    )
    config.chmod(0o600)
    ours = {"PYTHONPATH": str(ROOT), "MILK_TUI_HOME": str(folder)}
    left_out = {"PYTHONDONTWRITEBYTECODE", "MILK_TUI_CONFIG", "MILK_TUI_DATABASE", "CLAUDE_PROJECT_DIR"}
    return {**{name: value for name, value in os.environ.items() if name not in left_out}, **ours}


def fill(folder: Path, project: Path) -> None:
    """A database with a session of the project and facts to look through."""
    store = Store.open(folder / "data" / "milk.db")
    agents = [AgentName(role=role, name=name, model="m", nonce=nonce) for role, name, nonce in _AGENTS]

    def write(db: object) -> None:
        session = sessions.create(db, directory=str(project.resolve()), primary=agents[0], escalation=agents[1])  # type: ignore[arg-type]
        for number in range(FACTS):
            topic = _TOPICS[number % len(_TOPICS)]
            text = f"Decision {number}: {topic} of module {number // 7} go by rule {number % 13}"
            percepts.add(db, content=text, session_id=session.id, pinned=number < 3)  # type: ignore[arg-type]

    store.write_sync(write)
    store.close()


_AGENTS = ((Role.PRIMARY, "fast", "aaa111"), (Role.ESCALATION, "claude", "bbb222"))


def _least(env: Mapping[str, str]) -> float:
    begun = time.perf_counter()
    subprocess.run(LEAST, env=env, check=True, stdin=subprocess.DEVNULL)
    return time.perf_counter() - begun
