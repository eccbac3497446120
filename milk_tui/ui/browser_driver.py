"""The driver for a screen in a browser: Textual's own, whose server may go away and whose page has a clipboard.

Its messages to ``serve/process.py``: ``title``, and ``copy`` with a number; the page answers ``copied`` with
that number and whether its browser took the text.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from typing import Any

from textual import events
from textual.drivers.web_driver import WebDriver

from milk_tui.ui import browser

_TITLE = re.compile(r"\x1b\]2;([^\x07\x1b]*)(?:\x07|\x1b\\)")


class BrowserDriver(WebDriver):
    """Writes whole packets, also past a signal, and none once nobody reads; tells the page what is not text."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        browser.keep_from_children()
        self._lost = False
        self._looked_at = True
        self._write = self._write_whole  # type: ignore[assignment]
        self._copies: dict[int, Callable[[bool, str], object]] = {}

    def start_application_mode(self) -> None:
        """As Textual's, which then takes the page for not looked at, after the page said what it is."""
        super().start_application_mode()
        self._app.call_later(self._look)

    def _look(self) -> None:
        if self._looked_at:
            self._app.post_message(events.AppFocus())

    def _write_whole(self, data: bytes) -> int:
        left = memoryview(data)
        while left and not self._lost:
            try:
                left = left[os.write(self.fileno, left) :]
            except OSError:
                self._lost = True
        return len(data)

    def write(self, data: str) -> None:
        if (title := _TITLE.search(data)) is not None:
            self.write_meta({"type": "title", "title": title[1]})
            data = _TITLE.sub("", data)
        if data:
            super().write(data)

    def copy(self, number: int, text: str, answered: Callable[[bool, str], object]) -> None:
        """Have the page put ``text`` on its browser's clipboard. ``answered(took, why_not)`` is called from the
        thread that reads, when the page says so; never when it says nothing."""
        self._copies[number] = answered
        self.write_meta({"type": "copy", "number": number, "text": text})

    def on_meta(self, packet_type: str, payload: dict[str, object]) -> None:
        if packet_type in ("focus", "blur"):
            self._looked_at = packet_type == "focus"
        if packet_type != "copied":
            super().on_meta(packet_type, payload)
            return
        match payload:
            case {"number": int(number), "took": bool(took), "why": str(why)} if number in self._copies:
                self._copies.pop(number)(took, why)
