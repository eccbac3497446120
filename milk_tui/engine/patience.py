"""The end of an answer is kept until it can be stored: a full disk that is cleared, a lock that is let go."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TypeVar

from milk_tui.core.errors import StoreError

T = TypeVar("T")

PAUSE_S = 0.5
"""Between two tries."""
ALONE_TRIES = 10
"""Where no person is there to make room or to give up."""


class Patience:
    """Tries again while the fault is one that passes (``StoreError.passes``), until the person gives up.

    ``tell`` is given one line when it begins to wait, and one when it worked after all. ``attended``: whether a person
    is there.
    """

    def __init__(self, tell: Callable[[str], None], *, attended: bool) -> None:
        self._tell = tell
        self._left = None if attended else ALONE_TRIES
        self._over = asyncio.Event()
        self._told = ""

    async def store(self, work: Callable[[], Awaitable[T]]) -> T:
        """The result of ``work``. Raises its StoreError when that doesn't pass or nobody wants to wait any more."""
        while True:
            try:
                done = await work()
            except StoreError as error:
                if not error.passes or self._over.is_set() or self._left == 0:
                    raise
                self._left = None if self._left is None else self._left - 1
                if self._told != error.what:
                    self._told = error.what
                    self._tell(f"not saved yet, tried again until it works (esc gives up): {error}")
                with suppress(TimeoutError):
                    async with asyncio.timeout(PAUSE_S):
                        await self._over.wait()
            else:
                if self._told:
                    self._told = ""
                    self._tell("the answer is saved now")
                return done

    def end(self) -> None:
        """Nobody wants to wait any more."""
        self._over.set()
