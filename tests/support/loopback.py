"""The common part of the scriptable servers: listening, recording, choosing a reply, misbehaving on the
wire."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import sys
import threading
import time
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, field
from email.utils import formatdate
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from aiohttp import web

from tests.support.scenario import Conversation, Cut, Fail, HostDoes, Malformed, Pause, Reply, Scenario, Step, Until

Responder = Callable[[dict[str, Any]], "Reply | str | None"]


@dataclass(frozen=True, slots=True)
class Recorded:
    """One request as it arrived."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]


@dataclass(slots=True)
class Wire:
    """One answer on its way: what was begun, and whether the reader stayed to its end."""

    response: web.StreamResponse
    request: web.Request

    async def write(self, data: bytes | str) -> None:
        """A ``\\ufffe`` of the answer goes out as two bytes that are no UTF-8."""
        sent = data.encode() if isinstance(data, str) else data
        await self.response.write(sent.replace(b"\\ufffe", b"\xff\xfe"))

    def abort(self) -> None:
        if self.request.transport is not None:
            self.request.transport.abort()


@dataclass
class Loopback(ABC):
    """A server on 127.0.0.1 that does what it is told.

    ``replies``: answers to the next requests, as ``Reply`` or as directives; then ``respond(body)`` when it
    gives one; then the directives in the prompt; then the small echoing assistant. ``requests`` keeps what
    came.
    """

    port: int = 0
    record: Path | None = None
    respond: Responder | None = None
    replies: deque[Reply | str] = field(default_factory=deque)
    requests: list[Recorded] = field(default_factory=list)
    scenario: Scenario = field(default_factory=Scenario)
    open: int = 0
    """Answers under way."""
    dropped: int = 0
    """Connections that the other side closed before the answer was whole."""
    _runner: web.AppRunner | None = None

    prefix = ""
    """What an ``api_base`` has after the address."""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}{self.prefix}"

    @abstractmethod
    def routes(self) -> list[web.RouteDef]: ...

    @abstractmethod
    def conversation(self, body: dict[str, Any]) -> Conversation: ...

    @abstractmethod
    def refusal(self, reply: Reply) -> dict[str, Any]:
        """The body of an error answer."""

    @abstractmethod
    def failure(self, message: str) -> str:
        """The event that says in the middle of a stream that the server failed."""

    async def start(self) -> None:
        app = web.Application(client_max_size=256 << 20)
        app.add_routes(self.routes())
        self._runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=0.1)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", self.port)
        await site.start()
        self.port = self._runner.addresses[0][1]

    async def stop(self) -> None:
        if self._runner is not None:
            await self._runner.cleanup()
            self._runner = None

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()

    async def receive(self, request: web.Request) -> tuple[dict[str, Any], Reply]:
        """Read and record a request and choose its reply."""

        body = await request.json()
        recorded = Recorded(request.path, dict(request.headers), body)
        self.requests.append(recorded)
        if self.record is not None:
            with self.record.open("a", encoding="utf-8") as file:
                file.write(json.dumps({"path": recorded.path, "body": body}, ensure_ascii=False) + "\n")
        return body, self._choose(body)

    def _choose(self, body: dict[str, Any]) -> Reply:
        talk = self.conversation(body)
        chosen: Reply | str | None = None
        if self.replies:
            chosen = self.replies.popleft()
        elif self.respond is not None:
            chosen = self.respond(body)
        if isinstance(chosen, str):
            return self.scenario.parse(chosen, talk)
        return chosen if chosen is not None else self.scenario.reply(talk)

    async def refuse(self, reply: Reply) -> web.Response:
        headers = {}
        if reply.retry_after is not None:
            headers["retry-after"] = f"{reply.retry_after:g}"
        if reply.retry_after is not None and reply.retry_by_date:
            now = time.time()
            headers |= {"date": formatdate(now, usegmt=True)}
            headers["retry-after"] = formatdate(now + reply.retry_after, usegmt=True)
        return web.json_response(self.refusal(reply), status=reply.status, headers=headers)

    @contextlib.asynccontextmanager
    async def streaming(self, request: web.Request, reply: Reply) -> AsyncIterator[Wire]:
        """The wire of a streamed answer; notes when the other side goes away in the middle."""

        self.open += 1
        response = web.StreamResponse(
            headers={"content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache"}
        )
        response.enable_chunked_encoding()
        try:
            await response.prepare(request)
            yield Wire(response, request)
        except (ConnectionResetError, asyncio.CancelledError):
            self.dropped += 1
            raise
        finally:
            self.open -= 1

    async def misbehave(self, wire: Wire, step: Step) -> bool:
        """Do a step that is not content; True when the answer ends here."""

        match step:
            case Pause(seconds=None):
                await asyncio.Event().wait()
            case Pause(seconds=float(seconds)):
                await asyncio.sleep(seconds)
            case Until():
                await step.passed()
            case Cut(clean=True):
                await wire.response.write_eof()
                return True
            case Cut() | HostDoes():
                wire.abort()
                return True
            case Fail(message=message):
                await wire.write(self.failure(message))
                await wire.response.write_eof()
                return True
            case Malformed():
                await wire.write("data: {this is no JSON\n\n")
        return False

    async def waiting(self, reply: Reply) -> None:
        """The time before the first byte; notes when the other side does not wait for it."""

        if not reply.slow_s:
            return
        self.open += 1
        try:
            await asyncio.sleep(reply.slow_s)
        except asyncio.CancelledError:
            self.dropped += 1
            raise
        finally:
            self.open -= 1

    @contextlib.contextmanager
    def in_thread(self) -> Iterator[Self]:
        """Run in a thread with a loop of its own, for tests that have none."""

        loop = asyncio.new_event_loop()
        thread = threading.Thread(target=loop.run_forever, daemon=True)
        thread.start()
        try:
            asyncio.run_coroutine_threadsafe(self.start(), loop).result(10)
            yield self
        finally:
            asyncio.run_coroutine_threadsafe(self.stop(), loop).result(10)
            loop.call_soon_threadsafe(loop.stop)
            thread.join(10)
            loop.close()

    @classmethod
    def serve(cls, argv: list[str] | None = None) -> int:
        """``--port N --script FILE --record FILE``: one line of directives a request, then the prompt's
        own."""

        parser = argparse.ArgumentParser(description=cls.__doc__)
        parser.add_argument("--port", type=int, default=0, help="0: any free one")
        parser.add_argument("--script", type=Path, help="directives for the first requests, one line each")
        parser.add_argument("--record", type=Path, help="append every request here, one JSON object a line")
        args = parser.parse_args(argv)
        lines = args.script.read_text("utf-8").splitlines() if args.script else []
        server = cls(port=args.port, record=args.record)
        server.replies.extend(line for line in lines if line.strip() and not line.startswith("#"))
        with contextlib.suppress(KeyboardInterrupt):
            asyncio.run(server.run_until_parent_leaves())
        return 0

    async def run_until_parent_leaves(self) -> None:
        """Serve; says ``{"port": …, "url": …}`` on standard output; ends with its parent."""

        async with self:
            sys.stdout.write(json.dumps({"port": self.port, "url": self.url}) + "\n")
            sys.stdout.flush()
            parent = os.getppid()
            while os.getppid() == parent:  # noqa: ASYNC110 (nothing tells when a parent goes)
                await asyncio.sleep(0.5)
