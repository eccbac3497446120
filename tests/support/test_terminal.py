"""The test terminal itself: what tests see must be what a person would see."""

from __future__ import annotations

import signal
import sys

import pytest

from tests.support.terminal import ProgramEndedError, Terminal, TerminalTimeoutError

ECHO = """
import sys, tty
tty.setraw(0)
sys.stdout.write("\\x1b[>25u\\x1b]52;c;aGVsbG8=\\x07\\x1b]0;my title\\x07ready\\r\\n"); sys.stdout.flush()
while True:
    c = sys.stdin.buffer.raw.read(4096)
    if c == b"q": raise SystemExit(3)
    sys.stdout.write(repr(c) + "\\r\\n"); sys.stdout.flush()
"""


def test_shows_output_sends_keys_and_reports_the_exit_code() -> None:
    with Terminal.python("-c", ECHO, cols=60, rows=10) as terminal:
        terminal.wait_for("ready")
        assert "25u" not in terminal.text
        terminal.press("alt+enter")
        terminal.wait_for(r"b'\x1b\r'")
        terminal.press("q")
        assert terminal.wait_exit() == 3
        assert terminal.clipboard == ["hello"]
        assert terminal.title == "my title"


def test_a_paste_arrives_as_one_bracketed_block() -> None:
    with Terminal.python("-c", ECHO, cols=80, rows=10) as terminal:
        terminal.wait_for("ready")
        terminal.paste("one\ntwo")
        terminal.wait_for(r"b'\x1b[200~one\rtwo\x1b[201~'")


def test_answers_the_queries_that_programs_wait_for() -> None:
    program = """
import os, tty
tty.setraw(0)
os.write(1, b"\\x1b[?2026$p\\x1b]11;?\\x07\\x1b[6n")
got = b""
while b"R" not in got: got += os.read(0, 100)
os.write(1, repr(got).encode())
"""
    with Terminal.python("-c", program, cols=100, rows=5) as terminal:
        terminal.wait_exit()
        assert r"\x1b[?2026;2$y" in terminal.text
        assert "rgb:0000/0000/0000" in terminal.text
        assert r"\x1b[1;1R" in terminal.text


def test_a_half_drawn_frame_is_waited_for() -> None:
    program = """
import os, sys, tty
tty.setraw(0)
os.write(1, b"\\x1b[?2026hold ")
os.read(0, 1)
os.write(1, b"new\\x1b[?2026l")
os.read(0, 1)
"""
    with Terminal.python("-c", program, cols=40, rows=5) as terminal:
        with pytest.raises(TerminalTimeoutError, match="old"):
            terminal.wait_for("old", 0.5)
        assert not terminal.whole
        terminal.send("x")
        assert "old new" in terminal.wait_for("old")


def test_a_kill_is_seen_and_a_wait_says_what_was_on_the_screen() -> None:
    with Terminal.python("-c", ECHO) as terminal:
        terminal.wait_for("ready")
        with pytest.raises(TerminalTimeoutError, match="ready"):
            terminal.wait_for("never there", 0.2)
        terminal.kill()
        with pytest.raises(ProgramEndedError):
            terminal.wait_for("never there")
        assert terminal.wait_exit() == -signal.SIGKILL


def test_what_a_full_screen_program_drew_goes_with_it() -> None:
    program = """
import sys
print("before", flush=True)
sys.stdout.write("\\x1b[?1049hfull screen"); sys.stdout.flush()
sys.stdin.readline()
sys.stdout.write("\\x1b[?1049l"); print("after")
"""
    with Terminal.python("-c", program, cols=40, rows=6) as terminal:
        terminal.wait_for("full screen")
        assert "before" not in terminal.text
        terminal.press("enter")
        assert terminal.wait_exit() == 0
        assert terminal.lines[:2] == ["before", "after"]


def test_the_program_sees_the_size_and_its_change() -> None:
    program = """
import os, signal
def show(*_): print(os.get_terminal_size(), flush=True)
signal.signal(signal.SIGWINCH, show); show()
while True: signal.pause()
"""
    with Terminal.spawn([sys.executable, "-c", program], cols=61, rows=17) as terminal:
        terminal.wait_for("columns=61, lines=17")
        terminal.resize(50, 12)
        terminal.wait_for("columns=50, lines=12")
