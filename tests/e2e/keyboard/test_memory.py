"""The memory browser."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from milk_tui.core.records import PerceptScope
from milk_tui.store import percepts
from tests.e2e.conftest import Place
from tests.e2e.keyboard.home import opened
from tests.e2e.keyboard.steps import BACK, command, key, keys, press, walk_through

if TYPE_CHECKING:
    from sqlite_utils import Database

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

FACTS = (
    "the port of the shop is 8413",
    "the till prints receipts on paper",
    "receipts on paper the till prints",
)
STEPS = (
    command("learn", "the cellar is dry", "remembered #"),
    command("memory", "port", "memory · 4 facts", "1 fact for “port”"),
    BACK,
    key("memory", "memory · 4 facts", at="the cellar is dry"),
    key("next-group", at="receipts on paper"),
    key("previous-group", at="the cellar is dry"),
    key("filter-facts", "what an agent would recall for"),
    keys("port", "fast would be given"),
    press("enter", at="the port of the shop"),
    key("asked-agent", "deep would be given"),
    press("escape", gone="1 fact for “port”"),
    key("clean-up", "clean up memory", "near copies"),
    press("enter", "✓", "space changes a mark"),
    BACK,
    command("clean-up", "", "clean up memory", "near copies"),
    BACK,
)


def prepare(place: Place) -> None:
    with place.store() as store:
        store.write_sync(_fill)


def _fill(db: Database) -> None:
    for text in FACTS:
        percepts.add(db, content=text, scope=PerceptScope.GLOBAL)


def test_the_memory_browser(place: Place) -> None:
    prepare(place)
    with opened(place) as walk:
        walk_through(walk, STEPS)
