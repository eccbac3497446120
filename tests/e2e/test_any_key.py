"""Whatever keys come, in whatever order and at whatever size of the terminal, the program goes on and can be left.

``MILK_TUI_KEYS``: how many keys (300). ``MILK_TUI_KEYS_SEED``: which ones (1).
"""

from __future__ import annotations

import os
import random

import pytest

from milk_tui.store import sessions
from tests.e2e.conftest import Place
from tests.e2e.looking import leave
from tests.support.keys import KEYS
from tests.support.terminal import Terminal

pytestmark = pytest.mark.e2e

COUNT = int(os.environ.get("MILK_TUI_KEYS", "300"))
SEED = int(os.environ.get("MILK_TUI_KEYS_SEED", "1"))
LEAVES = {"ctrl+q", "ctrl+z", "ctrl+c", "f5"}
"""Keys that end or leave the program."""
TYPED = [
    "a question? ",
    r"SCN:say \x41n answer\n\n- with\n- a list",
    "SCN:tag percept a fact SCN:say ok",
    "SCN:delay 0.01 SCN:repeat 200 word ",
    'SCN:think hm SCN:tool set_need {"need": "n"} SCN:then SCN:say done',
    "SCN:err 500",
    "SCN:empty",
    "/learn the port is 8413",
    "/need find the port",
    "/escalate too hard",
    "/handback",
    "/retry",
    "/new",
    "/rename another title",
    "/theme milk-light",
    "/nonsense",
    "/",
    "漢字 e\u0301 👩‍👩‍👧 שלום",
    "\x1b[200~pasted\rlines\r\x1b[201~",
    "p",
    "x",
    "u",
    "y",
    "n",
    "?",
]
SIZES = [(120, 40), (80, 24), (60, 20), (40, 12), (200, 60), (100, 15), (20, 5)]


def test_enter_pressed_again_in_a_dialog_does_it_once_and_closes_nothing_else(place: Place) -> None:
    with place.open() as screen:
        screen.wait_for("to ● fast")
        screen.press("f1")
        screen.wait_for("type to find a key")
        screen.send("as of any turn")
        screen.wait_for(lambda text: "ON THE MAIN SCREEN" not in text and "/perception" in text)
        screen.send("\r\r\r")
        screen.wait_for(lambda text: "esc back" in text and "perception" in text.splitlines()[0])
        screen.press("escape")
        screen.wait_for("to ● fast")
        screen.press("ctrl+p")
        screen.wait_for("find a command")
        screen.send("inspector what was sent")
        screen.send("\r\r\r\r")
        screen.settle(0.5)
        screen.press("escape")
        screen.wait_for("to ● fast")
        assert screen.alive
        leave(screen)


def press_anything(screen: Terminal, rng: random.Random) -> str:
    """One step; returns what it was."""
    kind = rng.random()
    if kind < 0.05:
        cols, rows = rng.choice(SIZES)
        screen.resize(cols, rows)
        return f"resize {cols} x {rows}"
    if kind < 0.15:
        return use_the_mouse(screen, rng)
    if kind < 0.4:
        text = rng.choice(TYPED)
        screen.send(text)
        return text
    if kind < 0.55:
        screen.press("enter")
        return "enter"
    key = rng.choice(sorted(set(KEYS) - LEAVES))
    screen.press(key)
    return key


def use_the_mouse(screen: Terminal, rng: random.Random) -> str:
    """Click, click twice, drag, or turn the wheel, somewhere."""
    x, y = rng.randint(1, screen.screen.columns), rng.randint(1, screen.screen.lines)
    down, up = f"\x1b[<0;{x};{y}M", f"\x1b[<0;{x};{y}m"
    drag = f"\x1b[<32;{rng.randint(1, screen.screen.columns)};{rng.randint(1, screen.screen.lines)}M"
    wheel = f"\x1b[<{rng.choice([64, 65])};{x};{y}M"
    done = rng.choice([down + up, (down + up) * 2, (down + up) * 3, down + drag + up, wheel, wheel * 10])
    screen.send(done)
    return repr(done)


def test_no_key_ends_the_program_or_makes_it_deaf(place: Place) -> None:
    rng = random.Random(SEED)
    done: list[str] = []
    with place.open(EDITOR="true", VISUAL="true") as screen:
        screen.wait_for("to ● fast")
        for _ in range(COUNT):
            done.append(press_anything(screen, rng))
            screen.settle(rng.choice([0.0, 0.0, 0.02, 0.15]), deadline_s=0.5)
            assert screen.alive, f"{screen.text}\nended after {done[-12:]}"
        screen.resize(120, 40)
        for _ in range(4):
            screen.press("escape")
            screen.settle(0.3, deadline_s=3)
        assert "Traceback" not in screen.text
        screen.press("ctrl+q")
        assert screen.wait_exit(60) == 0, done[-12:]
    place.wait_alone()
    assert place.read(sessions.rows)
    log = place.home / "log" / "screen.log"
    assert "Traceback" not in log.read_text("utf-8")
