"""Keeping one model host process alive: start, watch, restart, give up (``quality.md``, model host row)."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

import msgspec

from milk_tui.modelhost import process
from milk_tui.modelhost.lines import LineCutter
from milk_tui.modelhost.protocol import AnyAnswer, Done, HostEvent, HostReport, Ping, Request, decode_answer, encode

_CHUNK = 64 * 1024
"""Bytes read at a time: about 2 ms of decoding, so that the screen is never held up."""


class HostState(StrEnum):
    """``restarting``: it died and is started again. ``failed``: it is not started again by itself."""

    STOPPED = "stopped"
    STARTING = "starting"
    READY = "ready"
    RESTARTING = "restarting"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Limits:
    """Times are seconds. A host is taken for dead when it says nothing for ``misses`` pings in a row."""

    ping_s: float = 5.0
    """Between two pings while a request runs or the host starts."""
    idle_ping_s: float = 30.0
    start_s: float = 60.0
    """For the first line of a host that was just started: an interpreter on a busy machine may need long."""
    misses: int = 3
    restarts: int = 3
    """Deaths within ``window_s`` after which the host is not started again by itself."""
    window_s: float = 60.0
    backoff_s: tuple[float, ...] = (0.2, 1.0, 3.0)
    close_s: float = 3.0
    """For leaving by itself when its standard input closes."""
    call_s: float = 30.0
    """For an answer to ``count``, ``models`` and ``info``."""
    rubbish: int = 200
    """Lines that are no answers before the host is killed."""


StateCallback = Callable[[HostState, str], None]


class Supervisor:
    """One host process after another. ``on_answer`` gets every answer that belongs to a request;
    ``on_death(why)`` is called when the process that was sent requests is gone."""

    def __init__(
        self,
        log: process.HostLog,
        command: Sequence[str] | None,
        env: Mapping[str, str] | None,
        limits: Limits,
        on_state: StateCallback | None,
        on_answer: Callable[[AnyAnswer], None],
        on_death: Callable[[str], None],
    ) -> None:
        self.state = HostState.STOPPED
        self.detail = ""
        self.process: asyncio.subprocess.Process | None = None
        self._log = log
        self._command = command
        self._env = env
        self._limits = limits
        self._on_state = on_state
        self._on_answer = on_answer
        self._on_death = on_death
        self._task: asyncio.Task[None] | None = None
        self._deaths: deque[float] = deque()
        self._changed = asyncio.Event()
        self._busy = asyncio.Event()
        self._heard = False
        self._rubbish = 0
        self._verdict = ""

    async def start(self) -> None:
        """Begin, or begin anew from ``failed``; nothing to do when it runs."""

        if self.state is HostState.FAILED:
            await self._end_task()
            self._deaths.clear()
        self._begin()

    async def wait_up(self) -> bool:
        """True when there is a process to write to, which may still be starting; False when there will be
        none.

        From ``stopped`` it starts one; from ``failed`` too, once the deaths lie further back than the
        window.
        """

        gone = self.process is None
        if gone and (self.state is HostState.STOPPED or (self.state is HostState.FAILED and self._may_start())):
            await self.start()
        while self.process is None:
            if self.state in (HostState.STOPPED, HostState.FAILED):
                return False
            await self._changed.wait()
        return True

    def set_busy(self, busy: bool) -> None:
        """Whether a request waits for an answer: how often the host is asked if it lives."""

        if busy:
            self._busy.set()
        else:
            self._busy.clear()

    async def send(self, request: Request) -> None:
        """Write a request and wait until the pipe has room; one to a dying host is lost with it
        (``on_death``)."""

        if self.post(request) and self.process is not None and self.process.stdin is not None:
            try:
                await self.process.stdin.drain()
            except OSError:
                pass

    def post(self, request: Request) -> bool:
        """Write a request without waiting."""

        if self.process is None or self.process.stdin is None or self.process.stdin.is_closing():
            return False
        self.process.stdin.write(encode(request))
        return True

    async def aclose(self) -> None:
        """End the process; its group is gone when this returns."""

        await self._end_task()
        self._set_state(HostState.STOPPED, "")

    # the life of processes

    def _begin(self) -> None:
        if self._task is None or self._task.done():
            self._set_state(HostState.STARTING, "")
            self._task = asyncio.create_task(self._supervise(), name="model host")

    async def _end_task(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
            self._task = None

    async def _supervise(self) -> None:
        while True:
            why = await self._run_one()
            self._deaths.append(time.monotonic())
            self._log.say(why)
            if not self._may_start():
                hint = f"It died too often: wait {self._limits.window_s:.0f} s, then ask again. See {self._log.path}."
                self._set_state(HostState.FAILED, f"{why} {hint}")
                self._on_death(why)
                return
            self._set_state(HostState.RESTARTING, why)
            self._on_death(why)
            backoff = self._limits.backoff_s
            await asyncio.sleep(backoff[min(len(self._deaths), len(backoff)) - 1] if backoff else 0)

    def _may_start(self) -> bool:
        horizon = time.monotonic() - self._limits.window_s
        while self._deaths and self._deaths[0] < horizon:
            self._deaths.popleft()
        return len(self._deaths) <= self._limits.restarts

    async def _run_one(self) -> str:
        """One process from start to end; says how it ended."""

        command = self._command if self._command is not None else process.default_command()
        cwd = self._log.path.parent if self._command is None else None
        try:
            child = await process.spawn(command, process.child_environment(self._env), self._log, cwd)
        except OSError as error:
            return f"The model host could not be started: {error.strerror or error}."
        self.process = child
        self._heard = False
        self._rubbish = 0
        self._verdict = ""
        self._signal_change()
        watch = asyncio.create_task(self._watch(child), name="model host watch")
        grace = self._limits.close_s
        try:
            await self._read(child)
            grace = 0.5
        finally:
            watch.cancel()
            code = await asyncio.shield(process.end(child, 0 if self._verdict else grace))
            self.process = None
        return self._verdict or f"The model host ended {_how(code)}."

    async def _read(self, child: asyncio.subprocess.Process) -> None:
        """Pass answers on until the stream ends or is found to be rubbish."""

        assert child.stdout is not None
        cutter = LineCutter()
        while data := await child.stdout.read(_CHUNK):
            self._heard = True
            dropped = cutter.dropped
            for line in cutter.feed(data):
                self._take(line)
            self._rubbish += cutter.dropped - dropped
            if self._rubbish > self._limits.rubbish:
                self._verdict = "The model host printed rubbish and was stopped."
                return

    def _take(self, line: bytes) -> None:
        try:
            answer = decode_answer(line)
        except (msgspec.DecodeError, RecursionError):
            self._rubbish += 1
            if self._rubbish <= 3:
                self._log.say(f"skipped a line of {len(line)} bytes that is no answer")
            return
        match answer:
            case HostReport(state="ready", detail=detail):
                self._set_state(HostState.READY, detail)
            case HostReport(state="failed", detail=detail):
                self._set_state(HostState.FAILED, detail)
            case HostEvent(id=0):
                pass
            case Done(stop="finished"):
                self._deaths.clear()  # a host that does its work is no host that dies as soon as it is started
                self._on_answer(answer)
            case _:
                self._on_answer(answer)

    async def _watch(self, child: asyncio.subprocess.Process) -> None:
        """Kill a host that has said nothing for ``misses`` ticks although it was asked each time.

        Ticks are counted instead of seconds, so that a computer that slept does not look like a host that
        hung.
        """

        misses = -int(self._limits.start_s / self._limits.ping_s)
        while True:
            await self._tick()
            misses = 0 if self._heard else misses + 1
            self._heard = False
            if misses > self._limits.misses:
                self._verdict = "The model host did not answer and was stopped."
                process.kill_group(child)
                return
            self.post(Ping(id=0))

    async def _tick(self) -> None:
        limits = self._limits
        if self.state is HostState.READY and not self._busy.is_set():
            try:
                await asyncio.wait_for(self._busy.wait(), limits.idle_ping_s)
            except TimeoutError:
                return
        await asyncio.sleep(limits.ping_s)

    def _set_state(self, state: HostState, detail: str) -> None:
        if (state, detail) == (self.state, self.detail):
            return
        self.state, self.detail = state, detail
        self._signal_change()
        if self._on_state is None:
            return
        try:
            self._on_state(state, detail)
        except Exception as error:
            asyncio.get_running_loop().call_exception_handler(
                {"message": "the model host's state callback failed", "exception": error}
            )

    def _signal_change(self) -> None:
        """Wake everyone who waits for a change; who comes later waits for the next."""

        changed, self._changed = self._changed, asyncio.Event()
        changed.set()


def _how(code: int) -> str:
    return f"by signal {-code}" if code < 0 else f"with code {code}"
