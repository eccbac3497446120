"""Keys that were under way when a request appeared grant nothing: typed ahead, held down, pasted (``quality.md``)."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from tests.e2e.conftest import Place
from tests.e2e.looking import answer, ask, leave, wait_in
from tests.support.terminal import Terminal

pytestmark = pytest.mark.e2e

RUN = '{"command": "touch ran"}'
HELD_S = 1.6
"""Longer than the dialog waits for a prompt at rest, and than its own pause."""


def begin(screen: Terminal, go: Path) -> None:
    screen.wait_for("to ● fast")
    ask(screen, f"do it SCN:say w\\x65ll. SCN:until {go} SCN:tool run_command {RUN} SCN:then SCN:say all do\\x6ee")
    wait_in(screen, "conversation", "well")


def hold(screen: Terminal, keys: bytes) -> None:
    """A key held down: its repeats come as from a keyboard, also while the request appears."""
    until = time.monotonic() + HELD_S
    while time.monotonic() < until:
        screen.send(keys.decode())
        screen.settle(0.03)


KEYS = {
    "y held": "y",
    "a held": "a",
    "enter held": "\r",
    "a word and enter": "y\r",
    "pasted": "\x1b[200~y\ry\r\x1b[201~",
    "space": " ",
}


@pytest.mark.parametrize("keys", KEYS.values(), ids=KEYS)
def test_keys_that_were_under_way_when_a_request_appears_allow_nothing(place: Place, keys: str) -> None:
    go = place.root / "go"
    with place.open() as screen:
        begin(screen, go)
        screen.send(keys)
        go.touch()
        hold(screen, keys.encode())
        screen.wait_for(lambda text: "asks" in screen.title)
        assert not (place.project / "ran").exists()
        with place.store() as store:
            assert store.read_sync(lambda conn: conn.execute("select count(*) from grants").fetchone()[0]) == 0
            (status,) = store.read_sync(lambda conn: conn.execute("select status from tool_calls").fetchone())
        assert status == "running", "it still waits for its answer"
        leave(screen)
    assert not (place.project / "ran").exists()


def test_a_key_pressed_on_purpose_allows_it_once(place: Place) -> None:
    go = place.root / "go"
    go.touch()
    with place.open() as screen:
        begin(screen, go)
        answer(screen, "y")
        wait_in(screen, "conversation", "all done")
        assert (place.project / "ran").exists()
        leave(screen)
