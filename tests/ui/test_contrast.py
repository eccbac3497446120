"""The program's own colours can be read: contrast by WCAG 2.1, as the widgets really mix them."""

from __future__ import annotations

import pytest
from rich.color import Color
from rich.style import Style
from textual.app import App, ComposeResult
from textual.containers import Vertical

from milk_tui.ui import themes
from milk_tui.ui.paint import LOOKS, LookBook, Painter
from milk_tui.ui.transcript.palette import NAMES, Palette
from milk_tui.ui.transcript.widget import Transcript

OWN = [theme for theme in themes.THEMES if not theme.ansi]
TEXT, ACCENT = 4.5, 3.0
LINES = frozenset({"bar", "border", "prompt-bar", "cursor"})
"""Names of the transcript that draw lines and marks, not text."""
BARE_GROUNDS = frozenset({"flash", "added-ground", "removed-ground"})
GROUNDS = ("", "cursor", *sorted(BARE_GROUNDS))
PANES = ("background", "surface", "panel")


def luminance(color: Color) -> float:
    channels = [value / 255 for value in color.get_truecolor()]
    linear = [value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4 for value in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(style: Style) -> float:
    """From 1 to 21."""
    assert style.color is not None and style.bgcolor is not None
    high, low = sorted((luminance(style.color), luminance(style.bgcolor)), reverse=True)
    return (high + 0.05) / (low + 0.05)


class Swatch(Painter):
    """A painter on one of the grounds that panes have."""


class Colours(App[None]):
    CSS_PATH = themes.style_sheets("looks", "main", "transcript", "dialogs")
    CSS = "\n".join(f"#on-{pane} {{ background: ${pane}; }}" for pane in PANES)

    def __init__(self, theme: str) -> None:
        super().__init__()
        for each in themes.THEMES:
            self.register_theme(each)
        self.theme = theme
        self.look_book = LookBook()

    def compose(self) -> ComposeResult:
        with Vertical():
            for pane in PANES:
                yield Swatch(id=f"on-{pane}")
        yield Transcript()
        yield self.look_book


def worst(found: dict[str, float], least: float) -> dict[str, float]:
    return {name: round(value, 2) for name, value in found.items() if value < least}


@pytest.mark.parametrize("theme", OWN, ids=lambda theme: theme.name)
async def test_every_look_can_be_read_on_every_ground(theme) -> None:
    app = Colours(theme.name)
    async with app.run_test():
        found = {
            f"{look or 'text'} on {pane}{' under ' + ground if ground else ''}": contrast(swatch.look(look, ground))
            for pane in PANES
            for swatch in [app.query_one(f"#on-{pane}", Swatch)]
            for look in ("", *sorted(LOOKS - BARE_GROUNDS - {"cursor"}))
            for ground in GROUNDS
        }
        assert not worst(found, 7.0 if "contrast" in theme.name else TEXT)


@pytest.mark.parametrize("theme", OWN, ids=lambda theme: theme.name)
async def test_the_conversation_can_be_read(theme) -> None:
    app = Colours(theme.name)
    async with app.run_test():
        palette = Palette.of(app.query_one(Transcript))
        found = {
            f"{name} on {ground}": (contrast(palette(ground, name)), name)
            for ground in ("text", "prompt", "fence")
            for name in NAMES
            if name not in ("text", "prompt", "fence")
        }
        inline = {f"{name} in code": (contrast(palette("text", "code", name)), name) for name in ("strong", "link")}
        found |= inline
        least = 7.0 if "contrast" in theme.name else TEXT
        assert not worst({what: value for what, (value, name) in found.items() if name not in LINES}, least)
        strong = frozenset({"prompt-bar", "cursor"})
        assert not worst({what: value for what, (value, name) in found.items() if name in strong}, ACCENT)


@pytest.mark.parametrize("theme", OWN, ids=lambda theme: theme.name)
def test_frames_with_the_focus_stand_out_and_differ_from_the_others(theme) -> None:
    focus, other, ground = (
        Color.parse(theme.variables[name]) for name in ("border", "border-blurred", "scrollbar-background")
    )
    assert contrast(Style.from_color(focus, ground)) >= ACCENT
    assert contrast(Style.from_color(focus, other)) >= 1.5


@pytest.mark.parametrize("name", sorted(themes.BUILTIN_THEMES))
async def test_with_a_theme_of_textual_nothing_goes_under(name: str) -> None:
    if themes.BUILTIN_THEMES[name].ansi:
        pytest.skip("the terminal's own colours can't be measured")
    app = Colours(name)
    async with app.run_test():
        swatch = app.query_one("#on-background", Swatch)
        found = {look: contrast(swatch.look(look)) for look in ("", "dim", "strong", "heading", "key", "error")}
        assert not worst(found, 2.0)
