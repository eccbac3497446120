"""A project with a database, and Claude Code sessions in it that call the hook."""

from __future__ import annotations

import io
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from milk_tui.core.records import AgentName, Percept, Role, Session
from milk_tui.interop import hook
from milk_tui.interop.hook import Asked
from milk_tui.interop.hook_context import MOST_CHARS
from milk_tui.paths import INSIDE_VARIABLE
from milk_tui.store import Store, percepts, sessions
from tests.support.mcp_client import ROOT

CONFIG = """\
[agents.qwen]
model = "openai/qwen"
role = "primary"
[agents.claude]
provider = "claude-cli"
role = "escalation"
"""
RECORD = """\
# Payment retries live in the queue worker

Date: 2026-04-14

Retries for card charges moved out of the web request handler and into the payments queue worker, after a retry loop in
the handler charged customers twice during a gateway timeout. Do not retry charges inside a request.
"""


class Claude:
    """A Claude Code session in the project's folder that calls the hook, in this process."""

    def __init__(self, project: Path, session: str = "s1", named: str = "") -> None:
        self.project = project
        self.session = session
        self.named = named

    def payload(self, event: str, **more: object) -> bytes:
        common = {"session_id": self.session, "cwd": str(self.project), "transcript_path": "/t.jsonl"}
        return json.dumps({**common, "hook_event_name": event, **more}).encode()

    def raw(self, payload: bytes) -> object:
        return json.loads(hook.answer(io.BytesIO(payload), Asked(named=self.named)))

    def _given(self, event: str, **more: object) -> str:
        said = self.raw(self.payload(event, **more))
        if said == {}:
            return ""
        assert isinstance(said, dict)
        assert said.keys() == {"hookSpecificOutput"}, "it decides nothing, it only adds context"
        inner = said["hookSpecificOutput"]
        assert inner.keys() == {"hookEventName", "additionalContext"}
        assert inner["hookEventName"] == event
        assert len(inner["additionalContext"]) <= MOST_CHARS
        return str(inner["additionalContext"])

    def prompt(self, text: str, **more: object) -> str:
        return self._given("UserPromptSubmit", prompt=text, **more)

    def tool(self, name: str = "Bash", arguments: object = None, **more: object) -> str:
        return self._given("PreToolUse", tool_name=name, tool_input=arguments or {"command": "ls"}, **more)

    def event(self, name: str, **more: object) -> str:
        return self._given(name, **more)


class Project:
    """A folder with a database, a session and an agent that is Claude Code."""

    def __init__(self, root: Path, empty: Path) -> None:
        self.home, self.folder = root / "home", root / "project"
        self.folder.mkdir()
        for part in ("config", "data"):
            (self.home / part).mkdir(parents=True, mode=0o700)
        config = self.home / "config" / "config.toml"
        config.write_text(CONFIG)
        config.chmod(0o600)
        self.database = Path(shutil.copy(empty, self.home / "data" / "milk.db"))
        self.store = Store.open(self.database)
        self.session = self._begin()

    def _begin(self) -> Session:
        primary = AgentName(role=Role.PRIMARY, name="qwen", model="m", nonce="aaa111")
        deep = AgentName(role=Role.ESCALATION, name="claude", model="m", nonce="bbb222")
        return self.store.write_sync(
            lambda db: sessions.create(db, directory=str(self.folder), primary=primary, escalation=deep)
        )

    def learn(self, text: str, **more: object) -> Percept:
        return self.store.write_sync(
            lambda db: percepts.add(db, content=text, session_id=self.session.id, **more)  # type: ignore[arg-type]
        ).percept


@pytest.fixture
def project(tmp_path: Path, empty_database: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Project]:
    for name in ("MILK_TUI_CONFIG", "MILK_TUI_DATABASE", "CLAUDE_PROJECT_DIR", INSIDE_VARIABLE):
        monkeypatch.delenv(name, raising=False)
    made = Project(tmp_path, empty_database)
    monkeypatch.setenv("MILK_TUI_HOME", str(made.home))
    yield made
    made.store.close()


@pytest.fixture
def claude(project: Project) -> Claude:
    return Claude(project.folder)


def run(project: Project, payload: bytes, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    """The real command, as Claude Code runs it."""
    env = {**os.environ, "PYTHONPATH": str(ROOT), "MILK_TUI_HOME": str(project.home)}
    return subprocess.run(
        [sys.executable, "-m", "milk_tui", *arguments],
        input=payload,
        capture_output=True,
        env=env,
        cwd=project.folder,
        timeout=60,
        check=False,
    )
