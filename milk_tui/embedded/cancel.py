"""Stopping blocking work from another thread: a flag, and what to do at once when it is set."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class CancelledByUserError(Exception):
    """The work was stopped on request; what was fetched so far is kept."""


class CancelToken:
    """Set once, from any thread; work in progress registers how to interrupt it (kill a child, …)."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._event = threading.Event()
        self._interrupts: list[Callable[[], None]] = []

    def cancel(self) -> None:
        with self._lock:
            self._event.set()
            interrupts = list(self._interrupts)
        for interrupt in interrupts:
            interrupt()

    @property
    def cancelled(self) -> bool:
        return self._event.is_set()

    def check(self) -> None:
        if self._event.is_set():
            raise CancelledByUserError

    def wait(self, seconds: float) -> None:
        """Pause; ends early by raising ``CancelledByUserError``."""
        if self._event.wait(seconds):
            raise CancelledByUserError

    @contextmanager
    def interrupting(self, interrupt: Callable[[], None]) -> Iterator[None]:
        """While the block runs, ``cancel`` calls ``interrupt`` (at once when already cancelled)."""
        with self._lock:
            self._interrupts.append(interrupt)
            already = self._event.is_set()
        try:
            if already:
                interrupt()
            yield
        finally:
            with self._lock:
                self._interrupts.remove(interrupt)
