"""The settings, and the colours."""

from __future__ import annotations

import pytest

from tests.e2e.conftest import Place
from tests.e2e.keyboard.home import opened
from tests.e2e.keyboard.steps import BACK, command, key, keys, press, walk_through

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

CONFIG = '[agents.little]\nmodel = "openai/gpt-other"\n'
STEPS = (
    command("theme", "", "type to narrow"),
    press("escape", gone="type to narrow"),
    command("theme", "milk-dark", "theme: milk-dark; remembered"),
    command("settings", "theme", "2 of", "ui.theme"),
    BACK,
    key("settings", "WHO PLAYS NOW", at="primary"),
    key("filter-settings", gone="⏎ change"),
    keys("semantic", "meaning"),
    press("enter", "⏎ change", at="semantic on"),
    key("edit-setting", at="• semantic off"),
    key("reset-setting", "its default", at="semantic on"),
    key("undo-setting", "undone: "),
    press("escape", "WHO PLAYS NOW"),
    key("filter-settings", gone="⏎ change"),
    keys("little", "9 of"),
    press("enter", "⏎ change", at="little"),
    key("test-agent", "✓ answered in"),
    key("primary-agent", "little is the primary agent"),
    key("escalation-agent", "little is the escalation agent"),
    key("remove-agent", "little is out of the config", "no setting says that"),
    key("undo-setting", "undone: without little"),
    key("add-agent", "a new agent"),
    press("escape", gone="a new agent"),
    BACK,
)


def prepare(place: Place) -> None:
    place.write_config(CONFIG)


def test_the_settings(place: Place) -> None:
    prepare(place)
    with opened(place) as walk:
        walk_through(walk, STEPS)
