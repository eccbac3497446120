"""The list of facts beside the conversation, and the commands that name facts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from milk_tui.core.records import PerceptScope, Producer
from milk_tui.store import percept_changes, percepts
from milk_tui.ui.actions import Where
from tests.e2e.conftest import Place
from tests.e2e.keyboard.home import opened
from tests.e2e.keyboard.steps import BACK, command, key, keys, press, to, walk_through

if TYPE_CHECKING:
    from sqlite_utils import Database

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

ROWS = 64
"""Lines of the terminal: all facts are seen."""
FACTS = {
    "port": "the port of the shop is 8413",
    "till": "the till prints receipts on paper",
    "ada": "Ada owns the ledger",
    "paper": "the paper comes from Riga",
    "roof": "the roof is red",
}
UNDECIDED = {
    "seven": "the gate opens at seven",
    "nine": "the gate opens at nine",
    "white": "the van is white",
    "green": "the van is green",
    "loud": "the bell is loud",
    "quiet": "the bell is quiet",
    "out": "the lamp is out",
    "lit": "the lamp is lit",
}
PAIRS = (("nine", "seven"), ("green", "white"), ("quiet", "loud"), ("lit", "out"))
COMMANDS = (
    command("accept-fact", "{nine}", "#{seven} ❯ you → #{nine}"),
    command("reject-fact", "{green}", "#{green} rejected", "#{green} ❯ you ▰▰▰▱ 0.90 │"),
    command("learn", "the cellar is dry", "remembered #", "SESSION 1"),
    command("promote-fact", "{port}", "#{port} is global already"),
    command("pin-fact", "{port}", "PINNED 1", "#{port} pinned"),
    command("pin-fact", "{port}", "#{port} unpinned", gone="PINNED"),
    command("heavier-fact", "{port}", "#{port} ❯ you ▰▰▰▱ 0.95"),
    command("lighter-fact", "{port}", "#{port} ❯ you ▰▰▰▱ 0.90"),
    command("readers-of-fact", "{port}", "#{port} goes to the primary", "0.90 →●"),
    command("edit-fact", "{till} the till prints nothing", "the till prints nothing", gone="on paper"),
    command("explain-fact", "which port", "for “which port”", "given 1 fact"),
    BACK,
    command("merge-facts", "{till} {ada}", "#{ada} ❯ you → #{till}"),
    command("restore-fact", "", "undone: merged two facts", gone="→ #{till}"),
    command("supersede-fact", "{paper} {roof}", "#{paper} ❯ you → #{roof}"),
    command("restore-fact", "", "undone: superseded a fact", gone="→ #{roof}"),
    command("forget-fact", "{ada}", "#{ada} ❯ you forgotten"),
    command("restore-fact", "{ada}", "#{ada} ❯ you ▰▰▰▱ 0.90"),
)
KEYS = (
    to(Where.PERCEPTS),
    key("accept-fact", "#{out} ❯ you → #{lit}"),
    press("down", at="the bell is quiet"),
    key("reject-fact", "#{quiet} rejected"),
    BACK,
    command("learn", "the cellar is dry", "SESSION 1"),
    to(Where.PERCEPTS),
    press("end"),
    press("home", at="the cellar is dry"),
    key("pin-fact", "PINNED 1", at="★ the cellar is dry"),
    key("pin-fact", gone="PINNED 1"),
    key("heavier-fact", at="0.95"),
    key("lighter-fact", at="0.90"),
    key("heavier-fact", at="0.95", nth=1),
    key("readers-of-fact", at="→●"),
    key("promote-fact", "is global", gone="SESSION 1"),
    key("forget-fact", at="forgotten, u undoes"),
    key("restore-fact", "brought back"),
    press("home"),
    key("mark-fact", "✓1"),
    key("mark-fact", "✓2"),
    key("merge-facts", "merged into"),
    key("restore-fact", "undone: merged two facts"),
    press("home"),
    key("mark-fact", "✓1"),
    key("mark-fact", "✓2"),
    key("supersede-fact", "holds instead of"),
    key("restore-fact", "undone: superseded a fact"),
    key("edit-fact", "enter keeps it", gone="/ filter"),
    keys(" for ever", "for ever"),
    press("enter", "is yours now", gone="enter keeps it"),
    key("fact-details", "WHERE IT IS FROM", "stated by you"),
    press("escape", gone="WHERE IT IS FROM"),
    key("filter-facts", "what an agent would recall for"),
    keys("port", "1 fact for “port”"),
    press("enter", at="the port of the shop"),
    key("explain-fact", "why #{port}", "for “port”"),
    press("escape", gone="why #{port}"),
    BACK,
)
STEPS = (*COMMANDS, *KEYS)


def seed(place: Place) -> dict[str, str]:
    """The facts' short ids, by a name; some of them are to be decided about."""
    with place.store() as store:
        return store.write_sync(_fill)


def _fill(db: Database) -> dict[str, str]:
    made = {
        name: percepts.add(db, content=text, scope=PerceptScope.GLOBAL).percept.id
        for name, text in (*FACTS.items(), *UNDECIDED.items())
    }
    for new, old in PAIRS:
        percept_changes.suspect(db, made[new], made[old], actor=Producer.SYSTEM)
    return {name: id_[:6] for name, id_ in made.items()}


prepare = seed


def test_the_keys_of_the_list_of_facts(place: Place) -> None:
    with opened(place, rows=ROWS, **seed(place)) as walk:
        walk_through(walk, KEYS)


def test_the_commands_that_name_facts(place: Place) -> None:
    with opened(place, rows=ROWS, **seed(place)) as walk:
        walk_through(walk, COMMANDS)
