"""``milk-tui hook install|uninstall|status`` and ``milk-tui mcp`` as a person types them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from milk_tui.interop.hook_payload import EVENTS
from tests.cli.conftest import Milk

SETTINGS = Path(".claude/settings.json")


def configure(home: Path) -> None:
    (home / "config").mkdir(parents=True)
    file = home / "config" / "config.toml"
    file.write_text('[agents.claude]\nprovider = "claude-cli"\nrole = "escalation"\n')
    file.chmod(0o600)


def test_it_is_installed_seen_and_taken_out(milk: Milk, home: Path) -> None:
    configure(home)
    assert "not installed (no such file)" in milk("hook", "status").out
    assert "calls it now" in milk("hook", "install").out
    assert set(json.loads(SETTINGS.read_text())["hooks"]) == set(EVENTS)
    assert "calls it already" in milk("hook", "install").out
    status = milk("hook", "status")
    assert (status.code, "installed" in status.out, "as claude, the escalation agent" in status.out) == (0, True, True)
    (shared, local) = milk("hook", "status", "--json").json
    assert (shared["complete"], local["found"]) == (True, False)
    assert "no longer" in milk("hook", "uninstall").out
    assert not SETTINGS.exists()
    assert "does not call it" in milk("hook", "uninstall").out


def test_a_name_and_files_go_into_the_command(milk: Milk, home: Path, tmp_path: Path) -> None:
    configure(home)
    database = tmp_path / "a b.db"
    milk("--database", str(database), "hook", "install", "--as", "stranger", "--local")
    hooks = json.loads(Path(".claude/settings.local.json").read_text())["hooks"]
    (handler,) = hooks["UserPromptSubmit"][0]["hooks"]
    assert handler["command"].endswith(f"--database '{database}' hook --as stranger")
    assert "none of the configured agents" in milk("hook", "status").out
    assert not SETTINGS.exists()


def test_a_program_that_has_moved_is_said(milk: Milk, home: Path) -> None:
    milk("hook", "install")
    assert "not found here" not in milk("hook", "status").out
    SETTINGS.write_text(SETTINGS.read_text().replace('"command": "', '"command": "/gone/bin/'))
    assert "not found here" in milk("hook", "status").out
    SETTINGS.write_text(SETTINGS.read_text().replace(" hook", " hook 'unclosed"))
    assert milk("hook", "status").code == 0


def test_settings_that_are_broken_are_not_touched(milk: Milk, home: Path) -> None:
    SETTINGS.parent.mkdir()
    SETTINGS.write_text("{ // mine\n}")
    for verb in ("install", "uninstall", "status"):
        done = milk("hook", verb)
        assert (done.code, "line 1, column 3" in done.err) == (1, True)
    assert SETTINGS.read_text() == "{ // mine\n}"
    assert len(list(SETTINGS.parent.iterdir())) == 1


@pytest.mark.parametrize("noun", ["hook", "mcp"])
def test_the_help_says_who_the_client_is(milk: Milk, noun: str) -> None:
    said = milk(noun, "--help")
    assert (said.code, "--as" in said.out) == (0, True)
