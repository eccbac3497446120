"""The program behind one page: started without a shell, in a group of its own, ended when its page is gone."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import signal
from asyncio.subprocess import PIPE, Process
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress

from textual_serve.app_service import AppService
from textual_serve.download_manager import DownloadManager

from milk_tui.core.text import clean
from milk_tui.ui.browser import DRIVER

TERMINAL = {
    "TEXTUAL_DRIVER": DRIVER,
    "TEXTUAL_COLOR_SYSTEM": "truecolor",
    "TERM": "xterm-256color",
    "COLORTERM": "truecolor",
    "TERM_PROGRAM": "textual",
}
"""What the page's terminal is, as terminals say it."""
ANOTHER_TERMINALS = frozenset({"TMUX", "TMUX_PANE", "STY", "SSH_TTY", "SSH_CONNECTION", "SSH_CLIENT", "WINDOWID"})
"""What is true of the terminal that the server runs in, and not of the page."""
BEGINS = b"__GANGLION__\n"
"""What the driver says before its first packet."""
SAVE_S = 10.0
"""Seconds in which a program whose page is gone may save; then it is killed with all it started."""
LONGEST_PACKET = 64_000_000
LONGEST_COMPLAINT = 4_000
"""Characters of what a program says that never came to show anything."""
_log = logging.getLogger(__name__)


class ScreenProcess(AppService):
    """One program in place of a terminal; its output goes to ``write_bytes``, messages for the page to ``tell``.

    ``textual_serve`` runs a command through a shell, keeps all that the program complains of and prints it raw, and
    waits for ever for one that does not end: that part is ours, the packets are its.
    """

    def __init__(
        self,
        arguments: Sequence[str],
        *,
        environment: dict[str, str],
        write_bytes: Callable[[bytes], Awaitable[None]],
        tell: Callable[..., Awaitable[None]],
        dark: bool = True,
    ) -> None:
        async def write_str(text: str) -> None:
            await tell(*json.loads(text))

        async def close() -> None:
            return

        super().__init__(
            "milk-tui",
            write_bytes=write_bytes,
            write_str=write_str,
            close=close,
            download_manager=DownloadManager(),
        )
        self._arguments = list(arguments)
        self._environment = environment
        self._tell = tell
        self._dark = dark
        self.complaint = ""
        """What it said instead of showing a screen."""

    @property
    def ended(self) -> asyncio.Task[None] | None:
        """Done when the program is gone."""
        return self._task

    def _build_environment(self, width: int = 80, height: int = 24) -> dict[str, str]:
        kept = {name: value for name, value in self._environment.items() if name not in ANOTHER_TERMINALS}
        size = {"COLUMNS": str(width), "LINES": str(height), "ROWS": str(height)}
        return {**kept, **TERMINAL, "COLORFGBG": "15;0" if self._dark else "0;15", **size}

    async def _open_app_process(self, width: int = 80, height: int = 24) -> Process:
        self._process = process = await asyncio.create_subprocess_exec(
            *self._arguments,
            stdin=PIPE,
            stdout=PIPE,
            stderr=PIPE,
            env=self._build_environment(width, height),
            start_new_session=True,
        )
        self._stdin = process.stdin
        return process

    async def run(self) -> None:
        """Pass on what the program sends until it is gone."""
        assert self._process is not None
        complaints = asyncio.create_task(self._complaints(self._process))
        try:
            await self._pass_on(self._process)
        finally:
            await self._see_out(self._process)
            self.complaint = clean(await complaints).strip()

    async def _pass_on(self, process: Process) -> None:
        out = process.stdout
        assert out is not None
        with suppress(asyncio.IncompleteReadError, ConnectionError, ValueError):
            if await out.readline() != BEGINS:
                return
            while True:
                kind, size = await out.readexactly(1), int.from_bytes(await out.readexactly(4), "big")
                if size > LONGEST_PACKET:
                    _log.error("a packet of %s bytes: the program's output is not what it should be", size)
                    return
                packet = await out.readexactly(size)
                try:
                    await (self.on_data if kind == b"D" else self.on_meta)(packet)
                except ConnectionError:
                    continue  # the page is gone; what the program writes while it saves is still to be read

    async def _see_out(self, process: Process) -> None:
        """Wait for the end of a program that says no more; make one end that doesn't."""
        try:
            async with asyncio.timeout(SAVE_S):
                await process.wait()
        except TimeoutError:
            _log.error("killed: it did not end within %s s", SAVE_S)
        self.signal(signal.SIGKILL)
        await process.wait()

    @staticmethod
    async def _complaints(process: Process) -> str:
        assert process.stderr is not None
        said = b""
        while data := await process.stderr.read(4096):
            said = (said + data)[-LONGEST_COMPLAINT * 4 :]
        return said.decode("utf-8", "replace")[-LONGEST_COMPLAINT:]

    async def on_meta(self, data: bytes) -> None:
        """Of the driver's own messages the page is told what it has a part in; a link is never opened."""
        match json.loads(data):
            case {"type": "title", "title": str(title)}:
                await self._tell("title", title)
            case {"type": "copy", "number": int(number), "text": str(text)}:
                await self._tell("copy", number, text)

    def signal(self, number: int) -> None:
        """Send a signal to the program and to all in its group."""
        if self._process is not None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, number)

    async def stop(self) -> None:
        """Have the program save and leave, as at a closed terminal, and wait until it is gone."""
        task = self._task
        if task is None or self._process is None:
            return
        if self._process.returncode is None:
            with suppress(ProcessLookupError):
                self._process.send_signal(signal.SIGTERM)
        done, _ = await asyncio.wait([task], timeout=SAVE_S)
        if not done:
            self.signal(signal.SIGKILL)
            await asyncio.wait([task])
