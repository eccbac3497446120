"""Says before a prompt is sent that the provider's cache will not help: looked at when something changed, and once
more when the cache likely ends."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from milk_tui.ui import format as f
from milk_tui.ui.state import SessionState

if TYPE_CHECKING:
    from textual.timer import Timer

    from milk_tui.core.prefix_cache import Cold
    from milk_tui.ui.control import Control

SPARE_S = 1.0
"""Seconds after the end of the cache in which it is looked again."""


class CacheWatch:
    """Keeps ``SessionState.cold``. ``later`` calls something after seconds; ``changed`` shows the state."""

    def __init__(
        self,
        control: Control,
        state: SessionState,
        later: Callable[[float, Callable[[], object]], Timer],
        again: Callable[[], object],
    ) -> None:
        self._control = control
        self._state = state
        self._later = later
        self._again = again
        self._timer: Timer | None = None

    async def look(self) -> bool:
        """True when what is said has changed. Nothing is said while an answer runs."""
        workspace, conductor = self._control.workspace, self._control.conductor
        before = self._state.cold
        if self._timer is not None:
            self._timer.stop()
            self._timer = None
        if workspace is None or conductor is None or self._state.running is not None or workspace.store.read_only:
            return False
        from milk_tui.core.records import Role
        from milk_tui.engine import cache_outlook

        found = await cache_outlook.look(workspace, conductor, Role(self._state.next_role))
        if conductor is not self._control.conductor or self._state.running is not None:
            return False
        self._state.cold = words(found.cold)
        if found.cold is None and found.expires_in_ms is not None:
            self._timer = self._later(found.expires_in_ms / 1000 + SPARE_S, self._again)
        return self._state.cold != before


def words(cold: Cold | None) -> str:
    """``cold cache, ~12.4k tok are paid anew: idle for 7 min``"""
    if cold is None:
        return ""
    match cold.why:
        case "model":
            why = "another model"
        case "prefix":
            why = "its beginning has changed"
        case _:
            minutes = cold.idle_ms // 60_000
            why = f"idle for {minutes} min" if minutes < 120 else f"idle for {minutes // 60} h"
    return f"cold cache: {'~' if cold.estimated else ''}{f.count(cold.tokens)} tok are paid anew ({why})"
