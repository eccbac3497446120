"""The names of other programs' commands: each does the same as the command whose alias it is."""

from __future__ import annotations

import pytest

from milk_tui.ui.actions import BY_ID
from tests.e2e.conftest import Place
from tests.e2e.keyboard.home import opened
from tests.e2e.keyboard.steps import CLEAR, REST, command, press, say, walk_through

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

SCREENS = {
    "memory": ("", "memory · 0 facts"),
    "bricks": ("", "brick inspector"),
    "sessions": ("", "sessions of this directory"),
    "help": ("", "type to find a key or a command"),
    "agent": ("", "model for the ◆ escalation"),
    "changes": ("", "the agents changed no file in this session"),
    "permissions": ("", "permissions here"),
    "model": ("", "model for the ● primary"),
    "statistics": ("", "nothing was asked yet"),
    "settings": ("", "WHO PLAYS NOW"),
    "theme": ("", "type to narrow"),
}
"""By the action's id: the argument, and what is seen then."""
AT_THE_PROMPT = {
    "need": ("", "no need is set"),
    "restore-fact": ("", "nothing is left to undo"),
    "escape": ("", "nothing runs"),
    "attach": ("app.py", "❯ @app.py"),
    "mcp-servers": ("", "no MCP server is configured"),
    "attach-image": ("", "no program to read the clipboard was found"),
    "export-session": ("talk.md", "written:"),
    "learn": ("the roof is red", "remembered #"),
}
DENIED = (command("deny", "", "Not run: it was not allowed."), CLEAR)
REPLIES = ("SCN:say once", "SCN:say twice", "SCN:say thrice")


OPENING = tuple(
    step
    for id_, (argument, seen) in SCREENS.items()
    for alias in BY_ID[id_].aliases
    for step in (command(id_, argument, seen, name=alias), press("escape", gone=seen))
)
WRITING = (
    *(
        step
        for id_, (argument, seen) in AT_THE_PROMPT.items()
        for alias in BY_ID[id_].aliases
        for step in (command(id_, argument, seen, name=alias), CLEAR)
    ),
    say("first", "once"),
    command("retry", "", "twice", name="again"),
    REST,
    command("retry", "", "thrice", name="regenerate"),
    REST,
    command("run-command", "echo one", "run echo one", name="bash"),
    *DENIED,
    command("run-command", "echo two", "run echo two", name="shell"),
    *DENIED,
    command("fork-session", "", "a copy to go another way with", name="branch"),
    command("new-session", "", "milk · new session", name="clear"),
    say("second", "You said: second"),
    command("new-session", "", "milk · new session", name="reset"),
)


def prepare(place: Place) -> None:
    (place.project / "app.py").write_text("x = 1\n")


def test_aliases_of_what_opens_a_screen(place: Place) -> None:
    with opened(place) as walk:
        walk_through(walk, OPENING)


def test_aliases_of_what_is_done_at_the_prompt(place: Place) -> None:
    place.replies(*REPLIES)
    prepare(place)
    with opened(place) as walk:
        walk_through(walk, WRITING)
