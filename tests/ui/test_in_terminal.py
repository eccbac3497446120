"""The real program in a pseudo-terminal: real bytes in, what a person sees out."""

from __future__ import annotations

import shlex
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.terminal import Terminal

ROOT = Path(__file__).resolve().parents[2]
READY = "to ● qwen"


@pytest.fixture
def program(home: Path) -> Callable[..., Terminal]:
    """Start ``python -m milk_tui`` in the shop; the environment is the one that ``home`` made."""

    def start(*args: str, cols: int = 100, rows: int = 30, **env: str) -> Terminal:
        return Terminal.python(
            "-m", "milk_tui", *args, cols=cols, rows=rows, cwd=home / "shop", env={"PYTHONPATH": str(ROOT), **env}
        )

    return start


def quit_program(terminal: Terminal) -> None:
    terminal.press("ctrl+q")
    assert terminal.wait_exit() == 0


def test_asks_escalates_inspects_leaves_and_comes_back(program) -> None:
    with program() as terminal:
        terminal.wait_for(READY)
        terminal.send("Why? SCN:tag percept retries live in the queue SCN:say The handler **retries**.\r")
        terminal.wait_for("The handler retries.")
        terminal.wait_for("remembered: #")
        terminal.send("design it SCN:say Use a key.")
        terminal.press("ctrl+g")
        terminal.wait_for("escalated to claude")
        terminal.wait_for("Use a key.")
        terminal.press("f3")
        terminal.wait_for("if I escalated now")
        terminal.press("escape")
        terminal.wait_for("Ask, or / for commands")
        assert terminal.title.startswith("milk · Why?")
        quit_program(terminal)
    with program() as terminal:
        terminal.wait_for("Use a key.")
        terminal.wait_for("retries live in the queue")
        quit_program(terminal)


@pytest.mark.parametrize("newline", [b"\n", b"\x1b\r", b"\x1b\n", b"\x1b[13;2u", b"\x1b[27;2;13~", b"\x1b[13;3u"])
def test_every_terminals_newline_makes_a_line_and_sends_nothing(program, newline: bytes) -> None:
    with program() as terminal:
        terminal.wait_for(READY)
        terminal.send(b"one" + newline + b"zwei")
        terminal.wait_for(lambda screen: "❯ one" in screen and "zwei" in screen)
        assert terminal.row_of("zwei") == terminal.row_of("❯ one") + 1
        assert "you · " not in terminal.text


def test_a_paste_is_one_block(program) -> None:
    with program() as terminal:
        terminal.wait_for(READY)
        terminal.paste("first line\nsecond line\n" + "x" * 20)
        terminal.wait_for("second line")
        assert "you · " not in terminal.text
        terminal.paste("log line\n" * 20_000)
        terminal.wait_for("20,000 lines")
        terminal.press("enter")
        terminal.wait_for("● qwen · ")
        terminal.wait_for("▌ log line")


def test_keys_that_come_all_at_once_keep_their_order(program) -> None:
    with program() as terminal:
        terminal.wait_for(READY)
        terminal.send(b"hello\x7f\x7fXY\x1b[D\x1b[DZ SCN:say fine\x1b[F\rnext")
        terminal.wait_for("helZ SCN:say fineXY")
        terminal.wait_for("❯ next")


def test_what_follows_a_key_of_the_screen_in_one_burst_comes_after_what_it_does(program) -> None:
    with program() as terminal:
        terminal.wait_for(READY)
        terminal.send("thrown away")
        terminal.wait_for("❯ thrown away")
        terminal.send("and more\x03hello")
        terminal.wait_for("❯ hello")
        terminal.send("\x03design it SCN:say Use a key.\x07next")
        terminal.wait_for("escalated to claude")
        terminal.wait_for("❯ next")
        terminal.wait_for("Use a key.")
        assert "thrown" not in terminal.text and "keynext" not in terminal.text.replace(".", "")


def test_words_that_follow_the_key_of_a_dialog_in_one_burst_are_written_there(program) -> None:
    with program() as terminal:
        terminal.wait_for(READY)
        terminal.send("mine\x10theme")
        terminal.wait_for(lambda screen: "│ theme " in screen and "Change the colours" in screen)
        terminal.press("escape")
        terminal.wait_for(lambda screen: "│ theme " not in screen and "❯ mine " in screen)
        terminal.send("\x0fzzz")
        terminal.wait_for(lambda screen: "│ zzz " in screen and "sessions of this directory" in screen)
        terminal.press("escape")
        terminal.wait_for(lambda screen: "│ zzz " not in screen and "❯ mine " in screen)


def test_what_is_typed_while_the_program_starts_is_there(program) -> None:
    with program() as terminal:
        terminal.wait_for(lambda screen: screen.strip())
        terminal.send("typed early")
        terminal.wait_for("❯ typed early")
        terminal.wait_for(READY)
        assert "❯ typed early" in terminal.text


def test_a_copy_goes_to_the_terminal(program) -> None:
    with program() as terminal:
        terminal.wait_for(READY)
        terminal.send("copy me")
        terminal.send(b"\x1b[1;2H\x03")
        terminal.wait_for("7 characters sent to the terminal (OSC 52)")
        assert terminal.clipboard == ["copy me"]


def test_the_prompt_can_be_written_in_an_editor_while_an_answer_runs(program, tmp_path: Path) -> None:
    script = tmp_path / "editor.py"
    script.write_text(
        "import sys\n"
        "print('EDITING', flush=True); sys.stdin.readline()\n"
        "p = sys.argv[1]; open(p, 'a').write(' and more\\nlines')\n"
    )
    editor = f"{shlex.quote(sys.executable)} {shlex.quote(str(script))}"
    with program(VISUAL="", EDITOR=editor) as terminal:
        terminal.wait_for(READY)
        terminal.send("SCN:say Started. SCN:pause 1 SCN:say  Finished meanwhile.\r")
        terminal.wait_for("Started.")
        terminal.send("begin")
        terminal.wait_for("❯ begin")
        terminal.press("f5")
        terminal.wait_for("EDITING")
        assert "percepts" not in terminal.text
        terminal.press("enter")
        terminal.wait_for("❯ begin and more")
        terminal.wait_for("Finished meanwhile.")
        assert "lines" in terminal.text


def test_resizing_redraws_without_harm(program) -> None:
    with program() as terminal:
        terminal.wait_for(READY)
        terminal.send("size SCN:say Still here.\r")
        terminal.wait_for("Still here.")
        for cols, rows in ((40, 12), (150, 50), (60, 20)):
            terminal.resize(cols, rows)
            terminal.wait_for(lambda screen: "Still here." in screen and "F1 help" in screen)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_polite_end_saves_the_draft(program, number: int) -> None:
    with program() as terminal:
        terminal.wait_for(READY)
        terminal.send("draft to keep")
        terminal.wait_for("❯ draft to keep")
        terminal.kill(number)
        assert terminal.wait_exit() == 0
    with program() as terminal:
        terminal.wait_for("❯ draft to keep")


def test_a_kill_loses_neither_prompt_nor_answer_nor_draft(program) -> None:
    with program() as terminal:
        terminal.wait_for(READY)
        terminal.send("question SCN:say The first half. SCN:stall\r")
        terminal.wait_for("│  The first half.")
        terminal.send("a draft")
        terminal.wait_for("❯ a draft")
        terminal.settle(1.5)
        terminal.kill()
        assert terminal.wait_exit() == -signal.SIGKILL
    with program() as terminal:
        terminal.wait_for("question SCN:say")
        terminal.wait_for("The first half.")
        terminal.wait_for("interrupted")
        terminal.wait_for("❯ a draft")


def test_leaving_gives_the_terminal_back(program) -> None:
    with program() as terminal:
        terminal.wait_for(READY)
        quit_program(terminal)
        assert "percepts" not in terminal.text
        assert not terminal.screen.cursor.hidden


def test_it_works_in_the_smallest_window_without_colour(program) -> None:
    with program(cols=40, rows=12, NO_COLOR="1", TERM="xterm") as terminal:
        terminal.wait_for("Ask, or / for")
        terminal.wait_for("qwen")
        terminal.send("hi SCN:say Small.\r")
        terminal.wait_for("Small.")
        terminal.press("f2")
        terminal.wait_for("memory")
        terminal.press("escape")
        quit_program(terminal)
