"""``milk-tui serve`` before a page is opened: what it refuses, and what it passes on."""

from __future__ import annotations

import importlib.util
import socket
import sys
from pathlib import Path

import pytest

from milk_tui.cli.options import Options
from milk_tui.cli.serve import program


def test_an_address_that_others_reach_needs_a_word_more(milk) -> None:
    ran = milk("serve", "--host", "0.0.0.0")
    assert ran.code == 2
    assert "--expose" in ran.err and "ssh -L" in ran.err


def test_without_the_extra_it_says_what_to_install(milk, monkeypatch: pytest.MonkeyPatch) -> None:
    real = importlib.util.find_spec
    monkeypatch.setattr("milk_tui.cli.serve.find_spec", lambda name: None if name == "textual_serve" else real(name))
    ran = milk("serve")
    assert ran.code == 1
    assert 'pip install "milk-tui[serve]"' in ran.err and "Traceback" not in ran.err


def test_a_port_that_is_taken_is_named(milk) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        ran = milk("serve", "--port", str(port))
    assert ran.code == 1
    assert str(port) in ran.err and "--port 0" in ran.err


def test_two_sessions_at_once_are_wrong_usage(milk) -> None:
    assert milk("serve", "--new", "--session", "x").code == 2


def test_a_config_that_cannot_be_read_is_said_at_once(milk, tmp_path: Path) -> None:
    broken = tmp_path / "broken.toml"
    broken.write_text("[ui]\nzzz = 1\n")
    broken.chmod(0o600)
    ran = milk("--config", str(broken), "serve")
    assert ran.code == 1 and "ui.zzz" in ran.err


def test_a_pages_program_is_told_what_the_server_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    options = Options(primary="openai/x", escalation="-odd", config=Path("c.toml"), database=Path("d.db"), debug=True)
    assert program(options, session="--name", new=False) == [
        *(sys.executable, "-P", "-m", "milk_tui"),
        *("--primary=openai/x", "--escalation=-odd", f"--config={tmp_path}/c.toml", f"--database={tmp_path}/d.db"),
        *("--session=--name", "--debug"),
    ]
    assert program(Options(), session=None, new=True, plain=True)[-2:] == ["--new", "--plain"]
