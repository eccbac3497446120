"""How many tokens a text has for a model: asked of the model host, remembered, estimated when nobody knows.

A number says whether it was counted with the model's own tokenizer (``core/token_sizes.py``).
"""

from __future__ import annotations

import asyncio
import hashlib
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from milk_tui.core.errors import MilkError
from milk_tui.core.token_sizes import Tokens, estimate

if TYPE_CHECKING:
    from milk_tui.modelhost.client import ModelHost

REMEMBERED = 4_096
"""Counted texts that are kept by their hash."""
AT_ONCE = 4
"""Questions to the host at the same time: answers of models come first."""


class TokenCounter:
    """Counts for every session of the program. ``host`` gives the model host, or ``None`` while there is none."""

    def __init__(self, host: Callable[[], ModelHost | None]) -> None:
        self._host = host
        self._known: OrderedDict[tuple[str, bytes], Tokens] = OrderedDict()
        self._slots = asyncio.Semaphore(AT_ONCE)

    async def count(self, model: str, texts: Sequence[str]) -> list[Tokens]:
        """The size of each text, in their order. Never fails: what can't be asked is estimated."""
        return list(await asyncio.gather(*(self._one(model, text) for text in texts)))

    async def _one(self, model: str, text: str) -> Tokens:
        if not text:
            return Tokens(0, estimated=False)
        key = model, hashlib.sha256(text.encode(errors="replace")).digest()
        if (known := self._known.get(key)) is not None:
            self._known.move_to_end(key)
            return known
        host = self._host()
        if host is None or not model or host.state != "ready":
            return estimate(len(text))
        try:
            async with self._slots:
                counted = await host.count(model, text)
        except MilkError:
            return estimate(len(text))
        tokens = Tokens(counted.tokens, counted.estimated)
        self._known[key] = tokens
        if len(self._known) > REMEMBERED:
            self._known.popitem(last=False)
        return tokens
