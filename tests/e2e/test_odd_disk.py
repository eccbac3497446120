"""A disk that is slow, that hangs, and one without locks, as a home over a network may be: what is typed is seen at
once whatever the disk does, nothing is lost, and a disk that can't keep a database is refused (``quality.md``).

The disk is odd in the program itself: a library that is loaded before the others (``tests/support/odd_disk.c``).
"""

from __future__ import annotations

import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.conftest import ROOT, Place
from tests.e2e.looking import ask, conversation, leave, plain, prompt, wait_in
from tests.support.terminal import Terminal

pytestmark = pytest.mark.e2e

COMPILER = shutil.which("gcc") or shutil.which("cc")
SYNC_MS, WRITE_MS = 300, 20


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if COMPILER is None or not sys.platform.startswith("linux"):
        pytest.skip("needs a C compiler and Linux's way to load a library first")
    made = tmp_path_factory.mktemp("odd") / "odd_disk.so"
    source = ROOT / "tests" / "support" / "odd_disk.c"
    subprocess.run([COMPILER, "-shared", "-fPIC", "-O1", "-o", made, source, "-ldl"], check=True, capture_output=True)
    return made


@pytest.fixture
def odd(place: Place, library: Path) -> Callable[..., dict[str, Any]]:
    """The environment in which the disk of the home is odd."""

    def environment(**how: object) -> dict[str, Any]:
        names = {f"ODD_DISK_{name.upper()}": str(value) for name, value in how.items()}
        return {"LD_PRELOAD": str(library), "ODD_DISK": str(place.home / "data"), **names}

    return environment


def typed_is(screen: Terminal, text: str, _: str) -> bool:
    return prompt(screen) == text


def test_while_the_disk_hangs_keys_and_answers_are_seen_and_afterwards_everything_is_kept(
    place: Place, odd: Callable[..., dict[str, Any]]
) -> None:
    hold, go = place.root / "hold", place.root / "go"
    with place.open(**odd(hold=hold)) as screen:
        screen.wait_for("to ● fast")
        ask(screen, rf"one: SCN:say beg\x75n. SCN:until {go} SCN:count 300 row_ SCN:say the e\x6ed")
        wait_in(screen, "conversation", "begun")
        hold.touch()
        go.touch()
        screen.wait_for(lambda _: "row_300" in plain(conversation(screen)).replace(" ", ""))
        typed = ""
        for part in ("typed ", "while ", "it ", "hangs"):
            screen.send(part)
            typed += part
            screen.wait_for(partial(typed_is, screen, typed.strip()))
        assert prompt(screen) == "typed while it hangs"
        assert hold.exists() and " out" not in screen.text, "the answer is not said to be kept before it is"
        hold.unlink()
        wait_in(screen, "conversation", "the end", " out")
        screen.press("enter")
        wait_in(screen, "conversation", "You said: typed while it hangs")
        leave(screen)
    kept = place.read(lambda conn: conn.execute("select status, text from legs order by id").fetchall())
    assert [status for status, _ in kept] == ["done", "done"]
    assert kept[0][1].replace(" ", "") == "begun." + "".join(f"row_{number}" for number in range(1, 301)) + "theend"
    assert place.run("doctor", "--database").code == 0


def test_on_a_slow_disk_a_turn_and_what_is_typed_go_on(
    place: Place, odd: Callable[..., dict[str, Any]], record_property: Callable[[str, object], None]
) -> None:
    assert place.ask("-p", "SCN:say hello").code == 0
    go = place.root / "go"
    took: list[float] = []
    with place.open(**odd(sync_ms=SYNC_MS, write_ms=WRITE_MS)) as screen:
        screen.wait_for("to ● fast", 90)
        ask(screen, rf"one: SCN:say beg\x75n. SCN:delay 0.02 SCN:until {go} SCN:count 400 row_ SCN:say the e\x6ed")
        wait_in(screen, "conversation", "begun", deadline_s=60)
        go.touch()
        typed = ""
        for character in "abcdefghijklmnopqrstuvwxyz":
            typed += character
            began = time.perf_counter()
            screen.send(character)
            screen.wait_for(partial(typed_is, screen, typed))
            took.append((time.perf_counter() - began) * 1000)
        wait_in(screen, "conversation", "the end", " out", deadline_s=90)
        assert prompt(screen) == typed
        leave(screen)
    took.sort()
    worst = took[int(len(took) * 0.95)]
    record_property("figures", f"key to screen: median {statistics.median(took):.0f} ms, p95 {worst:.0f} ms")
    text = place.read(lambda conn: conn.execute("select text from legs order by id desc limit 1").fetchone()[0])
    assert text.startswith("begun") and text.replace(" ", "").endswith("row_400theend")
    assert place.run("doctor", "--database").code == 0


@pytest.mark.parametrize(("locks", "said"), [("none", "No lock can be kept"), ("open", "Locks keep nobody out")])
@pytest.mark.parametrize("command", [("-p", "SCN:say hi"), ("memory", "learn", "Ports are odd"), ("sessions", "list")])
def test_a_disk_whose_locks_do_not_hold_is_refused_at_once_with_what_to_do(
    place: Place, odd: Callable[..., dict[str, Any]], locks: str, said: str, command: tuple[str, ...]
) -> None:
    assert place.ask("-p", "SCN:say hello").code == 0
    before = place.database.read_bytes()
    ran = place.ask(*command, **odd(locks=locks))
    assert (ran.code, ran.out) == (1, "")
    assert said in ran.err and "local disk" in ran.err
    assert "Traceback" not in ran.err and len(ran.err.splitlines()) <= 2
    assert place.database.read_bytes() == before
    assert place.run("sessions", "list").code == 0


def test_a_screen_on_a_disk_without_locks_says_why_it_can_not_work(
    place: Place, odd: Callable[..., dict[str, Any]]
) -> None:
    with place.open(**odd(locks="none")) as screen:
        screen.wait_for(lambda text: "No lock can be kept" in text and "local disk" in plain(text))
        assert not place.database.stat().st_size, "nothing is written where two could write at once"
        leave(screen)
