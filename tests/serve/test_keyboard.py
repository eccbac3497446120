"""The keyboard-only walk through every feature, in a real browser: the steps that the pseudo-terminal's walk has.

What is left out is in ``INSTEAD``, with what a person does there instead. It is what can't work in a page:

- A browser keeps ctrl+n, ctrl+t and ctrl+w for its own windows and tabs, and no page is asked. DevTools bring them to
  the page all the same, which would hide that; so they are not pressed here.
- Another program (an editor) needs a terminal; a page has none, and milk-tui says so.

Of every other key it is also seen that the page keeps its browser from acting on it: F1, F3, ctrl+f, ctrl+p, ctrl+s and
others have a meaning there as well.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import pytest

from milk_tui.ui.actions import ACTIONS
from tests.e2e.conftest import Place, program
from tests.e2e.keyboard import (
    test_aliases,
    test_conversation,
    test_everywhere,
    test_facts,
    test_helper,
    test_inspector,
    test_memory,
    test_perception,
    test_permission,
    test_prompt,
    test_sessions,
    test_settings,
    test_statistics,
)
from tests.e2e.keyboard.home import around
from tests.e2e.keyboard.steps import Step, Steps, command, key, walk_through
from tests.e2e.keyboard.test_complete import walked
from tests.e2e.keyboard.walk import MAIN, Walk
from tests.support.browser_terminal import BrowserTerminal, browser_terminal
from tests.support.chromium import binary

in_chromium = [
    pytest.mark.chromium,
    pytest.mark.e2e,
    pytest.mark.slow,
    pytest.mark.skipif(binary() is None, reason="no Chromium here (Debian's package chromium)"),
]
WALKS = {
    "aliases-screens": (test_aliases, test_aliases.OPENING),
    "aliases-prompt": (test_aliases, test_aliases.WRITING),
    "conversation": (test_conversation, test_conversation.STEPS),
    "everywhere": (test_everywhere, test_everywhere.STEPS),
    "facts-keys": (test_facts, test_facts.KEYS),
    "facts-commands": (test_facts, test_facts.COMMANDS),
    "helper": (test_helper, test_helper.STEPS),
    "inspector": (test_inspector, test_inspector.STEPS),
    "memory": (test_memory, test_memory.STEPS),
    "perception": (test_perception, test_perception.STEPS),
    "permission": (test_permission, test_permission.STEPS),
    "prompt": (test_prompt, test_prompt.STEPS),
    "sessions": (test_sessions, test_sessions.STEPS),
    "settings": (test_settings, test_settings.STEPS),
    "statistics": (test_statistics, test_statistics.STEPS),
}
WAYS_OUT = test_everywhere.WAYS_OUT
THE_BROWSERS = frozenset({"ctrl+n", "ctrl+t", "ctrl+w"})
PASTES = frozenset({"ctrl+v"})
"""The browser is meant to act upon it: it gives the page what is pasted."""
NO_PROGRAM = "another program can't be shown in a browser"


@dataclass(frozen=True)
class Instead:
    """What is done in place of a step that can't be done in a page."""

    steps: Steps = ()
    with_it: int = 0
    """How many of the next steps are about what it would have opened, and are left out with it."""


INSTEAD = {
    ("new-session", "ctrl+n"): Instead((command("new-session", "", "milk · new session"),)),
    ("queue", "ctrl+t"): Instead((command("queue", "", "waiting prompts", at="a waiting prompt"),)),
    ("export-session", "ctrl+t"): Instead(with_it=1),
    ("editor", "f5"): Instead((key("editor", NO_PROGRAM),)),
    ("editor", "/editor"): Instead((command("editor", "", NO_PROGRAM),)),
    ("open-block", "o"): Instead((key("open-block", NO_PROGRAM),)),
}
"""By the action's id and its key or command."""


def in_a_page(steps: Iterable[Step]) -> Iterator[Step]:
    left = iter(steps)
    for step in left:
        if (instead := INSTEAD.get((step.action, step.pressed))) is None:
            yield step
            continue
        yield from instead.steps
        for _ in range(instead.with_it):
            next(left)


@contextmanager
def page(place: Place, rows: int = 40) -> Iterator[BrowserTerminal]:
    names = {**os.environ, **place.environment(**around(place))}
    env = {name: value for name, value in names.items() if value}
    argv = [*program(), *place.agents, "serve", "--port", "0"]
    with browser_terminal(argv, env=env, cwd=place.project, rows=rows) as screen:
        screen.wait_for(MAIN, 60)
        yield screen
        assert screen.tab.hosts == {"127.0.0.1"}
        assert screen.tab.problems == []


@pytest.mark.parametrize("name", [pytest.param(name, marks=in_chromium) for name in WALKS])
def test_every_feature_by_the_keyboard_in_a_page(place: Place, name: str) -> None:
    module, steps = WALKS[name]
    if hasattr(module, "REPLIES"):
        place.replies(*module.REPLIES)
    names = module.prepare(place) if hasattr(module, "prepare") else None
    with page(place, getattr(module, "ROWS", 40)) as screen:
        walk_through(Walk(screen, names or {}), in_a_page(steps))
        assert set(screen.left_to_the_browser) <= PASTES


@pytest.mark.parametrize("way", [pytest.param(way, marks=in_chromium, id=way.pressed) for way in WAYS_OUT])
def test_the_program_is_left_and_opened_again_in_a_page(place: Place, way: Step) -> None:
    with page(place) as screen:
        Walk(screen).leave_by(way.pressed)
        assert screen.run(screen.tab.evaluate("document.getElementById('ended').hidden")) is False
        screen.screen.reset()
        screen.press("enter")
        screen.wait_for(MAIN)


def test_the_page_is_walked_like_a_terminal_but_for_what_it_can_not_do() -> None:
    steps = [step for _, steps in WALKS.values() for step in steps] + list(WAYS_OUT)
    assert {(step.action, step.pressed) for step in steps if step.action} == walked()
    kept = {(action.id, pressed) for action in ACTIONS for pressed in action.keys if pressed in THE_BROWSERS}
    others = {pressed for pressed, instead in INSTEAD.items() if pressed not in kept}
    assert kept <= set(INSTEAD) <= walked()
    assert all(INSTEAD[pressed].steps for pressed in others), "each is tried, and says why it can do nothing"
