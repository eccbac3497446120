"""What is there everywhere: help, the palette, the panes one after the other, leaving."""

from __future__ import annotations

from operator import methodcaller

import pytest

from milk_tui.ui.actions import BY_ID
from tests.e2e.conftest import Place
from tests.e2e.keyboard.home import opened
from tests.e2e.keyboard.steps import BACK, CLEAR, Step, command, key, keys, press, walk_through

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

STEPS = (
    key("help", "type to find a key or a command", "YOU ARE HERE"),
    BACK,
    command("help", "statistics", at="/stats statistics"),
    BACK,
    key("palette", "find a command"),
    keys("how everything", at="status /status"),
    press("enter", "model host ready"),
    BACK,
    command("palette", "", "find a command"),
    BACK,
    command("status", "", "model host ready"),
    BACK,
    command("mcp-servers", "", "no MCP server is configured"),
    CLEAR,
    key("next-pane", "prompt above"),
    key("previous-pane", gone="prompt above"),
    command("next-pane", "", "prompt above"),
)
QUIT = BY_ID["quit"]
WAYS_OUT = tuple(
    Step(methodcaller("leaves_by", way), f"leave by {way}", QUIT.id, way)
    for way in (*QUIT.keys, *(f"/{name}" for name in (QUIT.command, *QUIT.aliases)))
)


def test_what_is_everywhere(place: Place) -> None:
    with opened(place) as walk:
        walk_through(walk, STEPS)


@pytest.mark.parametrize("way", WAYS_OUT, ids=lambda way: way.pressed)
def test_the_program_is_left(place: Place, way: Step) -> None:
    with opened(place) as walk:
        walk_through(walk, (way,))
