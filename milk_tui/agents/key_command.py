"""A key that another program keeps: the person's key store prints it, and it stays in memory alone."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import AsyncGenerator, AsyncIterator, Sequence

from msgspec.structs import replace

from milk_tui.agents.child import ChildError, environment, program
from milk_tui.core.errors import MilkError
from milk_tui.core.records import ErrorKind
from milk_tui.core.text import one_line
from milk_tui.modelhost.client import ModelHost
from milk_tui.modelhost.protocol import CompleteRequest, Failed, HostEvent, ModelInfo

SECONDS = 60.0
"""How long the program may take: a key store may ask the person for its password in a window of its own."""
LONGEST = 8_192
"""Bytes of a key."""


class KeyCommandError(MilkError):
    """The program gave no key. What it printed is never part of the message."""


async def ask(command: Sequence[str]) -> str:
    """The key that the command prints, run without a shell. Raises KeyCommandError."""
    try:
        path = program(command, os.environ)
        process = await asyncio.create_subprocess_exec(
            *(path, *command[1:]),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            env=environment(os.environ, {}),
            start_new_session=True,
        )
    except (OSError, ValueError, ChildError) as error:
        what = error.what if isinstance(error, ChildError) else f"{_named(command)} can't be started."
        raise KeyCommandError(what, "Correct api_key_command of the agent.") from error
    try:
        async with asyncio.timeout(SECONDS):
            assert process.stdout is not None
            printed = b""
            while len(printed) <= LONGEST and (piece := await process.stdout.read(LONGEST)):
                printed += piece
            if len(printed) > LONGEST:
                raise KeyCommandError(f"What {_named(command)} printed is no key.", "It has to print the key alone.")
            status = await process.wait()
    except TimeoutError:
        raise KeyCommandError(
            f"{_named(command)} gave no key within {SECONDS:.0f} s.", "Run it in a terminal to see what it waits for."
        ) from None
    finally:
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            await process.wait()
    key = printed.decode("utf-8", "replace").strip()
    if status or not key:
        said = f"ended with status {status}" if status else "printed nothing"
        raise KeyCommandError(f"{_named(command)} {said}.", "Run it in a terminal: it has to print the key.")
    if not key.isprintable() or " " in key:
        raise KeyCommandError(f"What {_named(command)} printed is no key.", "It has to print the key alone.")
    return key


class KeyedHost:
    """The model host for an agent whose key a program prints; the program is run once, at the first request."""

    def __init__(self, host: ModelHost, command: Sequence[str]) -> None:
        self._host = host
        self._command = tuple(command)
        self._key = ""
        self._asking = asyncio.Lock()

    async def complete(self, request: CompleteRequest) -> AsyncGenerator[HostEvent, None]:
        """See ``ModelHost.complete``. A key that was refused is asked for anew the next time."""
        try:
            async with self._asking:
                self._key = self._key or await ask(self._command)
        except KeyCommandError as error:
            yield Failed(kind=ErrorKind.AUTH, message=error.what, hint=error.hint)
            return
        events: AsyncIterator[HostEvent] = self._host.complete(replace(request, api_key=self._key, api_key_env=""))
        try:
            async for event in events:
                if isinstance(event, Failed) and event.kind is ErrorKind.AUTH:
                    self._key = ""
                yield event
        finally:
            if isinstance(events, AsyncGenerator):
                await events.aclose()

    async def info(self, model: str, *, api_base: str = "") -> ModelInfo:
        return await self._host.info(model, api_base=api_base)


def _named(command: Sequence[str]) -> str:
    return f"“{one_line(command[0] if command else '', 60)}”"
