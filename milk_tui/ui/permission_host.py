"""Where the permission dialog stands on the main screen, and when it takes the keyboard."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from milk_tui.ui.permission_dialog import QUIET_S, PermissionDialog

if TYPE_CHECKING:
    from milk_tui.ui.main_screen import MainScreen
    from milk_tui.ui.state import SessionState


class PermissionHost:
    """Puts the dialog above the prompt while something waits, and takes it away."""

    def __init__(self, screen: MainScreen, state: SessionState) -> None:
        self._screen = screen
        self._state = state
        self._looking = False
        self.dialog: PermissionDialog | None = None

    def changed(self) -> None:
        """What waits changed: show it, or go."""
        asked = tuple(self._state.asked.values())
        if not asked:
            self._close()
            return
        if self.dialog is None:
            self.dialog = PermissionDialog(self._screen.keymap)
            self._screen.mount(self.dialog, before=self._screen.box)
        self.dialog.show(asked)
        self._look()

    def focus(self) -> bool:
        """The person wants to answer; False when nothing waits."""
        if self.dialog is None:
            return False
        self.dialog.focus()
        return True

    def leave(self, typed: str) -> None:
        """Back to the prompt, with what was meant for it."""
        self._screen.prompt.focus()
        if typed:
            self._screen.prompt.insert_text(typed)

    def _look(self) -> None:
        """Take the keyboard from an empty prompt that is at rest; else look again in a moment."""
        prompt = self._screen.prompt
        if self.dialog is None or self.dialog.has_focus_within:
            return
        resting = time.monotonic() - self._screen.typed_at >= QUIET_S
        if prompt.has_focus and prompt.is_blank and resting:
            self.dialog.take_over()
        elif not self._looking:
            self._looking = True
            self._screen.set_timer(0.2, self._look_again)

    def _look_again(self) -> None:
        self._looking = False
        self._look()

    def _close(self) -> None:
        if self.dialog is None:
            return
        dialog, self.dialog = self.dialog, None
        if dialog.has_focus_within or dialog.has_focus:
            self._screen.prompt.focus()
        dialog.remove()
