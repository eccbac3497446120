"""What the first frame looks like, by terminal, environment, config and command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from milk_tui.ui import first_look, themes
from milk_tui.ui.first_look import FirstLook

XTERM = {"TERM": "xterm-256color"}


@pytest.mark.parametrize(
    ("environ", "dark", "theme"),
    [
        (XTERM, None, "milk-dark"),
        (XTERM, True, "milk-dark"),
        (XTERM, False, "milk-light"),
        ({"TERM": "xterm", "COLORTERM": "truecolor"}, False, "milk-light"),
        ({"TERM": "linux"}, None, "milk-ansi"),
        ({"TERM": "xterm"}, False, "milk-ansi-light"),
        ({"TERM": "screen.xterm-256color"}, True, "milk-dark"),
        ({"TERM": "alacritty"}, True, "milk-dark"),
        ({**XTERM, "NO_COLOR": "1"}, True, "milk-ansi"),
        ({**XTERM, "NO_COLOR": ""}, True, "milk-dark"),
        ({"TERM": "dumb"}, None, "milk-ansi"),
    ],
)
def test_the_theme_fits_the_terminal(tmp_path: Path, environ: dict[str, str], dark: bool | None, theme: str) -> None:
    assert first_look.of(environ, tmp_path / "none.toml", dark=dark).theme_name == theme


def test_the_config_is_stronger_than_the_terminal_and_no_colour_than_the_config(tmp_path: Path) -> None:
    file = tmp_path / "c.toml"
    file.write_text('[ui]\ntheme = "nord"\nplain = true\nreduced_motion = true\n')
    look = first_look.of(XTERM, file, dark=False)
    assert (look.theme_name, look.plain, look.still) == ("nord", True, True)
    assert first_look.of({**XTERM, "NO_COLOR": "1"}, file).theme_name == "milk-ansi"


@pytest.mark.parametrize("text", ["[ui]\ntheme = 3", "[ui]\ntheme = ", "[ui", "ui = 1 # [ui]", "\x00[ui]"])
def test_a_wrong_file_is_the_readers_matter(tmp_path: Path, text: str) -> None:
    file = tmp_path / "c.toml"
    file.write_text(text)
    assert first_look.of(XTERM, file) == FirstLook()


@pytest.mark.parametrize(("value", "on"), [("1", True), ("yes", True), ("", False), ("0", False), ("off", False)])
def test_the_environment_asks_for_a_plain_or_a_still_screen(tmp_path: Path, value: str, on: bool) -> None:
    environ = {**XTERM, "MILK_TUI_PLAIN": value, "MILK_TUI_REDUCED_MOTION": value}
    look = first_look.of(environ, tmp_path / "none.toml")
    assert (look.plain, look.still) == (on, on)


def test_every_theme_that_can_be_fitting_exists() -> None:
    for name in (first_look.DARK, first_look.LIGHT, first_look.FEW_DARK, first_look.FEW_LIGHT, "nord"):
        assert themes.known(name) == name
    assert themes.known("no such") == ""
