"""The panes of the main screen that have keys of their own: which are there, which has the focus, what it offers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from milk_tui.ui.actions import Where

if TYPE_CHECKING:
    from textual.widget import Widget

    from milk_tui.ui.main_screen import MainScreen


class MainPanes:
    def __init__(self, screen: MainScreen) -> None:
        self._screen = screen

    @property
    def there(self) -> dict[Where, Widget]:
        """In the order in which F6 goes through them."""
        screen = self._screen
        panes = {
            Where.PROMPT: screen.prompt,
            Where.PERMISSION: screen.permission,
            Where.CONVERSATION: screen.conversation.transcript if screen.conversation is not None else None,
            Where.PERCEPTS: screen.sidebar.pane.facts,
        }
        return {where: pane for where, pane in panes.items() if pane is not None}

    @property
    def focused(self) -> Where | None:
        """``None`` when what has the focus has no keys of its own, such as a line to search in."""
        return next((where for where, pane in self.there.items() if pane is self._screen.focused), None)

    def go_to(self, where: Where) -> bool:
        """Give a pane the focus; False when it is not there or not shown."""
        pane = self.there.get(where)
        if pane is None or not pane.region.area:
            return False
        pane.focus()
        return True

    def move(self, step: int) -> None:
        panes = [pane for pane in self.there.values() if pane.region.area]
        at = next((i for i, pane in enumerate(panes) if pane.has_focus or pane.has_focus_within), 0)
        panes[(at + step) % len(panes)].focus()

    def offered(self, *, at_rest: bool) -> tuple[tuple[Where, ...], frozenset[str]]:
        """Whose keys the footer shows, and the ids of actions that can do nothing now. ``at_rest``: nobody works."""
        screen, focused = self._screen, self.focused
        off: set[str] = {"escape"} if at_rest and focused is Where.PROMPT else set()
        if focused in (None, Where.PROMPT):
            return (), frozenset(off)
        if focused is Where.PERMISSION and screen.permission is not None:
            off |= {"changes", "permissions", *screen.permission.idle_keys}
        elif focused is Where.PERCEPTS:
            off |= screen.sidebar.pane.facts.idle_keys
        return (focused,), frozenset(off)
