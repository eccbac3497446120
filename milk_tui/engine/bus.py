"""Who listens to a session: every reader is called on the event loop, in the order of the events."""

from __future__ import annotations

import logging
from collections.abc import Callable

from milk_tui.engine.events import AnyEvent

Listener = Callable[[AnyEvent], None]

_log = logging.getLogger(__name__)


class Bus:
    """Publishes events. A listener that raises is logged and does not stop the others, nor the turn."""

    def __init__(self) -> None:
        self._listeners: list[Listener] = []

    def listen(self, listener: Listener) -> Callable[[], None]:
        """Returns the function that ends the listening; calling it twice is harmless."""
        self._listeners.append(listener)

        def stop() -> None:
            if listener in self._listeners:
                self._listeners.remove(listener)

        return stop

    def publish(self, event: AnyEvent) -> None:
        for listener in tuple(self._listeners):
            try:
                listener(event)
            except Exception:
                _log.exception("a listener failed on %s", type(event).__name__)
