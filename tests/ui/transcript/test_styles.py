"""Every name of the palette has its rule in the style sheet, and the rules use the theme's variables only."""

from __future__ import annotations

import re

import pytest

from milk_tui.ui.transcript.palette import COMPONENTS, NAMES
from tests.ui.transcript.support import STYLES, TranscriptApp, leg, show

SHEET = STYLES.read_text(encoding="utf-8")


def test_the_sheet_and_the_palette_name_the_same_things():
    assert set(re.findall(r"\.(transcript--[\w-]+)", SHEET)) == COMPONENTS
    assert len(set(NAMES)) == len(NAMES)


def test_the_sheet_takes_its_colours_from_the_theme():
    values = re.findall(r"(?:color|background)[\w-]*:\s*([^;]+);", SHEET)
    assert values
    assert all(re.fullmatch(r"(?:\$[\w-]+(?: \d+%)?|ansi_\w+)", value.strip()) for value in values), values


@pytest.mark.parametrize("theme", ["textual-dark", "textual-light", "ansi-dark", "ansi-light", "nord", "gruvbox"])
async def test_what_differs_in_meaning_differs_in_looks(theme):
    app = TranscriptApp()
    async with app.run_test() as pilot:
        app.theme = theme
        transcript, _ = await show(pilot, [leg(1, "text")])
        palette = transcript.document.rows.paper.palette
        text = palette("text")
        for name in ("strong", "emphasis", "code", "link", "muted", "error", "warning", "primary", "escalation"):
            assert palette("text", name) != text, name
        assert palette("text", "primary") != palette("text", "escalation")
        assert palette("text", "error") != palette("text", "information")
