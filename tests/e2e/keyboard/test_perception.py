"""The perception: what is believed, corrected and looked at as of any turn."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from milk_tui.core.records import Layer, PerceptionEntry
from milk_tui.store import perception, perception_disputes
from tests.e2e.conftest import Place
from tests.e2e.keyboard.home import a_session, opened
from tests.e2e.keyboard.steps import BACK, REST, command, key, keys, press, walk_through, write

if TYPE_CHECKING:
    from sqlite_utils import Database

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

PROPOSED = {"soil": "clay", "sun": "south"}
REPLIES = (
    "SCN:tag working file: garden.py SCN:say noted",
    "SCN:tag working file: roses.py SCN:say noted again",
)
STEPS = (
    command("open-slice", "garden", "the slice is open"),
    command("edit-entry", "frame story: water the roses", "story is kept; /unbelieve takes that back"),
    write("look around"),
    press("enter", "noted"),
    REST,
    write("look again"),
    press("enter", "noted again"),
    REST,
    command("edit-entry", "frame tool: a can", "tool is kept; /unbelieve takes that back"),
    command("undo-entry", "", "undone: "),
    command("open-slice", "kitchen", "the slice is open"),
    command("edit-entry", "frame story: cook the peas", "story is kept"),
    command("open-slice", "garden", "the slice is open"),
    command("perception", "write", "written: "),
    command("perception-file", "read", "nothing was changed in it"),
    command("perception", "", "perception · slice garden", "water the roses"),
    BACK,
    key("perception", "perception · slice garden", "water the roses", at="slice garden"),
    press("j", at="story water the roses"),
    key("edit-entry", "enter keeps it"),
    keys(" daily", "water the roses daily"),
    press("enter", "story is kept · u undoes"),
    key("entry-history", "frame · story", "space mark"),
    press("escape", gone="space mark"),
    key("undo-entry", "undone: edited story", gone="roses daily"),
    key("add-entry", "new in the frame"),
    keys("rule: gently"),
    press("enter", "kept · u undoes", "gently", gone="new in the frame"),
    press("j", at="rule gently"),
    key("remove-entry", "rule is gone · u undoes"),
    key("earlier", "as it was after turn"),
    key("later", gone="as it was after turn"),
    key("compare-turns", "what changed in the perception"),
    press("escape", gone="what changed in the perception"),
    press("end", at="kitchen"),
    key("open-slice", "slice kitchen is open · u undoes", "cook the peas"),
    press("f6"),
    press("f6", at="soil"),
    key("accept-entry", "soil holds from now on"),
    key("reject-entry", "sun was not taken"),
    press("home", at="wall"),
    key("swap-entry", "wall is swapped · u undoes"),
    BACK,
)


def prepare(place: Place) -> None:
    with place.store() as store:
        store.write_sync(lambda db: _fill(db, place))


def _fill(db: Database, place: Place) -> None:
    """A session with two proposals, and an entry that the file beside the code overruled."""
    session = a_session(db, place)
    proposals = [
        PerceptionEntry(layer=Layer.INVARIANT, key=name, value=value, proposed=True) for name, value in PROPOSED.items()
    ]
    perception.append(db, session.id, proposals)
    perception.append(db, session.id, [PerceptionEntry(layer=Layer.INVARIANT, key="wall", value="brick")])
    ours = PerceptionEntry(layer=Layer.INVARIANT, key="wall", value="stone", writer="fast")
    perception_disputes.add(db, session.id, ours, slice_name="", now=5)


def test_the_perception(place: Place) -> None:
    place.replies(*REPLIES)
    prepare(place)
    with opened(place) as walk:
        walk_through(walk, STEPS)
