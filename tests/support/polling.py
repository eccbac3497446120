"""Waiting for something to become true, with a deadline instead of a fixed sleep."""

from __future__ import annotations

import asyncio
from collections.abc import Callable


async def until(predicate: Callable[[], object], timeout_s: float = 20.0, what: str = "") -> None:
    """Return when ``predicate()`` is true; ``AssertionError`` when it is not within ``timeout_s``."""

    loop = asyncio.get_running_loop()
    deadline = loop.time() + timeout_s
    while not predicate():
        assert loop.time() < deadline, f"not within {timeout_s:g} s: {what or predicate}"
        await asyncio.sleep(0.01)
