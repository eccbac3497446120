"""What the first frame looks like: the theme, and whether the screen is plain or moves, before anything is opened.

Settings that only the screen looks at are read here ahead of the configuration as a whole, so that no frame is drawn in
looks that nobody asked for; a file that is wrong is said to be so by what reads it in full. Nothing heavy is imported.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

DARK, LIGHT = "milk-dark", "milk-light"
FEW_DARK, FEW_LIGHT = "milk-ansi", "milk-ansi-light"
"""Themes of the terminal's own sixteen colours."""
_LARGEST_FILE = 1_000_000
_RICH_TERMINALS = ("256color", "kitty", "direct", "alacritty", "foot", "ghostty", "wezterm", "truecolor")


@dataclass(frozen=True, slots=True)
class FirstLook:
    """``theme`` is what the config names, empty for the one that fits the terminal."""

    theme: str = ""
    dark: bool | None = None
    """The terminal's background; ``None`` is unknown."""
    few_colours: bool = False
    no_colour: bool = False
    few_signs: bool = False
    """The font lacks most of the program's signs."""
    plain: bool = False
    still: bool = False
    """Nothing moves by itself."""

    @property
    def fitting(self) -> str:
        """The program's own theme for this terminal."""
        if self.few_colours or self.no_colour:
            return FEW_LIGHT if self.dark is False else FEW_DARK
        return LIGHT if self.dark is False else DARK

    @property
    def theme_name(self) -> str:
        """Without colours only the themes hold that need none."""
        return self.fitting if self.no_colour else self.theme or self.fitting


def of(environ: Mapping[str, str], config: Path, *, dark: bool | None = None, plain: bool = False) -> FirstLook:
    """The first look in a terminal; ``dark`` is what it answered, ``plain`` the command line's word."""
    settings = _settings(config)
    theme = settings.get("theme", "")
    return FirstLook(
        theme=theme if isinstance(theme, str) else "",
        dark=dark,
        few_colours=has_few_colours(environ),
        no_colour=has_no_colour(environ),
        few_signs=environ.get("TERM", "") == "linux",
        plain=plain or is_on(environ, "MILK_TUI_PLAIN") or settings.get("plain") is True,
        still=is_on(environ, "MILK_TUI_REDUCED_MOTION") or settings.get("reduced_motion") is True,
    )


def is_on(environ: Mapping[str, str], name: str) -> bool:
    """Whether a variable says yes."""
    return environ.get(name, "").strip().lower() not in ("", "0", "false", "no", "off")


def has_no_colour(environ: Mapping[str, str]) -> bool:
    return bool(environ.get("NO_COLOR")) or environ.get("TERM", "") in ("dumb", "unknown")


def has_few_colours(environ: Mapping[str, str]) -> bool:
    """Whether the terminal has no more than sixteen colours, by what it says of itself."""
    if environ.get("COLORTERM", "").strip().lower() in ("truecolor", "24bit"):
        return False
    term = environ.get("TERM", "").strip().lower()
    return not any(name in term for name in _RICH_TERMINALS)


def _settings(file: Path) -> dict[str, Any]:
    try:
        if file.stat().st_size > _LARGEST_FILE:
            return {}
        text = file.read_text(encoding="utf-8-sig")
        if "[ui]" not in text:
            return {}
        import tomllib

        settings = tomllib.loads(text).get("ui", {})
    except (OSError, ValueError, RecursionError):
        return {}
    return settings if isinstance(settings, dict) else {}
