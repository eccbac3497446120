"""Closing a screen once, and only while it is on top: keys that were typed ahead close nothing that is under it."""

from __future__ import annotations

from typing import Any

from textual.await_complete import AwaitComplete

from milk_tui.ui.at_once import AtOnce


class OnTop(AtOnce):
    """Goes before the screen's own kind in its bases; no node itself: Textual takes styles from the first that is."""

    def dismiss(self, result: Any = None) -> AwaitComplete:
        if self.app.screen is not self:
            return AwaitComplete()
        return super().dismiss(result)
