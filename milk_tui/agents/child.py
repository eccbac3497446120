"""A program that speaks one JSON object a line, as a child that never outlives the screen (``keeper``)."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import sys
from collections import deque
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from milk_tui.core import wild_json
from milk_tui.core.errors import MilkError
from milk_tui.core.text import clean, one_line
from milk_tui.paths import INSIDE_VARIABLE

LINE_BYTES = 64 << 20
"""The longest line that is read (173 KB were seen, ``agents.md`` §1.7); a longer one is rubbish."""
STDERR_LINES = 20
STDERR_CHARS = 2_000
CLOSE_S = 5.0
"""How long a program may take to leave once its standard input is closed."""
TERM_S = 5.0
"""How long it may take to leave after ``SIGTERM``, before it is killed with all that it started."""
_SWEEP_S = 4.0
_CHUNK = 1 << 16

DROPPED = ("CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_SESSION_ID", "CLAUDE_CODE_SSE_PORT", "IS_SANDBOX")
"""Variables of an agent that milk itself was started from; they mislead another one (``agents.md`` §7)."""


class ChildError(MilkError):
    """The program could not be started, or has gone."""


def environment(environ: Mapping[str, str], extra: Mapping[str, str]) -> dict[str, str]:
    """The person's environment without what misleads an agent, nor what is milk's own; ``extra`` is laid over it."""
    hidden = (*DROPPED, "CLAUDE_CODE_MESSAGING_", "MILK_TUI_")
    kept = {name: value for name, value in environ.items() if not name.startswith(hidden)}
    return kept | {INSIDE_VARIABLE: "1"} | dict(extra)


def program(command: Sequence[str], environ: Mapping[str, str], cwd: str = "") -> str:
    """The path of the command's program. Raises ChildError when there is none, or no folder ``cwd``."""
    name = command[0] if command else ""
    path = shutil.which(name, path=environ.get("PATH", os.defpath)) if name else None
    if path is None:
        shown = one_line(clean(name), 80)
        raise ChildError(f"There is no program “{shown}” on the PATH.", f"Install {shown}, or correct its command.")
    if cwd and not Path(cwd).is_dir():
        raise ChildError(f"The folder {one_line(clean(cwd), 200)} is not there.", "Open another session.")
    return path


class JsonChild:
    """One running program. ``start`` before anything else; ``aclose`` after; both may be called once."""

    def __init__(self, command: Sequence[str], *, env: Mapping[str, str], cwd: str, term_s: float = TERM_S) -> None:
        self.command = tuple(command)
        self._env = dict(env)
        self._cwd = cwd
        self._term_s = term_s
        self._process: asyncio.subprocess.Process | None = None
        self._lifeline = -1
        self._stderr: deque[str] = deque(maxlen=STDERR_LINES)
        self._stderr_task: asyncio.Task[None] | None = None
        self._sending = asyncio.Lock()
        self.rubbish = 0
        """Lines that were no JSON object."""

    @property
    def alive(self) -> bool:
        return self._process is not None and self._process.returncode is None

    @property
    def status(self) -> int | None:
        """The exit status, as a shell says it; ``None`` while it runs."""
        return self._process.returncode if self._process else None

    @property
    def pid(self) -> int:
        """Of the keeper; the program is its child."""
        return self._process.pid if self._process else 0

    @property
    def complaint(self) -> str:
        """The last lines that it wrote to its standard error, cleaned."""
        return "\n".join(self._stderr)[-STDERR_CHARS:]

    async def start(self) -> None:
        """Raises ChildError."""
        path = program(self.command, self._env, self._cwd)
        reading, self._lifeline = os.pipe()
        keeper = str(Path(__file__).with_name("keeper.py"))
        try:
            self._process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-I", "-S", keeper, str(reading), str(self._term_s), path, *self.command[1:]),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                env=self._env,
                cwd=self._cwd,
                start_new_session=True,
                pass_fds=(reading,),
            )
        except (OSError, ValueError) as error:
            self._cut()
            raise ChildError(f"{path} can't be started: {error}.") from error
        finally:
            os.close(reading)
        self._stderr_task = asyncio.create_task(self._listen_to_stderr())

    async def send(self, message: Mapping[str, Any]) -> None:
        """One object, one line. Raises ChildError when the program has gone."""
        process = self._process
        if process is None or process.stdin is None or process.returncode is not None:
            raise ChildError(self.ending())
        try:
            async with self._sending:
                process.stdin.write(msgspec.json.encode(message) + b"\n")
                await process.stdin.drain()
        except (OSError, RuntimeError) as error:
            raise ChildError(self.ending()) from error

    async def messages(self) -> AsyncIterator[dict[str, Any]]:
        """Every JSON object that it prints, until it closes its standard output. Other lines are counted."""
        assert self._process is not None and self._process.stdout is not None
        async for line in lines(self._process.stdout):
            if not line:
                continue
            try:
                message = wild_json.decode(line)
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                message = None
            if isinstance(message, dict):
                yield message
            else:
                self.rubbish += 1
                self._stderr.append(one_line(clean(line[:400].decode("utf-8", "replace")), 200))

    async def finished(self) -> int:
        """The exit status, once it has left."""
        assert self._process is not None
        status = await self._process.wait()
        if self._stderr_task is not None:
            await asyncio.wait({self._stderr_task}, timeout=1.0)
        return status

    def ending(self) -> str:
        """How it ended, in one line."""
        name = Path(self.command[0]).name
        status = self.status
        how = "has closed its output" if status is None else f"ended with status {status}"
        if status is not None and status > 128:
            with suppress(ValueError):
                how = f"was ended by {signal.Signals(status - 128).name}"
        said = one_line(self._stderr[-1], 300) if self._stderr else ""
        return f"{name} {how}" + (f": {said}" if said else "")

    async def close_input(self) -> None:
        """Say that nothing more will come."""
        if self._process is not None and self._process.stdin is not None:
            self._process.stdin.close()

    async def aclose(self, grace_s: float = CLOSE_S) -> None:
        """End it: its input is closed, after ``grace_s`` it is told to leave, then killed with what it started."""
        process = self._process
        if process is None:
            return
        try:
            await self.close_input()
            if grace_s > 0 and await _within(process, grace_s):
                return
        finally:
            await self._end(process)

    async def _end(self, process: asyncio.subprocess.Process) -> None:
        try:
            if process.returncode is None:
                with suppress(ProcessLookupError):
                    process.terminate()
                self._cut()
                if not await _within(process, self._term_s + _SWEEP_S):
                    with suppress(ProcessLookupError):
                        process.kill()
                    await process.wait()
        finally:
            self._cut()
            if self._stderr_task is not None:
                self._stderr_task.cancel()
                await asyncio.gather(self._stderr_task, return_exceptions=True)

    def _cut(self) -> None:
        """Let go of the lifeline: the keeper ends the program."""
        if self._lifeline >= 0:
            os.close(self._lifeline)
            self._lifeline = -1

    async def _listen_to_stderr(self) -> None:
        assert self._process is not None and self._process.stderr is not None
        async for line in lines(self._process.stderr, most=_CHUNK):
            text = one_line(clean(line.decode("utf-8", "replace")), 300)
            if text:
                self._stderr.append(text)


async def _within(process: asyncio.subprocess.Process, seconds: float) -> bool:
    try:
        await asyncio.wait_for(asyncio.shield(asyncio.ensure_future(process.wait())), seconds)
    except TimeoutError:
        return False
    return True


async def lines(stream: asyncio.StreamReader, most: int = LINE_BYTES) -> AsyncIterator[bytes]:
    """The stream's lines without their ends, whatever their length; one over ``most`` bytes comes as ``?``."""
    held: list[bytes] = []
    size = 0
    too_long = False
    while chunk := await stream.read(_CHUNK):
        *ended, rest = chunk.split(b"\n")
        for part in ended:
            yield b"?" if too_long or size + len(part) > most else b"".join((*held, part)).strip()
            held.clear()
            size, too_long = 0, False
        size += len(rest)
        if size > most or too_long:
            held.clear()
            too_long = True
        elif rest:
            held.append(rest)
    if held:
        yield b"".join(held).strip()
