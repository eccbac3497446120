"""``milk-tui`` itself: usage, errors in one line, exit codes, what a start imports."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from milk_tui import __version__
from milk_tui.cli.root import COMMANDS
from tests.cli.conftest import Milk, environment


def python(
    *arguments: str, home: Path, stdout: int = subprocess.PIPE, **environ: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments],
        env=environment(home, **environ),
        stdin=subprocess.DEVNULL,
        stdout=stdout,
        stderr=subprocess.PIPE,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize("arguments", [(), *[(name,) for name in COMMANDS]])
def test_every_command_has_help(milk: Milk, arguments: tuple[str, ...]) -> None:
    ran = milk(*arguments, "--help")
    assert ran.code == 0
    assert ran.out.startswith("Usage: milk-tui")


def test_help_lists_every_command(milk: Milk) -> None:
    listed = milk("--help").out.split("Commands:")[1].split()
    assert set(COMMANDS) <= set(listed)


def test_the_version_is_the_packages(milk: Milk) -> None:
    assert __version__ in milk("--version").out


@pytest.mark.parametrize(
    "arguments",
    [
        ("nope",),
        ("--nope",),
        ("sessions",),
        ("sessions", "rename", "x"),
        ("config", "shwo"),
        ("models", "fetch", "huge"),
        ("--new", "--session", "x"),
        ("--new", "--continue"),
        ("--escalate",),
        ("--output-format", "json"),
        ("-p", "x", "--output-format", "xml"),
        ("-p", "x", "doctor"),
        ("--new", "doctor"),
        ("-p", ""),
        ("-p", "-"),
    ],
)
def test_wrong_usage_is_exit_2_and_one_line_that_names_the_help(milk: Milk, arguments: tuple[str, ...]) -> None:
    ran = milk(*arguments)
    assert ran.code == 2
    if arguments != ("sessions",):
        assert len(ran.err.splitlines()) == 1
        assert ran.err.startswith("milk-tui: ")
        assert "--help" in ran.err


def test_a_failure_is_exit_1_and_one_line(milk: Milk, home: Path) -> None:
    ran = milk("--config", "none.toml", "config", "show")
    assert ran.code == 1
    assert ran.err == "milk-tui: none.toml: no such config file. Name an existing one, or run `milk-tui setup`.\n"


def test_an_unexpected_error_shows_its_traceback_only_with_debug(home: Path) -> None:
    code = (
        "import sys; from milk_tui.store import sessions; sessions.rows = None; "
        "from milk_tui.cli.root import run; run(sys.argv[1:])"
    )
    for arguments, traceback in (["sessions", "list"], False), (["--debug", "sessions", "list"], True):
        ran = python("-c", code, *arguments, home=home)
        assert ran.returncode == 1
        assert ("Traceback" in ran.stderr) is traceback
        assert traceback or len(ran.stderr.splitlines()) == 1


def test_without_a_terminal_the_screen_says_what_to_use_instead(home: Path) -> None:
    ran = python("-m", "milk_tui", home=home)
    assert ran.returncode == 1
    assert "terminal" in ran.stderr
    assert "-p" in ran.stderr


def test_a_reader_that_goes_away_is_no_error_message(home: Path) -> None:
    pipe_read, pipe_write = os.pipe()
    os.close(pipe_read)
    ran = python("-m", "milk_tui", "config", "show", home=home, stdout=pipe_write)
    os.close(pipe_write)
    assert (ran.returncode, ran.stderr) == (1, "")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_speaks_to_each_shell(home: Path, shell: str) -> None:
    code = "import sys; sys.argv[0] = 'milk-tui'; from milk_tui.cli import main; main()"
    ran = python("-c", code, home=home, _MILK_TUI_COMPLETE=f"{shell}_source")
    assert "_MILK_TUI_COMPLETE" in ran.stdout


def test_completion_knows_the_commands(home: Path) -> None:
    words = {"_MILK_TUI_COMPLETE": "bash_complete", "COMP_WORDS": "milk-tui se", "COMP_CWORD": "1"}
    ran = python("-c", "from milk_tui.cli import main; main()", home=home, **words)
    assert [line.split(",")[1] for line in ran.stdout.splitlines()] == ["serve", "sessions", "setup"]


def test_text_that_the_output_can_not_encode_is_no_traceback(home: Path) -> None:
    ran = python("-m", "milk_tui", "doctor", home=home, PYTHONIOENCODING="ascii")
    assert ran.returncode == 0
    assert ran.stderr == ""


def test_finding_a_command_imports_nothing_heavy(home: Path) -> None:
    code = (
        "import sys, json, milk_tui.cli.root; "
        "heavy = ('asyncio', 'sqlite3', 'textual', 'rich', 'litellm', 'sqlite_utils', 'tomlkit', 'httpx', "
        "'platformdirs', 'milk_tui.store', 'milk_tui.ui', 'milk_tui.modelhost'); "
        "print(json.dumps([name for name in heavy if name in sys.modules]))"
    )
    assert json.loads(python("-c", code, home=home).stdout) == []
