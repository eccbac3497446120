"""The list of sessions, and the commands on the session that is on the screen."""

from __future__ import annotations

import pytest

from tests.e2e.conftest import Place
from tests.e2e.keyboard.home import opened
from tests.e2e.keyboard.steps import BACK, command, key, keys, press, say, see, walk_through

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

STEPS = (
    say("first talk", "You said: first talk"),
    command("rename-session", "the first one", "milk · the first one"),
    command("fork-session", "the copy", "milk · the copy", "a copy to go another way with"),
    command("export-session", "talk.md", "written: ", "/talk.md"),
    key("new-session", "milk · new session"),
    say("second talk", "You said: second talk"),
    command("new-session", "", "milk · new session"),
    command("fresh-session", "", "a fresh session"),
    command("sessions", "the first one", "milk · the first one", "You said: first talk"),
    command("sessions", "", "sessions of this directory"),
    BACK,
    key("sessions", "sessions of this directory"),
    keys("copy", at="the copy"),
    key("rename-session", "rename the session"),
    keys("a copy again"),
    press("enter", at="a copy again"),
    key("fork-session", "a copy again (fork): a copy to go another way with"),
    key("export-session", "a-copy-again-fork.md"),
    press("enter", "written:", "/a-copy-again-fork.md"),
    key("delete-session", "deleted: a copy again (fork)"),
    key("undelete-session", at="a copy again (fork)"),
    see(gone="deleted:"),
    key("all-sessions", "sessions of every directory"),
    key("all-sessions", "sessions of this directory"),
    key("delete-session", "deleted: a copy again (fork)"),
    BACK,
    command("undelete-session", "", "brought back: ctrl+o lists it"),
)


def test_the_list_of_sessions(place: Place) -> None:
    with opened(place) as walk:
        walk_through(walk, STEPS)
