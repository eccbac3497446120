"""The short way to the screen: the same calls as the long one, told apart without ``click``."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from milk_tui.cli import quick
from milk_tui.cli.root import cli
from tests.support.terminal import Terminal


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["--new"],
        ["--continue", "--plain"],
        ["--session", "week", "--primary", "fast", "--escalation", "embedded:large"],
        ["--config", "my.toml", "--database", "my.db", "--new"],
    ],
    ids=" ".join,
)
def test_a_call_for_the_screen_is_read_as_the_long_way_reads_it(arguments: list[str]) -> None:
    quickly = quick.screen(arguments)
    context = cli.make_context("milk-tui", list(arguments))
    slowly = {name: value for name, value in context.params.items() if value not in (None, False)}
    assert quickly is not None
    assert {_parameter(name): value for name, value in quickly.items()} == {
        name: "" if value is True else str(value) for name, value in slowly.items()
    }


def _parameter(option: str) -> str:
    [name] = [param.name for param in cli.params if option in param.opts]
    return str(name)


@pytest.mark.parametrize(
    "arguments",
    [
        ["--help"],
        ["--version"],
        ["--debug"],
        ["-p", "hello"],
        ["--prompt", "hello"],
        ["doctor"],
        ["--primary", "fast", "doctor"],
        ["--escalate"],
        ["--output-format", "json"],
        ["--session"],
        ["--session", "--new"],
        ["--session", ""],
        ["--session=week"],
        ["--new", "--continue"],
        ["--new", "--session", "week"],
        ["--new", "--new"],
        ["--ne"],
        ["--"],
        [""],
    ],
    ids=" ".join,
)
def test_every_other_call_is_left_to_the_long_way(arguments: list[str]) -> None:
    assert quick.screen(arguments) is None


def test_every_option_of_the_program_is_known_to_be_for_the_screen_or_not() -> None:
    options = {name for param in cli.params for name in param.opts if name.startswith("--")}
    others = {"--prompt", "--escalate", "--output-format", "--debug", "--version"}
    assert options - others == {*quick._FILES, *quick._NAMES, *quick._WORDS}


def test_a_shell_that_asks_for_completions_gets_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("_MILK_TUI_COMPLETE", "bash_complete")
    assert quick.screen([]) is None


def test_the_screen_is_there_without_the_command_lines_machinery(tmp_path: Path) -> None:
    code = (
        "import sys, milk_tui.ui.app as app\n"
        "app.run = lambda launch, plain: print('click' in sys.modules, launch.session, plain)\n"
        "from milk_tui.cli import main\n"
        "main()"
    )
    with _program(tmp_path, code, "--session", "week", "--plain") as terminal:
        assert terminal.wait_exit() == 0
        assert "False week True" in terminal.text


@pytest.mark.parametrize("way", [[], ["--debug"]], ids=["short", "long"])
def test_both_ways_say_an_error_alike(tmp_path: Path, way: list[str]) -> None:
    code = "import milk_tui.ui.app as app\nfrom milk_tui.cli import main\ndel app.run\nmain()"
    with _program(tmp_path, code, *way) as terminal:
        assert terminal.wait_exit() == 1
        assert "milk-tui: Unexpected ImportError: cannot import name 'run'" in terminal.text
        assert ("Traceback" in terminal.text) is bool(way)


def _program(folder: Path, code: str, *arguments: str) -> Terminal:
    environ = {"MILK_TUI_HOME": str(folder / "home"), "MILK_TUI_PROBE_PORTS": "none"}
    return Terminal.spawn([sys.executable, "-c", code, *arguments], env=environ, cwd=folder, cols=160, rows=50)
