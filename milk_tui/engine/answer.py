"""The text of a running leg: cleaned, its tags taken out, kept at least every half second."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from milk_tui.core.tags import Capture, Interceptor, StreamMask
from milk_tui.core.text import StreamCleaner

SAVE_EVERY_S = 0.4
"""Streamed text is at most this old in the database, and the write itself (``quality.md``: 0.5 s)."""


class Answer:
    """What the person sees of an answer: no escapes, no tags, no nonce. Escapes go first, so that none can hide inside
    a tag; a nonce that is left, in code or as text, is masked."""

    def __init__(self, nonce: str, foreign: list[str]) -> None:
        self._nonces = [nonce, *foreign]
        self._cleaner = StreamCleaner()
        self._tags = Interceptor(nonce, foreign)
        self._mask = StreamMask(self._nonces)
        self._thinking_cleaner = StreamCleaner()
        self._thinking_mask = StreamMask(self._nonces)
        self._parts: list[str] = []
        self._thinking: list[str] = []
        self._marked = 0
        self.chars = 0

    @property
    def text(self) -> str:
        if len(self._parts) > 1:
            self._parts = ["".join(self._parts)]
        return self._parts[0] if self._parts else ""

    @property
    def thinking(self) -> str:
        if len(self._thinking) > 1:
            self._thinking = ["".join(self._thinking)]
        return self._thinking[0] if self._thinking else ""

    def feed(self, delta: str) -> tuple[str, list[Capture]]:
        """The visible part of a delta, and the tags that it closed."""
        visible = self._mask.feed(self._tags.feed(self._cleaner.feed(delta)))
        return self._kept(visible), self._tags.take()

    def think(self, delta: str) -> str:
        """Reasoning is cleaned and never searched for tags."""
        shown = self._thinking_mask.feed(self._thinking_cleaner.feed(delta))
        if shown:
            self._thinking.append(shown)
        return shown

    def pause(self) -> str:
        """Something else than text comes: what was held back of the text before it, for no nonce goes on behind it."""
        return self._kept(self._mask.close())

    def mark(self) -> str:
        """A block begins here; what was held back of the text before it."""
        shown = self.pause()
        self._tags.mark()
        self._marked = self.chars
        return shown

    def rollback(self) -> None:
        """The block since the mark was taken back."""
        self._tags.rollback()
        self._cleaner = StreamCleaner()
        self._mask = StreamMask(self._nonces)
        self._parts = [self.text[: self._marked]]
        self.chars = self._marked

    def close(self) -> tuple[str, list[Capture]]:
        """The end of the stream: what was held back and is text after all."""
        tail = self._tags.feed(self._cleaner.close()) + self._tags.close()
        visible = self._mask.feed(tail) + self._mask.close()
        rest = self._thinking_mask.feed(self._thinking_cleaner.close()) + self._thinking_mask.close()
        if rest:
            self._thinking.append(rest)
        return self._kept(visible), self._tags.take()

    def _kept(self, visible: str) -> str:
        if visible:
            self._parts.append(visible)
            self.chars += len(visible)
        return visible


class Saver:
    """Calls ``save`` soon after ``touch``, at most once per ``SAVE_EVERY_S``, and never twice at a time."""

    def __init__(self, save: Callable[[], Awaitable[object]], failed: Callable[[Exception], None]) -> None:
        self._save = save
        self._failed = failed
        self._dirty = asyncio.Event()
        self._task = asyncio.create_task(self._run())

    def touch(self) -> None:
        self._dirty.set()

    async def _run(self) -> None:
        while True:
            await self._dirty.wait()
            await asyncio.sleep(SAVE_EVERY_S)
            self._dirty.clear()
            try:
                await self._save()
            except Exception as error:
                self._failed(error)

    async def stop(self) -> None:
        """Ends without a last save: the caller's transaction has everything."""
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)
