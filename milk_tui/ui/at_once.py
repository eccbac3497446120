"""What a key changes is drawn as soon as it is known.

Textual draws at the beats of a clock, 60 in a second, and skips one when the beat before was missed: beside a stream a
letter waits for up to 33 ms, ten times what drawing it takes (``quality.md``, "key echo"). Streams keep the beat.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from textual.screen import Screen

    _Base = Screen[Any]
else:
    _Base = object

FOLLOWS_S = 0.05
"""Seconds after a key in which what changes is taken as its doing."""


class AtOnce(_Base):
    """Goes before the screen's own kind in its bases; no node itself: Textual takes styles from the first that is."""

    key_at = 0.0
    """When the last key came, on the monotonic clock."""

    def key_came(self) -> None:
        """The app got a key or a paste, which it passes on to this screen or what is in it."""
        self.key_at = time.monotonic()

    async def on_idle(self) -> None:
        if time.monotonic() - self.key_at < FOLLOWS_S and (
            self._dirty_widgets or self._layout_required or self._scroll_required or self._repaint_required
        ):
            self._on_timer_update()
