"""The program's own colours, and where its style sheets are.

The style sheets use Textual's theme variables only, so that every theme works: ``$success`` is the
primary agent (●), ``$accent`` the escalation agent (◆), ``$warning`` a pin (★), ``$secondary`` the helper
(◌), ``$primary`` focus.
"""

from __future__ import annotations

from pathlib import Path, PurePath

from textual.theme import Theme

DARK = Theme(
    name="milk-dark",
    primary="#8ab4d8",
    secondary="#8f9bb3",
    success="#8ccba4",
    accent="#c8a6f0",
    warning="#e5c07b",
    error="#ee8b8b",
    foreground="#dfdbd2",
    background="#15171c",
    surface="#1a1d23",
    panel="#22262e",
    dark=True,
    variables={
        "border": "#8ab4d8",
        "border-blurred": "#343a45",
        "input-cursor-background": "#dfdbd2",
        "input-cursor-foreground": "#15171c",
        "input-selection-background": "#8ab4d8 35%",
        "block-cursor-background": "#2c3440",
        "block-cursor-foreground": "#f4f1ea",
        "block-cursor-text-style": "none",
        "block-cursor-blurred-background": "#232831",
        "block-cursor-blurred-foreground": "#dfdbd2",
        "block-cursor-blurred-text-style": "none",
        "block-hover-background": "#262b34",
        "scrollbar": "#343a45",
        "scrollbar-hover": "#454d5b",
        "scrollbar-active": "#8ab4d8",
        "scrollbar-background": "#15171c",
        "scrollbar-background-hover": "#15171c",
        "scrollbar-background-active": "#15171c",
        "scrollbar-corner-color": "#15171c",
        "footer-background": "#15171c",
        "footer-key-foreground": "#e5c07b",
        "footer-description-foreground": "#8f9bb3",
    },
)

LIGHT = Theme(
    name="milk-light",
    primary="#27628f",
    secondary="#5d6778",
    success="#1f6f4d",
    accent="#7440b8",
    warning="#8a5a00",
    error="#b3303a",
    foreground="#2a2825",
    background="#fbf8f2",
    surface="#f5f1e8",
    panel="#ece6da",
    dark=False,
    variables={
        "border": "#27628f",
        "border-blurred": "#d3cbbb",
        "input-cursor-background": "#2a2825",
        "input-cursor-foreground": "#fbf8f2",
        "input-selection-background": "#27628f 25%",
        "block-cursor-background": "#e0e8ee",
        "block-cursor-foreground": "#1c1a18",
        "block-cursor-text-style": "none",
        "block-cursor-blurred-background": "#ece6da",
        "block-cursor-blurred-foreground": "#2a2825",
        "block-cursor-blurred-text-style": "none",
        "block-hover-background": "#e8e2d5",
        "scrollbar": "#d3cbbb",
        "scrollbar-hover": "#b9b0a0",
        "scrollbar-active": "#27628f",
        "scrollbar-background": "#fbf8f2",
        "scrollbar-background-hover": "#fbf8f2",
        "scrollbar-background-active": "#fbf8f2",
        "scrollbar-corner-color": "#fbf8f2",
        "footer-background": "#fbf8f2",
        "footer-key-foreground": "#8a5a00",
        "footer-description-foreground": "#5d6778",
    },
)

THEMES = (DARK, LIGHT)


def styles_folder() -> Path:
    """The folder of the style sheets: beside the package in a checkout, inside it in an installed
    wheel."""
    package = Path(__file__).resolve().parents[1]
    inside = package / "styles"
    return inside if inside.is_dir() else package.parent / "styles"


def style_sheets(*names: str) -> list[str | PurePath]:
    """The paths of style sheets by name."""
    folder = styles_folder()
    return [folder / f"{name}.tcss" for name in names]
