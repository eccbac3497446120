"""The machine's clock jumps, forward and back, while the program works and between two runs: nothing is lost, told
twice or shown in another order, and nothing took less than no time."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from milk_tui.cli import database_checks
from milk_tui.core.records import LegStatus, TurnStatus
from milk_tui.store import legs, sessions, turns
from tests.e2e.conftest import ROOT, Place
from tests.e2e.looking import ask, conversation, facts, leave, plain, wait_in
from tests.support.terminal import Terminal

pytestmark = pytest.mark.e2e

DAY = 86_400
SHIFTED = """
import os, time
def _by():
    try:
        with open(os.environ["SHIFTED_BY"]) as file:
            return float(file.read() or 0)
    except OSError:
        return 0.0
_time, _time_ns = time.time, time.time_ns
time.time = lambda: _time() + _by()
time.time_ns = lambda: _time_ns() + int(_by() * 1e9)
"""


class Clock:
    """The wall clock of every process that is started with ``environ``: off by the seconds that a file holds."""

    def __init__(self, place: Place) -> None:
        folder = place.root / "clock"
        folder.mkdir()
        (folder / "sitecustomize.py").write_text(SHIFTED)
        self._file = folder / "by"
        self.environ = {"PYTHONPATH": f"{folder}:{ROOT}", "SHIFTED_BY": str(self._file)}

    def jump(self, to_days: float) -> None:
        new = self._file.with_suffix(".new")
        new.write_text(str(to_days * DAY))
        new.replace(self._file)


def answer_across(screen: Terminal, gate: Path, name: str, clock: Clock, to_days: float) -> None:
    """A turn in the middle of which the clock jumps."""
    ask(
        screen,
        rf"{name}: SCN:tag percept {name} fact SCN:say beg\x75n {name}. SCN:until {gate} SCN:say \x20{name} ends",
    )
    wait_in(screen, "conversation", f"begun {name}.")
    clock.jump(to_days)
    gate.touch()
    wait_in(screen, "conversation", f"begun {name}. {name} ends", " out")
    screen.wait_for("to ● fast")
    gate.unlink()


def test_the_clock_jumps_while_it_works_and_between_two_runs(place: Place) -> None:
    clock, gate = Clock(place), place.root / "go on"
    with place.open(rows=60, **clock.environ) as screen:
        screen.wait_for("to ● fast")
        answer_across(screen, gate, "one", clock, 3)
        answer_across(screen, gate, "two", clock, -5)
        answer_across(screen, gate, "three", clock, -5)
        assert place.run("memory", "learn", "Said by another program", **clock.environ).code == 0
        screen.wait_for(lambda _: "Said by another program" in plain(facts(screen)))
        shown = plain(conversation(screen))
        assert shown.index("one ends") < shown.index("two ends") < shown.index("three ends")
        assert not re.search(r"-\d+(\.\d+)? ?(s|ms|min|h|d)\b", shown), shown
        ask(screen, r"four: SCN:say beg\x75n four. SCN:stall")
        wait_in(screen, "conversation", "begun four.")
        screen.wait_for(lambda _: "begun four." in place.read(lambda conn: legs.get(conn, 4)).text)
        screen.kill()
        screen.wait_exit()
    place.wait_alone()
    for days in (-400, 400):
        clock.jump(days)
        with place.open(rows=60, **clock.environ) as screen:
            again = plain(wait_in(screen, "conversation", "begun four.", "interrupted"))
            assert again.index("one ends") < again.index("two ends") < again.index("three ends")
            screen.wait_for("to ● fast")
            ask(screen, rf"days {days} SCN:say go\x65s on {days}")
            wait_in(screen, "conversation", f"goes on {days}", " out")
            leave(screen)
        place.wait_alone()
        assert [check for check in database_checks.database(place.database) if check.state != "ok"] == []
    with place.store() as store:
        (row,) = store.read_sync(sessions.rows)
        index = store.read_sync(lambda conn: turns.index(conn, row.id))
        last = store.read_sync(lambda conn: legs.of_turn(conn, index[-1].id))
    assert [turn.status for turn in index] == [
        *[TurnStatus.DONE] * 3,
        TurnStatus.INTERRUPTED,
        *[TurnStatus.DONE] * 2,
    ]
    assert [leg.status for leg in last] == [LegStatus.DONE]
