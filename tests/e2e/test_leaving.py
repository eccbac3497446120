"""However the program is left, what was typed, what came and what waits is there at the next start, and nothing else
of it goes on."""

from __future__ import annotations

import os
import signal

import pytest

from milk_tui.core.records import LegStatus, TurnStatus
from milk_tui.store import legs, sessions, turns
from tests.e2e.conftest import Place
from tests.e2e.looking import ask, conversation, leave, plain, prompt, wait_in
from tests.support.terminal import Terminal

pytestmark = pytest.mark.e2e


def quits(screen: Terminal) -> None:
    screen.press("ctrl+q")


def copies_twice(screen: Terminal) -> None:
    """Twice on an empty prompt; the first one clears it."""
    screen.press("ctrl+c")
    screen.wait_for("cleared")
    screen.press("ctrl+c")
    screen.wait_for("once more")
    screen.press("ctrl+c")


def is_ended(screen: Terminal) -> None:
    os.kill(screen.pid, signal.SIGTERM)


def loses_its_terminal(screen: Terminal) -> None:
    os.kill(screen.pid, signal.SIGHUP)


@pytest.mark.parametrize("how", [quits, copies_twice, is_ended, loses_its_terminal])
def test_an_answer_that_runs_is_stopped_and_kept_and_the_draft_is_saved(place: Place, how) -> None:
    with place.open() as screen:
        screen.wait_for("to ● fast")
        ask(screen, r"first: SCN:say so far so g\x6fod. SCN:stall")
        wait_in(screen, "conversation", "so far so good.")
        screen.send("half a thought")
        screen.wait_for(lambda _: prompt(screen) == "half a thought")
        how(screen)
        screen.wait_exit()
    place.wait_alone()
    (leg,) = place.read(lambda conn: legs.of_turn(conn, 1))
    assert (leg.status, leg.text) == (LegStatus.CANCELLED, "so far so good.")
    assert place.read(lambda conn: turns.get(conn, 1)).status is TurnStatus.CANCELLED
    with place.open() as screen:
        wait_in(screen, "conversation", "so far so good.", "stopped")
        if how is not copies_twice:
            screen.wait_for(lambda _: prompt(screen) == "half a thought")
        leave(screen)


@pytest.mark.parametrize("killed", [False, True])
def test_a_prompt_that_waited_is_answered_at_the_next_start_once(place: Place, killed: bool) -> None:
    with place.open() as screen:
        screen.wait_for("to ● fast")
        ask(screen, r"first: SCN:say so far so g\x6fod. SCN:stall")
        wait_in(screen, "conversation", "so far so good.")
        ask(screen, r"second: SCN:say at l\x61st")
        wait_in(screen, "conversation", "waits", "second:")
        if killed:
            screen.wait_for(lambda _: place.read(lambda conn: legs.get(conn, 1)).text == "so far so good.")
            screen.kill()
            screen.wait_exit()
        else:
            leave(screen)
    place.wait_alone()
    with place.open() as screen:
        wait_in(screen, "conversation", "so far so good.", "at last", " out")
        leave(screen)
    with place.open() as screen:
        shown = plain(wait_in(screen, "conversation", "at last"))
        assert shown.count("at last") == 1
        leave(screen)
    assert [place.read(lambda conn, id_=id_: turns.get(conn, id_)).status for id_ in (1, 2)] == [
        TurnStatus.INTERRUPTED if killed else TurnStatus.CANCELLED,
        TurnStatus.DONE,
    ]


def test_a_waiting_prompt_is_left_to_the_program_that_lives(place: Place) -> None:
    gate = place.root / "go on"
    with place.open() as first:
        first.wait_for("to ● fast")
        ask(first, rf"first: SCN:say so far so g\x6fod. SCN:until {gate} SCN:say \x20and so on")
        wait_in(first, "conversation", "so far so good.")
        ask(first, r"second: SCN:say at l\x61st")
        wait_in(first, "conversation", "second:")
        with place.open() as other:
            other.wait_for("to ● fast")
            wait_in(other, "conversation", "second:")
            assert "at last" not in conversation(other)
            gate.touch()
            wait_in(first, "conversation", "and so on", "at last")
            leave(other)
        leave(first)
    assert len(place.requests()) == 2


def test_stopping_with_escape_keeps_what_came_and_the_session_goes_on(place: Place) -> None:
    with place.open() as screen:
        screen.wait_for("to ● fast")
        ask(screen, r"first: SCN:say so far so g\x6fod. SCN:stall")
        wait_in(screen, "conversation", "so far so good.")
        screen.press("escape")
        wait_in(screen, "conversation", "so far so good.", "stopped")
        screen.wait_for("to ● fast")
        ask(screen, r"second: SCN:say go \x6fn")
        wait_in(screen, "conversation", "go on", " out")
        leave(screen)


@pytest.mark.parametrize("before", [(), ("setsid", "--wait")], ids=["with a signal", "without a word"])
@pytest.mark.parametrize("busy", [True, False])
def test_a_terminal_that_vanishes_ends_the_program_and_loses_nothing(place: Place, before, busy: bool) -> None:
    quiet = Place(place.root, before=before)
    screen = quiet.open()
    screen.wait_for("to ● fast")
    ask(screen, r"first: SCN:delay 0.02 SCN:count 3000 row\n\n" if busy else "first: SCN:say one")
    screen.wait_for("3 row" if busy else "│  one")
    screen.send("half a thought")
    screen.wait_for(lambda _: prompt(screen) == "half a thought")
    screen.vanish()
    place.wait_alone()
    (leg,) = place.read(lambda conn: legs.of_turn(conn, 1))
    assert leg.status is (LegStatus.CANCELLED if busy else LegStatus.DONE)
    assert place.read(sessions.rows)[0].turns == 1
    with place.open() as again:
        again.wait_for(lambda _: prompt(again) == "half a thought")
        leave(again)
