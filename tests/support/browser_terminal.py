"""The page of ``milk-tui serve`` in a real Chromium, used like a terminal: keys are the browser's, pressed by DevTools.

The browser and the server live in a thread with an event loop; the screen is fed only inside ``pump`` and what waits.
"""

from __future__ import annotations

import asyncio
import json
import queue
import re
import time
from collections.abc import Coroutine, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, contextmanager
from pathlib import Path
from threading import Thread
from typing import Any, TypeVar

from tests.support.chromium import Tab, browsing
from tests.support.keys import bytes_of
from tests.support.terminal import Terminal, TerminalTimeoutError
from tests.support.web_page import serving

CELL = (9, 20)
"""Width and height in the page's font."""
NAMES = {
    "pageup": "PageUp",
    "pagedown": "PageDown",
    **{arrow: f"Arrow{arrow.capitalize()}" for arrow in ("up", "down", "left", "right")},
}
"""The browser's name of a key where it is not the terminal's in capitals."""
LEFT = "was left; everything is saved"
WATCH = """
window.leftToTheBrowser = [];
window.addEventListener("keydown", (event) => setTimeout(() => {
  if (!event.defaultPrevented && (event.ctrlKey || event.altKey || event.key.length > 1)) {
    window.leftToTheBrowser.push(`${event.ctrlKey ? "ctrl+" : ""}${event.altKey ? "alt+" : ""}${event.key}`);
  }
}), true);
"""
_T = TypeVar("_T")


class BrowserTerminal(Terminal):
    """The part of a terminal that a person at a page has: keys, text, pastes, copies, and the program's end."""

    def __init__(self, loop: asyncio.AbstractEventLoop, tab: Tab, cols: int, rows: int) -> None:
        super().__init__(0, -1, cols, rows, background="", spawned_at=time.perf_counter())
        self.tab = tab
        self.clipboard = tab.copied
        self._loop = loop
        self._heard: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        tab.tap = self._heard.put

    def run(self, doing: Coroutine[Any, Any, _T]) -> _T:
        return asyncio.run_coroutine_threadsafe(doing, self._loop).result(60)

    def send(self, data: str | bytes) -> None:
        """Type a text; what is no text has a key, which ``press`` knows by its name."""
        text = data if isinstance(data, str) else data.decode()
        assert text.isprintable(), f"{text!r} can't be typed"
        self.run(self.tab.type(text))

    def press(self, *keys: str) -> None:
        for key in keys:
            typed = bytes_of(key).decode()
            if typed.isprintable():
                self.send(typed)
                continue
            *held, name = key.split("+")
            name = NAMES.get(name) or (name if len(name) == 1 else name.capitalize())
            self.run(self.tab.press("+".join((*held, name))))

    def paste(self, text: str) -> None:
        """Have the browser paste what another page copied."""
        self.run(self.tab.evaluate(f"navigator.clipboard.writeText({json.dumps(text)})"))
        self.press("ctrl+v")

    def pump(self, seconds: float = 0.0) -> bool:
        try:
            self._take(self._heard.get(timeout=seconds) if seconds > 0 else self._heard.get_nowait())
        except queue.Empty:
            return False
        return True

    def wait_exit(self, deadline_s: float = 20.0) -> int:
        """Wait until the page says how the program ended: 0 when it was left, else 1."""
        until = time.monotonic() + deadline_s
        while not (why := self.run(self.tab.evaluate("document.getElementById('why').textContent"))):
            if time.monotonic() > until:
                raise TerminalTimeoutError(f"still running after {deadline_s} s:\n{self.text}")
            self.pump(0.05)
        self.settle(0.1)
        self.exit_code = 0 if LEFT in why else 1
        return self.exit_code

    @property
    def left_to_the_browser(self) -> list[str]:
        """The keys that are no text and that the page let its browser act upon too."""
        return list(self.run(self.tab.evaluate("window.leftToTheBrowser")))

    def _special(self, match: re.Match[bytes]) -> bytes:
        """What is asked is answered by the page's own terminal, which takes no copies."""
        return b""


@contextmanager
def browser_terminal(
    argv: Sequence[str], *, env: Mapping[str, str], cwd: Path, cols: int = 120, rows: int = 40
) -> Iterator[BrowserTerminal]:
    """``argv`` serves; the one page of a new browser is open, in a window of ``cols`` x ``rows`` cells."""
    loop = asyncio.new_event_loop()
    thread = Thread(target=loop.run_forever, name="browser", daemon=True)
    thread.start()
    contexts = AsyncExitStack()

    async def opened() -> BrowserTerminal:
        server = await contexts.enter_async_context(serving(list(argv), env=dict(env), cwd=cwd))
        tab = await contexts.enter_async_context(browsing(cols=cols, rows=rows))
        screen = BrowserTerminal(loop, tab, cols, rows)
        await tab.call("Browser.grantPermissions", permissions=["clipboardReadWrite", "clipboardSanitizedWrite"])
        await tab.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark"}])
        await tab.call("Page.enable")
        await tab.call("Page.addScriptToEvaluateOnNewDocument", source=WATCH)
        await tab.open(server.address, width=cols * CELL[0], height=rows * CELL[1])
        return screen

    def run(doing: Coroutine[Any, Any, _T]) -> _T:
        return asyncio.run_coroutine_threadsafe(doing, loop).result(120)

    try:
        yield run(opened())
    finally:
        run(contexts.aclose())
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
