"""``milk-tui doctor --terminal``: in terminals that answer, in one that answers nothing, and without one."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import select
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from milk_tui.cli import terminal_checks
from milk_tui.cli.terminal_tries import fragile
from milk_tui.core.terminal_replies import Answers
from milk_tui.ui.keymap import Keymap
from tests.support.keys import KEYS
from tests.support.terminal import Terminal

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def doctor(tmp_path: Path) -> Callable[..., Terminal]:
    def start(*options: str, **env: str) -> Terminal:
        names = {"MILK_TUI_HOME": str(tmp_path), "PYTHONPATH": str(ROOT), "SSH_CONNECTION": "", "STY": "", **env}
        return Terminal.python("-m", "milk_tui", "doctor", "--terminal", *options, cols=110, rows=60, env=names)

    return start


def row(screen: str, name: str) -> str:
    return next((line for line in screen.splitlines() if line[5:].startswith(f"{name} ")), "")


def test_keys_paste_click_and_clipboard_are_tried_with_the_person(doctor) -> None:
    bytes_of = {**KEYS, "shift+enter": b"\r", "f8": b"\x1b[19~", "ctrl+end": b"\x1b[1;5F"}
    asked = [name for name, _ in fragile(Keymap({}))]
    assert asked[:3] == ["shift+enter", "alt+enter", "ctrl+j"] and {"f1", "f6", "shift+f6", "ctrl+g"} <= set(asked)
    with doctor() as terminal:
        for name in asked:
            terminal.wait_for(f"Press {name} ")
            terminal.send(b" " if name == "ctrl+s" else bytes_of[name])
        terminal.wait_for("Paste it here")
        terminal.paste(terminal.clipboard[-1])
        terminal.wait_for("Go to another window")
        terminal.send(b"\x1b[O")
        terminal.send(b"\x1b[I")
        terminal.wait_for("Click anywhere")
        terminal.send(b"\x1b[<0;7;3M")
        terminal.wait_for("Did the desktop show")
        terminal.press("y")
        assert terminal.wait_exit() == 0
        screen = terminal.text
    assert "arrives as enter" in row(screen, "shift+enter") and "ctrl+j" in row(screen, "shift+enter")
    assert row(screen, "alt+enter").startswith("  ✓")
    assert row(screen, "f3").startswith("  ✓")
    assert "not pressed" in row(screen, "ctrl+s")
    assert "copied by OSC 52 and pasted again" in row(screen, "round trip")
    assert "column 7, row 3" in row(screen, "click")
    assert row(screen, "looking away").startswith("  ✓")
    assert row(screen, "OSC 9").startswith("  ✓")
    assert "dark (0000/0000/0000)" in row(screen, "background")
    assert "4 cells" in row(screen, "Chinese, Japanese")


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("milk-tui other", "did not bring the text here"),
        ("", "nothing was pasted"),
    ],
)
def test_a_clipboard_that_did_not_take_the_text_is_found_out(doctor, typed: str, said: str) -> None:
    with doctor() as terminal:
        while "Paste it here" not in terminal.wait_for(lambda screen: "Press " in screen or "Paste it" in screen):
            terminal.press("space")
            terminal.settle(0.02)
        terminal.press("space") if not typed else terminal.send(typed)
        terminal.wait_for("Go to another window")
        terminal.press("q")
        terminal.wait_exit()
        assert said in row(terminal.text, "round trip")
        if typed:
            assert "arrives as typed keys" in row(terminal.text, "paste")


def test_the_keys_of_the_config_are_tried() -> None:
    mine = dict(fragile(Keymap({"escalate": ("f9",)})))
    assert "f9" in mine and "ctrl+g" not in mine and "ctrl+c" not in mine


def test_it_leaves_the_terminal_as_it_was(doctor) -> None:
    with doctor() as terminal:
        terminal.wait_for("Press shift+enter")
        terminal.press("q")
        assert terminal.wait_exit() == 0
        assert "not tried" in row(terminal.text, "the rest")
        assert not {2004 << 5, 1004 << 5, 1000 << 5} & terminal.screen.mode


@pytest.mark.parametrize("wait", ["0", "1"])
def test_a_terminal_that_answers_nothing_ends_it_all_the_same(tmp_path: Path, wait: str) -> None:
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 110, 0, 0))
    names = {**os.environ, "MILK_TUI_HOME": str(tmp_path), "PYTHONPATH": str(ROOT), "TERM": "xterm"}
    command = [sys.executable, "-m", "milk_tui", "doctor", "--terminal", "--wait", wait]
    process = subprocess.Popen(command, stdin=slave, stdout=slave, stderr=slave, env=names, start_new_session=True)
    os.close(slave)
    shown, deadline = b"", time.monotonic() + 60
    while process.poll() is None or select.select([master], [], [], 0)[0]:
        assert time.monotonic() < deadline, shown
        if select.select([master], [], [], 0.1)[0]:
            try:
                shown += os.read(master, 65536)
            except OSError:
                break
    assert process.wait(10) == 0
    os.close(master)
    assert b"answers no question" in shown


def test_without_a_terminal_it_says_so(tmp_path: Path) -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "milk_tui", "doctor", "--terminal"],
        env={**os.environ, "MILK_TUI_HOME": str(tmp_path), "PYTHONPATH": str(ROOT)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 2
    assert "no terminal" in ran.stderr and "Traceback" not in ran.stderr


def test_as_json_it_is_one_document_and_the_questions_go_to_the_terminal(doctor, tmp_path: Path) -> None:
    file = tmp_path / "out.json"
    names = {"MILK_TUI_HOME": str(tmp_path), "PYTHONPATH": str(ROOT)}
    command = f"{sys.executable} -m milk_tui doctor --terminal --wait 0 --json > {file}"
    with Terminal.spawn(["sh", "-c", command], env=names) as terminal:
        assert terminal.wait_exit() == 0
    assert {check["section"] for check in json.loads(file.read_text())["checks"]} >= {"terminal", "colours", "widths"}


FULL = Answers(
    kitty=0, attributes="62", styles=["48:2::1:2:3m", "48:5:200m"], modes={2004: 2, 1004: 2, 1006: 2, 2026: 2}
)


@pytest.mark.parametrize(
    ("environ", "styles", "state", "words"),
    [
        ({"TERM": "xterm-256color", "COLORTERM": "truecolor"}, FULL.styles, "ok", "24 bit"),
        ({"TERM": "xterm-256color"}, ["0;48;2;1;2;3m", "48;5;200m"], "warning", "COLORTERM=truecolor"),
        ({"TERM": "xterm-256color", "COLORTERM": "truecolor"}, ["0m", "0m"], "warning", "unset COLORTERM"),
        ({"TERM": "tmux-256color", "COLORTERM": "truecolor", "TMUX": "1"}, ["0m", "0m"], "warning", "RGB"),
        ({"TERM": "xterm-256color"}, [], "ok", "256"),
        ({"TERM": "xterm", "NO_COLOR": "1"}, FULL.styles, "info", "NO_COLOR"),
    ],
)
def test_colours_are_those_that_the_terminal_keeps(environ, styles, state: str, words: str) -> None:
    (first, *_) = terminal_checks.colours(Answers(attributes="62", styles=styles), environ)
    assert first.state == state and words in f"{first.detail} {first.hint}"


def test_a_terminal_that_knows_everything_has_nothing_to_be_told() -> None:
    assert {check.state for check in terminal_checks.modes(FULL)} == {"ok"}
    hints = [check.hint for check in terminal_checks.modes(Answers(attributes="1", modes={2004: 0, 1004: 0, 1006: 0}))]
    assert all(hints) and len(hints) == 4
