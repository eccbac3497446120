"""``milk-tui hook`` is never in the way: whatever it is called with, whatever state the database is in."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from milk_tui.core.records import Consumer
from milk_tui.interop.hook_payload import EVENTS, read
from milk_tui.paths import INSIDE_VARIABLE
from milk_tui.store.migrations import VERSION
from tests.interop.hooked import Claude, Project, claude, project, run

__all__ = ["claude", "project"]


def test_agents_that_the_screen_runs_get_nothing_twice(
    project: Project, claude: Claude, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.learn("Prices are integers in cents")
    monkeypatch.setenv(INSIDE_VARIABLE, "1")
    assert claude.prompt("How are prices stored?") == ""


@pytest.mark.parametrize("event", ["Stop", "PostToolUse", "Notification", "PreCompact", ""])
def test_other_events_are_answered_by_nothing(project: Project, claude: Claude, event: str) -> None:
    project.learn("Never touch production", pinned=True)
    assert claude.event(event) == ""


@pytest.mark.parametrize(
    "payload",
    [b"", b"{", b"[]", b"7", b"\xff", b"[" * 100_000, b'{"hook_event_name": ["UserPromptSubmit"]}', b"null"],
)
def test_what_is_no_payload_is_answered_by_nothing(claude: Claude, payload: bytes) -> None:
    assert claude.raw(payload) == {}


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(
    payload=st.dictionaries(
        st.sampled_from(["session_id", "cwd", "prompt", "tool_name", "tool_input", "agent_id", "source"]),
        st.none() | st.text(max_size=30) | st.integers() | st.dictionaries(st.text(max_size=4), st.text(max_size=9)),
    ),
    event=st.sampled_from(EVENTS),
)
def test_no_payload_breaks_it(project: Project, claude: Claude, payload: dict[str, object], event: str) -> None:
    said = claude.raw(json.dumps({**payload, "hook_event_name": event}).encode())
    assert isinstance(said, dict)


def test_a_payload_says_where_and_what() -> None:
    payload = {
        "hook_event_name": "PreToolUse",
        "session_id": "x" * 500,
        "cwd": "/tmp",
        "tool_input": {"content": "y" * 9_000, "file_path": "a.py", "n": 3},
    }
    boundary = read(json.dumps(payload).encode(), {})
    assert boundary is not None
    assert (len(boundary.remote_id), boundary.query[:5], len(boundary.query)) == (200, "a.py ", 405)


class Spoiled:
    """The ways in which a database can't be read."""

    @staticmethod
    def missing(database: Path) -> None:
        database.unlink()

    @staticmethod
    def newer(database: Path) -> None:
        conn = sqlite3.connect(database)
        conn.execute(f"pragma user_version = {VERSION + 1}")
        conn.close()

    @staticmethod
    def older(database: Path) -> None:
        conn = sqlite3.connect(database)
        conn.execute(f"pragma user_version = {VERSION - 1}")
        conn.close()

    @staticmethod
    def another_programs(database: Path) -> None:
        conn = sqlite3.connect(database)
        conn.execute("pragma application_id = 7")
        conn.close()

    @staticmethod
    def damaged(database: Path) -> None:
        data = bytearray(database.read_bytes())
        data[4096:] = b"\xa5" * (len(data) - 4096)
        database.write_bytes(data)

    @staticmethod
    def no_database(database: Path) -> None:
        database.write_bytes(b"hello" * 2_000)

    @staticmethod
    def empty(database: Path) -> None:
        database.write_bytes(b"")

    @staticmethod
    def a_folder(database: Path) -> None:
        database.unlink()
        database.mkdir()


@pytest.mark.parametrize("way", [name for name in vars(Spoiled) if not name.startswith("_")])
def test_a_database_that_cant_be_read_is_left_alone_and_the_prompt_goes_on(
    project: Project, claude: Claude, way: str
) -> None:
    project.learn("Never touch production", pinned=True)
    project.store.close()
    for part in project.database.parent.iterdir():
        if part != project.database and part.is_file():
            part.unlink()
    getattr(Spoiled, way)(project.database)
    before = sorted((p.name, p.stat().st_size) for p in project.database.parent.iterdir())
    assert claude.prompt("anything") == ""
    assert claude.tool() == ""
    assert sorted((p.name, p.stat().st_size) for p in project.database.parent.iterdir()) == before


def test_a_locked_database_holds_up_no_prompt(project: Project, claude: Claude) -> None:
    project.learn("Never touch production", pinned=True)
    payload = claude.payload("UserPromptSubmit", prompt="anything")
    blocker = sqlite3.connect(project.database, isolation_level=None)
    blocker.execute("begin immediate")
    written = run(project, payload, "hook")
    assert (written.returncode, b"production" in written.stdout) == (0, True), "reading needs no lock"
    assert b"production" in run(project, payload, "hook").stdout, "that it was told could not be kept"
    blocker.execute("rollback")
    project.store.close()
    blocker.execute("pragma locking_mode = exclusive")
    blocker.execute("begin exclusive")
    locked = run(project, payload, "hook")
    assert (locked.returncode, json.loads(locked.stdout)) == (0, {})
    blocker.close()


def test_the_command_takes_files_and_a_name(project: Project, claude: Claude, tmp_path: Path) -> None:
    project.learn("Only for the fast one", pinned=True, consumer=Consumer.PRIMARY)
    payload = claude.payload("UserPromptSubmit", prompt="anything")
    assert b"fast one" in run(project, payload, "hook", "--as", "qwen").stdout
    assert json.loads(run(project, payload, "hook").stdout) == {}
    elsewhere = run(project, payload, "--database", str(tmp_path / "no.db"), "hook", "--as", "qwen")
    assert (elsewhere.returncode, json.loads(elsewhere.stdout)) == (0, {})
    assert not (tmp_path / "no.db").exists()
    broken = tmp_path / "broken.toml"
    broken.write_text("[")
    broken.chmod(0o600)
    spoiled = run(project, payload, "--config", str(broken), "hook", "--as", "qwen")
    assert (spoiled.returncode, json.loads(spoiled.stdout)) == (0, {})
    assert b"broken.toml" in spoiled.stderr


@pytest.mark.parametrize("wrong", [("hook", "--as"), ("hook", "--nope"), ("--nope", "hook"), ("hook", "nothing")])
def test_a_settings_file_that_calls_it_wrongly_stops_no_prompt(
    project: Project, claude: Claude, wrong: tuple[str, ...]
) -> None:
    """A hook's exit code 2 takes the person's prompt away."""
    done = run(project, claude.payload("UserPromptSubmit", prompt="anything"), *wrong)
    assert (done.returncode, json.loads(done.stdout)) == (0, {})
    assert b"milk-tui" in done.stderr
