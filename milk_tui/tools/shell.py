"""``run_command``: a shell command in a process group of its own, shown while it runs, bounded in time and output.

``execute`` is the one way to run a command for a person or a model; who may is asked before it.
"""

from __future__ import annotations

import asyncio
import codecs
import contextlib
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from msgspec import Meta

from milk_tui.core.text import StreamCleaner, one_line
from milk_tui.core.tool_calls import ToolOutcome
from milk_tui.core.visible import visible
from milk_tui.tools import processes
from milk_tui.tools.base import Access, Arguments, Ask, Call, Prepared, Refused, tool
from milk_tui.tools.command_words import pattern_of, waits_for_person
from milk_tui.tools.site import LONGEST_COMMAND_S, Site

FAMILY = "shell"
HEAD_CHARS = 12_000
TAIL_CHARS = 12_000
LARGEST_OUTPUT = 64_000_000
"""Bytes after which a command that floods is ended."""
LONGEST_COMMAND = 20_000
SHOW_EVERY_S = 0.1
SHOWN_AT_ONCE = 8_000
_CHUNK = 1 << 16
_DRAIN_S = 1.0
_SLOW_AFTER = 1_000_000


class RunCommand(Arguments, frozen=True, kw_only=True):
    command: Annotated[str, Meta(description="The shell command. Nobody can answer it: no editors, pagers, prompts.")]
    timeout_s: Annotated[
        float | None, Meta(description=f"Seconds it may take, at most {LONGEST_COMMAND_S:.0f}; 120 when left out.")
    ] = None
    directory: Annotated[str, Meta(description="Where to run it, inside the working directory.")] = "."


@dataclass(frozen=True, slots=True)
class Ran:
    """How a command ended. ``code`` is ``None`` when it was ended by us, ``why`` then says for what."""

    code: int | None
    output: str
    seconds: float
    why: str = ""

    @property
    def ok(self) -> bool:
        return self.code == 0

    @property
    def ending(self) -> str:
        took = f"{self.seconds:.1f} s"
        if self.why:
            return f"[{self.why} after {took}]"
        if self.code is not None and (self.code < 0 or 128 < self.code <= 192):
            return f"[ended by signal {-self.code if self.code < 0 else self.code - 128} after {took}]"
        return f"[exit code {self.code} · {took}]"

    @property
    def text(self) -> str:
        return f"{self.output}\n{self.ending}" if self.output else self.ending


class Output:
    """What a command prints: its head and its tail are kept, pieces are shown as they come, at a bounded rate."""

    def __init__(self, show: Callable[[str], None]) -> None:
        self._show = show
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._cleaner = StreamCleaner()
        self._head = ""
        self._tail = ""
        self._left_out = 0
        self._unshown = ""
        self._shown_at = 0.0
        self.bytes = 0

    def feed(self, data: bytes, now: float, *, last: bool = False) -> None:
        self.bytes += len(data)
        text = self._cleaner.feed(_lines_as_seen(self._decoder.decode(data, last)))
        if last:
            text += self._cleaner.close()
        room = HEAD_CHARS - len(self._head)
        self._head += text[:room]
        self._tail += text[room:] if room > 0 else text
        over = len(self._tail) - TAIL_CHARS
        if over > 0:
            self._left_out += over
            self._tail = self._tail[over:]
        self._unshown = (self._unshown + text)[-SHOWN_AT_ONCE:]
        if self._unshown and (last or now - self._shown_at >= SHOW_EVERY_S):
            self._show(self._unshown)
            self._unshown, self._shown_at = "", now

    @property
    def text(self) -> str:
        mark = f"\n[… {self._left_out:,} characters left out …]\n" if self._left_out else ""
        return f"{self._head}{mark}{self._tail}".rstrip("\n")


def _lines_as_seen(text: str) -> str:
    """Of a line that was written over again and again, as progress bars do, what was there last."""
    if "\r" not in text:
        return text
    text = text.replace("\r\n", "\n")
    return "\n".join(line.rstrip("\r").rsplit("\r", 1)[-1] for line in text.split("\n"))


async def execute(
    command: str,
    *,
    directory: Path,
    timeout_s: float,
    show: Callable[[str], None] = lambda _: None,
    environment: tuple[str, ...] = (),
) -> Ran:
    """Run a shell command to its end; nothing of it is left running, also when this is cancelled.

    ``environment``: names of variables that it is given beside the usual ones. Raises ``Refused`` when it can't start.
    """
    shell = shutil.which("bash") or "/bin/sh"
    begun = time.monotonic()
    try:
        started = await processes.start(
            (shell, "-c", command), directory=directory, env=processes.environment(environment)
        )
    except OSError as error:
        raise Refused(f"The command can't be started in {directory}: {error.strerror or error}.") from error
    output = Output(show)
    why = ""
    process = started.process
    reading = asyncio.create_task(_read(process, output))
    try:
        async with asyncio.timeout(timeout_s):
            waiting = asyncio.create_task(processes.exited(process))
            await asyncio.wait({waiting, reading}, return_when=asyncio.FIRST_COMPLETED)
            if reading.done() and output.bytes > LARGEST_OUTPUT:
                why = f"stopped: it printed more than {LARGEST_OUTPUT // 1_000_000} MB"
            else:
                await waiting
            waiting.cancel()
    except TimeoutError:
        why = f"stopped: it took longer than {timeout_s:g} s"
    finally:
        await _end(started, reading)
    output.feed(b"", time.monotonic(), last=True)
    return Ran(None if why else process.returncode, output.text, time.monotonic() - begun, why)


async def _end(started: processes.Started, reading: asyncio.Task[None]) -> None:
    """End what is left of the command, also what it put into the background; a cancel doesn't interrupt it."""

    async def finish() -> None:
        await processes.end(started)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_DRAIN_S):
                await reading
        reading.cancel()
        await asyncio.gather(reading, return_exceptions=True)
        started.let_go()

    ending = asyncio.ensure_future(finish())
    try:
        await asyncio.shield(ending)
    except asyncio.CancelledError:
        await ending
        raise


async def _read(process: asyncio.subprocess.Process, output: Output) -> None:
    assert process.stdout is not None
    while chunk := await process.stdout.read(_CHUNK):
        output.feed(chunk, time.monotonic())
        if output.bytes > LARGEST_OUTPUT:
            return
        if output.bytes > _SLOW_AFTER:
            await asyncio.sleep(0.005)  # a flood must not take the event loop from the screen


async def _prepare(site: Site, said: RunCommand) -> Prepared:
    command = said.command.strip()
    if not command or "\0" in command:
        raise Refused("The command is empty.")
    if len(command) > LONGEST_COMMAND:
        raise Refused(f"The command has {len(command):,} characters; write a script file instead.")
    if why := waits_for_person(command):
        raise Refused(why)
    place = site.place(said.directory)
    if not place.inside:
        raise Refused(f"{place.shown} is outside the working directory; name the paths in the command instead.")
    if not place.path.is_dir():
        raise Refused(f"{place.shown} is no folder.")
    longest = min(LONGEST_COMMAND_S, site.limits.longest_command_s)
    timeout_s = min(longest, site.limits.command_s if said.timeout_s is None else max(1.0, said.timeout_s))

    async def run(call: Call) -> ToolOutcome:
        if not place.path.is_dir() or place.path.resolve() != place.path:
            raise Refused(f"{place.shown} is gone, or leads elsewhere now.")
        ran = await execute(
            command, directory=place.path, timeout_s=timeout_s, show=call.emit, environment=site.environment
        )
        site.changed()
        return ToolOutcome(ran.text, ok=ran.ok)

    where = f" in {place.shown}" if place.path != place.directory else ""
    title = f"run {one_line(visible(command), 300)}{where}"
    ask = Ask(title, body=command, language="bash", pattern=pattern_of(command), directory=str(place.path))
    return Prepared(run, ask)


TOOLS = (
    tool(
        "run_command",
        "Run a shell command in the working directory and read what it prints. The person is asked first.",
        RunCommand,
        _prepare,
        family=FAMILY,
        access=Access.RUN,
        timeout_s=LONGEST_COMMAND_S + 30,
    ),
)
