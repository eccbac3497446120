"""The command as a person runs it, in this process: real files in a folder of its own, no server, no key."""

from __future__ import annotations

import io
import json
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import milk_tui
from milk_tui.cli.root import run
from milk_tui.core.records import AgentName, ContextMode, LegStatus, Role, Session, TurnStatus
from milk_tui.engine.hosted import HOSTED
from milk_tui.store import Store, legs, sessions, turns


@dataclass(frozen=True)
class Ran:
    """What a command did."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Milk = Callable[..., Ran]

ROOT = Path(milk_tui.__file__).parent.parent


def environment(home: Path, **more: str) -> dict[str, str]:
    """For the program as a process of its own, from whatever folder it is started."""
    mine = {"MILK_TUI_HOME": str(home), "MILK_TUI_PROBE_PORTS": "none", "PYTHONPATH": str(ROOT)}
    keys = {hosted.key for hosted in HOSTED}
    return {**{name: value for name, value in os.environ.items() if name not in keys}, **mine, **more}


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home of its own; the project's folder in it is the current one."""
    project = tmp_path / "project"
    project.mkdir()
    monkeypatch.chdir(project)
    monkeypatch.setenv("MILK_TUI_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("MILK_TUI_PROBE_PORTS", "none")
    for name in (
        "MILK_TUI_CONFIG",
        "MILK_TUI_DATABASE",
        "MILK_TUI_MODELS",
        *(hosted.key for hosted in HOSTED),
    ):
        monkeypatch.delenv(name, raising=False)
    return tmp_path / "home"


@pytest.fixture
def milk(home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Milk:
    """Run ``milk-tui ARGUMENTS``; ``answers`` is what a person types."""

    def call(*arguments: str, answers: str = "") -> Ran:
        monkeypatch.setattr(sys, "stdin", io.StringIO(answers))
        capsys.readouterr()
        with pytest.raises(SystemExit) as left:
            run(list(arguments))
        captured = capsys.readouterr()
        return Ran(int(left.value.code or 0), captured.out, captured.err)

    return call


@pytest.fixture
def stored(home: Path) -> Session:
    """A session of the current folder with three turns, the last one escalated."""
    store = Store.open(home / "data" / "milk.db")
    agents = [
        AgentName(role=Role.PRIMARY, name="qwen", model="m/q", nonce="aaa111"),
        AgentName(role=Role.ESCALATION, name="claude", model="m/c", nonce="bbb222"),
    ]

    def fill(db: Any) -> Session:
        session = sessions.create(
            db, directory=str(Path.cwd()), primary=agents[0], escalation=agents[1], title="Double charge"
        )
        for number, agent in enumerate([agents[0], agents[0], agents[1]], 1):
            turn = turns.add(db, session.id, f"question {number}", owner=store.owner_id)
            leg = legs.create(
                db,
                turn.id,
                role=agent.role,
                agent_name=agent.name,
                model=agent.model,
                mode=ContextMode.FIRST,
                owner=store.owner_id,
                reason="needs a design" if agent.role is Role.ESCALATION else "",
            )
            legs.claim(db, leg.id)
            legs.finish(db, leg.id, LegStatus.DONE, text=f"answer {number} \x1b[31mred")
            turns.finish(db, turn.id, TurnStatus.DONE)
        return session

    session = store.write_sync(fill)
    store.close()
    return session
