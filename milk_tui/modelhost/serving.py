"""The host at work: requests in, answers out, everything at once; gone when its client is gone."""

from __future__ import annotations

import asyncio
import os
import time
from typing import Any, BinaryIO

import msgspec

from milk_tui.core.records import ErrorKind
from milk_tui.core.text import one_line
from milk_tui.modelhost import hostlog, loading, protocol, queries
from milk_tui.modelhost.completion import Completion
from milk_tui.modelhost.failures import explain
from milk_tui.modelhost.lines import LineCutter
from milk_tui.modelhost.output import Output
from milk_tui.modelhost.protocol import CompleteRequest, Done, Failed, HostReport, Pong
from milk_tui.modelhost.redact import Redactor

_LEAVING_S = 1.0
"""Seconds that requests have to close their connections when the client is gone."""


class Host:
    """One host. ``run`` returns when its standard input or output is closed from the other side."""

    def __init__(self, load: loading.Loader) -> None:
        self._load = load
        self._gone = asyncio.Event()
        self._out = Output(self._gone.set)
        self._redact = Redactor(os.environ)
        self._tasks: dict[int, asyncio.Task[None]] = {}
        self._library: asyncio.Future[Any] | None = None

    async def run(self, stdin: BinaryIO, stdout: BinaryIO) -> None:
        await self._out.attach(stdout)
        self._out.send(HostReport(state="starting", detail=f"pid {os.getpid()}"))
        self._library = self._load(self._redact)
        self._library.add_done_callback(self._loaded)
        loop = asyncio.get_running_loop()
        await loop.connect_read_pipe(lambda: _Input(self.take, self._gone.set), stdin)
        await self._gone.wait()
        await self._leave()

    def take(self, line: bytes) -> None:
        """Begin to do what a line asks for."""

        try:
            request = protocol.decode_request(line)
        except (msgspec.DecodeError, RecursionError):
            hostlog.say(f"skipped a line of {len(line)} bytes that is no request")
            return
        match request:
            case protocol.Ping(id=number):
                self._out.send(Pong(id=number, ready=self._library is not None and self._library.done()))
            case protocol.Cancel(id=number):
                task = self._tasks.get(number)
                if task is not None:
                    task.cancel()
            case protocol.Complete(id=number, request=wanted):
                self._begin(number, self._complete(number, wanted))
            case protocol.Count() | protocol.Models() | protocol.Info() | protocol.Known():
                self._begin(request.id, self._answer(request))

    def _begin(self, number: int, work: Any) -> None:
        task = self._tasks[number] = asyncio.create_task(work)
        task.add_done_callback(lambda _: self._tasks.pop(number, None))

    async def _complete(self, number: int, request: CompleteRequest) -> None:
        self._redact.learn([request.api_key, os.environ.get(request.api_key_env, "")])
        completion = Completion(number, request, self._out)
        begun = time.monotonic()
        try:
            assert self._library is not None
            await completion.run(await asyncio.shield(self._library))
        except asyncio.CancelledError:
            self._out.send(Done(id=number, stop="cancelled"))
        except Exception as error:
            failed = self._explained(error, request, number)
            seconds = time.monotonic() - begun
            hostlog.say(f"{number} {request.model}: {failed.kind} after {seconds:.1f} s: {_names(error)}")
            self._out.send(failed)

    def _explained(self, error: Exception, request: CompleteRequest, number: int) -> Failed:
        """Why it failed; whoever asked gets an end, also when the reason can't be told."""
        try:
            return explain(error, request, number, self._redact)
        except Exception as problem:
            hostlog.say(f"{number}: {_names(error)} can't be explained: {type(problem).__name__}")
            what = f"Asking {request.model} failed: {type(error).__name__}."
            return Failed(id=number, kind=ErrorKind.INTERNAL, message=what, hint="The model host's log says more.")

    async def _answer(self, request: protocol.Count | protocol.Models | protocol.Info | protocol.Known) -> None:
        try:
            assert self._library is not None
            library = await asyncio.shield(self._library)
            self._out.send(await queries.answer(library, request))
        except asyncio.CancelledError:
            self._out.send(Failed(id=request.id, kind=ErrorKind.INTERNAL, message="Cancelled."))
        except Exception as error:
            message = one_line(self._redact(str(error)), 240)
            self._out.send(Failed(id=request.id, kind=queries.kind_of(error), message=message))

    def _loaded(self, library: asyncio.Future[Any]) -> None:
        error = library.exception()
        if error is None:
            self._out.send(HostReport(state="ready"))
        else:
            detail = one_line(self._redact(f"litellm can't be imported: {error}"), 300)
            self._out.send(HostReport(state="failed", detail=detail))

    async def _leave(self) -> None:
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=_LEAVING_S)


class _Input(asyncio.Protocol):
    """Standard input, cut into lines."""

    def __init__(self, take: Any, on_end: Any) -> None:
        self._take = take
        self._on_end = on_end
        self._cutter = LineCutter()

    def data_received(self, data: bytes) -> None:
        for line in self._cutter.feed(data):
            self._take(line)

    def connection_lost(self, exc: Exception | None) -> None:
        self._on_end()


def _names(error: BaseException) -> str:
    """The classes of an error and its cause: enough to find the place, and never what they say."""

    cause = error.__cause__ or error.__context__
    return type(error).__name__ + (f" from {type(cause).__name__}" if cause is not None else "")
