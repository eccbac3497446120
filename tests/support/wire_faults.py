"""Answers that break below the protocol: the bytes of HTTP themselves are wrong, never end, or lead elsewhere."""

from __future__ import annotations

import asyncio
import gzip
from collections.abc import AsyncIterator

from aiohttp import web

_STREAM = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n"
_CHUNKED = _STREAM + b"transfer-encoding: chunked\r\n\r\n"
_BLOCK = b"x" * 65_536
BOMB_BYTES = 400_000_000
"""What the compressed answer would become."""


async def wreck(request: web.Request, name: str) -> None:
    """Write the broken answer and close. Ends when the other side has gone.

    - ``header``: the connection breaks in the middle of the headers. ``chunk``: in the middle of a chunk.
    - ``length``: fewer bytes than the headers promise. ``nothing``: not a byte.
    - ``noise``: no HTTP at all. ``gzip``: said to be compressed, and is not. ``bomb``: a small answer that unpacks to a
      huge one.
    - ``comments``: signs of life without end. ``line``: one line without end. ``drip``: a header a byte at a time.
    - ``redirect URL``: led on with the same method.
    """
    transport = request.transport
    assert transport is not None
    kind, _, argument = name.partition(" ")
    try:
        async for data in _bytes(kind, argument):
            if transport.is_closing():
                return
            transport.write(data)  # type: ignore[attr-defined]
            while not transport.is_closing() and transport.get_write_buffer_size() > 1 << 20:  # type: ignore[attr-defined]  # noqa: ASYNC110
                await asyncio.sleep(0.002)
    finally:
        if kind in ("redirect", "gzip", "length", "bomb"):
            transport.close()
        else:
            transport.abort()  # type: ignore[attr-defined]


async def _bytes(kind: str, argument: str) -> AsyncIterator[bytes]:
    match kind:
        case "nothing":
            return
        case "header":
            yield _STREAM + b"x-request-i"
            await asyncio.sleep(0.02)
        case "chunk":
            yield _CHUNKED + b'400\r\ndata: {"choices"'
            await asyncio.sleep(0.02)
        case "length":
            yield _STREAM + b'content-length: 4000\r\n\r\ndata: {"choices"'
        case "noise":
            yield b"\x16\x03\x01\x02\x00 this is no HTTP\r\n\r\n" * 4
            await asyncio.sleep(0.02)
        case "gzip":
            yield _STREAM + b"content-encoding: gzip\r\ncontent-length: 20\r\n\r\n" + b"\xff\x00" * 10
        case "bomb":
            packed = gzip.compress(b"data: " + b" " * BOMB_BYTES, 9)
            yield _STREAM + f"content-encoding: gzip\r\ncontent-length: {len(packed)}\r\n\r\n".encode() + packed
        case "comments":
            yield _CHUNKED
            while True:
                yield b"8\r\n: ping\n\n\r\n"
                await asyncio.sleep(0.02)
        case "line":
            yield _CHUNKED + b"6\r\ndata: \r\n"
            while True:
                yield f"{len(_BLOCK):x}\r\n".encode() + _BLOCK + b"\r\n"
        case "drip":
            yield b"HTTP/1.1 200 OK\r\nx-slow: "
            while True:
                yield b"z"
                await asyncio.sleep(0.02)
        case "redirect":
            head = f"HTTP/1.1 307 Moved\r\nlocation: {argument}\r\n"
            yield f"{head}connection: close\r\ncontent-length: 0\r\n\r\n".encode()
        case _:
            yield f"HTTP/1.1 500 no such fault: {kind}\r\ncontent-length: 0\r\n\r\n".encode()
