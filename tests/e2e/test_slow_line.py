"""A line as ssh has it: bytes come late, in pieces, in bursts, in both directions; the window changes while an answer
comes. Nothing is lost, nothing is taken for something else, and what is read stays in view."""

from __future__ import annotations

import random
import re

import pytest

from milk_tui.core.records import LegStatus
from milk_tui.store import legs, turns
from tests.e2e.conftest import Place
from tests.e2e.looking import ask, conversation, leave, plain, prompt, wait_in
from tests.support.terminal import Terminal

pytestmark = pytest.mark.e2e

LATE_S = 0.02
"""Seconds between two pieces of a key; a terminal's own pause for a lone escape is five times that."""


def in_pieces(screen: Terminal, data: bytes, *, every: int = 1) -> None:
    """Send so many bytes at a time, each later than the one before."""
    for at in range(0, len(data), every):
        screen.send(data[at : at + every])
        screen.pump(LATE_S)


@pytest.mark.parametrize("seed", [1, 2])
def test_the_window_changes_while_an_answer_comes(place: Place, seed: int) -> None:
    rng = random.Random(seed)
    with place.open() as screen:
        screen.wait_for("to ● fast")
        ask(screen, r"go: SCN:delay 0.004 SCN:count 400 row\n\n")
        wait_in(screen, "conversation", "3 row")
        for _ in range(12):
            screen.resize(rng.randint(30, 180), rng.randint(10, 60))
            screen.settle(0.05, deadline_s=0.3)
            assert screen.alive
        screen.resize(120, 40)
        wait_in(screen, "conversation", "399 row", " out")
        screen.send("still here")
        screen.wait_for(lambda _: prompt(screen) == "still here")
        rows = [line.split()[0] for line in conversation(screen).splitlines() if line.endswith(" row")]
        assert rows == [str(number) for number in range(400 - len(rows), 400)]
        leave(screen)
    assert "Traceback" not in (place.home / "log" / "screen.log").read_text("utf-8")


def test_what_is_read_stays_in_view_while_the_window_changes_and_an_answer_comes(place: Place) -> None:
    with place.open() as screen:
        screen.wait_for("to ● fast")
        ask(screen, r"before: SCN:count 60 line\n\n")
        wait_in(screen, "conversation", "59 line", " out")
        go_on = place.root / "go on"
        ask(screen, rf"go: SCN:say b\x65gun. SCN:until {go_on} SCN:count 100 row\n\n")
        wait_in(screen, "conversation", "begun")
        screen.press("pageup", "pageup", "pageup")
        screen.wait_for("follows")
        top = next(line for line in conversation(screen).splitlines() if line.endswith(" line")).strip()
        go_on.touch()
        for size in ((80, 24), (50, 16), (150, 50), (120, 40)):
            screen.resize(*size)
            screen.wait_for(lambda _: any(line.lstrip(" │").startswith(top) for line in screen.lines))
        screen.wait_for("new ↓")
        assert "99 row" not in conversation(screen)
        screen.send("\x1b[1;5F")
        wait_in(screen, "conversation", "99 row")
        leave(screen)


def test_keys_that_come_in_pieces_are_the_keys_that_were_pressed(place: Place) -> None:
    with place.open() as screen:
        screen.wait_for("to ● fast")
        in_pieces(screen, "añb漢😀".encode())
        in_pieces(screen, b"\x1b[D\x1b[D")
        in_pieces(screen, b"X\x1b[13;2uY\x1b[27;2;13~Z\x1b\rW")
        screen.wait_for(lambda _: prompt(screen).replace(" ", "").split() == ["añbX", "Y", "Z", "W漢😀"])
        assert "you · " not in screen.text
        leave(screen)


def test_a_paste_that_comes_in_pieces_is_one_and_sends_nothing(place: Place) -> None:
    with place.open() as screen:
        screen.wait_for("to ● fast")
        text = "one\rtwo \x1b[31mred\rthree é漢\r"
        in_pieces(screen, f"\x1b[200~{text}\x1b[201~".encode(), every=3)
        screen.wait_for(lambda _: plain(prompt(screen)) == "one two red three é漢")
        assert "you · " not in screen.text
        screen.press("ctrl+z")
        screen.wait_for(lambda _: prompt(screen) == "")
        leave(screen)


def test_what_was_typed_ahead_on_a_slow_line_comes_in_order(place: Place) -> None:
    with place.open() as screen:
        screen.wait_for("to ● fast")
        screen.send("SCN:say first \\x41\rSCN:say second \\x42\rhalf a th\x7f\x7f\x1b[D\x1b[Dx")
        wait_in(screen, "conversation", "first A", "second B")
        screen.wait_for(lambda _: prompt(screen) == "half xa")
        leave(screen)


def test_a_line_that_takes_nothing_for_a_while_loses_neither_keys_nor_text(place: Place) -> None:
    with place.open() as screen:
        screen.wait_for("to ● fast")
        ask(screen, r"go: SCN:delay 0.01 SCN:count 1500 row\n\n")
        wait_in(screen, "conversation", "3 row")
        for key in "a draft":
            screen.send(key)  # the screen is not read meanwhile, unless the line is full
        screen.wait_for(lambda _: (newest(screen) or 0) > 100)
        screen.wait_for(lambda _: prompt(screen) == "a draft")
        screen.press("escape")
        wait_in(screen, "conversation", "stopped")
        leave(screen)
    assert place.read(lambda conn: legs.get(conn, 1)).status is LegStatus.CANCELLED


def newest(screen: Terminal) -> int | None:
    """The number of the last row that is shown."""
    rows = re.findall(r"(\d+) row", conversation(screen))
    return int(rows[-1]) if rows else None


@pytest.mark.slow
def test_five_megabytes_are_pasted_without_the_screen_standing_still(place: Place) -> None:
    with place.open() as screen:
        screen.wait_for("to ● fast")
        screen.send("see ")
        screen.paste("a line of some log, of no importance\n" * 140_000)
        screen.wait_for("⟦pasted #1 · 140,000 lines", deadline_s=120)
        screen.send(" and SCN:say r\\x65ad it")
        screen.wait_for(lambda _: prompt(screen).endswith("read it") or "r\\x65ad it" in prompt(screen))
        screen.press("enter")
        wait_in(screen, "conversation", "read it", deadline_s=120)
        leave(screen)
    stored = place.read(lambda conn: turns.get(conn, 1)).prompt
    assert len(stored) > 5_000_000
    assert stored.endswith("it")
