"""The brick inspector, and what the commands do with bricks."""

from __future__ import annotations

import pytest

from tests.e2e.conftest import Place
from tests.e2e.keyboard.home import opened
from tests.e2e.keyboard.steps import BACK, REST, command, key, keys, press, say, walk_through, write

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

REPLIES = ("SCN:say hello", "SCN:say in depth", "SCN:say third")
SENT = "difference of two receipts"
STEPS = (
    say("greet me", "hello"),
    write("design it"),
    key("escalate", "in depth"),
    REST,
    say("and now?", "third"),
    command("need", "", "no need is set"),
    command("need", "find the port", "│ need find the port"),
    command("need", "", "need: find the port"),
    command("edit-brick", "primary the port was looked for", "the primary is kept"),
    command("rebuild-brick", "primary", "rebuilt, as version"),
    command("finish-need", "", "the need is done"),
    command("need", "find another port", "│ need find another port"),
    command("compare-receipts", "", SENT),
    BACK,
    command("bricks", "", "brick inspector · 3 legs"),
    BACK,
    key("bricks", "brick inspector · 3 legs", at="need"),
    key("edit-brick", "What the session is about, in one line"),
    keys(" in the shop", "another port in the shop"),
    press("enter", "need is kept", gone="What the session is about, in one line"),
    key("brick-versions", "current need", "u take back"),
    press("escape", gone="u take back"),
    key("finish-need", "the need is done"),
    press("down", at="brief"),
    press("down", at="primary's summary"),
    key("rebuild-brick", "primary's summary is as it would be built"),
    press("f6", at="identity"),
    press("f6"),
    press("f6", at="turn 3"),
    key("mark-receipt", "1 marked", at="turn 2"),
    press("down", at="turn 1"),
    key("mark-receipt", "2 marked"),
    key("compare-receipts", SENT),
    press("escape", gone=SENT),
    press("enter", "sent to fast, turn 1"),
    BACK,
)


def test_the_brick_inspector(place: Place) -> None:
    place.replies(*REPLIES)
    with opened(place) as walk:
        walk_through(walk, STEPS)
