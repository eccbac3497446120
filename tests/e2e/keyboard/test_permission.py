"""What an agent asks for, and the files that it changed."""

from __future__ import annotations

import json

import pytest

from milk_tui.ui.actions import Where
from tests.e2e.conftest import Place
from tests.e2e.keyboard.home import opened
from tests.e2e.keyboard.steps import READ, REST, Step, command, key, press, to, walk_through, write

pytestmark = [pytest.mark.e2e, pytest.mark.slow]


WAYS = 5
COMMAND = json.dumps({"command": "echo once"})
REPLIES = (
    *(
        line
        for number in range(WAYS)
        for line in (
            "SCN:tool write_file " + json.dumps({"path": f"made{number}.txt", "content": "x"}),
            f"SCN:say done {number}",
        )
    ),
    f"SCN:tool run_command {COMMAND}",
    "SCN:say it ran",
)


def asks(number: int) -> tuple[Step, ...]:
    """A prompt at which the agent asks to write a file, and the time to read that."""
    return write(f"write number {number}"), press("enter", f"create made{number}.txt", "y once"), READ


STEPS = (
    *asks(0),
    command("allow-once", "", "done 0", "made0.txt +1"),
    REST,
    *asks(1),
    command("deny", "not that one", "done 1", "denied: The person denied this: not that one"),
    REST,
    *asks(2),
    to(Where.PERMISSION),
    READ,
    key("allow-once", "done 2", "made2.txt +1"),
    REST,
    *asks(3),
    to(Where.PERMISSION),
    READ,
    key("deny", "why not?"),
    press("enter", "done 3"),
    REST,
    *asks(4),
    to(Where.PERMISSION),
    READ,
    key("allow-wider", "s and a cover every ./*", "w exactly this"),
    key("allow-session", "done 4", "made4.txt +1"),
    REST,
    write("now run it"),
    press("enter", "run echo once", "y once"),
    to(Where.PERMISSION),
    READ,
    key("allow-always", "it ran"),
    REST,
    command("permissions", "", "permissions here", "until you revoke it"),
    press("enter", gone="until you revoke it"),
    press("escape", gone="permissions here"),
    command("changes", "", "changed files", "made0.txt +1"),
    press("enter", "before this session"),
    press("escape", gone="before this session"),
    key("revert-file", "is as it was before this session"),
    press("escape", gone="changed files"),
    command("revert-file", "made2.txt", "made2.txt is as it was before this session"),
)


def test_what_an_agent_asks_for(place: Place) -> None:
    place.replies(*REPLIES)
    with opened(place) as walk:
        walk_through(walk, STEPS)
