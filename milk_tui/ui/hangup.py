"""A terminal that goes away: nothing waits for it any more, and the program saves and leaves.

Not every terminal says so with SIGHUP (one whose window is closed does, a broken pseudo-terminal may not). Textual's
thread for output would end at the first write that fails, after which every other write waits for ever; its thread for
input would read nothing, again and again.
"""

from __future__ import annotations

import os
import select
import threading
from collections.abc import Callable

from textual.drivers import _writer_thread, linux_driver

from milk_tui.ui.browser import IN_BROWSER


class _Writer(_writer_thread.WriterThread):
    """Takes what is to be written also when it can't be."""

    def run(self) -> None:
        lost = False
        while (text := self._queue.get()) is not None:
            try:
                if not lost:
                    self._file.write(text)
                    if self._queue.qsize() == 0:
                        self._file.flush()
            except (OSError, ValueError):
                lost = True
        try:
            self._file.flush()
        except (OSError, ValueError):
            return


def install() -> None:
    """Have this process's Textual write in this way. Safe to call again."""
    linux_driver.WriterThread = _Writer  # type: ignore[attr-defined]


def watch(descriptor: int, lost: Callable[[], object]) -> None:
    """Call ``lost`` once, from a thread of its own, when the terminal is gone, or the server whose page this is. Costs
    nothing until then."""
    if not (os.isatty(descriptor) or IN_BROWSER) or not hasattr(select, "poll"):
        return

    def wait() -> None:
        poll = select.poll()
        poll.register(descriptor, 0)  # a hang-up and an error are told whatever is asked for
        try:
            poll.poll()
        except OSError:
            return
        lost()

    threading.Thread(target=wait, name="terminal-watch", daemon=True).start()
