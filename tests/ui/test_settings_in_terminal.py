"""The settings in a pseudo-terminal: an agent added, tried out and given a role, kept over a restart."""

from __future__ import annotations

import stat
import tomllib
from pathlib import Path

from tests.ui.test_in_terminal import READY, program, quit_program

__all__ = ["program"]

F8 = b"\x1b[19~"


def test_an_agent_is_added_says_hello_gets_a_role_and_is_there_after_a_restart(program, home: Path) -> None:
    file = home / "home" / "config" / "config.toml"
    file.write_text("# mine\n" + file.read_text())
    with program(cols=110, rows=32) as terminal:
        terminal.wait_for(READY)
        terminal.send(F8)
        terminal.wait_for("WHO PLAYS NOW")
        terminal.send("a")
        terminal.wait_for("a new agent")
        terminal.press("enter")
        terminal.wait_for("enter keeps")
        terminal.send("scripted/third\r")
        terminal.wait_for("Empty: the provider's own server.")
        terminal.send("http://127.0.0.1:9/v1\r")
        terminal.wait_for("where is its key?")
        terminal.press("enter")
        terminal.wait_for("What you and the other agent call it")
        terminal.press("enter")
        terminal.wait_for("third is there")
        terminal.send("t")
        terminal.wait_for("answered in")
        terminal.send("p")
        terminal.wait_for("third is the primary agent")
        terminal.send("/judge\r")
        terminal.wait_for("Ask the primary agent's model")
        terminal.press("enter")
        terminal.wait_for("memory.judge: on")
        terminal.press("escape")
        terminal.press("escape")
        terminal.wait_for("to ● third")
        terminal.send("Who? SCN:say It is me.\r")
        terminal.wait_for("It is me.")
        quit_program(terminal)
    said = tomllib.loads(file.read_text())
    assert file.read_text().startswith("# mine\n")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert (said["session"]["primary"], said["memory"]["judge"]) == ("third", True)
    with program(cols=60, rows=20) as terminal:
        terminal.wait_for("to ● third")
        terminal.send("/model\r")
        terminal.wait_for("model for the ● primary")
        terminal.press("escape")
        quit_program(terminal)
