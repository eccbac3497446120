"""Where the person is: the panes whose keys work now, and what does an action there."""

from __future__ import annotations

from typing import Any

from textual.dom import DOMNode
from textual.screen import Screen

from milk_tui.ui.action import Action, Where


def panes_of(screen: Screen[Any]) -> tuple[Where, ...]:
    """The panes of a screen whose keys work where the focus is; a screen says so itself (``here``)."""
    here: tuple[Where, ...] = getattr(screen, "here", ())
    return here


def target_of(screen: Screen[Any], action: Action) -> DOMNode:
    """What does the action on that screen: the focused widget when it can, else the screen."""
    focused: DOMNode | None = screen.focused
    while isinstance(focused, DOMNode) and focused is not screen:
        if hasattr(focused, f"action_{action.method}"):
            return focused
        focused = focused.parent
    return screen
