"""A real workspace over a real database; the model host is the scripted one, so that prompts say what happens."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from milk_tui.engine.conductor import Conductor
from milk_tui.engine.events import AnyEvent
from milk_tui.engine.workspace import HOST_COMMAND_VARIABLE, Launch, Workspace
from tests.store.conftest import empty_database, session, store
from tests.support.polling import until

__all__ = ["Stage", "begin", "empty_database", "session", "store"]


class Stage:
    """A workspace with an open session, and everything it has published."""

    def __init__(self, workspace: Workspace, conductor: Conductor, record: Path) -> None:
        self.workspace = workspace
        self.conductor = conductor
        self.record = record
        self.events: list[AnyEvent] = []
        conductor.listen(self.events.append)

    async def say(self, prompt: str, **asked: object) -> int:
        """Submit and wait until nothing runs; the turn's id."""
        turn = await self.conductor.submit(prompt, **asked)  # type: ignore[arg-type]
        await self.conductor.wait_idle()
        return turn

    def of(self, kind: type) -> list:
        return [event for event in self.events if isinstance(event, kind)]

    async def seen(self, kind: type, where: Callable[..., bool] = lambda _: True) -> None:
        await until(lambda: any(where(event) for event in self.of(kind)), what=kind.__name__)

    async def read(self, fn: Callable):
        return await self.conductor.store.read(fn)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home of the program's own, where nothing is found by itself and the host is scripted."""
    record = tmp_path / "requests.jsonl"
    monkeypatch.setenv("MILK_TUI_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("MILK_TUI_PROBE_PORTS", "none")
    monkeypatch.setenv(
        HOST_COMMAND_VARIABLE, f"{sys.executable} -m tests.support.scripted_host --record {record}"
    )
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", "test-key-of-no-worth")
    return tmp_path


@pytest.fixture
def launch(home: Path) -> Launch:
    (home / "project").mkdir()
    return Launch(directory=home / "project", primary="openai/fast", escalation="openai/deep")


async def begin(launch: Launch, home: Path, which: str | None = None) -> Stage:
    workspace = Workspace.open(launch)
    conductor = await workspace.open_session(which)
    stage = Stage(workspace, conductor, home / "requests.jsonl")
    await workspace.start()
    await until(lambda: workspace.roster.known and conductor.ready, what="discovery")
    return stage


@pytest.fixture
async def stage(launch: Launch, home: Path) -> AsyncIterator[Stage]:
    stage = await begin(launch, home)
    yield stage
    await stage.workspace.aclose()
