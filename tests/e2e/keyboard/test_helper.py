"""The memory helper's notes, and decisions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from milk_tui.store import notes
from milk_tui.store.clock import now_ms
from tests.e2e.conftest import Place
from tests.e2e.keyboard.home import a_session, opened
from tests.e2e.keyboard.steps import BACK, command, key, press, see, walk_through

if TYPE_CHECKING:
    from sqlite_utils import Database

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

WHERE = (notes.TOOL_STARTED,)
DOWN_TO_THE_THIRD = (press("down"), press("down"))
STEPS = (
    command("decide", "Use cents. why: floats lost one", "recorded in "),
    command("keep-note", "", "kept as #", "SESSION 1"),
    command("drop-note", "", "the note is dropped"),
    command("send-note", "", "◆ escalated to deep"),
    see("to ◆ deep"),
    command("helper", "", "memory helper", "Note 0 says so."),
    *DOWN_TO_THE_THIRD,
    key("keep-note", "kept as #"),
    key("drop-note", at="dropped: you dropped it"),
    press("down", at="Note 1 says so."),
    key("send-note", "it goes out"),
    BACK,
    see("to ◆ deep"),
    command("hand-back", "", "back to fast"),
)


def prepare(place: Place) -> None:
    with place.store() as store:
        store.write_sync(lambda db: _fill(db, place))


def _fill(db: Database, place: Place) -> None:
    session = a_session(db, place)
    for number in range(5):
        notes.add(db.conn, session.id, f"Note {number} says so.", cites=(), now=now_ms() + number, carriers=WHERE)


def test_the_memory_helper(place: Place) -> None:
    prepare(place)
    with opened(place) as walk:
        walk_through(walk, STEPS)
