"""``!`` and ``@`` in a pseudo-terminal: a command into the conversation, a file with the prompt (``ux.md``, "Keys")."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.terminal import Terminal, TerminalTimeoutError
from tests.ui.test_in_terminal import READY, program, quit_program

__all__ = ["program"]


@pytest.fixture
def shop(home: Path) -> Path:
    folder = home / "shop"
    (folder / "src").mkdir()
    (folder / "src" / "handler.py").write_text("TIMEOUT = 31\n")
    (folder / "src" / "queue.py").write_text("SIZE = 8\n")
    (folder / "built.log").write_text("noise\n")
    (folder / ".gitignore").write_text("*.log\n")
    return folder


def answer(terminal: Terminal, command: str, wanted: str) -> None:
    """Answer what is asked, from the prompt; what has just been asked can't be answered yet."""
    terminal.wait_for("y allow once")
    terminal.press("escape")
    terminal.wait_for("F6")
    for _ in range(20):
        terminal.send(command)
        try:
            terminal.wait_for(wanted, deadline_s=2.0)
        except TerminalTimeoutError:
            continue
        return
    terminal.wait_for(wanted)


def test_a_command_is_asked_about_shown_and_there_again_after_a_restart(program: Callable[..., Terminal], shop: Path):
    with program() as terminal:
        terminal.wait_for(READY)
        terminal.send("!echo answer-$((40 + 2)); exit 3\r")
        terminal.wait_for("run echo answer-")
        answer(terminal, "/allow\r", "answer-42")
        terminal.wait_for("exit code 3")
        terminal.send("what was printed? SCN:say it printed forty-two\r")
        terminal.wait_for("it printed forty-two")
        quit_program(terminal)
    with program() as terminal:
        terminal.wait_for("answer-42")
        terminal.wait_for("exit code 3")
        quit_program(terminal)


def test_a_command_that_is_denied_is_not_run_and_comes_back(program: Callable[..., Terminal], shop: Path):
    with program() as terminal:
        terminal.wait_for(READY)
        terminal.send("!touch made-by-it\r")
        terminal.wait_for("run touch made-by-it")
        answer(terminal, "/deny\r", "not allowed")
        terminal.wait_for("❯ !touch made-by-it")
        assert not (shop / "made-by-it").exists()


def test_a_file_is_completed_and_goes_with_the_prompt(program: Callable[..., Terminal], shop: Path):
    subprocess.run(["git", "init", "-q", str(shop)], check=True)
    with program() as terminal:
        terminal.wait_for(READY)
        terminal.send("see @hndl")
        terminal.wait_for("handler.py")
        terminal.press("tab")
        terminal.wait_for("❯ see @src/handler.py")
        terminal.send("and SCN:say seen\r")
        terminal.wait_for("attached: src/handler.py · 1 line")
        terminal.wait_for("seen")
        quit_program(terminal)


def test_what_git_ignores_is_not_offered_and_a_miss_is_said(program: Callable[..., Terminal], shop: Path):
    with program() as terminal:
        terminal.wait_for(READY)
        terminal.send("see @q")
        terminal.wait_for("queue.py")
        assert "built.log" not in terminal.text
        terminal.press("escape")
        terminal.send("x/none.py SCN:say ok\r")
        terminal.wait_for("there is no qx/none.py")
        quit_program(terminal)
