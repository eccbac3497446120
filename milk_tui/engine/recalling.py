"""The semantic side of recall in one run of the program: begun when there are facts, told when they change.

Its process is started after the model host is up, so that it takes nothing from the first answer; until it is ready,
and where it isn't installed, facts are found by words alone (``recall.md``, "Engine").
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from functools import partial

from milk_tui import recall
from milk_tui.config import MemoryConfig
from milk_tui.core.errors import StoreError
from milk_tui.engine.events import AnyEvent, PerceptChanged
from milk_tui.recall import Phase, Semantic, SemanticState
from milk_tui.store import Store, percept_lists

_NEW = frozenset({"live", "edited", "restored", "undone", "accepted", "shared", "promoted"})
"""What happens to a fact and gives it something to embed, or another place."""


class Recalling:
    """``semantic`` is what recall is given; ``None`` when the person doesn't want it. ``tell(text, severity)`` says
    what went wrong."""

    def __init__(self, store: Store, config: MemoryConfig, tell: Callable[[str, str], None]) -> None:
        self._store = store
        self._tell = tell
        self._loop: asyncio.AbstractEventLoop | None = None
        self._wanted = False
        self.semantic: Semantic | None = None
        if config.semantic:
            self.semantic = Semantic(store.path, model_path=config.model_path, on_state=self._from_worker)

    async def start(self) -> None:
        """Start the worker if there is a fact; else the first one starts it."""
        self._wanted = True
        self._loop = asyncio.get_running_loop()
        with contextlib.suppress(StoreError):
            if await self._store.read(percept_lists.last_seq):
                self._begin()

    def hear(self, event: AnyEvent) -> None:
        """A listener of the sessions: facts have changed."""
        if not (self._wanted and isinstance(event, PerceptChanged) and event.what in _NEW):
            return
        if self.semantic is not None and self.semantic.state.phase is Phase.READY:
            self.semantic.wake()
        else:
            self._begin()

    async def aclose(self) -> None:
        if self.semantic is not None:
            await asyncio.to_thread(self.semantic.close)

    def _begin(self) -> None:
        if self.semantic is not None and self.semantic.state.phase is Phase.OFF:
            self.semantic.start()

    def _from_worker(self, state: SemanticState) -> None:
        """In the worker's thread."""
        if state.phase is Phase.FAILED and self._loop is not None:
            text = f"Facts are found by words alone: {state.what} {state.hint}".strip()
            with contextlib.suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self._tell, text, "warning")


async def repaired(store: Store) -> bool:
    """Make the text indexes anew when a recall found them damaged; True when that was done."""
    if not recall.damaged(store.path) or store.read_only:
        return False
    await store.write(partial(recall.repair, path=store.path))
    return True
