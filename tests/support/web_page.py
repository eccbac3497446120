"""A page of ``milk-tui serve`` for tests: its real websocket, and an emulator in place of the page's terminal."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any

import aiohttp
import pyte

from tests.support.keys import KEYS

_UNKNOWN_TO_PYTE = re.compile(
    rb"\x1b\[[<=>][0-9;]*[A-Za-z]|\x1b\[\?[0-9;]*\$p|\x1b\](?:[^\x07\x1b]*)(?:\x07|\x1b\\)|\x1b\[[0-9;]*t"
    rb"|\xe2\x80[\x8c\x8d]"
)


class Emulated:
    """What a page's terminal would show of the bytes that a program sends."""

    def __init__(self, cols: int = 120, rows: int = 40) -> None:
        self.screen = pyte.Screen(cols, rows)
        self._stream = pyte.ByteStream(self.screen)

    def feed(self, data: bytes) -> None:
        self._stream.feed(_UNKNOWN_TO_PYTE.sub(b"", data))

    @property
    def size(self) -> tuple[int, int]:
        """Columns and rows."""
        return self.screen.columns, self.screen.lines

    @property
    def text(self) -> str:
        return "\n".join(line.rstrip() for line in self.screen.display)


@dataclass
class Server:
    """``milk-tui serve``, running."""

    process: asyncio.subprocess.Process
    address: str
    """As it printed it, with its token."""
    printed: list[str] = field(default_factory=list)

    @property
    def base(self) -> str:
        return self.address.partition("/?")[0]

    @property
    def token(self) -> str:
        return self.address.partition("token=")[2]


@asynccontextmanager
async def serving(argv: list[str], *, env: dict[str, str], cwd: Path) -> AsyncIterator[Server]:
    """Start it and read the address; it is ended politely at the end, else killed."""
    process = await asyncio.create_subprocess_exec(
        *argv, env=env, cwd=cwd, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT
    )
    assert process.stdout is not None
    server = Server(process, "")
    try:
        async with asyncio.timeout(60):
            while line := (await process.stdout.readline()).decode():
                server.printed.append(line.rstrip())
                if line.startswith("Open "):
                    server.address = line.split()[1]
                    break
        assert server.address, server.printed
        yield server
    finally:
        if process.returncode is None:
            process.terminate()
            try:
                async with asyncio.timeout(30):
                    await process.wait()
            except TimeoutError:
                process.kill()
                await process.wait()
                raise


class Page:
    """One page: ``async with Page(server) as page``."""

    def __init__(self, server: Server, *, cols: int = 120, rows: int = 40) -> None:
        self.server = server
        self.shown = Emulated(cols, rows)
        self.told: list[list[Any]] = []
        """Every message to the page that is not the terminal's."""
        self.clipboard: list[str] = []
        self.takes_copies: bool | None = True
        """Whether its browser lets it copy; ``None``: it never says."""
        self.closed = False
        self._session = aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True))
        self._reading: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Page:
        async with self._session.get(self.server.address) as answer:
            assert answer.status == 200, await answer.text()
        size = self.shown.screen
        self._socket = await self._session.ws_connect(
            f"{self.server.base.replace('http', 'ws', 1)}/ws?width={size.columns}&height={size.lines}",
            origin=self.server.base,
            max_msg_size=0,
        )
        self._reading = asyncio.create_task(self._read())
        await self.say("focus")
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._socket.close()
        if self._reading is not None:
            await self._reading
        await self._session.close()

    async def _read(self) -> None:
        async for message in self._socket:
            if message.type is aiohttp.WSMsgType.BINARY:
                self.shown.feed(message.data)
                continue
            said = json.loads(message.data)
            self.told.append(said)
            if said[0] == "copy" and self.takes_copies is not None:
                if self.takes_copies:
                    self.clipboard.append(said[2])
                await self.say("copied", said[1], self.takes_copies, "" if self.takes_copies else "not allowed")
        self.closed = True

    async def say(self, *message: Any) -> None:
        await self._socket.send_str(json.dumps(message))

    async def send(self, text: str) -> None:
        await self.say("stdin", text)

    async def press(self, *keys: str) -> None:
        for key in keys:
            await self.send(KEYS.get(key, key.encode()).decode())

    async def resize(self, cols: int, rows: int) -> None:
        self.shown.screen.resize(rows, cols)
        await self.say("resize", {"width": cols, "height": rows})

    async def sees(self, wanted: str | Callable[[str], object], timeout_s: float = 30.0) -> str:
        """Wait until the text is on the screen, or the predicate holds for it."""
        holds = (lambda screen: wanted in screen) if isinstance(wanted, str) else wanted
        loop = asyncio.get_running_loop()
        deadline = loop.time() + timeout_s
        while not holds(self.shown.text):
            assert not self.closed, f"closed before {wanted!r}: {self.told}\n{self.shown.text}"
            assert loop.time() < deadline, f"{wanted!r} not within {timeout_s:g} s:\n{self.shown.text}"
            await asyncio.sleep(0.02)
        return self.shown.text
