"""The statistics."""

from __future__ import annotations

import pytest

from tests.e2e.conftest import Place
from tests.e2e.keyboard.home import opened
from tests.e2e.keyboard.steps import BACK, command, key, press, say, walk_through

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

REPLIES = ("SCN:count 60 \\n\\nrow", "SCN:say second", "SCN:count 60 \\n\\nline")
STEPS = (
    say("count", "row60"),
    say("and now?", "second"),
    say("again", "line60"),
    command("statistics", "", "statistics", "tokens per turn"),
    press("f6", "⏎ to the turn"),
    press("left", "▲ turn 2"),
    press("left", "▲ turn 1"),
    key("plotted-turn", "row13", at="you ·"),
    BACK,
)


def test_the_statistics(place: Place) -> None:
    place.replies(*REPLIES)
    with opened(place) as walk:
        walk_through(walk, STEPS)
