"""The installed program as a person has it: a home of its own, a project folder, a terminal or a pipe."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from milk_tui.engine.hosted import HOSTED
from milk_tui.store import Store
from tests.support.terminal import Terminal

ROOT = Path(__file__).parent.parent.parent
AGENTS = ("--primary", "openai/fast", "--escalation", "openai/deep")
NOT_OURS = ("MILK_TUI_CONFIG", "MILK_TUI_DATABASE", "MILK_TUI_MODELS", "MILK_TUI_HOST_COMMAND")


def program() -> list[str]:
    """The command that installing made; the module where the environment has no scripts."""
    script = Path(sys.executable).with_name("milk-tui")
    return [str(script)] if script.exists() else [sys.executable, "-m", "milk_tui"]


@dataclass(frozen=True)
class Ran:
    """What a command did."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


@dataclass(frozen=True)
class Place:
    """A person's machine: nothing is found on it by itself, and the model host is the scripted one unless a test wants
    the real one.

    ``script``: replies to the first requests, one line of directives each; else the prompt holds them.
    """

    root: Path
    scripted: bool = True
    agents: Sequence[str] = AGENTS
    before: Sequence[str] = ()
    """What the program is run by: a command's beginning."""

    @property
    def home(self) -> Path:
        return self.root / "home"

    @property
    def project(self) -> Path:
        return self.root / "project"

    @property
    def database(self) -> Path:
        return self.home / "data" / "milk.db"

    @property
    def config(self) -> Path:
        return self.home / "config" / "config.toml"

    @property
    def script(self) -> Path:
        return self.root / "script"

    def write_config(self, text: str) -> None:
        self.config.parent.mkdir(parents=True, exist_ok=True)
        self.config.write_text(text)
        self.config.chmod(0o600)

    def replies(self, *lines: str) -> None:
        """What the scripted model answers to its next requests, whatever is asked."""
        self.script.write_text("".join(f"{line}\n" for line in lines))

    def environment(self, **more: str) -> dict[str, str]:
        """Added to that of the tests; an empty value takes a name away."""
        names = {
            "MILK_TUI_HOME": str(self.home),
            "MILK_TUI_PROBE_PORTS": "none",
            "PYTHONPATH": str(ROOT),
            "OPENAI_API_KEY": "test-key-of-no-worth",
        }
        if self.scripted:
            command = [sys.executable, "-m", "tests.support.scripted_host", "--record", str(self.root / "requests")]
            if self.script.exists():
                command += ["--script", str(self.script)]
            names["MILK_TUI_HOST_COMMAND"] = shlex.join(command)
        unset = dict.fromkeys((*NOT_OURS, *(hosted.key for hosted in HOSTED)), "")
        return {**unset, **names, **more}

    def open(self, *arguments: str, cols: int = 120, rows: int = 40, **environ: str) -> Terminal:
        """The program on a screen."""
        return Terminal.spawn(
            [*self.before, *program(), *self.agents, *arguments],
            cols=cols,
            rows=rows,
            env=self.environment(**environ),
            cwd=self.project,
        )

    def run(self, *arguments: str, piped: str | None = None, **environ: str) -> Ran:
        """The program without a screen."""
        names = {**os.environ, **self.environment(**environ)}
        done = subprocess.run(
            [*self.before, *program(), *arguments],
            env={name: value for name, value in names.items() if value},
            cwd=self.project,
            input=piped,
            stdin=subprocess.DEVNULL if piped is None else None,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        return Ran(done.returncode, done.stdout, done.stderr)

    def ask(self, *arguments: str, **options: Any) -> Ran:
        """Like ``run``, with the agents named."""
        return self.run(*self.agents, *arguments, **options)

    @contextmanager
    def store(self) -> Iterator[Store]:
        store = Store.open(self.database)
        try:
            yield store
        finally:
            store.close()

    def read(self, fn: Callable[..., Any]) -> Any:
        with self.store() as store:
            return store.read_sync(fn)

    def processes(self) -> list[str]:
        """The commands of this machine's processes that know of this home; empty where the system doesn't say."""
        mark, found = os.fsencode(self.root), []
        for entry in Path("/proc").glob("[0-9]*"):
            try:
                command = (entry / "cmdline").read_bytes()
                if mark in command or mark in (entry / "environ").read_bytes():
                    found.append(command.replace(b"\0", b" ").decode(errors="replace"))
            except OSError:
                continue
        return found

    def wait_alone(self, deadline_s: float = 20.0) -> None:
        """Return when no process of this home is left."""
        until = time.monotonic() + deadline_s
        while left := self.processes():
            assert time.monotonic() < until, f"left running: {left}"
            time.sleep(0.05)

    def requests(self) -> list[dict[str, Any]]:
        """What the model host was asked, in order."""
        file = self.root / "requests"
        return [json.loads(line) for line in file.read_text("utf-8").split("\n")[:-1]] if file.exists() else []


@pytest.fixture
def place(tmp_path: Path) -> Place:
    (tmp_path / "project").mkdir()
    return Place(tmp_path)
