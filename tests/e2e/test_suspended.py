"""Stopped and continued, as by the shell's job control, in the middle of an answer: the terminal is the shell's again
meanwhile and the program's afterwards, nothing that came is lost, and every key counts once."""

from __future__ import annotations

import os
import signal
import termios
import time
from pathlib import Path

import pytest

from milk_tui.cli import database_checks
from milk_tui.core.records import LegStatus
from milk_tui.store import legs
from tests.e2e.conftest import Place
from tests.e2e.looking import ask, conversation, leave, plain, prompt, wait_in
from tests.support.terminal import Terminal

pytestmark = pytest.mark.e2e

ALTERNATE, MOUSE, PASTE, CURSOR = 1049 << 5, 1000 << 5, 2004 << 5, 25 << 5


def stopped(screen: Terminal) -> bool:
    return Path(f"/proc/{screen.pid}/stat").read_text().rpartition(")")[2].split()[0] == "T"


def running_threads(screen: Terminal) -> int:
    return len(list(Path(f"/proc/{screen.pid}/task").iterdir()))


def modes(screen: Terminal) -> dict[str, bool]:
    """What the terminal is set to: by the line discipline, and by escape sequences."""
    local = termios.tcgetattr(screen.fd)[3]
    on = screen.screen.mode
    return {
        "lines and echo": bool(local & termios.ICANON and local & termios.ECHO),
        "mouse": MOUSE in on,
        "paste": PASTE in on,
        "cursor": CURSOR in on,
        "alternate": ALTERNATE in on,
    }


OURS = {"lines and echo": False, "mouse": True, "paste": True, "alternate": True}
THE_SHELLS = {"lines and echo": True, "mouse": False, "paste": False, "alternate": False, "cursor": True}


def stop(screen: Terminal, number: int) -> None:
    """Which may be in the middle of a frame."""
    os.kill(screen.pid, number)
    until = time.monotonic() + 30
    while not stopped(screen):
        assert time.monotonic() < until, f"not stopped\n{screen.text}"
        screen.pump(0.01)
    screen.settle(0.1, 2)


@pytest.mark.parametrize("number", [signal.SIGTSTP, signal.SIGSTOP], ids=["asked", "forced"])
def test_stopped_and_continued_in_an_answer(place: Place, number: int) -> None:
    gate = place.root / "go on"
    with place.open() as screen:
        screen.wait_for("to ● fast")
        ask(screen, rf"first: SCN:say so far so g\x6fod. SCN:until {gate} SCN:say \x20and so on")
        wait_in(screen, "conversation", "so far so good.")
        threads = running_threads(screen)
        for turn in range(2):
            stop(screen, number)
            if number == signal.SIGTSTP:
                assert modes(screen) == THE_SHELLS
            if turn:
                gate.touch()
            os.kill(screen.pid, signal.SIGCONT)
            screen.send(f"typed {turn} ")
            screen.wait_for(lambda _, turn=turn: prompt(screen).endswith(f"typed {turn}"))
            shown = modes(screen)
            assert {name: shown[name] for name in OURS} == OURS
        assert prompt(screen) == "typed 0 typed 1", "every key counts once"
        screen.wait_for(lambda _: running_threads(screen) < threads + 4)  # two each time
        screen.press("ctrl+c")
        wait_in(screen, "conversation", "so far so good. and so on", " out")
        screen.resize(90, 30)
        screen.wait_for(lambda _: "so far so good." in plain(conversation(screen)) and "to ● fast" in screen.text)
        ask(screen, "second: SCN:say it g\\x6fes on")
        wait_in(screen, "conversation", "it goes on", " out")
        leave(screen)
        assert modes(screen) == THE_SHELLS
    place.wait_alone()
    assert place.read(lambda conn: legs.get(conn, 1)).status is LegStatus.DONE


@pytest.mark.parametrize("number", [signal.SIGTSTP, signal.SIGSTOP], ids=["asked", "forced"])
def test_when_it_goes_on_all_of_the_screen_is_there_again(place: Place, number: int) -> None:
    """Also where nothing has changed: whoever had the terminal meanwhile has drawn over it."""
    with place.open() as screen:
        screen.wait_for("to ● fast")
        ask(screen, r"first: SCN:say it is th\x65re")
        wait_in(screen, "conversation", "it is there", " out")
        before, title = screen.settle(0.3), screen.title
        stop(screen, number)
        screen.screen.reset()
        os.kill(screen.pid, signal.SIGCONT)
        screen.wait_for(lambda text: text == before)
        assert screen.title == title
        leave(screen)


@pytest.mark.parametrize("number", [signal.SIGTSTP, signal.SIGSTOP], ids=["asked", "forced"])
def test_it_bears_to_be_stopped_again_at_once(place: Place, number: int) -> None:
    """Wherever the signals find it, also where it deals with the ones before."""
    with place.open() as screen:
        screen.wait_for("to ● fast")
        ask(screen, r"first: SCN:say so far so g\x6fod. SCN:stall")
        wait_in(screen, "conversation", "so far so good.")
        threads = running_threads(screen)
        for turn in range(12):
            screen.send("x")
            screen.pump(turn / 400)
            stop(screen, number)
            for _ in range(3):
                os.kill(screen.pid, signal.SIGCONT)
        screen.wait_for(lambda _: "so far so good." in conversation(screen))
        screen.send(" still here")
        screen.wait_for(lambda _: prompt(screen).endswith(" still here"))
        assert running_threads(screen) < threads + 12, "none stays of each time"
        leave(screen)
    place.wait_alone()


def test_a_terminal_that_is_closed_over_a_stopped_program_ends_it(place: Place) -> None:
    screen = place.open()
    screen.wait_for("to ● fast")
    ask(screen, r"first: SCN:say so far so g\x6fod. SCN:stall")
    wait_in(screen, "conversation", "so far so good.")
    screen.send("half a thought")
    screen.wait_for(lambda _: prompt(screen) == "half a thought")
    stop(screen, signal.SIGTSTP)
    screen.vanish()
    place.wait_alone()
    (leg,) = place.read(lambda conn: legs.of_turn(conn, 1))
    assert (leg.status, leg.text) == (LegStatus.CANCELLED, "so far so good.")
    assert [check for check in database_checks.database(place.database) if check.state != "ok"] == []
    with place.open() as again:
        again.wait_for(lambda _: prompt(again) == "half a thought")
        leave(again)


def test_killed_while_it_is_stopped(place: Place) -> None:
    with place.open() as screen:
        screen.wait_for("to ● fast")
        ask(screen, r"first: SCN:say so far so g\x6fod. SCN:stall")
        wait_in(screen, "conversation", "so far so good.")
        screen.wait_for(lambda _: place.read(lambda conn: legs.get(conn, 1)).text == "so far so good.")
        stop(screen, signal.SIGTSTP)
        screen.kill()
        screen.wait_exit()
    place.wait_alone()
    with place.open() as again:
        shown = plain(wait_in(again, "conversation", "so far so good.", "interrupted"))
        assert "/retry" in shown
        leave(again)
