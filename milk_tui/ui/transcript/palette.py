"""The styles of the transcript, taken from the style sheet and thus from the theme.

Every name is a component class ``transcript--NAME`` of the widget (``styles/transcript.tcss``). A style is asked for
by one or more names, the first one the ground: ``palette("prompt", "muted")``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.style import Style

if TYPE_CHECKING:
    from textual.widget import Widget

GROUNDS = ("text", "prompt", "fence")
_TEXT = ("strong", "emphasis", "strike", "code", "link", "target", "muted", "h1", "h2", "h3", "h4", "marker")
_LINES = ("bar", "border", "table-head", "html", "placeholder", "label", "prompt-bar", "cursor")
_PARTS = ("prompt-name", "primary", "escalation", "receipt", "thinking", "fold", "tool", "tool-failed", "fact", "usage")
_SEVERITIES = ("information", "warning", "error")
_CODE = ("keyword", "name", "builtin", "string", "number", "comment", "operator", "inserted", "deleted")
NAMES = (*GROUNDS, *_TEXT, *_LINES, *_PARTS, *_SEVERITIES, *_CODE)
COMPONENTS = frozenset(f"transcript--{name}" for name in NAMES)

_ATTRIBUTES = ("bold", "dim", "italic", "underline", "strike", "reverse", "blink", "conceal", "overline")


class Palette:
    """Styles by name for one theme; ``palette(ground, *names)`` lays the names over the ground."""

    def __init__(self, styles: dict[str, Style]) -> None:
        self._styles = styles
        self._made: dict[tuple[str, ...], Style] = {}

    def __call__(self, *names: str) -> Style:
        style = self._made.get(names)
        if style is None:
            style = Style()
            for name in names:
                style += self._styles[name]
            self._made[names] = style
        return style

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Palette) and self._styles == other._styles

    __hash__ = object.__hash__

    @classmethod
    def of(cls, widget: Widget) -> Palette:
        """Reads the component styles of the widget under its current theme."""
        ground = widget.rich_style
        styles: dict[str, Style] = {}
        for name in NAMES:
            full = widget.get_component_rich_style(f"transcript--{name}", default=ground)
            styles[name] = full if name in GROUNDS else _difference(full, ground)
        return cls(styles)


def _difference(style: Style, ground: Style) -> Style:
    """What a component changes against its widget."""
    attributes = {name: True for name in _ATTRIBUTES if getattr(style, name)}
    return Style(
        color=style.color if style.color != ground.color else None,
        bgcolor=style.bgcolor if style.bgcolor != ground.bgcolor else None,
        **attributes,  # type: ignore[arg-type]
    )
