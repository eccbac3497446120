"""The program's own colours, and where its style sheets are.

The style sheets use Textual's theme variables only, so that every theme works: ``$success`` is the
primary agent (●), ``$accent`` the escalation agent (◆), ``$warning`` a pin (★), ``$secondary`` the helper
(◌), ``$primary`` focus. ``tests/ui/test_contrast.py`` measures the own ones (WCAG 2.1).
"""

from __future__ import annotations

from pathlib import Path, PurePath

from textual.theme import BUILTIN_THEMES, Theme

from milk_tui.ui.first_look import DARK as DARK_NAME
from milk_tui.ui.first_look import FEW_DARK, FEW_LIGHT
from milk_tui.ui.first_look import LIGHT as LIGHT_NAME


def _theme(
    name: str,
    *,
    dark: bool,
    primary: str,
    secondary: str,
    success: str,
    accent: str,
    warning: str,
    error: str,
    foreground: str,
    background: str,
    surface: str,
    panel: str,
    line: str,
    thumb: str,
    cursor: str,
    cursor_blurred: str,
    hover: str,
    bright: str,
    selection: str,
) -> Theme:
    """``line`` draws the frames of panes without the focus, ``bright`` is text under the cursor."""
    return Theme(
        name=name,
        primary=primary,
        secondary=secondary,
        success=success,
        accent=accent,
        warning=warning,
        error=error,
        foreground=foreground,
        background=background,
        surface=surface,
        panel=panel,
        dark=dark,
        variables={
            "text-primary": primary,
            "text-secondary": secondary,
            "text-success": success,
            "text-accent": accent,
            "text-warning": warning,
            "text-error": error,
            "border": primary,
            "border-blurred": line,
            "input-cursor-background": foreground,
            "input-cursor-foreground": background,
            "input-selection-background": selection,
            "screen-selection-background": selection,
            "block-cursor-background": cursor,
            "block-cursor-foreground": bright,
            "block-cursor-text-style": "none",
            "block-cursor-blurred-background": cursor_blurred,
            "block-cursor-blurred-foreground": foreground,
            "block-cursor-blurred-text-style": "none",
            "block-hover-background": hover,
            "scrollbar": thumb,
            "scrollbar-hover": secondary,
            "scrollbar-active": primary,
            "scrollbar-background": background,
            "scrollbar-background-hover": background,
            "scrollbar-background-active": background,
            "scrollbar-corner-color": background,
            "footer-background": background,
            "footer-key-foreground": warning,
            "footer-description-foreground": secondary,
        },
    )


DARK = _theme(
    DARK_NAME,
    dark=True,
    primary="#8ab4d8",
    secondary="#98a3b8",
    success="#8ccba4",
    accent="#c8a6f0",
    warning="#e5c07b",
    error="#f09393",
    foreground="#dfdbd2",
    background="#15171c",
    surface="#1a1d23",
    panel="#22262e",
    line="#3a414d",
    thumb="#434b58",
    cursor="#2c3440",
    cursor_blurred="#232831",
    hover="#262b34",
    bright="#f4f1ea",
    selection="#8ab4d8 35%",
)

LIGHT = _theme(
    LIGHT_NAME,
    dark=False,
    primary="#1f5b88",
    secondary="#566072",
    success="#1a6746",
    accent="#6f3bb3",
    warning="#7d5200",
    error="#ab2a34",
    foreground="#2a2825",
    background="#fbf8f2",
    surface="#f5f1e8",
    panel="#ece6da",
    line="#cdc4b3",
    thumb="#c3b9a7",
    cursor="#dfe7ee",
    cursor_blurred="#ece6da",
    hover="#e8e2d5",
    bright="#1c1a18",
    selection="#1f5b88 22%",
)

CONTRAST = _theme(
    "milk-contrast",
    dark=True,
    primary="#7cc7ff",
    secondary="#d0d8e4",
    success="#7dffa8",
    accent="#e0b8ff",
    warning="#ffd84d",
    error="#ffa9a9",
    foreground="#ffffff",
    background="#000000",
    surface="#000000",
    panel="#101216",
    line="#767f8f",
    thumb="#a8b0bd",
    cursor="#14305a",
    cursor_blurred="#23262c",
    hover="#23262c",
    bright="#ffffff",
    selection="#1d5fa8",
)

CONTRAST_LIGHT = _theme(
    "milk-contrast-light",
    dark=False,
    primary="#003f78",
    secondary="#2f3742",
    success="#004d28",
    accent="#4c118f",
    warning="#573800",
    error="#8b0010",
    foreground="#000000",
    background="#ffffff",
    surface="#ffffff",
    panel="#eef0f3",
    line="#555c66",
    thumb="#555c66",
    cursor="#cfe4fb",
    cursor_blurred="#e3e6ea",
    hover="#e3e6ea",
    bright="#000000",
    selection="#9fcbf7",
)


def _sixteen(name: str, *, dark: bool, primary: str, warning: str, error: str, accent: str, faint: str) -> Theme:
    """The terminal's own colours: no ground but its own, and no blend of two."""
    return Theme(
        name=name,
        ansi=True,
        dark=dark,
        primary=primary,
        secondary="ansi_default",
        success="ansi_green",
        accent=accent,
        warning=warning,
        error=error,
        foreground="ansi_default",
        background="ansi_default",
        surface="ansi_default",
        panel="ansi_default",
        boost="ansi_default",
        variables={
            "border": primary,
            "border-blurred": faint,
            "input-cursor-background": "ansi_default",
            "input-cursor-foreground": "ansi_default",
            "input-cursor-text-style": "reverse",
            "input-selection-background": primary,
            "input-selection-foreground": "ansi_black" if dark else "ansi_bright_white",
            "screen-selection-background": primary,
            "screen-selection-foreground": "ansi_black" if dark else "ansi_bright_white",
            "block-cursor-background": "ansi_default",
            "block-cursor-foreground": "ansi_default",
            "block-cursor-text-style": "reverse",
            "block-cursor-blurred-background": "ansi_default",
            "block-cursor-blurred-foreground": "ansi_default",
            "block-cursor-blurred-text-style": "reverse",
            "block-hover-background": "ansi_default",
            "scrollbar": faint,
            "scrollbar-hover": primary,
            "scrollbar-active": primary,
            "scrollbar-background": "ansi_default",
            "scrollbar-background-hover": "ansi_default",
            "scrollbar-background-active": "ansi_default",
            "scrollbar-corner-color": "ansi_default",
            "footer-background": "ansi_default",
            "footer-key-foreground": warning,
            "footer-description-foreground": "ansi_default",
            "ansi-background": "ansi_black" if dark else "ansi_white",
            "ansi-foreground": "ansi_white" if dark else "ansi_black",
        },
    )


ANSI = _sixteen(
    FEW_DARK,
    dark=True,
    primary="ansi_cyan",
    warning="ansi_yellow",
    error="ansi_bright_red",
    accent="ansi_bright_magenta",
    faint="ansi_bright_black",
)
ANSI_LIGHT = _sixteen(
    FEW_LIGHT,
    dark=False,
    primary="ansi_blue",
    warning="ansi_red",
    error="ansi_red",
    accent="ansi_magenta",
    faint="ansi_bright_black",
)

THEMES = (DARK, LIGHT, CONTRAST, CONTRAST_LIGHT, ANSI, ANSI_LIGHT)
BY_NAME = {theme.name: theme for theme in THEMES}


def known(name: str) -> str:
    """The name when there is such a theme, else nothing."""
    return name if name in BUILTIN_THEMES or name in BY_NAME else ""


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
