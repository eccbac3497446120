"""Blocking work beside the event loop, in threads that never keep the program from ending."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


async def in_thread(work: Callable[[], T]) -> T:
    """The result of ``work``, run in a thread of its own. Cancelling leaves the thread to end by itself."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[T] = loop.create_future()

    def settle(set_it: Callable[[], None]) -> None:
        def unless_done() -> None:
            if not future.done():
                set_it()

        try:
            loop.call_soon_threadsafe(unless_done)
        except RuntimeError:
            return  # the loop is closed: nobody waits any more

    def run() -> None:
        try:
            result = work()
        except BaseException as error:
            problem = error
            settle(lambda: future.set_exception(problem))
        else:
            settle(lambda: future.set_result(result))

    threading.Thread(target=run, name="embedded", daemon=True).start()
    return await future
