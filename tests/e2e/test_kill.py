"""Killed at any moment, nothing is lost (``quality.md``, "Nothing lost"): the installed program, a turn that streams,
calls tools, asks, is told a note and hands over, SIGKILL at seeded random points of every phase, and the next start
after each.

``MILK_TUI_KILLS``: how many points (20; with ``--deep`` 120). ``MILK_TUI_KILL_SEED``: which ones (1).
"""

from __future__ import annotations

import os
from collections.abc import Callable

import pytest

from milk_tui.store import legs
from tests.e2e import killing
from tests.e2e.conftest import Place
from tests.e2e.looking import leave, plain, wait_in

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

SEED = int(os.environ.get("MILK_TUI_KILL_SEED", "1"))


@pytest.mark.timeout(3600)
def test_nothing_is_lost_or_done_twice_wherever_it_is_killed(
    place: Place, deep: bool, record_property: Callable[[str, object], None]
) -> None:
    kills = int(os.environ.get("MILK_TUI_KILLS", "120" if deep else "20"))
    record_property("seed", SEED)
    record_property("tried", kills)
    story = killing.tell(place, SEED, kills)
    assert kills < len(killing.PHASES) or set(story.aimed) == set(killing.PHASES)
    record_property("figures", story.figures())
    print(f"{kills} kills; {story.figures()}")


def test_what_came_is_shown_and_marked_and_the_session_goes_on(place: Place) -> None:
    with place.open() as screen:
        screen.wait_for("to ● fast")
        screen.paste("job 001 SCN:tag percept Ports are odd SCN:say half an an\\x73wer. SCN:stall")
        screen.press("enter")
        wait_in(screen, "conversation", "half an answer.")
        wait_in(screen, "percepts", "Ports are odd")
        with place.store() as store:
            screen.wait_for(lambda _: "half an answer." in store.read_sync(lambda conn: legs.get(conn, 1)).text)
        screen.kill()
        screen.wait_exit()
    place.wait_alone()
    with place.open() as screen:
        shown = plain(wait_in(screen, "conversation", "half an answer.", "interrupted"))
        assert "/retry" in shown
        wait_in(screen, "percepts", "Ports are odd")
        screen.send("SCN:say and it goes o\\x6e")
        screen.press("enter")
        wait_in(screen, "conversation", "and it goes on", " out")
        leave(screen)
    sent = str(place.requests()[-1]["messages"])
    assert "half an answer." in sent
    assert "Ports are odd" in sent
