"""The host's standard output: lines in order, without ever blocking the loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import BinaryIO

from milk_tui.modelhost.protocol import HostEvent, encode

_HIGH = 4 * 1024 * 1024
"""Bytes that may wait for a slow reader before requests are held back."""


class Output(asyncio.BaseProtocol):
    """``send`` writes at once and keeps what does not fit; ``drain`` waits while too much is kept."""

    def __init__(self, on_lost: Callable[[], None]) -> None:
        self._on_lost = on_lost
        self._transport: asyncio.WriteTransport | None = None
        self._room = asyncio.Event()
        self._room.set()

    async def attach(self, file: BinaryIO) -> None:
        """Write to this file from now on; it has to be an unbuffered pipe, socket or terminal."""

        loop = asyncio.get_running_loop()
        self._transport, _ = await loop.connect_write_pipe(lambda: self, file)
        self._transport.set_write_buffer_limits(high=_HIGH)

    def send(self, event: HostEvent) -> None:
        if self._transport is not None:
            self._transport.write(encode(event))

    @property
    def full(self) -> bool:
        """True while too much waits for the reader."""
        return not self._room.is_set()

    async def drain(self) -> None:
        await self._room.wait()

    def pause_writing(self) -> None:
        self._room.clear()

    def resume_writing(self) -> None:
        self._room.set()

    def connection_lost(self, exc: Exception | None) -> None:
        self._room.set()
        self._on_lost()
