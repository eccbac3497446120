"""Copying: which way is taken where, and that nothing is called copied that was not."""

from __future__ import annotations

import asyncio
import os
import stat
import time
from pathlib import Path

import pytest

from milk_tui.core.osc52 import Between
from milk_tui.ui import clipboard_programs, copying
from milk_tui.ui.clipboard_programs import NotCopiedError, copy
from milk_tui.ui.clipboard_ways import MAC, TMUX, VARIABLE, WAYLAND, WINDOWS, XCLIP, XSEL, Page, Terminal, ways

X11 = {"TERM": "xterm-256color", "DISPLAY": ":0"}
SSH = {"TERM": "xterm-256color", "SSH_CONNECTION": "10.0.0.1 1 10.0.0.2 22"}
PLAIN = Terminal((Between.NOTHING,))
IN_TMUX = Terminal((Between.TMUX,))


@pytest.mark.parametrize(
    ("environ", "platform", "expected"),
    [
        (X11, "linux", (XCLIP, XSEL, PLAIN)),
        ({**X11, "WAYLAND_DISPLAY": "wayland-0"}, "linux", (WAYLAND, XCLIP, XSEL, PLAIN)),
        ({**X11, "TMUX": "/tmp/t,1,0"}, "linux", (XCLIP, XSEL, TMUX, IN_TMUX)),
        ({**X11, "WSL_DISTRO_NAME": "Debian"}, "linux", (WINDOWS, XCLIP, XSEL, PLAIN)),
        ({"TERM": "xterm-256color"}, "darwin", (MAC, PLAIN)),
        ({"TERM": "xterm-256color"}, "linux", (PLAIN,)),
        (SSH, "linux", (PLAIN,)),
        (SSH, "darwin", (PLAIN,)),
        ({**SSH, "TMUX": "/tmp/t,1,0"}, "linux", (TMUX, IN_TMUX)),
        ({**SSH, "DISPLAY": "localhost:10.0"}, "linux", (PLAIN, XCLIP, XSEL)),
        ({**SSH, "TERM": "tmux-256color"}, "linux", (Terminal((Between.NOTHING, Between.TMUX)),)),
        ({"TERM": "screen", "STY": "1.tty"}, "linux", (Terminal((Between.SCREEN,)),)),
        ({"TERM": "linux"}, "linux", ()),
        ({"TERM": "dumb"}, "linux", ()),
    ],
)
def test_the_surest_way_that_reaches_the_person_comes_first(environ, platform, expected) -> None:
    assert ways(environ, lambda name: True, platform=platform) == expected


def test_programs_that_are_not_there_are_left_out() -> None:
    assert ways(X11, {"xsel"}.__contains__, platform="linux") == (XSEL, PLAIN)


def test_a_wish_holds_and_a_page_has_its_browser() -> None:
    here = {**X11, "TMUX": "/tmp/t,1,0"}
    assert ways(here, lambda name: True, wish="programs", platform="linux") == (XCLIP, XSEL, TMUX)
    assert ways(here, lambda name: True, wish="terminal", platform="linux") == (IN_TMUX,)
    assert ways(here, lambda name: True, wish="inside", platform="linux") == ()
    assert ways(here, lambda name: True, page=True, platform="linux") == (Page(),)


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A desktop whose clipboard is a file; its programs are what ``programs`` writes."""
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setenv("DISPLAY", ":0")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("OPENAI_API_KEY", "test-key-of-no-worth")
    for name in ("WAYLAND_DISPLAY", "TMUX", "STY", "SSH_CONNECTION", "SSH_TTY", "SSH_CLIENT", VARIABLE):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("sys.platform", "linux")
    return tmp_path


def program(desk: Path, name: str, script: str) -> None:
    file = desk / name
    file.write_text(f"#!/bin/sh\ncd {desk}\n{script}\n")
    file.chmod(file.stat().st_mode | stat.S_IXUSR)


WORKS = 'case "$*" in *-out*) cat board;; *) cat > board; env > seen; sleep 30 & ;; esac'


def test_a_program_is_believed_when_it_gives_the_text_back(desk: Path) -> None:
    program(desk, "xclip", WORKS)
    text = "exact:  tab\t漢字 🙂\nno newline at the end"
    assert copy(XCLIP, text) is True
    assert (desk / "board").read_text() == text
    assert "test-key" not in (desk / "seen").read_text(), "it is told no key"


@pytest.mark.parametrize(
    ("script", "why"),
    [
        ("echo 'Error: Can'\"'\"'t open display' >&2; exit 1", "Can't open display"),
        ("exit 3", "exit code 3"),
        ('case "$*" in *-out*) echo other;; *) cat > /dev/null;; esac', "holds something else"),
        ('case "$*" in *-out*) exit 1;; *) cat > /dev/null;; esac', "exit code 1"),
    ],
)
def test_a_program_that_fails_or_lies_has_not_copied(desk: Path, script: str, why: str) -> None:
    program(desk, "xclip", script)
    with pytest.raises(NotCopiedError, match=why):
        copy(XCLIP, "text")


def test_a_program_that_hangs_is_ended(desk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clipboard_programs, "WRITE_S", 0.3)
    program(desk, "xclip", "echo $$ > pid; sleep 600")
    with pytest.raises(NotCopiedError, match="did not end"):
        copy(XCLIP, "text")
    pid = int((desk / "pid").read_text())
    deadline = time.monotonic() + 10
    while Path(f"/proc/{pid}").exists() and "Z" not in Path(f"/proc/{pid}/stat").read_text().split()[2]:
        assert time.monotonic() < deadline
        time.sleep(0.02)


async def through_the_door(text: str, **options) -> tuple[copying.Copied | None, list[str]]:
    written: list[str] = []
    return await copying.Door(written.append, **options).copy(text), written


async def test_the_next_way_is_tried_when_one_fails_and_the_last_is_ourselves(desk: Path) -> None:
    program(desk, "xclip", "exit 1")
    program(desk, "xsel", "exit 1")
    copied, written = await through_the_door("text")
    assert copied is not None and copied.way == PLAIN and len(written) == 1
    assert copied.words("4 characters") == "4 characters sent to the terminal (OSC 52); it can't confirm"
    copied, written = await through_the_door("x" * 100_000)
    assert copied is not None and copied.way is None and not written
    assert "ctrl+v in the prompt pastes" in copied.words("100,000 characters")
    program(desk, "xsel", 'case "$*" in *output*) cat board;; *) cat > board;; esac')
    copied, written = await through_the_door("text")
    assert copied is not None and (copied.way, copied.checked, written) == (XSEL, True, [])
    assert copied.words("4 characters") == "4 characters copied (xsel)"


async def test_of_copies_that_wait_the_newest_counts(desk: Path) -> None:
    program(desk, "xclip", 'case "$*" in *-out*) cat board;; *) cat > board; echo >> times;; esac')
    door = copying.Door(lambda sequence: None)
    done = await asyncio.gather(*(door.copy(f"text {number}") for number in range(20)))
    assert (desk / "board").read_text() == "text 19"
    assert done[-1] is not None and len((desk / "times").read_text()) < 20


async def test_a_browser_says_itself_whether_it_copied(desk: Path) -> None:
    async def takes(text: str) -> tuple[bool, str]:
        return True, ""

    async def refuses(text: str) -> tuple[bool, str]:
        return False, "not allowed"

    copied, _ = await through_the_door("text", page=takes)
    assert copied is not None and copied.words("4 characters") == "4 characters copied (browser)"
    copied, _ = await through_the_door("text", page=refuses)
    assert copied is not None and copied.way is None and "not allowed" in copied.words("4 characters")


async def test_the_screen_copies_clean_text_and_never_waits(open_desk, desk: Path) -> None:
    waits = "until [ -f go ]; do sleep 0.05; done; cat > board"
    program(desk, "xclip", f'case "$*" in *-out*) cat board;; *) {waits};; esac')
    async with open_desk() as screen:
        screen.app.copy_to_clipboard("two\nlines\x1b[201~\x1b]52;c;eA==\x07\u202e")
        await screen.write("typed meanwhile")
        assert screen.app.main.prompt.text == "typed meanwhile"
        (desk / "go").touch()
        await screen.sees("2 lines copied (xclip)")
        assert (desk / "board").read_text() == "two\nlines"
        assert screen.app.clipboard == "two\nlines"


async def test_what_no_clipboard_takes_can_be_pasted_in_the_prompt(open_desk, desk: Path, monkeypatch) -> None:
    monkeypatch.setenv("TERM", "dumb")
    monkeypatch.delenv("DISPLAY")
    async with open_desk() as screen:
        screen.app.copy_to_clipboard("kept")
        await screen.sees("4 characters kept inside milk-tui: ctrl+v in the prompt pastes")
        await screen.press("ctrl+v")
        assert screen.app.main.prompt.text == "kept"


def test_the_environment_overrules_the_config(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "inside")
    assert copying.wished("auto") == "inside"
    monkeypatch.setenv(VARIABLE, "nonsense")
    assert copying.wished("terminal") == "terminal"
    assert os.environ[VARIABLE] == "nonsense"
